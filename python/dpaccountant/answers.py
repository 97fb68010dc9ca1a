"""What an accountant answers: frozen dataclasses, and these as rows of a table."""

from __future__ import annotations

import dataclasses
import html
import math
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, Dict, Generic, Iterable, List, Mapping, Optional, Sequence, TypeVar

T = TypeVar("T")

Row = Dict[str, Any]


def rows(answers: Iterable["Answer"]) -> List[Row]:
    """The rows of several answers, as ``compare`` and ``sampling`` give: ``pandas.DataFrame(rows(…))``."""
    return [row for answer in answers for row in answer.rows()]


class Answer:
    """An answer, which is a dataclass."""

    def to_dict(self) -> Row:
        """Every field by name, nested answers as dictionaries, sequences as lists."""
        return {key: _plain(value) for key, value in self._fields()}

    def rows(self) -> List[Row]:
        """A row for each point of the answer, or one: ``pandas.DataFrame(curve.rows())``.

        Columns are the fields; what is nested has the name of its field and a point
        before its own. Fields of the whole stand in every row.
        """
        whole: Row = {}
        points: List[Row] = []
        for key, value in self._fields():
            if isinstance(value, Answer):
                whole.update(_named(key, value.rows()[0]))
            elif isinstance(value, Mapping):
                whole.update(_named(key, value))
            elif _are_answers(value):
                points = [row for point in value for row in point.rows()]
            else:
                whole[key] = _plain(value)
        return [{**whole, **point} for point in points] or [whole]

    def to_pandas(self) -> Any:
        """The rows as a DataFrame of pandas, which must be installed."""
        import pandas

        return pandas.DataFrame(self.rows())

    def _repr_html_(self) -> str:
        """The rows as a table, in a notebook."""
        return _table(self.rows())

    def _fields(self) -> Iterable[Any]:
        return [(f.name, getattr(self, f.name)) for f in dataclasses.fields(self)]


def _table(lines: List[Row]) -> str:
    head = "".join(f"<th>{html.escape(key)}</th>" for key in lines[0]) if lines else ""
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(f'{v:.6g}' if isinstance(v, float) else str(v))}</td>" for v in line.values()) + "</tr>"
        for line in lines[:100]
    )
    more = f"<p>… and {len(lines) - 100} more</p>" if len(lines) > 100 else ""
    return f"<table><tr>{head}</tr>{body}</table>{more}"


def short(x: float, rounding: str) -> str:
    """Six significant digits, rounded outward: ROUND_FLOOR for a lower end, ROUND_CEILING for an upper one."""
    return f"{Context(prec=6, rounding=rounding).create_decimal(Decimal(x)).normalize():g}" if math.isfinite(x) else str(x)


def _axes(ax: Any) -> Any:
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.gca()
    return ax


def _named(key: str, values: Mapping[str, Any]) -> Row:
    return {f"{key}.{name}": _plain(value) for name, value in values.items()}


def _are_answers(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(v, Answer) for v in value)


def _plain(value: Any) -> Any:
    if isinstance(value, Answer):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value


@dataclass(frozen=True)
class Interval(Answer):
    """A certified answer: the true value lies in [lower, upper].

    Promise ``upper``; ``estimate`` carries no guarantee. As a number it is ``upper``: ``float(x)``, ``f"{x:.3f}"``
    (which rounds to nearest). A comparison with a number says what is proved: ``x <= 1`` that the true value is at
    most 1, ``x > 1`` that it is above; both are False where 1 lies within. ``str(x)`` is a line, rounded outward.
    """

    lower: float
    estimate: float
    upper: float
    worst_direction: str
    error_budget: Mapping[str, float] = field(repr=False)
    theory_gap: bool = False
    warnings: Sequence[str] = field(default_factory=tuple)

    def __float__(self) -> float:
        return self.upper

    def __format__(self, spec: str) -> str:
        return format(self.upper, spec) if spec else str(self)

    def __str__(self) -> str:
        return f"[{short(self.lower, ROUND_FLOOR)}, {short(self.upper, ROUND_CEILING)}]"

    def __le__(self, other: Any) -> bool:
        return self.upper <= (other.lower if isinstance(other, Interval) else float(other))

    def __lt__(self, other: Any) -> bool:
        return self.upper < (other.lower if isinstance(other, Interval) else float(other))

    def __ge__(self, other: Any) -> bool:
        return self.lower >= float(other)

    def __gt__(self, other: Any) -> bool:
        return self.lower > float(other)


