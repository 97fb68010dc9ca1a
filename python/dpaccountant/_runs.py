"""Running what is priced: releases, labels of teachers, private labels, searches, correlated noise."""

from __future__ import annotations

import math
from typing import (
    TYPE_CHECKING, Any, Callable, Dict, Generic, Iterable, List, Mapping, Optional, Sequence, Tuple, TypeVar,
)

from ._operations import Operations
from ._errors import BudgetError, InputError
from ._read import PlanLike, given, listed, plan_of
from .answers import Found, PateLabels

if TYPE_CHECKING:
    from .ledger import Ledger

T = TypeVar("T")
Law = Mapping[str, Any]
Trial = Callable[[], Tuple[T, float]]
Seed = Optional[int]

_LARGEST = 1.7976931348623157e308  # JSON has no infinity


def _score(x: Any) -> float:
    """A score as JSON has it: NaN ranks lowest, as in the library."""
    value = float(x)
    return -_LARGEST if math.isnan(value) else max(-_LARGEST, min(_LARGEST, value))


def _list(values: Any) -> List[Any]:
    found = listed(values)
    if not isinstance(found, list):
        raise InputError(f"values: {type(values).__name__} is not a list, an array or a Series")
    return found


class AdaptiveSearch(Generic[T]):
    """A search that shows up to ``hits`` outcomes, of any number of private calls chosen in the light of what was shown.

    ``epsilon`` is what it costs, at ``delta``, where the ε of a call was declared. It is closed when it is spent.
    """

    def __init__(self, accountant: Operations, hits: int, answer: Mapping[str, Any]) -> None:
        self._accountant, self._run = accountant, answer["run"]
        self.left = hits
        self.epsilon: Optional[float] = answer.get("epsilon")
        self.delta: Optional[float] = answer.get("delta")

    def attempt(self, trial: Trial[T], threshold: float) -> Optional[Found[T]]:
        """Run ``trial`` once: its outcome and score if the score is at least ``threshold``, else None.

        ``trial`` returns (outcome, score). BudgetError is raised once all hits are shown.
        """
        if self.left == 0:
            raise BudgetError("run: all outcomes that are paid for have been shown")
        try:
            payload, score = _outcome(trial())
        except BaseException:
            # That a call has failed may tell of the data: nothing is shown any more.
            self.left = 0
            self.close()
            raise
        answer = self._accountant.request("run-next", run=self._run, score=_score(score), threshold=_score(threshold))
        self.left = int(answer["left"])
        if self.left == 0:
            self.close()
        return Found(payload, float(score)) if answer.get("found") else None

    def close(self) -> None:
        """End the search."""
        if self._run:
            self._accountant.request("run-close", run=self._run)
            self._run = ""


class NoiseStream:
    """One run of a matrix mechanism: sums of clipped contributions in, the same with correlated noise out."""

    def __init__(self, accountant: Operations, run: str) -> None:
        self._accountant, self._run = accountant, run

    def step(self, x: Any) -> Any:
        """Do a step: ``x``, shape (dimension,), is the sum of contributions, each of norm at most the clip.

        What is returned, in the units of ``x``, may be published: an array for an array, else a list.
        """
        values = self._accountant.request("run-next", run=self._run, x=[float(v) for v in _list(x)])["values"]
        return like(x, values)

    def close(self) -> None:
        """Forget the run, of which the program keeps some vectors."""
        self._accountant.request("run-close", run=self._run)


def like(column: Any, values: Sequence[Any]) -> Any:
    """Values as what the column is: a Series of pandas with its index, an array of numpy, or a list."""
    if hasattr(column, "index") and hasattr(column, "to_numpy"):
        return type(column)(list(values), index=column.index, name=column.name)
    if hasattr(column, "__array__"):
        import numpy

        return numpy.asarray(values)
    return list(values)


