"""The client: a method for every question."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union, overload

from ._errors import InputError
from ._read import (
    PlanLike, calibration_of, each, given, interval_of, number_of, numbers_of, plan_of, risk_of, status_of,
)
from ._query import Queries
from ._runs import Runs
from ._systems import Systems
from .answers import (
    Audit, Calibration, Comparison, Curve, CurvePoint, GaussianDP, Interval, LedgerStatus, Profile,
    ProfilePoint, Risk, SamplingScheme, Topic, Training,
)
from .ledger import Ledger
from .menu import Menu


class Accountant(Systems, Queries, Runs):
    """A running ``accountant serve --stdio``; close it, or use it in ``with``.

    ``binary`` is the program. By default it is what the environment variable
    ``ACCOUNTANT`` names, else the one that came with this package, else
    ``accountant`` on the path. It may be used by several threads; their requests
    wait for each other. It belongs to the process that made it: after a fork the
    child makes one of its own, or asks ``shared()``.

    ``timeout`` is how many seconds an answer may take; NoAnswerError is raised
    then.

    What computes takes ``limits`` by name: ``accuracy`` (the relative width that an interval may have), ``memory`` in MB, ``work`` and
    ``time_limit`` in seconds. At a limit an interval is wider, and has a warning; what has no interval raises NoAnswerError or InputError.
    Where a method takes a δ, an ε, a μ or a tolerance, a list or an array of them is answered by a list.
    """

    def version(self) -> str:
        """The version of the program."""
        return str(self.request("version")["version"])

    @overload
    def epsilon(self, plan: PlanLike, delta: float, *, recursion: int = 0, **limits: float) -> Interval: ...

    @overload
    def epsilon(self, plan: PlanLike, delta: Sequence[float], *, recursion: int = 0, **limits: float) -> List[Interval]: ...

    def epsilon(self, plan: PlanLike, delta: Any, *, recursion: int = 0, **limits: float) -> Any:
        """The smallest ε for which the plan is (ε, δ)-differentially private: for a list or an array of δ, a list.

        δ is in (0, 1). ``recursion`` narrows the theory gap of samples of a fixed size where a mechanism runs at most that
        many times; it takes seconds for 1000. ``limits`` are ``accuracy`` (the relative width that an interval may have),
        ``memory`` in MB, ``work`` and ``time_limit`` in seconds: at a limit the interval is wider, and has a warning.
        InputError names what is wrong.

            accountant.epsilon(Plan(Gaussian(1.1).poisson(0.004) * 1000), 1e-5).upper
        """
        return self._intervals("epsilon", plan, "delta", delta, recursion, limits)

    def _intervals(self, op: str, plan: PlanLike, at: str, xs: Any, recursion: int, limits: Mapping[str, float]) -> Any:
        several = numbers_of(xs)
        if several == []:
            raise InputError(f"{at}: is an empty list, must be a number or a list of them")
        arguments: Dict[str, Any] = dict(plan=plan_of(plan), recursion=recursion, **given(**limits))
        if several is None:
            arguments[at] = xs
            return interval_of(self.request(op, **arguments)["results"][0], op)
        # An answer is in the order of the question, whatever it repeats.
        return [interval_of(self.request(op, **{**arguments, at: x})["results"][0], op) for x in several]

    @each("delta")
    def certificate(self, plan: PlanLike, delta: float, **limits: float) -> str:
        """A text with which another program can prove the answer of ``epsilon``.

        ``docs/reference/certificates.md`` has its form; ``verify/src`` is such a program.
        """
        result = self.request("epsilon", plan=plan_of(plan), delta=delta, certificate=True, **given(**limits))
        return str(result["certificate"])

    @overload
    def delta(self, plan: PlanLike, epsilon: float, *, recursion: int = 0, **limits: float) -> Interval: ...

    @overload
    def delta(self, plan: PlanLike, epsilon: Sequence[float], *, recursion: int = 0, **limits: float) -> List[Interval]: ...

    def delta(self, plan: PlanLike, epsilon: Any, *, recursion: int = 0, **limits: float) -> Any:
        """The smallest δ for which the plan is (ε, δ)-differentially private: for a list or an array of ε, a list.

        ε is at least 0. ``recursion`` and ``limits`` are as for ``epsilon``.
        """
        return self._intervals("delta", plan, "epsilon", epsilon, recursion, limits)

    def risk(
        self,
        plan: PlanLike,
        false_positives: Optional[Sequence[float]] = None,
        priors: Optional[Sequence[float]] = None,
        **limits: float,
    ) -> Risk:
        """What the best attacker can do, at false-positive rates and priors.

        The defaults are 0.1 %, 1 % and 10 %, and priors of 50 %, 10 % and 1 %.
        """
        result = self.request(
            "risk",
            plan=plan_of(plan),
            **given(
                false_positives=None if false_positives is None else list(false_positives),
                priors=None if priors is None else list(priors),
                **limits,
            ),
        )
        return Risk(
            advantage=risk_of(result["advantage"], 0.0),
            true_positive_rate=tuple(
                risk_of(r, float(r["false-positive-rate"])) for r in result["true-positive-rate"]
            ),
            bayes_success=tuple(risk_of(r, float(r["prior"])) for r in result["bayes-success"]),
            theory_gap=bool(result.get("theory-gap", False)),
            warnings=tuple(result.get("warnings", ())),
        )

    @each("delta")
    def curve(
        self,
        plan: PlanLike,
        kind: str = "delta",
        *,
        points: Optional[int] = None,
        delta: Optional[float] = None,
        log: bool = False,
        from_: Optional[float] = None,
        to: Optional[float] = None,
        min_delta: Optional[float] = None,
        **limits: float,
    ) -> Curve:
        """A curve as numbers: δ against ε ("delta"), ε at ``delta`` against the
        length of the plan ("steps"), or the error rates of the best attacker
        ("trade-off"; with ``log`` the true-positive rate).
        """
        result = self.request(
            "curve",
            plan=plan_of(plan),
            kind=kind,
            **given(points=points, delta=delta, log=log or None, from_=from_, to=to, min_delta=min_delta, **limits),
        )
        curve = result["curves"][0]
        return Curve(
            kind=result["kind"],
            x=result["x"],
            y=result["y"],
            points=tuple(
                CurvePoint(
                    x=float(p["x"]),
                    lower=float(p["lower"]),
                    estimate=float(p["estimate"]),
                    upper=float(p["upper"]),
                    worst_direction=p["worst-direction"],
                )
                for p in curve["points"]
            ),
            warnings=tuple(curve.get("warnings", ())),
        )

    @each("epsilon", "delta")
    def calibrate(
        self,
        plan: PlanLike,
        *,
        epsilon: Optional[float] = None,
        delta: Optional[float] = None,
        solve: str = "noise-multiplier",
        step: str = "",
        examples: Optional[int] = None,
        accuracy: Optional[float] = None,
        recursion: int = 0,
        target_advantage: Optional[float] = None,
        target_tpr: Optional[float] = None,
        at_fpr: Optional[float] = None,
        **limits: float,
    ) -> Calibration:
        """The smallest noise multiplier, or the largest count, rate or batch, that
        meets a budget. Raises InfeasibleError when no value does. ``recursion`` is
        as for ``epsilon``, and takes its seconds a dozen times.

        The budget is ``epsilon`` at ``delta``, or a limit for membership inference:
        ``target_advantage`` for the true-positive rate minus the false-positive rate
        of every attack, or ``target_tpr`` for the true-positive rate of every attack
        with the false-positive rate ``at_fpr``.
        """
        result = self.request(
            "calibrate",
            plan=plan_of(plan),
            solve=solve,
            recursion=recursion,
            **given(
                epsilon=epsilon, delta=delta, target_advantage=target_advantage, target_tpr=target_tpr,
                at_fpr=at_fpr, step=step or None, examples=examples, accuracy=accuracy,
                **limits,
            ),
        )
        return calibration_of(result)

    @each("delta")
    def compare(self, plan: PlanLike, delta: float, *, recursion: int = 0, **limits: float) -> Sequence[Comparison]:
        """ε by the methods of the literature, the Fourier accountant last.

        ``recursion`` is as for ``epsilon``.
        """
        return tuple(
            Comparison(
                method=m["method"],
                kind=m["kind"],
                epsilon=float(m["epsilon"]) if "epsilon" in m else None,
                theorem=m["theorem"],
                lower=float(m["lower"]) if "lower" in m else None,
                note=m.get("note", ""),
            )
            for m in self.request("compare", plan=plan_of(plan), delta=delta, recursion=recursion, **given(**limits))["methods"]
        )

    def draw(
        self, sampling: Mapping[str, Any], population: int, *, batches: Optional[int] = None, test_seed: Optional[int] = None
    ) -> List[List[int]]:
        """The first batches of a run, as lists of indices; ``Sampler`` iterates over a whole one.

        ``sampling`` is that of a step in a plan. Where it has epochs, ``batches`` is a multiple of an epoch's,
        which is the default. ``test_seed`` makes the same batches again, for tests. Servers do not draw.
        """
        drawn: List[List[int]] = self.request(
            "draw", sampling=dict(sampling), population=population, **given(batches=batches, test_seed=test_seed)
        )["batches"]
        return drawn

    def plan_convert(self, plan: PlanLike, *, to: Optional[str] = None) -> str:
        """The text of a plan as ``steps`` or as ``events`` of dp_accounting, the other one by default."""
        return str(self.request("plan-convert", plan=plan_of(plan), to=to)["text"])

    @each("tolerance")
    def gdp(self, plan: PlanLike, *, tolerance: Optional[float] = None, **limits: float) -> GaussianDP:
        """The μ of Gaussian differential privacy at a tolerance, by default 1e-10."""
        answer = self.request("gdp", plan=plan_of(plan), tolerance=tolerance, **given(**limits))
        return GaussianDP(
            tolerance=float(answer["tolerance"]),
            lower=float(answer["mu"]["lower"]),
            upper=float(answer["mu"]["upper"]),
            regret=float(answer["regret"]["upper"]),
            warnings=tuple(answer.get("warnings", ())),
        )

    @each("mu", "zcdp")
    def gdp_solve(
        self,
        plan: PlanLike,
        *,
        solve: str,
        mu: Optional[float] = None,
        zcdp: Optional[float] = None,
        tolerance: Optional[float] = None,
        step: Optional[str] = None,
        examples: Optional[int] = None,
        **limits: float,
    ) -> float:
        """The value of ``solve`` with which the plan meets a budget in μ, or in ρ of zCDP."""
        return float(
            self.request(
                "gdp-solve",
                plan=plan_of(plan),
                solve=solve,
                mu=mu,
                zcdp=zcdp,
                tolerance=tolerance,
                step=step,
                examples=examples,
                **given(**limits),
            )["value"]
        )

    def filter(self, menu: Mapping[str, Any], *, units: Optional[int] = None, **limits: float) -> Menu:
        """The price of picking each step from a menu by the results so far; see ``Menu``."""
        return Menu(self, menu, units=units, **limits)

    def audit(
        self,
        *,
        design: str,
        members: Sequence[float],
        non_members: Sequence[float],
        delta: float,
        confidence: Optional[float] = None,
        threshold: Optional[float] = None,
        guesses: Optional[int] = None,
        family: Optional[str] = None,
        plan: Optional[PlanLike] = None,
        **limits: float,
    ) -> Audit:
        """What an attack's scores prove; ``design`` is ``many-runs`` or ``one-run``.

        With ``family="gaussian"`` the mechanism is declared to be Gaussian, and ε is what the bound of μ means for it.
        """
        answer = self.request(
            "audit",
            design=design,
            members=list(members),
            **{"non-members": list(non_members)},
            delta=delta,
            confidence=confidence,
            threshold=threshold,
            guesses=guesses,
            family=family,
            plan=None if plan is None else plan_of(plan),
            **given(**limits),
        )
        claim = answer.get("claim")
        return Audit(
            design=answer["design"],
            confidence=float(answer["confidence"]),
            delta=float(answer["delta"]),
            epsilon=float(answer["epsilon"]["lower"]),
            mu=float(answer["mu"]["lower"]),
            consistent=None if claim is None else claim["consistent"],
            reason="" if claim is None else claim["reason"],
        )

    @each("target_epsilon")
    def dpsgd(
        self,
        *,
        delta: Union[float, Sequence[float]],
        examples: Optional[int] = None,
        batch_size: Optional[int] = None,
        sampling_rate: Optional[float] = None,
        epochs: Optional[float] = None,
        steps: Optional[int] = None,
        noise_multiplier: Optional[float] = None,
        target_epsilon: Optional[float] = None,
        target_advantage: Optional[float] = None,
        target_tpr: Optional[float] = None,
        at_fpr: Optional[float] = None,
        neighbors: Optional[str] = None,
        batching: Optional[str] = None,
        cap: Optional[int] = None,
        records_per_person: Optional[int] = None,
        **limits: float,
    ) -> Training:
        """The ε of training with DP-SGD, and what that promises in plain words.

        ``batching`` is poisson, random-allocation, shuffle, truncated-poisson (with a
        ``cap``), without-replacement or fixed-order. Batches are given by ``examples`` and ``batch_size`` or by ``sampling_rate``, the
        length by ``epochs`` or ``steps``; ``target_epsilon`` finds the noise, and so do the limits
        for membership inference that ``calibrate`` has.
        ``neighbors`` is add-remove, substitute or zero-out.
        """
        result = self.request(
            "dpsgd",
            **given(
                delta=delta, examples=examples, batch_size=batch_size, sampling_rate=sampling_rate,
                epochs=epochs, steps=steps, noise_multiplier=noise_multiplier,
                target_epsilon=target_epsilon, target_advantage=target_advantage, target_tpr=target_tpr,
                at_fpr=at_fpr, neighbors=neighbors, batching=batching, cap=cap,
                records_per_person=records_per_person,
                **limits,
            ),
        )
        found = result.get("calibration")
        return Training(
            neighbors=result["neighbors"],
            sampling_rate=float(result["sampling-rate"]),
            steps=result["steps"],
            noise_multiplier=float(result["noise-multiplier"]),
            deltas=tuple(float(r["delta"]) for r in result["results"]),
            epsilons=tuple(interval_of(r, "epsilon") for r in result["results"]),
            any_order=tuple(interval_of(r, "epsilon") for r in result["any-order"]["results"]),
            uses_per_example=result["any-order"]["uses-per-example"],
            statement=result["statement"],
            calibration=None if found is None else calibration_of(found),
            batching=result["batching"],
        )

    def profile(
        self,
        mechanism: str,
        *,
        at: Optional[Sequence[float]] = None,
        sampling_rate: Optional[float] = None,
        neighbors: Optional[str] = None,
        min_delta: Optional[float] = None,
        **parameters: Any,
    ) -> Profile:
        """δ at every ε of one run of a mechanism, in each direction.

        ``parameters`` are those of plan files, ``noise_multiplier=1``, and the limits
        ``accuracy``, ``memory`` (MB), ``work`` and ``time_limit`` (seconds).
        """
        options = given(
            at=at, sampling_rate=sampling_rate, neighbors=neighbors, min_delta=min_delta, **parameters
        )
        result = self.request("profile", mechanism=mechanism, **options)
        points = []
        for row in result["results"]:
            for d in row["directions"]:
                bounds = d["delta"]
                points.append(
                    ProfilePoint(
                        epsilon=float(row["epsilon"]),
                        direction=d["direction"],
                        lower=float(bounds["lower"]),
                        estimate=float(bounds["estimate"]),
                        upper=float(bounds["upper"]),
                        attack=float(d["attack"]["lower"]) if "attack" in d else None,
                    )
                )
        return Profile(result["mechanism"], result["neighbors"], tuple(points))

    @each("delta", "target_epsilon")
    def sampling(
        self,
        *,
        population: int,
        batch: int,
        noise_multiplier: float,
        subset: Optional[int] = None,
        mechanism: Optional[str] = None,
        epsilon: Optional[float] = None,
        steps: Optional[int] = None,
        delta: Optional[float] = None,
        recursion: Optional[int] = None,
        epochs: Optional[float] = None,
        neighbors: Optional[str] = None,
        target_epsilon: Optional[float] = None,
        cap: Optional[int] = None,
        **limits: float,
    ) -> Sequence[SamplingScheme]:
        """The sampling schemes side by side for one mechanism, under substitution.

        With ``epochs``, all ways to draw batches for so many epochs, under ``neighbors``
        (zero-out if not given), with the noise that each needs for ``target_epsilon``
        (that of Poisson sampling if not given).
        """
        result = self.request(
            "sampling",
            **given(
                population=population, batch=batch, noise_multiplier=noise_multiplier, subset=subset,
                mechanism=mechanism, epsilon=epsilon, steps=steps, delta=delta, recursion=recursion,
                epochs=epochs, neighbors=neighbors, target_epsilon=target_epsilon, cap=cap,
                **limits,
            ),
        )
        schemes = []
        for s in result["schemes"]:
            ends = s.get("epsilon", {})
            schemes.append(
                SamplingScheme(
                    scheme=s["scheme"],
                    not_applicable=s.get("not-applicable", ""),
                    eta=number_of(s.get("eta")),
                    expected_distinct=number_of(s.get("expected-distinct")),
                    kind=s.get("kind", ""),
                    lower=number_of(ends.get("lower")),
                    upper=number_of(ends.get("upper")),
                    theory_gap=bool(s.get("theory-gap", False)),
                    warnings=tuple(s.get("warnings", ())),
                    noise_needed=number_of(s.get("noise-needed")),
                )
            )
        return tuple(schemes)

    def plan_check(self, plan: PlanLike) -> Mapping[str, Any]:
        """Read a plan without computing privacy: its relation, steps and runs."""
        return dict(self.request("plan-check", plan=plan_of(plan)))

    @each("delta")
    def diff(self, old: PlanLike, new: PlanLike, *, delta: float, **limits: float) -> Mapping[str, Any]:
        """What tells two plans apart, ε of each, and the difference (``more``)."""
        return dict(self.request("diff", old=plan_of(old), new=plan_of(new), delta=delta, **given(**limits)))

    def shuffle(self, **options: Any) -> Mapping[str, Any]:
        """What local randomizers behind a shuffler cost: ``options`` are the keys of the request ``shuffle`` in docs/reference/cli.md."""
        return dict(self.request("shuffle", **given(**options)))

    def explain(self, topic: str) -> Topic:
        """What a term of the answers means, or what a theorem says."""
        r = self.request("explain", topic=topic)
        return Topic(r["topic"], r["title"], r["text"], tuple(r.get("also", ())))

    def topics(self) -> Sequence[Topic]:
        """Everything that ``explain`` knows."""
        return tuple(
            Topic(r["topic"], r["title"], r["text"], tuple(r.get("also", ()))) for r in self.request("explain")
        )

    def create_ledger(
        self,
        path: Optional[Union[str, "os.PathLike[str]"]] = None,
        *,
        neighbors: Optional[str] = None,
        epsilon: Optional[float] = None,
        delta: Optional[float] = None,
        mode: str,
        records_per_person: Optional[int] = None,
        menu: Optional[Mapping[str, Any]] = None,
    ) -> "Ledger":
        """Make a ledger file, or a ledger in memory if there is no path.

        ``mode`` is "planned", or "adaptive" if steps depend on earlier outputs;
        ``records_per_person`` makes persons with so many records the unit. With "adaptive-menu" steps are of the
        types of ``menu``, which has the relation, the unit and the budget.
        """
        result = self.request(
            "ledger-create",
            mode=mode,
            **given(neighbors=neighbors, epsilon=epsilon, delta=delta, records_per_person=records_per_person, menu=menu, path=None if path is None else self._path(path)),
        )
        return Ledger(self, result["ledger"])

    def open_ledger(self, path: Union[str, "os.PathLike[str]"]) -> "Ledger":
        """Open a ledger file; other processes may use it at the same time."""
        return Ledger(self, self.request("ledger-open", path=self._path(path))["ledger"])

    def log_ledger(self, path: Union[str, "os.PathLike[str]"]) -> Sequence[Mapping[str, Any]]:
        """What was spent in a ledger file, oldest first: time, note, runs, plan and head."""
        return tuple(self.request("ledger-log", path=self._path(path))["entries"])

    def check_ledger(
        self, path: Union[str, "os.PathLike[str]"], head: str = "", **limits: float
    ) -> LedgerStatus:
        """Verify every checksum of a ledger file and recompute the total.

        ``head`` is a ``LedgerStatus.head`` of earlier that must still be there, ``limits`` are as for ``Ledger``.
        """
        return status_of(self.request("ledger-check", path=self._path(path), head=head, **given(**limits)))