@dataclass(frozen=True)
class RiskValue(Answer):
    """A certified measure of what the best attacker can do.

    ``at`` is the false-positive rate or the prior. ``upper`` holds for every
    attacker, ``lower`` is reached by a concrete attack.
    """

    at: float
    lower: float
    estimate: float
    upper: float
    worst_direction: str


@dataclass(frozen=True)
class Risk(Answer):
    """What a release lets the best attacker do, in plain terms."""

    advantage: RiskValue
    true_positive_rate: Sequence[RiskValue]
    bayes_success: Sequence[RiskValue]
    theory_gap: bool = False
    warnings: Sequence[str] = field(default_factory=tuple)

    def rows(self) -> List[Row]:
        """A row for each value; ``measure`` says of what."""
        measures = (
            [("advantage", self.advantage)]
            + [("true_positive_rate", value) for value in self.true_positive_rate]
            + [("bayes_success", value) for value in self.bayes_success]
        )
        return [{"measure": name, **value.to_dict(), "theory_gap": self.theory_gap} for name, value in measures]


@dataclass(frozen=True)
class CurvePoint(Answer):
    """A certified point of a curve: y at x lies in [lower, upper]."""

    x: float
    lower: float
    estimate: float
    upper: float
    worst_direction: str


@dataclass(frozen=True)
class Curve(Answer):
    """A curve; ``x`` and ``y`` name its axes."""

    kind: str
    x: str
    y: str
    points: Sequence[CurvePoint]
    warnings: Sequence[str] = field(default_factory=tuple)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the upper ends, with the intervals shaded, on axes of matplotlib, which are returned.

        ``options`` are those of ``Axes.plot``. Without ``ax`` it is drawn on the current axes.
        """
        ax = _axes(ax)
        xs = [p.x for p in self.points]
        line = ax.plot(xs, [p.upper for p in self.points], **options)[0]
        ax.fill_between(xs, [p.lower for p in self.points], [p.upper for p in self.points], alpha=0.3, color=line.get_color())
        ax.set_xlabel(self.x)
        ax.set_ylabel(self.y)
        return ax


@dataclass(frozen=True)
class Probe(Answer):
    """What is certified at one value: ε, δ where the budget's ε is below 0.01 or is
    an advantage, or the true-positive rate where the budget is on that."""

    value: float
    lower: float
    estimate: float
    upper: float


@dataclass(frozen=True)
class Calibration(Answer):
    """The value that meets a budget.

    ``meets`` is the proof, ``fails`` the neighbouring value that does not meet the
    budget (None when nothing limits the quantity). With ``common_factor``,
    ``value`` multiplies the quantity of several steps; ``steps`` maps the path of
    each step to its own value.
    """

    solve: str
    value: float
    common_factor: bool
    unlimited: bool
    asked: str
    meets: Probe
    fails: Optional[Probe]
    fails_proved: bool
    steps: Mapping[str, float]
    theory_gap: bool = False
    warnings: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True)
class Comparison(Answer):
    """The ε of a plan by one method; None where it does not apply, see ``note``."""

    method: str
    kind: str
    epsilon: Optional[float]
    theorem: str
    lower: Optional[float] = None
    note: str = ""


@dataclass(frozen=True)
class GaussianDP(Answer):
    """The μ of Gaussian differential privacy of a plan at a tolerance, as a certified interval.

    ``regret`` is at most how far, in the trade-off of errors, the plan is from that μ.
    """

    tolerance: float
    lower: float
    upper: float
    regret: float
    warnings: Sequence[str] = ()


@dataclass(frozen=True)
class Audit(Answer):
    """What an attack's scores prove: lower bounds of ε and μ, at a confidence.

    ``consistent`` is whether that agrees with the plan that is said to have run, None without one.
    """

    design: str
    confidence: float
    delta: float
    epsilon: float
    mu: float
    consistent: Optional[bool] = None
    reason: str = ""


@dataclass(frozen=True)
class LedgerStatus(Answer):
    """What a ledger promises and what is spent.

    A planned ledger tells ``spent_epsilon``, an upper bound; an adaptive one
    ``spent_renyi`` of ``budget_renyi`` at ``order``. ``left`` is of the same kind.
    """

    mode: str
    neighbors: str
    budget_epsilon: float
    budget_delta: float
    entries: int
    runs: int
    left: float
    guarantee: str
    head: str = ""
    spent_epsilon: Optional[float] = None
    order: Optional[float] = None
    spent_renyi: Optional[float] = None
    budget_renyi: Optional[float] = None
    warnings: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True)
class Training(Answer):
    """The ε of a training run with DP-SGD, at each δ, and what that promises.

    ``any_order`` is the ε of the same steps without relying on sampling, when each
    example is used at most ``uses_per_example`` times. With a target,
    ``calibration`` is the bracket that proves ``noise_multiplier``.
    """

    neighbors: str
    sampling_rate: float
    steps: int
    noise_multiplier: float
    deltas: Sequence[float]
    epsilons: Sequence[Interval]
    any_order: Sequence[Interval]
    uses_per_example: int
    statement: str
    calibration: Optional[Calibration] = None
    batching: str = "poisson"

    def rows(self) -> List[Row]:
        """A row for each δ; columns that begin with ``any_order`` do not rely on sampling."""
        whole = {
            key: getattr(self, key)
            for key in ("neighbors", "batching", "sampling_rate", "steps", "noise_multiplier", "uses_per_example")
        }
        return [
            {**whole, "delta": delta, **epsilon.rows()[0], **_named("any_order", any_order.rows()[0])}
            for delta, epsilon, any_order in zip(self.deltas, self.epsilons, self.any_order)
        ]


@dataclass(frozen=True)
class ProfilePoint(Answer):
    """δ at an ε in one direction of the relation.

    ``attack`` is what a known attack reaches, where theory leaves a gap.
    """

    epsilon: float
    direction: str
    lower: float
    estimate: float
    upper: float
    attack: Optional[float] = None


@dataclass(frozen=True)
class Profile(Answer):
    """The privacy profile of one run of a mechanism."""

    mechanism: str
    neighbors: str
    points: Sequence[ProfilePoint]

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw δ against ε in each direction on axes of matplotlib, which are returned; as for ``Curve``."""
        ax = _axes(ax)
        for direction in dict.fromkeys(p.direction for p in self.points):
            points = [p for p in self.points if p.direction == direction]
            ax.plot([p.epsilon for p in points], [p.upper for p in points], **{"label": direction, **options})
        ax.set_xlabel("epsilon")
        ax.set_ylabel("delta")
        ax.set_yscale("log")
        return ax