class Runs(Operations):
    """What an Accountant runs, with exact noise of the operating system's randomness.

    Where a ``ledger`` is given, its price is spent before anything is shown, and BudgetError is raised if that does not
    fit; ``note`` goes with it. The ledger may be one of a server. ``test_seed`` makes the same noise again: for tests, as it
    protects nobody. InputError names what is wrong.
    """

    def _paid(self, op: str, *, ledger: Optional["Ledger"] = None, note: str = "", **options: Any) -> Any:
        """The answer of an operation that runs something, spent from the ledger, which may be another accountant's."""
        request = given(**options)
        if ledger is None:
            return self.request(op, **request)
        if ledger._accountant is self:
            return self.request(op, ledger=ledger._name, note=note, **request)
        ledger.spend(self.request(op, charge=ledger.status().neighbors, **request)["charge"], note=note)
        return self.request(op, **request)

    def release(
        self,
        mechanism: PlanLike,
        values: Any,
        *,
        sensitivity: Optional[float] = None,
        monotone: bool = False,
        ledger: Optional["Ledger"] = None,
        note: str = "",
        test_seed: Seed = None,
    ) -> Any:
        """Run a mechanism once: a Step, the ``mechanism`` of one as plans have it, or a plan of one step, which may be a file.

        exponential, permute-and-flip, noisy-max: ``values`` are scores, one of which neighbours change by at most
        ``sensitivity`` (1 if not given); the index of the chosen one is returned. gaussian, laplace: numbers, which change
        together by at most ``sensitivity`` in L2 or L1 norm, in their own unit; numbers of the same shape (n,) are returned.
        A plan with a standard deviation has the bounds of contributions, and takes no sensitivity.
        discrete-gaussian, discrete-laplace, skellam, summed-noise: whole numbers, of the sensitivity that the mechanism
        names. randomized-response, k-rr: the category of each record, from 0. threshold, select-partitions: the number of persons of each key, as a
        list or as a mapping of keys; None for a key that is not shown, or a mapping of the keys that are.

            accountant.release(Gaussian(2), [310.0, 295.0], sensitivity=1)
            accountant.release({"permute-and-flip": {"epsilon": 0.2}}, {"home": 310, "news": 295})
        """
        keys = list(values) if isinstance(values, Mapping) else None
        numbers = [float(v) for v in (values.values() if keys is not None else _list(values))]
        answer = self._paid(
            "release", values=numbers, monotone=monotone, sensitivity=sensitivity, **_what(mechanism), ledger=ledger, note=note, test_seed=test_seed
        )
        if "chosen" in answer:
            return keys[answer["chosen"]] if keys is not None else int(answer["chosen"])
        if keys is not None:
            return {key: value for key, value in zip(keys, answer["values"]) if value is not None}
        return list(answer["values"]) if None in answer["values"] else like(values, answer["values"])

    def majority_release(
        self,
        mechanism: Mapping[str, Any],
        queries: Any,
        **paid: Any,
    ) -> List[int]:
        """The private majority of the votes, for each query: ``mechanism`` are the parameters of majority in a plan.

        ``queries`` has shape (queries, mechanisms), of 0 and 1 or of classes; at most ``answers`` of the mechanism.

            accountant.majority_release({"mechanisms": 3, "epsilon": 0.1, "allowance": 3}, [[1, 1, 0]])
        """
        rows = [[int(v) for v in row] for row in _list(queries)]
        step = {"majority": dict(mechanism)}
        return list(self._paid("release", mechanism=step, queries=rows, **paid)["answers"])

    def pate_answer(
        self,
        votes: Any,
        mechanism: str,
        **options: Any,
    ) -> PateLabels:
        """Noisy labels from the votes of teachers, shape (queries, classes).

        ``mechanism`` is gnmax (``sigma2``), lnmax (``gamma``), confident (``threshold``, ``sigma1``, ``sigma2``) or
        interactive (these, ``baseline`` of shape (queries, classes) and ``confidence``); ``max_answers`` ends it. Labels
        are -1 where there is none. What they cost: ``pate(…, answered=labels.answered)``. A ledger is charged what
        holds for all votes, of ``max_answers`` answers or of all.

            accountant.pate_answer([[98, 2], [51, 49]], "confident", threshold=80, sigma1=10, sigma2=5).labels
        """
        rows = [[int(v) for v in row] for row in _list(votes)]
        if "baseline" in options:
            options["baseline"] = [[float(v) for v in row] for row in _list(options["baseline"])]
        r = self._paid("pate-answer", votes=rows, mechanism=mechanism, **options)
        return PateLabels(tuple(r["labels"]), tuple(r["answered"]))

    def label_apply(
        self,
        column: Any,
        epsilon: float,
        labels: Sequence[Any],
        *,
        weights: Optional[Sequence[float]] = None,
        prior_epsilon: Optional[float] = None,
        floor: Optional[float] = None,
        groups: Any = None,
        ledger: Optional["Ledger"] = None,
        note: str = "",
        test_seed: Seed = None,
    ) -> Any:
        """Private labels for a column, shape (n,): a list, an array of numpy or a Series of pandas, and the same comes back.

        ``labels`` is the public set. With the public prior ``weights`` all of ε goes to the labels, else a part of it,
        ``prior_epsilon``, estimates the prior, of each of ``groups`` (public, shape (n,)). Labels that are texts are
        classes, which are kept as often as can be and need ``weights``. A ledger must be under substitute.

            accountant.label_apply([1, 2, 2, 3], 2.0, [1, 2, 3], weights=[1, 1, 1])
        """
        classes = any(isinstance(label, str) for label in labels)
        numbers: Dict[Any, int] = {label: i for i, label in enumerate(labels)}
        rows = _list(column)
        if classes:
            for i, row in enumerate(rows):
                if row not in numbers:
                    raise InputError(f"column[{i}]: is not one of the labels")
            rows = [numbers[row] for row in rows]
        kinds: Dict[Any, int] = {}
        grouped = None if groups is None else [kinds.setdefault(g, len(kinds)) for g in _list(groups)]
        answer = self._paid(
            "label-apply", column=rows, epsilon=epsilon, labels=list(range(len(labels))) if classes else _list(labels),
            weights=None if weights is None else _list(weights), prior_epsilon=prior_epsilon, floor=floor, groups=grouped,
            classes=classes or None, ledger=ledger, note=note, test_seed=test_seed,
        )["column"]
        return like(column, [labels[int(i)] for i in answer] if classes else answer)

    def best_of(self, law: Law, trial: Trial[T], *, padding: bool = False, **options: Any) -> Optional[Found[T]]:
        """The outcome of the highest score among K private runs, K drawn from ``law``, ``{"law": "geometric", "mean": 10}``.

        ``trial()`` is one run and returns (outcome, score). None if there was no run. How often it runs is secret: with
        ``padding`` that is always as often as the law allows. ``candidate`` is the plan of one run, or
        ``candidate_epsilon`` and ``candidate_delta`` its guarantee: what a ``ledger`` is charged by.

            accountant.best_of({"law": "geometric", "mean": 10}, lambda: ("model", 0.95))
        """
        return _one(self._search("best", 1, law, trial, padding=padding or None, **options))

    def first_above(
        self, law: Law, threshold: float, trial: Trial[T], *, padding: bool = False, **options: Any
    ) -> Optional[Found[T]]:
        """The first outcome whose score is at least ``threshold``, among K runs as in ``best_of``; None if there is none.

        ``law`` is geometric, and ``threshold`` does not depend on the data. A ledger needs ``candidate_epsilon``.

            accountant.first_above({"law": "geometric", "mean": 10}, 0.9, lambda: ("model", 0.95))
        """
        return _one(self._search("first-above", 1, law, trial, threshold=_score(threshold), padding=padding or None, **options))

    def top_of(self, law: Law, m: int, trial: Trial[T], **options: Any) -> List[Found[T]]:
        """The m outcomes of the highest scores among K runs, as in ``best_of``, best first. A ledger needs ``candidate_epsilon``.

            accountant.top_of({"law": "geometric", "mean": 10}, 2, lambda: ("model", 0.95))
        """
        return self._search("top", m, law, trial, top=m, **options)

    def sparse_vector(
        self,
        probabilities: Iterable[float],
        *,
        percentile: float,
        candidate_epsilon: float,
        epsilon: float,
        queries: int,
        **paid: Any,
    ) -> Optional[int]:
        """The index of the first of at most ``queries`` mechanisms that reaches ``percentile``, or None; ``epsilon`` in all.

        ``probabilities`` gives, one by one, with what probability each ``candidate_epsilon``-DP mechanism reaches its threshold.

            accountant.sparse_vector([0.1, 0.2, 0.9], percentile=0.5, candidate_epsilon=0.1, epsilon=1.0, queries=3)
        """
        run = self._paid(
            "run-open", kind="sparse-vector", percentile=percentile, candidate_epsilon=candidate_epsilon, epsilon=epsilon, queries=queries, **paid
        )
        found = self._play(run["run"], ((None, p) for p in probabilities))[1]
        return found[0] if found else None

    def adaptive_search(
        self,
        hits: int,
        *,
        candidate_epsilon: Optional[float] = None,
        delta: Optional[float] = None,
        **paid: Any,
    ) -> "AdaptiveSearch[Any]":
        """A search that shows ``hits`` outcomes of ``candidate_epsilon``-DP calls, priced at ``delta``.

            accountant.adaptive_search(1, candidate_epsilon=0.1, delta=1e-6).attempt(lambda: ("model", 0.95), 0.9)
        """
        options = dict(candidate_epsilon=candidate_epsilon, delta=delta, **paid)
        return AdaptiveSearch(self, hits, self._paid("run-open", kind="adaptive", hits=hits, **options))

    def noise_stream(
        self,
        mechanism: PlanLike,
        *,
        clip: float,
        dimension: int,
        **paid: Any,
    ) -> NoiseStream:
        """A run of a matrix mechanism over vectors of ``dimension`` numbers: a Step, or the parameters of matrix in a plan.

        ``clip`` is the largest norm of a contribution, in the unit of the vectors.

            matrix = Matrix(1.0, 10, strategy={"square-root": {}}, participation={"epochs": 1})
            accountant.noise_stream(matrix, clip=1.0, dimension=2).step([0.5, 0.1])
        """
        parameters = isinstance(mechanism, Mapping) and "strategy" in mechanism
        what = _what({"matrix": mechanism} if parameters else mechanism)
        run = self._paid("run-open", kind="matrix", clip=clip, dimension=dimension, **what, **paid)["run"]
        return NoiseStream(self, run)

    def _search(
        self,
        kind: str,
        most: int,
        law: Law,
        trial: Trial[T],
        *,
        candidate: Optional[PlanLike] = None,
        **options: Any,
    ) -> List[Found[T]]:
        if candidate is not None and kind == "best":
            options["plan"] = plan_of(candidate)
        run = self._paid("run-open", kind=kind, selection=dict(law), **options)

        def trials() -> Iterable[Tuple[T, float]]:
            while True:
                yield trial()

        # With padding some runs are ignored, and which ones only the program knows.
        kept, found = self._play(run["run"], trials(), None if options.get("padding") else most)
        return [kept[i] for i in found]

    def _play(
        self, run: str, trials: Iterable[Tuple[T, float]], most: Optional[int] = 1
    ) -> Tuple[Dict[int, Found[T]], List[int]]:
        """Run trials as they are asked for, and keep those that can still be shown: the ``most`` best, of equals the first."""
        kept: Dict[int, Found[T]] = {}
        rows, n = iter(trials), 0
        try:
            answer = self.request("run-next", run=run)
            while answer.get("try"):
                try:
                    row = next(rows)
                except StopIteration:
                    return kept, []
                payload, score = _outcome(row)
                kept[n], sent = Found(payload, score), _score(score)
                answer = self.request("run-next", run=run, score=sent)
                if most is not None and len(kept) > most:
                    del kept[min(kept, key=lambda i: (_score(kept[i].score), -i))]
                n += 1
            return kept, list(answer.get("found", ()))
        finally:
            self.request("run-close", run=run)


def _outcome(row: Any) -> Tuple[Any, float]:
    """What a trial has returned."""
    try:
        payload, score = row
        return payload, float(score)
    except (TypeError, ValueError) as error:
        raise InputError("trial: what it returns is not an outcome and a score, a number") from error


def _one(found: List[Found[T]]) -> Optional[Found[T]]:
    return found[0] if found else None


def _what(mechanism: PlanLike) -> Dict[str, Any]:
    """The key of a request for a mechanism: of a Step or a mapping of its kind, of a mechanism alone, or of a plan."""
    if not isinstance(mechanism, Mapping) or "steps" in mechanism:
        return {"plan": plan_of(mechanism)}
    if set(mechanism) - {"name", "mechanism"} and "mechanism" in mechanism:
        return {"plan": {"neighbors": "add-remove", "steps": [dict(mechanism)]}}
    return {"mechanism": dict(mechanism.get("mechanism", mechanism))}
