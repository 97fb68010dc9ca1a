"""The requests for systems beyond a plan: selection, majorities, PATE, private labels."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

from ._connection import Connection
from ._read import PlanLike, each, given, number_of, plan_of, rows_of
from .answers import (
    LabelGroup, LabelRandomizer, Majority, MatrixStrategy, PateCost, PateParameters, PublishedCost, SanitizedCost, SelectionLaw,
)


class Systems(Connection):
    """What an Accountant answers of selection, majorities, votes and labels."""

    @each("delta")
    def select(
        self,
        plan: Optional[PlanLike] = None,
        *,
        candidate_epsilon: Optional[float] = None,
        candidate_delta: Optional[float] = None,
        law: Optional[Sequence[str]] = None,
        shape: Optional[float] = None,
        mean: Optional[Sequence[float]] = None,
        max_: Optional[int] = None,
        first_above: Optional[bool] = None,
        delta: Optional[float] = None,
        **limits: float,
    ) -> Sequence[SelectionLaw]:
        """What the best of a random number of private runs costs, by laws of that number.

        One run is a plan, at a ``delta``, or declares its own guarantee. With
        ``first_above`` it is the first outcome above a threshold instead.
        """
        options = given(
            candidate_epsilon=candidate_epsilon, candidate_delta=candidate_delta, law=law,
            shape=shape, mean=mean, max_=max_, first_above=first_above, delta=delta,
            **limits,
        )
        if plan is not None:
            options["plan"] = plan_of(plan)
        return tuple(
            SelectionLaw(
                law=r["law"],
                mean=float(r["mean"]),
                lower=number_of(r["epsilon"]["lower"]),
                epsilon=number_of(r["epsilon"]["tight"]),
                delta=float(r["delta"]),
                papernot_steinke=number_of(r["epsilon"]["papernot-steinke"]),
                paper=number_of(r["epsilon"]["paper"]),
                miss_top_1_percent=float(r["miss-top-1-percent"]),
                miss_top_5_percent=float(r["miss-top-5-percent"]),
            )
            for r in self.request("select", **options)["laws"]
        )

    @each("epsilon", "delta")
    def matrix_optimize(
        self,
        *,
        strategy: str,
        steps: int,
        participation: str,
        bands: Optional[int] = None,
        buffers: Optional[int] = None,
        error: Optional[str] = None,
        noise_multiplier: Optional[float] = None,
        epsilon: Optional[float] = None,
        delta: Optional[float] = None,
        neighbors: Optional[str] = None,
        **limits: float,
    ) -> MatrixStrategy:
        """The matrix of correlated noise with the least error of prefix sums, and its price.

        ``strategy`` is banded, toeplitz or blt; ``participation`` is as in plans, such as
        ``"{min-separation: 100, at-most: 20}"``. The noise is ``noise_multiplier``, that for
        ``epsilon``, or the sensitivity. The answer's ``strategy`` goes into a plan as it is.
        """
        r = self.request(
            "matrix-optimize",
            **given(
                strategy=strategy, steps=steps, participation=participation, bands=bands,
                buffers=buffers, error=error, noise_multiplier=noise_multiplier,
                epsilon=epsilon, delta=delta, neighbors=neighbors,
                **limits,
            ),
        )
        return MatrixStrategy(
            strategy=r["strategy"], steps=r["steps"], participation=r["participation"],
            sensitivity_lower=r["sensitivity"]["lower"], sensitivity_upper=r["sensitivity"]["upper"],
            rmse=r["rmse"], max_error=r["max-error"], noise_multiplier=r["noise-multiplier"],
            delta=r["delta"], epsilon_lower=r["epsilon"]["lower"], epsilon_upper=r["epsilon"]["upper"],
            warnings=tuple(r.get("warnings", ())),
        )

    @each("delta")
    def majority(
        self,
        *,
        mechanisms: int,
        epsilon: float,
        allowance: float,
        delta_each: Optional[float] = None,
        output_delta: Optional[float] = None,
        gamma: Optional[str] = None,
        objective: Optional[str] = None,
        prior_mean: Optional[float] = None,
        prior: Optional[Sequence[float]] = None,
        samples: Optional[int] = None,
        monotone: Optional[bool] = None,
        disjoint_shards: Optional[bool] = None,
        voter_epsilons: Optional[Sequence[float]] = None,
        voter_deltas: Optional[Sequence[float]] = None,
        plan: Optional[PlanLike] = None,
        classes: Optional[int] = None,
        answers: Optional[int] = None,
        delta: Optional[float] = None,
        **limits: float,
    ) -> Majority:
        """The noise function of a private majority of mechanisms, certified.

        ``voter_epsilons`` (and ``voter_deltas``) are those of unlike mechanisms, ``plan`` is
        that of each of them; ``epsilon`` is then the unit of ``allowance``. ``classes`` is
        the number of labels, 2 if left out. So many ``answers`` are priced at ``delta``. ``prior``, a pair, has
        the error minimised on so many ``samples`` of vote probabilities between the two.
        """
        r = self.request(
            "majority",
            **given(
                mechanisms=mechanisms, epsilon=epsilon, allowance=allowance, delta_each=delta_each,
                output_delta=output_delta, gamma=gamma, objective=objective, prior_mean=prior_mean,
                prior=None if prior is None else list(prior), samples=samples, monotone=monotone, disjoint_shards=disjoint_shards,
                voter_epsilons=voter_epsilons, voter_deltas=voter_deltas,
                plan=None if plan is None else plan_of(plan),
                classes=classes, answers=answers, delta=delta,
                **limits,
            ),
        )
        return Majority(
            gamma=tuple(r["gamma"]), objective=r["objective"], certified=r["certified"],
            max_f=r["max-f"], budget_f=r["budget-f"], error=dict(r["error"]),
            attained_f=r["attained-f"],
            epsilon_lower=r.get("epsilon-lower"), epsilon_upper=r.get("epsilon-upper"),
        )

    @each("delta")
    def pate(
        self, votes: Sequence[Sequence[int]], mechanism: str, *, delta: float, **options: Any
    ) -> PateCost:
        """What labelling by the noisy votes of teachers cost.

        ``votes`` has a row per query and a column per class. ``options`` are the keys of
        the request ``pate`` in docs/reference/cli.md: ``sigma2=40``, ``report="independent"``.
        """
        r = self.request("pate", votes=rows_of(votes), mechanism=mechanism, delta=delta, **given(**options))
        return PateCost(
            epsilon=r["epsilon"],
            delta=r["delta"],
            order=r["order"],
            report=r["report"],
            bound=r["bound"],
            guarantee=r["guarantee"],
            data_independent_epsilon=r["data-independent-epsilon"],
            answered=r["answered"],
            orders=tuple(r["orders"]),
            rdp=tuple(r["rdp"]),
            price=r["price"],
            exact=r.get("exact-epsilon"),
        )

    def pate_smooth(
        self,
        votes: Sequence[Sequence[int]],
        mechanism: str,
        *,
        delta: float,
        order: float,
        beta: float,
        sigma_ss: Optional[float] = None,
        **options: Any,
    ) -> SanitizedCost:
        """Sanitize the cost of votes. Every call publishes anew: make it once.

        ``options`` are as for ``pate``; ``private=True`` adds what must not be published.
        """
        r = self.request(
            "pate-smooth", votes=rows_of(votes), mechanism=mechanism, delta=delta, order=order, beta=beta,
            **given(sigma_ss=sigma_ss, **options),
        )
        return SanitizedCost(r["sanitized-epsilon"], r.get("why-none", ""), r.get("not-safe-to-publish"))

    def pate_calibrate(
        self,
        votes: Sequence[Sequence[int]],
        mechanism: str,
        *,
        epsilon: float,
        delta: float,
        publish: bool = False,
        **options: Any,
    ) -> PateParameters:
        """Threshold and noise for a target ``epsilon``, on votes that are synthetic or public.

        With ``publish`` also the order, β and noise of ``pate_publish``. ``options`` are ``threshold``, ``sigma1``,
        ``max_answers``, ``report`` (joint, worst or independent), ``queries``, ``teachers`` and ``confidence``.
        """
        r = self.request(
            "pate-calibrate", votes=rows_of(votes), mechanism=mechanism, epsilon=epsilon, delta=delta,
            **given(publish=publish or None, **options),
        )
        p = r.get("publish")
        return PateParameters(
            r.get("threshold"), r.get("sigma1"), r["sigma2"], r["epsilon"], r["data-independent-epsilon"], r["expected-answers"],
            r["expected-correct"], None if p is None else {k: v for k, v in p.items() if k != "median-epsilon"},
            None if p is None else p["median-epsilon"], r["condition"],
        )

    def pate_publish(
        self,
        votes: Sequence[Sequence[int]],
        mechanism: str,
        *,
        delta: float,
        order: float,
        beta: float,
        noise: float,
        confidence: Optional[float] = None,
        **options: Any,
    ) -> PublishedCost:
        """Publish an upper bound on the cost of votes. Every call publishes anew: make it once.

        ``order``, ``beta``, ``noise``, ``confidence`` and ``delta`` must have been fixed
        without looking at the votes. ``options`` are as for ``pate``; ``private=True`` adds
        what must not be published.
        """
        r = self.request(
            "pate-publish", votes=rows_of(votes), mechanism=mechanism, delta=delta, order=order, beta=beta,
            noise=noise, **given(confidence=confidence, **options),
        )
        return PublishedCost(r["published-epsilon"], r["confidence"], r["statement"], r.get("not-safe-to-publish"))

    @each("epsilon")
    def label(
        self,
        epsilon: float,
        labels: Optional[Sequence[float]] = None,
        weights: Optional[Sequence[float]] = None,
        *,
        grid: Optional[int] = None,
        bias: Optional[float] = None,
        classes: Optional[Sequence[str]] = None,
        groups: Optional[Mapping[str, Sequence[float]]] = None,
        **limits: float,
    ) -> LabelRandomizer:
        """The optimal unbiased randomizer of private labels with a public prior.

        ``classes`` stand for ``labels`` that are names: the randomizer then keeps as many
        as it can. ``groups`` has weights for each group of examples, in place of ``weights``.
        """
        r = self.request(
            "label",
            epsilon=epsilon,
            **given(
                labels=None if labels is None else list(labels),
                weights=None if weights is None else list(weights),
                grid=grid,
                bias=bias,
                classes=None if classes is None else list(classes),
                groups=None if groups is None else [{"name": k, "weights": list(v)} for k, v in groups.items()],
                **limits,
            ),
        )
        return LabelRandomizer(
            epsilon=r["epsilon"],
            labels=tuple(r["labels"]),
            prior=tuple(r["prior"]),
            outputs=tuple(r["outputs"]),
            probabilities=tuple(tuple(row) for row in r["probabilities"]),
            loss=dict(r["loss"]),
            gap=r["gap"],
            kept=dict(r.get("kept", {})),
            grouped_loss=r.get("grouped-loss"),
            groups=tuple(
                LabelGroup(
                    g["name"], g["share"], g["loss"], tuple(g["outputs"]), tuple(tuple(row) for row in g["probabilities"])
                )
                for g in r.get("groups", ())
            ),
        )