@dataclass(frozen=True)
class SamplingScheme(Answer):
    """What one sampling scheme makes of a mechanism: its ε after all steps.

    ``not_applicable`` says why there is none.
    """

    scheme: str
    not_applicable: str = ""
    eta: Optional[float] = None
    expected_distinct: Optional[float] = None
    kind: str = ""
    lower: Optional[float] = None
    upper: Optional[float] = None
    theory_gap: bool = False
    warnings: Sequence[str] = field(default_factory=tuple)
    noise_needed: Optional[float] = None


@dataclass(frozen=True)
class SelectionLaw(Answer):
    """What private selection costs by one law of the number of runs.

    ``epsilon`` is proved and an attack reaches ``lower``; ``papernot_steinke`` and ``paper``
    are what the literature says, None where it says nothing.
    """

    law: str
    mean: float
    lower: Optional[float]
    epsilon: Optional[float]
    delta: float
    papernot_steinke: Optional[float]
    paper: Optional[float]
    miss_top_1_percent: float
    miss_top_5_percent: float


@dataclass(frozen=True)
class Majority(Answer):
    """With what probability the majority is told when l mechanisms say yes."""

    gamma: Sequence[float]
    objective: float
    certified: bool
    max_f: float
    budget_f: float
    error: Mapping[str, float]
    attained_f: float
    epsilon_lower: Optional[float]
    epsilon_upper: Optional[float]


