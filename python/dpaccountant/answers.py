"""What an accountant answers: frozen dataclasses, and these as rows of a table."""

from __future__ import annotations

import dataclasses
import html
import math
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, Dict, Generic, Iterable, List, Mapping, Optional, Sequence, Tuple, TypeVar

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
    ``at`` is the δ, or ε, that it belongs to.
    """

    lower: float
    estimate: float
    upper: float
    worst_direction: str
    error_budget: Mapping[str, float] = field(repr=False)
    theory_gap: bool = False
    warnings: Sequence[str] = field(default_factory=tuple)
    at: Optional[float] = None

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


class Risks(Answer):
    """The rows of a Risk."""

    def rows(self) -> List[Row]:
        """A row for each value; ``measure`` says of what, ``at`` at which false-positive rate or prior."""
        values = dict(self._fields())
        measures = [("advantage", values["advantage"])]
        measures += [(name, value) for name in ("true_positive_rate", "bayes_success") for value in values[name]]
        return [{"measure": name, "at": 0.0, **value.to_dict(), "theory_gap": values["theory_gap"]} for name, value in measures]


@dataclass(frozen=True)
class Curve(Answer):
    """A curve; ``x`` and ``y`` name its axes."""

    kind: str
    x: str
    y: str
    points: Sequence[Any]
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


class Calibrated(Answer):
    """What a Calibration tells beside its fields."""

    @property
    def asked(self) -> str:
        """What the budget is on: epsilon, delta or true-positive-rate."""
        return str(dict(self._fields())["meets"].asked)

    @property
    def steps(self) -> Dict[str, float]:
        """The value of each step, by its path; with a common factor that times ``value``."""
        return {s.path: s.value for s in dict(self._fields())["settings"]}


class Parameterized(Answer):
    """What PateParameters tell beside their fields."""

    @property
    def publication(self) -> Optional[Dict[str, float]]:
        """The keywords of ``pate_publish``."""
        found = dict(self._fields())["publish"]
        return {key: value for key, value in found.to_dict().items() if key != "median_epsilon"} if found else None

    @property
    def median_epsilon(self) -> Optional[float]:
        """What the publication would tell at the median of its noise."""
        found = dict(self._fields())["publish"]
        return float(found.median_epsilon) if found else None


class Trained(Answer):
    """What a Training tells beside its fields."""

    @property
    def deltas(self) -> Tuple[float, ...]:
        """The δ that were asked for."""
        return tuple(epsilon.at for epsilon in dict(self._fields())["epsilons"])

    def rows(self) -> List[Row]:
        """A row for each δ; columns that begin with ``any_order`` do not rely on sampling."""
        values = dict(self._fields())
        whole = {
            key: values[key] for key in ("neighbors", "batching", "sampling_rate", "steps", "noise_multiplier", "uses_per_example")
        }
        return [
            {**whole, "delta": epsilon.at, **epsilon.rows()[0], **_named("any_order", any_order.rows()[0])}
            for epsilon, any_order in zip(values["epsilons"], values["any_order"])
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