@dataclass(frozen=True)
class MatrixStrategy(Answer):
    """A matrix of correlated noise: sensitivity and ε are certified, the errors are not."""

    strategy: Any
    steps: int
    participation: str
    sensitivity_lower: float
    sensitivity_upper: float
    rmse: float
    max_error: float
    noise_multiplier: float
    delta: float
    epsilon_lower: float
    epsilon_upper: float
    warnings: Sequence[str]


@dataclass(frozen=True)
class PateCost(Answer):
    """What labelling by votes cost. Only ``data_independent_epsilon`` may be published."""

    epsilon: float
    delta: float
    order: float
    report: str
    bound: bool
    guarantee: str
    data_independent_epsilon: float
    answered: float
    orders: Sequence[float]
    rdp: Sequence[float]
    price: str = "best"
    exact: Optional[Mapping[str, Any]] = None


@dataclass(frozen=True)
class SanitizedCost(Answer):
    """A sanitized ε: it may be published, and is an estimate, no upper bound.

    ``private``, which is there if it was asked for, must not be published. ``why_none``
    says why there is no ε.
    """

    epsilon: Optional[float]
    why_none: str
    private: Optional[Mapping[str, Any]] = None


@dataclass(frozen=True)
class PateParameters(Answer):
    """Parameters within a target ε, found on votes that are no secret.

    ``publication`` has the keywords of ``pate_publish``, and ``median_epsilon`` what it would tell at the median of its noise.
    """

    threshold: Optional[float]
    sigma1: Optional[float]
    sigma2: float
    epsilon: float
    independent_epsilon: float
    expected_answers: float
    expected_correct: float
    publication: Optional[Mapping[str, float]]
    median_epsilon: Optional[float]
    condition: str


@dataclass(frozen=True)
class PublishedCost(Answer):
    """An upper bound on ε that may be published, except with probability 1 − ``confidence``.

    ``private``, which is there if it was asked for, must not be published.
    """

    epsilon: float
    confidence: float
    statement: str
    private: Optional[Mapping[str, Any]] = None


@dataclass(frozen=True)
class LabelGroup(Answer):
    """The randomizer of a group of examples, and the half-loss of its labels."""

    name: str
    share: float
    loss: float
    outputs: Sequence[float]
    probabilities: Sequence[Sequence[float]]


@dataclass(frozen=True)
class LabelRandomizer(Answer):
    """The unbiased randomizer of private labels with the least loss.

    ``probabilities[i][j]`` is that of ``outputs[j]`` for ``labels[i]``; ``loss`` has
    half the mean squared error of this and of other methods. Of classes labels and outputs
    are numbers from 0 on, and ``kept`` the share that comes out unchanged.
    """

    epsilon: float
    labels: Sequence[float]
    prior: Sequence[float]
    outputs: Sequence[float]
    probabilities: Sequence[Sequence[float]]
    loss: Mapping[str, float]
    gap: float
    kept: Mapping[str, float] = field(default_factory=dict)
    grouped_loss: Optional[float] = None
    groups: Sequence[LabelGroup] = field(default_factory=tuple)


@dataclass(frozen=True)
class Topic(Answer):
    """A term of the answers, or a theorem that they rest on."""

    name: str
    title: str
    text: str
    also: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True)
class PateLabels(Answer):
    """Noisy labels, -1 where there is none, and which queries the teachers have answered."""

    labels: Sequence[int]
    answered: Sequence[bool]

    def rows(self) -> List[Row]:
        """A row for each query."""
        return [{"label": label, "answered": answered} for label, answered in zip(self.labels, self.answered)]


@dataclass(frozen=True)
class Found(Generic[T]):
    """What a search shows: the outcome of a trial and its score. It holds nothing about the number of trials."""

    payload: T
    score: float
