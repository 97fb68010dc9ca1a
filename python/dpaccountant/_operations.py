"""Methods and answers of the table of operations. Written by go generate ./cmd/service: do not edit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, List, Mapping, Optional, Sequence, Tuple

from ._connection import Connection
from ._read import Numbers, PlanLike, each, given, listed, plan_of, real, within
from .answers import Answer, Calibrated, Interval, Parameterized, Risks, Trained


def _read_epsilon_at(r: Any) -> Interval:
    return Interval(
        at=float(r["delta"]),
        lower=float(r["epsilon"]["lower"]),
        estimate=float(r["epsilon"]["estimate"]),
        upper=float(r["epsilon"]["upper"]),
        worst_direction=r["worst-direction"],
        error_budget=r["error-budget"],
        theory_gap=bool(within(r, "theory-gap")),
        warnings=tuple(within(r, "warnings") or ()),
    )


@dataclass(frozen=True)
class Beside(Answer):
    """The ε of the run if its batches came about in another way."""

    poisson: Tuple[Interval, ...]
    random_allocation: Tuple[Interval, ...]


def _read_beside(r: Any) -> Beside:
    return Beside(
        poisson=tuple(_read_epsilon_at(x) for x in r["poisson"] or ()),
        random_allocation=tuple(_read_epsilon_at(x) for x in r["random-allocation"] or ()),
    )


@dataclass(frozen=True)
class EpsilonDelta(Answer):
    """A budget."""

    epsilon: float
    delta: float


def _read_epsilon_delta(r: Any) -> EpsilonDelta:
    return EpsilonDelta(
        epsilon=float(r["epsilon"]),
        delta=float(r["delta"]),
    )


@dataclass(frozen=True)
class Probe(Answer):
    """What is certified at a value: ε at the budget's δ, δ at its ε, or the true-positive rate at its false-positive rate."""

    asked: str
    value: float
    lower: float
    estimate: float
    upper: float


def _read_probe(r: Any) -> Probe:
    return Probe(
        value=float(r["value"]),
        asked=next(key for key in ("epsilon", "delta", "true-positive-rate") if r.get(key) is not None),
        lower=float(within(r, "epsilon.lower", "delta.lower", "true-positive-rate.lower")),
        estimate=float(within(r, "epsilon.estimate", "delta.estimate", "true-positive-rate.estimate")),
        upper=float(within(r, "epsilon.upper", "delta.upper", "true-positive-rate.upper")),
    )


@dataclass(frozen=True)
class Setting(Answer):
    """The value of one step."""

    path: str
    value: float
    name: str = ""
    quantity: str = ""


def _read_setting(r: Any) -> Setting:
    return Setting(
        path=r["path"],
        name=within(r, "name") or "",
        value=float(r["value"]),
        quantity=within(r, "quantity") or "",
    )


@dataclass(frozen=True)
class AttackBudget(Answer):
    """A budget on membership inference: its advantage, which as Budget is (0, advantage), or its true-positive rate at a false-positive rate."""

    advantage: Optional[float] = None
    true_positive_rate: Optional[float] = None
    false_positive_rate: Optional[float] = None


def _read_attack_budget(r: Any) -> AttackBudget:
    return AttackBudget(
        advantage=real(within(r, "advantage")),
        true_positive_rate=real(within(r, "true-positive-rate")),
        false_positive_rate=real(within(r, "false-positive-rate")),
    )


@dataclass(frozen=True)
class Calibration(Calibrated):
    """The value that meets a budget, with what is certified there and next to it."""

    neighbors: str
    solve: str
    value: float
    common_factor: bool
    unlimited: bool
    meets: Probe
    fails_proved: bool
    settings: Tuple[Setting, ...]
    accuracy: float
    evaluations: int
    records_per_person: Optional[int] = None
    budget: Optional[EpsilonDelta] = None
    fails: Optional[Probe] = None
    theory_gap: bool = False
    warnings: Tuple[str, ...] = ()
    attack: Optional[AttackBudget] = None
    early: bool = False


def _read_solution(r: Any) -> Calibration:
    return Calibration(
        neighbors=r["neighbors"],
        records_per_person=within(r, "records-per-person"),
        budget=None if (x := within(r, "budget")) is None else _read_epsilon_delta(x),
        solve=r["solve"],
        value=float(r["value"]),
        common_factor=r["common-factor"],
        unlimited=r["unlimited"],
        meets=_read_probe(r["meets"]),
        fails=None if (x := within(r, "fails")) is None else _read_probe(x),
        fails_proved=r["fails-proved"],
        theory_gap=bool(within(r, "theory-gap")),
        settings=tuple(_read_setting(x) for x in r["steps"] or ()),
        accuracy=float(r["accuracy"]),
        evaluations=r["evaluations"],
        warnings=tuple(within(r, "warnings") or ()),
        attack=None if (x := within(r, "attack")) is None else _read_attack_budget(x),
        early=bool(within(r, "early")),
    )


@dataclass(frozen=True)
class Training(Trained):
    """The ε of a training run at each δ, and what that promises."""

    neighbors: str
    sampling_rate: float
    steps: int
    noise_multiplier: float
    batching: str
    epsilons: Tuple[Interval, ...]
    uses_per_example: int
    any_order: Tuple[Interval, ...]
    statement: str
    examples: Optional[int] = None
    batch_size: Optional[int] = None
    epochs: Optional[float] = None
    steps_per_epoch: Optional[int] = None
    cap: Optional[int] = None
    records_per_person: Optional[int] = None
    beside: Optional[Beside] = None
    calibration: Optional[Calibration] = None


def _read_dpsgd(r: Any) -> Training:
    return Training(
        neighbors=r["neighbors"],
        examples=within(r, "examples"),
        batch_size=within(r, "batch-size"),
        epochs=real(within(r, "epochs")),
        sampling_rate=float(r["sampling-rate"]),
        steps=r["steps"],
        noise_multiplier=float(r["noise-multiplier"]),
        batching=r["batching"],
        steps_per_epoch=within(r, "steps-per-epoch"),
        cap=within(r, "cap"),
        records_per_person=within(r, "records-per-person"),
        epsilons=tuple(_read_epsilon_at(x) for x in r["results"] or ()),
        uses_per_example=r["any-order"]["uses-per-example"],
        any_order=tuple(_read_epsilon_at(x) for x in r["any-order"]["results"] or ()),
        statement=r["statement"],
        beside=None if (x := within(r, "beside")) is None else _read_beside(x),
        calibration=None if (x := within(r, "calibration")) is None else _read_solution(x),
    )


@dataclass(frozen=True)
class CurvePoint(Answer):
    """A certified point of a curve, and what Rényi accounting says there."""

    x: float
    lower: float
    estimate: float
    upper: float
    worst_direction: str


def _read_curve_point(r: Any) -> CurvePoint:
    return CurvePoint(
        x=float(r["x"]),
        lower=float(r["lower"]),
        estimate=float(r["estimate"]),
        upper=float(r["upper"]),
        worst_direction=r["worst-direction"],
    )


@dataclass(frozen=True)
class PlanCurve(Answer):
    """The curve of a plan, of the kind steps at a δ."""

    plan: str
    neighbors: str
    points: Tuple[CurvePoint, ...]
    records_per_person: Optional[int] = None
    delta: Optional[float] = None
    warnings: Tuple[str, ...] = ()


def _read_curve(r: Any) -> PlanCurve:
    return PlanCurve(
        plan=r["plan"],
        neighbors=r["neighbors"],
        records_per_person=within(r, "records-per-person"),
        delta=real(within(r, "delta")),
        points=tuple(_read_curve_point(x) for x in r["points"] or ()),
        warnings=tuple(within(r, "warnings") or ()),
    )


@dataclass(frozen=True)
class Curves(Answer):
    """The curves of plans, X and Y the names of their axes."""

    kind: str
    x: str
    y: str
    curves: Tuple[PlanCurve, ...]


def _read_curves(r: Any) -> Curves:
    return Curves(
        kind=r["kind"],
        x=r["x"],
        y=r["y"],
        curves=tuple(_read_curve(x) for x in r["curves"] or ()),
    )


@dataclass(frozen=True)
class SamplingScheme(Answer):
    """What one scheme makes of the mechanism. Where it is not applicable, only the reason is there."""

    scheme: str
    not_applicable: str = ""
    eta: Optional[float] = None
    expected_distinct: Optional[float] = None
    amplified_epsilon: Optional[float] = None
    amplified_delta: Optional[float] = None
    kind: str = ""
    steps: Optional[int] = None
    draws: Optional[int] = None
    lower: Optional[float] = None
    upper: Optional[float] = None
    numerical_width: Optional[float] = None
    theory_gap: bool = False
    warnings: Tuple[str, ...] = ()
    noise_needed: Optional[float] = None


def _read_scheme(r: Any) -> SamplingScheme:
    return SamplingScheme(
        scheme=r["scheme"],
        not_applicable=within(r, "not-applicable") or "",
        eta=real(within(r, "eta")),
        expected_distinct=real(within(r, "expected-distinct")),
        amplified_epsilon=real(within(r, "amplified-epsilon")),
        amplified_delta=real(within(r, "amplified-delta")),
        kind=within(r, "kind") or "",
        steps=within(r, "steps"),
        draws=within(r, "draws"),
        lower=real(within(r, "epsilon.lower")),
        upper=real(within(r, "epsilon.upper")),
        numerical_width=real(within(r, "numerical-width")),
        theory_gap=bool(within(r, "theory-gap")),
        warnings=tuple(within(r, "warnings") or ()),
        noise_needed=real(within(r, "noise-needed")),
    )


@dataclass(frozen=True)
class PlanSummary(Answer):
    """What a plan is about, in short."""

    neighbors: str
    steps: int
    runs: int
    records_per_person: Optional[int] = None
    names: Tuple[str, ...] = ()


def _read_plan_summary(r: Any) -> PlanSummary:
    return PlanSummary(
        neighbors=r["neighbors"],
        records_per_person=within(r, "records-per-person"),
        steps=r["steps"],
        runs=r["runs"],
        names=tuple(within(r, "names") or ()),
    )


@dataclass(frozen=True)
class Shuffle(Answer):
    """The ε of the rounds at each δ, and what that promises."""

    neighbors: str
    users: int
    rounds: int
    randomizer: str
    local_epsilon: float
    results: Tuple[Interval, ...]
    statement: str


def _read_shuffle(r: Any) -> Shuffle:
    return Shuffle(
        neighbors=r["neighbors"],
        users=r["users"],
        rounds=r["rounds"],
        randomizer=r["randomizer"],
        local_epsilon=float(r["local-epsilon"]),
        results=tuple(_read_epsilon_at(x) for x in r["results"] or ()),
        statement=r["statement"],
    )


@dataclass(frozen=True)
class Comparison(Answer):
    """The ε by one method; Epsilon is nil where it does not apply, and Lower where it has no lower end."""

    method: str
    kind: str
    theorem: str
    lower: Optional[float] = None
    epsilon: Optional[float] = None
    note: str = ""


def _read_compared(r: Any) -> Comparison:
    return Comparison(
        method=r["method"],
        kind=r["kind"],
        lower=real(within(r, "lower")),
        epsilon=real(within(r, "epsilon")),
        theorem=r["theorem"],
        note=within(r, "note") or "",
    )


@dataclass(frozen=True)
class RiskValue(Answer):
    """A certified measure of an attack."""

    lower: float
    estimate: float
    upper: float
    worst_direction: str


def _read_risk_value(r: Any) -> RiskValue:
    return RiskValue(
        lower=float(r["lower"]),
        estimate=float(r["estimate"]),
        upper=float(r["upper"]),
        worst_direction=r["worst-direction"],
    )


@dataclass(frozen=True)
class RiskRate(Answer):
    """The true-positive rate at a false-positive rate."""

    at: float
    lower: float
    estimate: float
    upper: float
    worst_direction: str


def _read_risk_rate(r: Any) -> RiskRate:
    return RiskRate(
        at=float(r["false-positive-rate"]),
        lower=float(r["lower"]),
        estimate=float(r["estimate"]),
        upper=float(r["upper"]),
        worst_direction=r["worst-direction"],
    )


@dataclass(frozen=True)
class RiskPrior(Answer):
    """The probability to guess right at a prior."""

    at: float
    lower: float
    estimate: float
    upper: float
    worst_direction: str


def _read_risk_prior(r: Any) -> RiskPrior:
    return RiskPrior(
        at=float(r["prior"]),
        lower=float(r["lower"]),
        estimate=float(r["estimate"]),
        upper=float(r["upper"]),
        worst_direction=r["worst-direction"],
    )


@dataclass(frozen=True)
class Risk(Risks):
    """Says what the best attacker can do."""

    neighbors: str
    advantage: RiskValue
    true_positive_rate: Tuple[RiskRate, ...]
    bayes_success: Tuple[RiskPrior, ...]
    records_per_person: Optional[int] = None
    theory_gap: bool = False
    warnings: Tuple[str, ...] = ()


def _read_risk(r: Any) -> Risk:
    return Risk(
        neighbors=r["neighbors"],
        records_per_person=within(r, "records-per-person"),
        advantage=_read_risk_value(r["advantage"]),
        true_positive_rate=tuple(_read_risk_rate(x) for x in r["true-positive-rate"] or ()),
        bayes_success=tuple(_read_risk_prior(x) for x in r["bayes-success"] or ()),
        theory_gap=bool(within(r, "theory-gap")),
        warnings=tuple(within(r, "warnings") or ()),
    )


@dataclass(frozen=True)
class Bounds(Answer):
    """A certified interval: the true value is between Lower and Upper."""

    lower: float
    estimate: float
    upper: float


def _read_bounds(r: Any) -> Bounds:
    return Bounds(
        lower=float(r["lower"]),
        estimate=float(r["estimate"]),
        upper=float(r["upper"]),
    )


@dataclass(frozen=True)
class ProfileDelta(Answer):
    """Δ in one direction; Attack is there where a gap of theory is."""

    direction: str
    delta: Bounds
    attack: Optional[Bounds] = None


def _read_profile_delta(r: Any) -> ProfileDelta:
    return ProfileDelta(
        direction=r["direction"],
        delta=_read_bounds(r["delta"]),
        attack=None if (x := within(r, "attack")) is None else _read_bounds(x),
    )


@dataclass(frozen=True)
class ProfileAt(Answer):
    """Has δ at an ε."""

    epsilon: float
    directions: Tuple[ProfileDelta, ...]


def _read_profile_at(r: Any) -> ProfileAt:
    return ProfileAt(
        epsilon=float(r["epsilon"]),
        directions=tuple(_read_profile_delta(x) for x in r["directions"] or ()),
    )


@dataclass(frozen=True)
class PlanProfile(Answer):
    """The privacy profile of a mechanism."""

    mechanism: str
    parameters: Mapping[str, str]
    neighbors: str
    results: Tuple[ProfileAt, ...]
    sampling_rate: str = ""
    warnings: Tuple[str, ...] = ()


def _read_profile(r: Any) -> PlanProfile:
    return PlanProfile(
        mechanism=r["mechanism"],
        parameters=dict(r["parameters"]),
        sampling_rate=within(r, "sampling-rate") or "",
        neighbors=r["neighbors"],
        results=tuple(_read_profile_at(x) for x in r["results"] or ()),
        warnings=tuple(within(r, "warnings") or ()),
    )


@dataclass(frozen=True)
class PlanChange(Answer):
    """A place with another value."""

    path: str
    old: str = ""
    new: str = ""


def _read_plan_change(r: Any) -> PlanChange:
    return PlanChange(
        path=r["path"],
        old=within(r, "old") or "",
        new=within(r, "new") or "",
    )


@dataclass(frozen=True)
class Difference(Answer):
    """Where two plans differ and what each of them costs."""

    changes: Tuple[PlanChange, ...]
    delta: float
    old: Interval
    new: Interval
    more: Optional[Bounds] = None


def _read_difference(r: Any) -> Difference:
    return Difference(
        changes=tuple(_read_plan_change(x) for x in r["changes"] or ()),
        delta=float(r["delta"]),
        old=_read_epsilon_at(r["old"]),
        new=_read_epsilon_at(r["new"]),
        more=None if (x := within(r, "more")) is None else _read_bounds(x),
    )


@dataclass(frozen=True)
class GaussianDP(Answer):
    """Has the least μ for which no test has more power than under μ-GDP, plus the tolerance."""

    neighbors: str
    tolerance: float
    lower: float
    estimate: float
    upper: float
    regret: float
    records_per_person: Optional[int] = None
    warnings: Tuple[str, ...] = ()


def _read_gdp(r: Any) -> GaussianDP:
    return GaussianDP(
        neighbors=r["neighbors"],
        records_per_person=within(r, "records-per-person"),
        tolerance=float(r["tolerance"]),
        lower=float(r["mu"]["lower"]),
        estimate=float(r["mu"]["estimate"]),
        upper=float(r["mu"]["upper"]),
        regret=float(r["regret"]["upper"]),
        warnings=tuple(within(r, "warnings") or ()),
    )


@dataclass(frozen=True)
class FilterType(Answer):
    """A type with its cost: how often it alone may run within the units, about how often within the target without a menu, and the quotient."""

    name: str
    cost: int
    runs: int
    alone: Optional[float] = None
    efficiency: Optional[float] = None


def _read_filter_type(r: Any) -> FilterType:
    return FilterType(
        name=r["name"],
        cost=r["cost"],
        runs=r["runs"],
        alone=real(within(r, "alone")),
        efficiency=real(within(r, "efficiency")),
    )


def _read_delta_at(r: Any) -> Interval:
    return Interval(
        at=float(r["epsilon"]),
        lower=float(r["delta"]["lower"]),
        estimate=float(r["delta"]["estimate"]),
        upper=float(r["delta"]["upper"]),
        worst_direction=r["worst-direction"],
        error_budget=r["error-budget"],
        theory_gap=bool(within(r, "theory-gap")),
        warnings=tuple(within(r, "warnings") or ()),
    )


@dataclass(frozen=True)
class FilterRow(Answer):
    """Ε at a δ for a budget."""

    units: int
    delta: float
    epsilon: Bounds


def _read_filter_row(r: Any) -> FilterRow:
    return FilterRow(
        units=r["units"],
        delta=float(r["delta"]),
        epsilon=_read_bounds(r["epsilon"]),
    )


@dataclass(frozen=True)
class Filter(Answer):
    """Has the price of a menu: nothing that an analyst picks by the results costs more."""

    neighbors: str
    units: int
    types: Tuple[FilterType, ...]
    records_per_person: Optional[int] = None
    efficiency: Optional[float] = None
    without: str = ""
    deltas: Tuple[Interval, ...] = ()
    epsilons: Tuple[Interval, ...] = ()
    odometer: Tuple[FilterRow, ...] = ()
    levels: Tuple[FilterRow, ...] = ()
    warnings: Tuple[str, ...] = ()


def _read_filter(r: Any) -> Filter:
    return Filter(
        neighbors=r["neighbors"],
        records_per_person=within(r, "records-per-person"),
        units=r["units"],
        types=tuple(_read_filter_type(x) for x in r["types"] or ()),
        efficiency=real(within(r, "efficiency")),
        without=within(r, "without") or "",
        deltas=tuple(_read_delta_at(x) for x in within(r, "deltas") or ()),
        epsilons=tuple(_read_epsilon_at(x) for x in within(r, "epsilons") or ()),
        odometer=tuple(_read_filter_row(x) for x in within(r, "odometer") or ()),
        levels=tuple(_read_filter_row(x) for x in within(r, "levels") or ()),
        warnings=tuple(within(r, "warnings") or ()),
    )


@dataclass(frozen=True)
class AuditRate(Answer):
    """What was counted in many runs, see audit.Rates."""

    threshold: float
    members: int
    true_positives: int
    non_members: int
    false_positives: int
    true_positive_rate: float
    false_positive_rate: float


def _read_audit_rate(r: Any) -> AuditRate:
    return AuditRate(
        threshold=float(r["threshold"]),
        members=r["members"],
        true_positives=r["true-positives"],
        non_members=r["non-members"],
        false_positives=r["false-positives"],
        true_positive_rate=float(r["true-positive-rate"]["lower"]),
        false_positive_rate=float(r["false-positive-rate"]["upper"]),
    )


@dataclass(frozen=True)
class ROCPoint(Answer):
    """An observed pair of rates."""

    false_positive_rate: float
    true_positive_rate: float


def _read_rocpoint(r: Any) -> ROCPoint:
    return ROCPoint(
        false_positive_rate=float(r["false-positive-rate"]),
        true_positive_rate=float(r["true-positive-rate"]),
    )


@dataclass(frozen=True)
class AuditOne(Answer):
    """What was counted in one run, see audit.Guesses."""

    in_: int
    out: int
    correct: int
    tests: int


def _read_audit_one(r: Any) -> AuditOne:
    return AuditOne(
        in_=r["in"],
        out=r["out"],
        correct=r["correct"],
        tests=r["tests"],
    )


@dataclass(frozen=True)
class ROCBound(Answer):
    """What a plan lets the best attacker attain at a false-positive rate."""

    false_positive_rate: float
    lower: float
    estimate: float
    upper: float


def _read_rocbound(r: Any) -> ROCBound:
    return ROCBound(
        false_positive_rate=float(r["false-positive-rate"]),
        lower=float(r["lower"]),
        estimate=float(r["estimate"]),
        upper=float(r["upper"]),
    )


@dataclass(frozen=True)
class Audit(Answer):
    """Has lower bounds that hold with the confidence."""

    design: str
    members: int
    non_members: int
    confidence: float
    delta: float
    epsilon: float
    mu: float
    family: str = ""
    rates: Optional[AuditRate] = None
    band: Tuple[ROCPoint, ...] = ()
    guesses: Optional[AuditOne] = None
    neighbors: str = ""
    records_per_person: Optional[int] = None
    claimed_lower: Optional[float] = None
    claimed_estimate: Optional[float] = None
    claimed_upper: Optional[float] = None
    consistent: Optional[bool] = None
    reason: str = ""
    roc: Tuple[ROCPoint, ...] = ()
    curve: Tuple[ROCBound, ...] = ()


def _read_audit(r: Any) -> Audit:
    return Audit(
        design=r["design"],
        members=r["members"],
        non_members=r["non-members"],
        confidence=float(r["confidence"]),
        delta=float(r["delta"]),
        epsilon=float(r["epsilon"]["lower"]),
        mu=float(r["mu"]["lower"]),
        family=within(r, "family") or "",
        rates=None if (x := within(r, "rates")) is None else _read_audit_rate(x),
        band=tuple(_read_rocpoint(x) for x in within(r, "band") or ()),
        guesses=None if (x := within(r, "guesses")) is None else _read_audit_one(x),
        neighbors=within(r, "claim.neighbors") or "",
        records_per_person=within(r, "claim.records-per-person"),
        claimed_lower=real(within(r, "claim.epsilon.lower")),
        claimed_estimate=real(within(r, "claim.epsilon.estimate")),
        claimed_upper=real(within(r, "claim.epsilon.upper")),
        consistent=within(r, "claim.consistent"),
        reason=within(r, "claim.reason") or "",
        roc=tuple(_read_rocpoint(x) for x in within(r, "roc") or ()),
        curve=tuple(_read_rocbound(x) for x in within(r, "curve") or ()),
    )


@dataclass(frozen=True)
class SelectionLaw(Answer):
    """What the whole search costs by one law."""

    law: str
    mean: float
    delta: float
    miss_top_1_percent: float
    miss_top_5_percent: float
    shape: Optional[float] = None
    gamma: Optional[float] = None
    lower: Optional[float] = None
    epsilon: Optional[float] = None
    papernot_steinke: Optional[float] = None
    paper: Optional[float] = None


def _read_selected_law(r: Any) -> SelectionLaw:
    return SelectionLaw(
        law=r["law"],
        shape=real(within(r, "shape")),
        mean=float(r["mean"]),
        gamma=real(within(r, "gamma")),
        lower=real(within(r, "epsilon.lower")),
        epsilon=real(within(r, "epsilon.tight")),
        papernot_steinke=real(within(r, "epsilon.papernot-steinke")),
        paper=real(within(r, "epsilon.paper")),
        delta=float(r["delta"]),
        miss_top_1_percent=float(r["miss-top-1-percent"]),
        miss_top_5_percent=float(r["miss-top-5-percent"]),
    )


@dataclass(frozen=True)
class MatrixStrategy(Answer):
    """The strategy, what it does to the prefix sums, and its price."""

    steps: int
    participation: str
    neighbors: str
    strategy: Any
    sensitivity_lower: float
    sensitivity_upper: float
    rmse: float
    max_error: float
    noise_multiplier: float
    delta: float
    epsilon_lower: float
    epsilon_upper: float
    theory_gap: bool = False
    warnings: Tuple[str, ...] = ()


def _read_matrix_optimize(r: Any) -> MatrixStrategy:
    return MatrixStrategy(
        steps=r["steps"],
        participation=r["participation"],
        neighbors=r["neighbors"],
        strategy=r["strategy"],
        sensitivity_lower=float(r["sensitivity"]["lower"]),
        sensitivity_upper=float(r["sensitivity"]["upper"]),
        rmse=float(r["rmse"]),
        max_error=float(r["max-error"]),
        noise_multiplier=float(r["noise-multiplier"]),
        delta=float(r["delta"]),
        epsilon_lower=float(r["epsilon"]["lower"]),
        epsilon_upper=float(r["epsilon"]["upper"]),
        theory_gap=bool(within(r, "theory-gap")),
        warnings=tuple(within(r, "warnings") or ()),
    )


@dataclass(frozen=True)
class Majority(Answer):
    """A noise function with its certificate."""

    gamma: Tuple[float, ...]
    objective: float
    max_f: float
    budget_f: float
    certified: bool
    attained_f: float
    error: Mapping[str, float]
    gap: Optional[float] = None
    epsilon_lower: Optional[float] = None
    epsilon_upper: Optional[float] = None


def _read_majority(r: Any) -> Majority:
    return Majority(
        gamma=tuple(float(x) for x in r["gamma"] or ()),
        objective=float(r["objective"]),
        gap=real(within(r, "gap")),
        max_f=float(r["max-f"]),
        budget_f=float(r["budget-f"]),
        certified=r["certified"],
        attained_f=float(r["attained-f"]),
        epsilon_lower=real(within(r, "epsilon-lower")),
        epsilon_upper=real(within(r, "epsilon-upper")),
        error=dict(r["error"]),
    )


@dataclass(frozen=True)
class PateCost(Answer):
    """The ε of the votes by the report that was asked for."""

    delta: float
    report: str
    bound: bool
    guarantee: str
    epsilon: float
    order: float
    orders: Tuple[float, ...]
    rdp: Tuple[float, ...]
    data_independent_epsilon: float
    threshold_rdp: Tuple[float, ...]
    answer_rdp: Tuple[float, ...]
    answered: float
    price: str
    forward_rdp: Tuple[float, ...]
    reverse_rdp: Tuple[float, ...] = ()
    exact: Optional[Mapping[str, Any]] = None


def _read_pate(r: Any) -> PateCost:
    return PateCost(
        delta=float(r["delta"]),
        report=r["report"],
        bound=r["bound"],
        guarantee=r["guarantee"],
        epsilon=float(r["epsilon"]),
        order=float(r["order"]),
        orders=tuple(float(x) for x in r["orders"] or ()),
        rdp=tuple(float(x) for x in r["rdp"] or ()),
        data_independent_epsilon=float(r["data-independent-epsilon"]),
        threshold_rdp=tuple(float(x) for x in r["threshold-rdp"] or ()),
        answer_rdp=tuple(float(x) for x in r["answer-rdp"] or ()),
        answered=float(r["answered"]),
        price=r["price"],
        forward_rdp=tuple(float(x) for x in r["forward-rdp"] or ()),
        reverse_rdp=tuple(float(x) for x in within(r, "reverse-rdp") or ()),
        exact=within(r, "exact-epsilon"),
    )


@dataclass(frozen=True)
class PatePublishParameters(Answer):
    """Fixed before the private votes are looked at."""

    order: float
    beta: float
    noise: float
    confidence: float
    median_epsilon: float


def _read_pate_publish_parameters(r: Any) -> PatePublishParameters:
    return PatePublishParameters(
        order=float(r["order"]),
        beta=float(r["beta"]),
        noise=float(r["noise"]),
        confidence=float(r["confidence"]),
        median_epsilon=float(r["median-epsilon"]),
    )


@dataclass(frozen=True)
class PateParameters(Parameterized):
    """A mechanism within the budget at the votes that were looked at."""

    mechanism: str
    sigma2: float
    delta: float
    report: str
    epsilon: float
    independent_epsilon: float
    expected_answers: float
    expected_correct: float
    queries: int
    condition: str
    threshold: Optional[float] = None
    sigma1: Optional[float] = None
    publish: Optional[PatePublishParameters] = None


def _read_pate_calibration(r: Any) -> PateParameters:
    return PateParameters(
        mechanism=r["mechanism"],
        threshold=real(within(r, "threshold")),
        sigma1=real(within(r, "sigma1")),
        sigma2=float(r["sigma2"]),
        delta=float(r["delta"]),
        report=r["report"],
        epsilon=float(r["epsilon"]),
        independent_epsilon=float(r["data-independent-epsilon"]),
        expected_answers=float(r["expected-answers"]),
        expected_correct=float(r["expected-correct"]),
        queries=r["queries"],
        publish=None if (x := within(r, "publish")) is None else _read_pate_publish_parameters(x),
        condition=r["condition"],
    )


@dataclass(frozen=True)
class LabelGroup(Answer):
    """The randomizer of a group. Loss is that of its examples alone."""

    name: str
    share: float
    loss: float
    gap: float
    outputs: Tuple[float, ...]
    probabilities: Tuple[List[float], ...]


def _read_label_group(r: Any) -> LabelGroup:
    return LabelGroup(
        name=r["name"],
        share=float(r["share"]),
        loss=float(r["loss"]),
        gap=float(r["gap"]),
        outputs=tuple(float(x) for x in r["outputs"] or ()),
        probabilities=tuple(r["probabilities"] or ()),
    )


@dataclass(frozen=True)
class LabelRandomizer(Answer):
    """A randomizer with its certificate, and what other methods would lose."""

    epsilon: float
    labels: Tuple[float, ...]
    prior: Tuple[float, ...]
    loss: Mapping[str, float]
    max_bias: Mapping[str, float]
    gap: float
    certificate: Mapping[str, Any]
    outputs: Tuple[float, ...]
    probabilities: Tuple[List[float], ...]
    tau: float
    worst_pair: Tuple[float, ...]
    classes: Tuple[str, ...] = ()
    kept: Mapping[str, float] = field(default_factory=dict)
    groups: Tuple[LabelGroup, ...] = ()
    grouped_loss: Optional[float] = None
    coarser: Mapping[str, Any] = field(default_factory=dict)


def _read_label(r: Any) -> LabelRandomizer:
    return LabelRandomizer(
        epsilon=float(r["epsilon"]),
        labels=tuple(float(x) for x in r["labels"] or ()),
        prior=tuple(float(x) for x in r["prior"] or ()),
        loss=dict(r["loss"]),
        max_bias=dict(r["max-bias"]),
        gap=float(r["gap"]),
        certificate=r["certificate"],
        outputs=tuple(float(x) for x in r["outputs"] or ()),
        probabilities=tuple(r["probabilities"] or ()),
        tau=float(r["tau"]),
        worst_pair=tuple(float(x) for x in r["worst-pair"] or ()),
        classes=tuple(within(r, "classes") or ()),
        kept=dict(within(r, "kept") or {}),
        groups=tuple(_read_label_group(x) for x in within(r, "groups") or ()),
        grouped_loss=real(within(r, "grouped-loss")),
        coarser=dict(within(r, "coarser") or {}),
    )


@dataclass(frozen=True)
class Topic(Answer):
    """A file of topics: the title, other names of the topic after "also:", an empty line, the text."""

    name: str
    title: str
    text: str
    also: Tuple[str, ...] = ()


def _read_topic(r: Any) -> Topic:
    return Topic(
        name=r["topic"],
        title=r["title"],
        also=tuple(within(r, "also") or ()),
        text=r["text"],
    )


@dataclass(frozen=True)
class LocalEstimate(Answer):
    """How many users hold a value, without bias, and its standard deviation."""

    value: int
    count: float
    deviation: float


def _read_local_estimate(r: Any) -> LocalEstimate:
    return LocalEstimate(
        value=r["value"],
        count=float(r["count"]),
        deviation=float(r["deviation"]),
    )


@dataclass(frozen=True)
class QueryNoise(Answer):
    """The noise of the numbers that a measure is made of."""

    name: str
    law: str
    standard_deviation: float


def _read_query_noise(r: Any) -> QueryNoise:
    return QueryNoise(
        name=r["name"],
        law=r["law"],
        standard_deviation=float(r["standard-deviation"]),
    )


@dataclass(frozen=True)
class Query(Answer):
    """The table that may be published, and what it promises."""

    columns: Tuple[str, ...]
    table: Tuple[List[str], ...]
    epsilon_lower: float
    epsilon_estimate: float
    epsilon_upper: float
    delta: float
    noise: Tuple[QueryNoise, ...]
    plan: str
    statement: Tuple[str, ...]
    spent: bool
    warnings: Tuple[str, ...] = ()


def _read_query(r: Any) -> Query:
    return Query(
        columns=tuple(r["columns"] or ()),
        table=tuple(r["rows"] or ()),
        epsilon_lower=float(r["epsilon"]["lower"]),
        epsilon_estimate=float(r["epsilon"]["estimate"]),
        epsilon_upper=float(r["epsilon"]["upper"]),
        delta=float(r["delta"]),
        noise=tuple(_read_query_noise(x) for x in r["noise"] or ()),
        plan=r["plan"],
        statement=tuple(r["statement"] or ()),
        spent=r["spent"],
        warnings=tuple(within(r, "warnings") or ()),
    )


@dataclass(frozen=True)
class PublishedCost(Answer):
    """An upper bound on ε, wrong with a probability that was fixed in advance. All but Private, which is nil unless it was asked for, may be published."""

    epsilon: float
    delta: float
    confidence: float
    order: float
    beta: float
    noise: float
    published_rdp: float
    noise_rdp: float
    statement: str
    private: Optional[Mapping[str, Any]] = None


def _read_pate_publish(r: Any) -> PublishedCost:
    return PublishedCost(
        epsilon=float(r["published-epsilon"]),
        delta=float(r["delta"]),
        confidence=float(r["confidence"]),
        order=float(r["order"]),
        beta=float(r["beta"]),
        noise=float(r["noise"]),
        published_rdp=float(r["published-rdp"]),
        noise_rdp=float(r["noise-rdp"]),
        statement=r["statement"],
        private=within(r, "not-safe-to-publish"),
    )


@dataclass(frozen=True)
class SanitizedCost(Answer):
    """A sanitized ε, or why there is none. All but Private, which is nil unless it was asked for, and a σ that was optimised may be published."""

    delta: float
    order: float
    beta: float
    sigma_ss: float
    gnss: str
    report: str
    sanitized_epsilon_is_a_bound: bool
    epsilon: Optional[float] = None
    why_none: str = ""
    private: Optional[Mapping[str, Any]] = None


def _read_pate_smooth(r: Any) -> SanitizedCost:
    return SanitizedCost(
        delta=float(r["delta"]),
        order=float(r["order"]),
        beta=float(r["beta"]),
        sigma_ss=float(r["sigma-ss"]),
        gnss=r["gnss"],
        report=r["report"],
        epsilon=real(within(r, "sanitized-epsilon")),
        why_none=within(r, "why-none") or "",
        private=within(r, "not-safe-to-publish"),
        sanitized_epsilon_is_a_bound=r["sanitized-epsilon-is-a-bound"],
    )


@dataclass(frozen=True)
class Spent(Answer):
    """Says that a spend was granted, and that the plan may run; Again that it was granted before under its key, and nothing was spent now."""

    spent: bool
    again: bool = False


def _read_spent(r: Any) -> Spent:
    return Spent(
        spent=r["spent"],
        again=bool(within(r, "again")),
    )


@dataclass(frozen=True)
class LedgerStatus(Answer):
    """What a ledger promises and what is spent."""

    mode: str
    neighbors: str
    budget_epsilon: float
    budget_delta: float
    entries: int
    runs: int
    left: float
    guarantee: str
    spent_epsilon: Optional[float] = None
    order: Optional[float] = None
    spent_renyi: Optional[float] = None
    budget_renyi: Optional[float] = None
    spent_mu: Optional[float] = None
    budget_mu: Optional[float] = None
    last: str = ""
    head: str = ""
    theory_gap: bool = False
    warnings: Tuple[str, ...] = ()
    records_per_person: Optional[int] = None
    checkpoints: Optional[int] = None
    summed_entries: Optional[int] = None
    spent_units: Optional[Mapping[str, Any]] = None


def _read_ledger_state(r: Any) -> LedgerStatus:
    return LedgerStatus(
        mode=r["mode"],
        neighbors=r["neighbors"],
        budget_epsilon=float(r["budget"]["epsilon"]),
        budget_delta=float(r["budget"]["delta"]),
        entries=r["entries"],
        runs=r["runs"],
        spent_epsilon=real(within(r, "spent-epsilon.upper")),
        order=real(within(r, "spent-renyi.order")),
        spent_renyi=real(within(r, "spent-renyi.spent")),
        budget_renyi=real(within(r, "spent-renyi.budget")),
        spent_mu=real(within(r, "spent-mu.spent")),
        budget_mu=real(within(r, "spent-mu.budget")),
        left=float(r["left"]),
        last=within(r, "last") or "",
        head=within(r, "head") or "",
        guarantee=r["guarantee"],
        theory_gap=bool(within(r, "theory-gap")),
        warnings=tuple(within(r, "warnings") or ()),
        records_per_person=within(r, "records-per-person"),
        checkpoints=within(r, "checkpoints"),
        summed_entries=within(r, "summed-entries"),
        spent_units=within(r, "spent-units"),
    )


class Operations(Connection):
    """Every operation as a method. Limits are memory in MB, work, and time_limit in seconds; InputError names what is wrong."""

    def version(
        self,
    ) -> str:
        """Asks for the version; it has no keys."""
        return str(self.request("version")["version"])

    @each("target_epsilon", delta="target_epsilon")
    def dpsgd(
        self,
        delta: Numbers,
        *,
        examples: Optional[int] = None,
        batch_size: Optional[float] = None,
        sampling_rate: Optional[float] = None,
        epochs: Optional[float] = None,
        steps: Optional[int] = None,
        noise_multiplier: Optional[float] = None,
        target_epsilon: Optional[Numbers] = None,
        target_advantage: Optional[float] = None,
        target_tpr: Optional[float] = None,
        at_fpr: Optional[float] = None,
        neighbors: Optional[str] = None,
        batching: Optional[str] = None,
        cap: Optional[float] = None,
        records_per_person: Optional[int] = None,
        accuracy: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> Training:
        """Describes a training run: its batches by examples and batch size or by a sampling rate, its length by epochs or steps, and its noise, or the ε or the limit of membership inference that it has to meet.

        examples: number of training examples N
        batch_size: expected size B of a batch
        sampling_rate: probability q of an example to be in a batch, instead of examples and batch_size
        epochs: number of epochs E, a fraction is allowed
        steps: number of steps T, instead of epochs
        noise_multiplier: standard deviation σ of the noise over the clipping norm (required, or a target)
        target_epsilon: find the smallest noise multiplier for this ε, instead of noise_multiplier
        target_advantage: the largest advantage of any membership-inference attack, its true-positive rate minus its false-positive rate
        target_tpr: the largest true-positive rate of any attack with the false-positive rate at_fpr
        at_fpr: false-positive rate of target_tpr
        delta: one or several δ
        neighbors: neighbouring relation: add-remove, substitute or zero-out
        batching: how batches are drawn: poisson, random-allocation, shuffle, truncated-poisson, without-replacement, fixed-order (default poisson)
        cap: largest batch B of truncated-poisson batching
        records_per_person: how many training examples k a person has at most; the answer is about persons
        accuracy: relative width that an interval may have (default 1e-9, and 1e-3 where lattices are needed)
        """
        return _read_dpsgd(self.request(
            "dpsgd", **given(
                examples=examples,
                batch_size=batch_size,
                sampling_rate=sampling_rate,
                epochs=epochs,
                steps=steps,
                noise_multiplier=noise_multiplier,
                target_epsilon=listed(target_epsilon),
                target_advantage=target_advantage,
                target_tpr=target_tpr,
                at_fpr=at_fpr,
                delta=listed(delta),
                neighbors=neighbors,
                batching=batching,
                cap=cap,
                records_per_person=records_per_person,
                accuracy=accuracy,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        )["results"][0])

    def _epsilon(
        self,
        plan: PlanLike,
        delta: Numbers,
        *,
        group_black_box: Optional[bool] = None,
        recursion: Optional[int] = None,
        accuracy: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
        accountant: Optional[str] = None,
        transform: Optional[str] = None,
        certificate: Optional[bool] = None,
    ) -> Any:
        """Asks for ε at one or several δ."""
        return self.request(
            "epsilon", **given(
                plan=plan_of(plan),
                delta=listed(delta),
                group_black_box=group_black_box,
                recursion=recursion,
                accuracy=accuracy,
                memory=memory,
                work=work,
                time_limit=time_limit,
                accountant=accountant,
                transform=transform,
                certificate=certificate,
            )
        )

    def _delta(
        self,
        plan: PlanLike,
        epsilon: Numbers,
        *,
        recursion: Optional[int] = None,
        accuracy: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
        accountant: Optional[str] = None,
        transform: Optional[str] = None,
    ) -> Any:
        """Asks for δ at one or several ε."""
        return self.request(
            "delta", **given(
                plan=plan_of(plan),
                epsilon=listed(epsilon),
                recursion=recursion,
                accuracy=accuracy,
                memory=memory,
                work=work,
                time_limit=time_limit,
                accountant=accountant,
                transform=transform,
            )
        )

    def _curve(
        self,
        plan: Optional[PlanLike] = None,
        *,
        plans: Optional[Sequence[Any]] = None,
        kind: Optional[str] = None,
        points: Optional[int] = None,
        min_delta: Optional[float] = None,
        from_: Optional[float] = None,
        to: Optional[float] = None,
        rdp: Optional[bool] = None,
        delta: Optional[Numbers] = None,
        log: Optional[bool] = None,
        accuracy: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> Curves:
        """Asks for curves of a kind: δ against ε (delta), ε against the length of the plan (steps), or the error rates of the best attacker (trade-off). Plan stands for Plans with that one, under the name plan."""
        return _read_curves(self.request(
            "curve", **given(
                plan=None if plan is None else plan_of(plan),
                plans=listed(plans),
                kind=kind,
                points=points,
                min_delta=min_delta,
                from_=from_,
                to=to,
                rdp=rdp,
                delta=listed(delta),
                log=log,
                accuracy=accuracy,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        ))

    @each("delta", "target_epsilon")
    def sampling(
        self,
        population: int,
        batch: int,
        noise_multiplier: float,
        *,
        subset: Optional[int] = None,
        mechanism: Optional[str] = None,
        epsilon: Optional[float] = None,
        steps: Optional[int] = None,
        delta: Optional[Numbers] = None,
        epochs: Optional[float] = None,
        neighbors: Optional[str] = None,
        target_epsilon: Optional[Numbers] = None,
        cap: Optional[float] = None,
        recursion: Optional[int] = None,
        accuracy: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> Tuple[SamplingScheme, ...]:
        """Describes the mechanism and its samples. Subset is for the schemes of MUST.

        population: number of records N
        subset: number B of the first stage's records, for the schemes of MUST
        batch: number M of records in a subsample
        mechanism: name of the noise: gaussian or laplace (default gaussian)
        noise_multiplier: noise σ over one record's largest contribution
        epsilon: ε of the unsampled mechanism that ε' and δ' belong to (default 1)
        steps: number of steps K of the last column (default 1000)
        delta: δ of the last column (default 1e-5)
        epochs: compare all ways to draw batches for this number E of epochs
        neighbors: neighbouring relation: add-remove, substitute or zero-out, for epochs
        target_epsilon: with epochs: the ε that the noise is told for (default that of poisson)
        cap: with epochs: largest batch B of truncated-poisson (default mean + 4.5 standard deviations)
        recursion: narrow a theory gap for mechanisms that run at most this many times by the recursion over data configurations, and from 100 times on by blocks of runs, beside which the recursion takes on a tenth as many; takes seconds; 0 for never
        accuracy: relative width that an interval may have (default 1e-9, and 1e-3 where lattices are needed)
        """
        return tuple(_read_scheme(x) for x in self.request(
            "sampling", **given(
                population=population,
                subset=subset,
                batch=batch,
                mechanism=mechanism,
                noise_multiplier=noise_multiplier,
                epsilon=epsilon,
                steps=steps,
                delta=listed(delta),
                epochs=epochs,
                neighbors=neighbors,
                target_epsilon=listed(target_epsilon),
                cap=cap,
                recursion=recursion,
                accuracy=accuracy,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        )["results"][0]["schemes"] or ())

    @each("epsilon", "delta")
    def calibrate(
        self,
        plan: PlanLike,
        *,
        epsilon: Optional[Numbers] = None,
        delta: Optional[Numbers] = None,
        target_advantage: Optional[float] = None,
        target_tpr: Optional[float] = None,
        at_fpr: Optional[float] = None,
        solve: Optional[str] = None,
        step: Optional[str] = None,
        examples: Optional[int] = None,
        recursion: Optional[int] = None,
        accuracy: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> Calibration:
        """Asks for the quantity that meets a budget: on ε at a δ, or on membership inference, which is the largest advantage of any attack, or its largest true-positive rate at a false-positive rate.

        epsilon: the budget's ε
        delta: the budget's δ
        target_advantage: the largest advantage of any membership-inference attack, its true-positive rate minus its false-positive rate
        target_tpr: the largest true-positive rate of any attack with the false-positive rate at_fpr
        at_fpr: false-positive rate of target_tpr
        solve: quantity to turn: noise-multiplier, count, rate, batch, records-per-person, epsilon (of a local randomizer) or users (of a shuffler) (default noise-multiplier)
        step: name of the step or group to turn, or its place such as steps[0]; all steps if left out
        examples: number N of examples, to turn the batch of Poisson sampling
        recursion: narrow a theory gap for mechanisms that run at most this many times by the recursion over data configurations, and from 100 times on by blocks of runs, beside which the recursion takes on a tenth as many; takes seconds; 0 for never
        accuracy: relative width that an interval may have (default 1e-9, and 1e-3 where lattices are needed)
        """
        return _read_solution(self.request(
            "calibrate", **given(
                plan=plan_of(plan),
                epsilon=listed(epsilon),
                delta=listed(delta),
                target_advantage=target_advantage,
                target_tpr=target_tpr,
                at_fpr=at_fpr,
                solve=solve,
                step=step,
                examples=examples,
                recursion=recursion,
                accuracy=accuracy,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        )["results"][0])

    def plan_check(
        self,
        plan: PlanLike,
    ) -> PlanSummary:
        """Asks whether a text is a plan."""
        return _read_plan_summary(self.request(
            "plan-check", **given(
                plan=plan_of(plan),
            )
        ))

    def shuffle(
        self,
        users: int,
        epsilon: float,
        delta: Numbers,
        *,
        rounds: Optional[int] = None,
        randomizer: Optional[str] = None,
        categories: Optional[int] = None,
        cohort: Optional[int] = None,
        cohort_rate: Optional[float] = None,
        colluding: Optional[int] = None,
        neighbors: Optional[str] = None,
        accuracy: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> Shuffle:
        """Describes rounds of a question behind a shuffler.

        users: number n of users
        epsilon: local ε, of the message of one user
        rounds: number T of rounds, each with fresh randomness (default 1)
        delta: one or several δ
        randomizer: what each user runs: pure (any randomizer of this ε), k-rr, unary, hadamard or local-hash (default pure)
        categories: number k of categories of k-rr, or size of the hashes of local-hash (default 2)
        cohort: number c of users who report in each round, drawn afresh and in secret (default: all)
        cohort_rate: probability q of a user to report in a round, in place of cohort
        colluding: number m of users whose messages the adversary knows (default 0)
        neighbors: neighbouring relation: add-remove (with cohort_rate only), substitute or zero-out (default substitute)
        accuracy: relative width that an interval may have (default 1e-9, and 1e-3 where lattices are needed)
        """
        return _read_shuffle(self.request(
            "shuffle", **given(
                users=users,
                epsilon=epsilon,
                rounds=rounds,
                delta=listed(delta),
                randomizer=randomizer,
                categories=categories,
                cohort=cohort,
                cohort_rate=cohort_rate,
                colluding=colluding,
                neighbors=neighbors,
                accuracy=accuracy,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        ))

    @each("delta")
    def compare(
        self,
        plan: PlanLike,
        delta: Numbers,
        *,
        recursion: Optional[int] = None,
        accuracy: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> Tuple[Comparison, ...]:
        """Asks for the ε of a plan at a δ by every method.

        delta: one or several δ to compare at
        recursion: narrow a theory gap for mechanisms that run at most this many times by the recursion over data configurations, and from 100 times on by blocks of runs, beside which the recursion takes on a tenth as many; takes seconds; 0 for never
        accuracy: relative width that an interval may have (default 1e-9, and 1e-3 where lattices are needed)
        """
        return tuple(_read_compared(x) for x in self.request(
            "compare", **given(
                plan=plan_of(plan),
                delta=listed(delta),
                recursion=recursion,
                accuracy=accuracy,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        )["results"][0]["methods"] or ())

    def risk(
        self,
        plan: PlanLike,
        *,
        false_positives: Optional[Numbers] = None,
        priors: Optional[Numbers] = None,
        accuracy: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> Risk:
        """Asks for a risk at false-positive rates and priors.

        false_positives: false-positive rates (default 0.001,0.01,0.1)
        priors: prior probabilities (default 0.5,0.1,0.01)
        accuracy: relative width that an interval may have (default 1e-9, and 1e-3 where lattices are needed)
        """
        return _read_risk(self.request(
            "risk", **given(
                plan=plan_of(plan),
                false_positives=listed(false_positives),
                priors=listed(priors),
                accuracy=accuracy,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        ))

    def _profile(
        self,
        mechanism: str,
        *,
        noise: Optional[str] = None,
        noise_multiplier: Optional[float] = None,
        sensitivity: Optional[float] = None,
        l2_sensitivity: Optional[float] = None,
        clients: Optional[float] = None,
        missing: Optional[float] = None,
        dimension: Optional[float] = None,
        probability: Optional[float] = None,
        categories: Optional[float] = None,
        epsilon: Optional[float] = None,
        delta: Optional[float] = None,
        p: Optional[Numbers] = None,
        q: Optional[Numbers] = None,
        shifts: Optional[Numbers] = None,
        probabilities: Optional[Numbers] = None,
        standard_deviation: Optional[float] = None,
        scale: Optional[float] = None,
        threshold: Optional[float] = None,
        partitions: Optional[float] = None,
        sampling_rate: Optional[float] = None,
        neighbors: Optional[str] = None,
        at: Optional[Numbers] = None,
        min_delta: Optional[float] = None,
        accuracy: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> PlanProfile:
        """Asks for the profile of a mechanism, sampled if there is a rate, at some ε or over a range that suits it."""
        return _read_profile(self.request(
            "profile", **given(
                mechanism=mechanism,
                noise=noise,
                noise_multiplier=noise_multiplier,
                sensitivity=sensitivity,
                l2_sensitivity=l2_sensitivity,
                clients=clients,
                missing=missing,
                dimension=dimension,
                probability=probability,
                categories=categories,
                epsilon=epsilon,
                delta=delta,
                p=listed(p),
                q=listed(q),
                shifts=listed(shifts),
                probabilities=listed(probabilities),
                standard_deviation=standard_deviation,
                scale=scale,
                threshold=threshold,
                partitions=partitions,
                sampling_rate=sampling_rate,
                neighbors=neighbors,
                at=listed(at),
                min_delta=min_delta,
                accuracy=accuracy,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        ))

    def plan_convert(
        self,
        plan: PlanLike,
        *,
        to: Optional[str] = None,
    ) -> str:
        """Asks for a plan, in either format, in the other one or in that of To: "plan" or "events".

        to: format to write: plan or events (default: the one that the file is not in)
        """
        return str(self.request(
            "plan-convert", **given(
                plan=plan_of(plan),
                to=to,
            )
        )["text"])

    @each("delta")
    def diff(
        self,
        old: PlanLike,
        new: PlanLike,
        delta: Numbers,
        *,
        recursion: Optional[int] = None,
        accuracy: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> Difference:
        """Asks what tells plan New from plan Old, and what that costs at Delta.

        delta: one or several δ of both plans
        recursion: narrow a theory gap for mechanisms that run at most this many times by the recursion over data configurations, and from 100 times on by blocks of runs, beside which the recursion takes on a tenth as many; takes seconds; 0 for never
        accuracy: relative width that an interval may have (default 1e-9, and 1e-3 where lattices are needed)
        """
        return _read_difference(self.request(
            "diff", **given(
                old=plan_of(old),
                new=plan_of(new),
                delta=listed(delta),
                recursion=recursion,
                accuracy=accuracy,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        )["results"][0])

    @each("tolerance")
    def gdp(
        self,
        plan: PlanLike,
        *,
        tolerance: Optional[Numbers] = None,
        accuracy: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> GaussianDP:
        """Asks for μ at a tolerance, 1e-10 if left out.

        tolerance: τ, what the power of a test may be more than under μ-GDP (default 1e-10)
        accuracy: relative width that an interval may have (default 1e-9, and 1e-3 where lattices are needed)
        """
        return _read_gdp(self.request(
            "gdp", **given(
                plan=plan_of(plan),
                tolerance=listed(tolerance),
                accuracy=accuracy,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        )["results"][0])

    @each("mu", "zcdp")
    def gdp_solve(
        self,
        plan: PlanLike,
        solve: str,
        *,
        mu: Optional[Numbers] = None,
        zcdp: Optional[Numbers] = None,
        tolerance: Optional[float] = None,
        step: Optional[str] = None,
        examples: Optional[int] = None,
        accuracy: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> float:
        """Asks for the value of a quantity at which a plan is μ-GDP at the tolerance, 1e-10 if left out; or, for Gaussian noise on the whole data set, ρ-zCDP.

        mu: μ of the budget
        zcdp: ρ of the budget, in place of mu
        tolerance: τ, as of gdp (default 1e-10)
        solve: quantity to turn: noise-multiplier, count, rate or batch
        step: name or place of the step to turn, such as steps[0] (default: all that have the quantity)
        examples: size of the data set, to turn the batch of Poisson sampling
        accuracy: relative width that an interval may have (default 1e-9, and 1e-3 where lattices are needed)
        """
        return float(self.request(
            "gdp-solve", **given(
                plan=plan_of(plan),
                mu=listed(mu),
                zcdp=listed(zcdp),
                tolerance=tolerance,
                solve=solve,
                step=step,
                examples=examples,
                accuracy=accuracy,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        )["results"][0]["value"])

    def _filter(
        self,
        menu: PlanLike,
        *,
        units: Optional[int] = None,
        epsilon: Optional[Numbers] = None,
        delta: Optional[Numbers] = None,
        accuracy: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> Filter:
        """Asks for the price of a menu: of its own budget, or of so many units, at an ε or a δ or as a table."""
        return _read_filter(self.request(
            "filter", **given(
                menu=plan_of(menu),
                units=units,
                epsilon=listed(epsilon),
                delta=listed(delta),
                accuracy=accuracy,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        ))

    @each("delta")
    def audit(
        self,
        design: str,
        members: Numbers,
        non_members: Numbers,
        delta: Numbers,
        plan: Optional[PlanLike] = None,
        *,
        confidence: Optional[float] = None,
        threshold: Optional[float] = None,
        family: Optional[str] = None,
        guesses: Optional[int] = None,
        points: Optional[int] = None,
        accuracy: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> Audit:
        """Asks what the scores of an attack prove at a δ and a confidence, 0.95 if left out, and, with a plan, whether that agrees with it.

        design: many-runs or one-run, see above
        delta: one or several δ to bound ε at
        confidence: probability that what is told holds, at least (default 0.95)
        threshold: many-runs: a score that was fixed before anybody saw the scores (default: all thresholds at once)
        family: the family of the mechanism, if it is known: any, or gaussian, for which ε follows from the bound of μ (default any)
        guesses: one-run: number of canaries to guess, half of them members, fixed likewise (default: several numbers are tried, and paid for)
        plan: plan file that is said to have run
        accuracy: relative width that an interval may have (default 1e-9, and 1e-3 where lattices are needed)
        """
        return _read_audit(self.request(
            "audit", **given(
                design=design,
                members=listed(members),
                non_members=listed(non_members),
                delta=listed(delta),
                confidence=confidence,
                threshold=threshold,
                family=family,
                guesses=guesses,
                points=points,
                plan=None if plan is None else plan_of(plan),
                accuracy=accuracy,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        )["results"][0])

    @each("delta")
    def select(
        self,
        plan: Optional[PlanLike] = None,
        *,
        candidate_epsilon: Optional[float] = None,
        candidate_delta: Optional[float] = None,
        law: Optional[Sequence[str]] = None,
        shape: Optional[float] = None,
        mean: Optional[Numbers] = None,
        max_: Optional[int] = None,
        first_above: Optional[bool] = None,
        delta: Optional[Numbers] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> Tuple[SelectionLaw, ...]:
        """Has one run, the laws of the number of runs to compare, and the δ that ε is asked for.

        plan: plan file of one run (- reads standard input)
        candidate_epsilon: ε of one run
        candidate_delta: δ of one run
        law: laws to compare: geometric, logarithmic, negative-binomial, poisson, binomial, fixed
        shape: shape of the negative-binomial law, above -1 (default 0.5)
        mean: expected runs; several with commas (default 10)
        max_: largest number of runs: the law is conditioned on it (fixed, binomial: number of runs, of trials)
        first_above: price the first outcome above a threshold instead of the best (geometric laws)
        delta: δ that ε is asked for
        """
        return tuple(_read_selected_law(x) for x in self.request(
            "select", **given(
                plan=None if plan is None else plan_of(plan),
                candidate_epsilon=candidate_epsilon,
                candidate_delta=candidate_delta,
                law=listed(law),
                shape=shape,
                mean=listed(mean),
                max_=max_,
                first_above=first_above,
                delta=listed(delta),
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        )["laws"] or ())

    @each("epsilon", "delta")
    def matrix_optimize(
        self,
        strategy: str,
        steps: int,
        participation: str,
        *,
        bands: Optional[int] = None,
        buffers: Optional[int] = None,
        error: Optional[str] = None,
        noise_multiplier: Optional[float] = None,
        epsilon: Optional[Numbers] = None,
        delta: Optional[Numbers] = None,
        neighbors: Optional[str] = None,
        accuracy: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> MatrixStrategy:
        """Asks for the strategy of least error, and for its noise: as given, for a budget, or else an effective noise multiplier of 1.

        strategy: class to search: banded, toeplitz or blt
        steps: number of steps of a run
        participation: schema as in a plan, such as 'min-separation: 100, at-most: 20'
        bands: number p of bands of banded and toeplitz (default the separation)
        buffers: number d of buffers of a blt (default as many as gain)
        error: error of prefix sums to make small: rmse, or max for the worst one (default rmse)
        noise_multiplier: noise σ of the run (default the sensitivity)
        epsilon: search the noise for this ε instead
        delta: δ of the price (default 1e-5)
        neighbors: neighbouring relation: add-remove, substitute or zero-out (default add-remove)
        accuracy: relative width that an interval may have (default 1e-9, and 1e-3 where lattices are needed)
        """
        return _read_matrix_optimize(self.request(
            "matrix-optimize", **given(
                strategy=strategy,
                steps=steps,
                participation=participation,
                bands=bands,
                buffers=buffers,
                error=error,
                noise_multiplier=noise_multiplier,
                epsilon=listed(epsilon),
                delta=listed(delta),
                neighbors=neighbors,
                accuracy=accuracy,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        )["results"][0])

    @each("delta")
    def majority(
        self,
        mechanisms: int,
        epsilon: float,
        allowance: float,
        plan: Optional[PlanLike] = None,
        *,
        delta_each: Optional[float] = None,
        output_delta: Optional[float] = None,
        gamma: Optional[str] = None,
        objective: Optional[str] = None,
        prior_mean: Optional[float] = None,
        prior: Optional[Numbers] = None,
        samples: Optional[int] = None,
        monotone: Optional[bool] = None,
        disjoint_shards: Optional[bool] = None,
        voter_epsilons: Optional[Numbers] = None,
        voter_deltas: Optional[Numbers] = None,
        classes: Optional[int] = None,
        answers: Optional[int] = None,
        delta: Optional[Numbers] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> Majority:
        """Describes the mechanisms, the budget and which noise function is asked for: optimal, subsampling, double or constant.

        mechanisms: number K of mechanisms
        epsilon: ε of every mechanism
        allowance: m: the answer may cost m times ε
        delta_each: Δ of every mechanism
        output_delta: δ of the answer (default 1 − (1−Δ)^m)
        gamma: noise function: optimal, subsampling, double or constant (default optimal)
        objective: what optimal means: error (of votes above ½), disagreement or common-p (default error)
        prior_mean: mean vote probability of the objective (default 0.75)
        prior: low,high: minimise the error itself, averaged over vote probabilities drawn uniformly from between them
        samples: number of vectors drawn for prior, the same every time (default 4000)
        monotone: let clearer majorities be answered at least as truthfully (default true)
        disjoint_shards: the mechanisms run on disjoint shards of the records
        voter_epsilons: ε of each mechanism, if they are unlike; epsilon is then the unit of the allowance
        voter_deltas: Δ of each of them
        plan: plan file of each mechanism, a training run (- reads standard input)
        classes: number of labels that are voted for (default 2)
        answers: price so many answers at delta: of two labels as one mechanism, of more by composing the bound of one
        delta: δ of all those answers
        """
        return _read_majority(self.request(
            "majority", **given(
                mechanisms=mechanisms,
                epsilon=epsilon,
                allowance=allowance,
                delta_each=delta_each,
                output_delta=output_delta,
                gamma=gamma,
                objective=objective,
                prior_mean=prior_mean,
                prior=listed(prior),
                samples=samples,
                monotone=monotone,
                disjoint_shards=disjoint_shards,
                voter_epsilons=listed(voter_epsilons),
                voter_deltas=listed(voter_deltas),
                plan=None if plan is None else plan_of(plan),
                classes=classes,
                answers=answers,
                delta=listed(delta),
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        )["results"][0])

    @each("delta")
    def pate(
        self,
        votes: Sequence[Any],
        mechanism: str,
        delta: Numbers,
        *,
        labels: Optional[bool] = None,
        classes: Optional[int] = None,
        teachers: Optional[int] = None,
        threshold: Optional[float] = None,
        sigma1: Optional[float] = None,
        sigma2: Optional[float] = None,
        gamma: Optional[float] = None,
        baseline: Optional[Sequence[Any]] = None,
        rounded: Optional[bool] = None,
        max_answers: Optional[int] = None,
        queries: Optional[int] = None,
        baseline_kind: Optional[str] = None,
        answered: Optional[Sequence[Any]] = None,
        conversion: Optional[str] = None,
        report: Optional[str] = None,
        price: Optional[str] = None,
        orders: Optional[Numbers] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> PateCost:
        """Asks for the cost of votes, at some Rényi orders.

        classes: number of classes, for format labels
        teachers: number of teachers, if some abstain
        mechanism: gnmax, confident, interactive or lnmax
        threshold: threshold T of the check, in votes
        sigma1: standard deviation of the check's noise, in votes
        sigma2: standard deviation of the answers' noise, in votes
        gamma: inverse scale of lnmax's noise
        rounded: interactive rounds its statistic to a whole number, which smooth needs
        max_answers: the number of answers after which no query is answered any more, fixed in advance
        queries: look at the first K queries only
        baseline_kind: what the scores are: probs, or votes (already multiplied by the number of teachers) (default probs)
        delta: δ; for what it cost several with commas between them
        conversion: from Rényi to (ε, δ): cks (improved), or classic as in the tables of the PATE paper (default cks)
        report: joint, expected (not a bound), realised, worst or independent (default: realised with answered; without, joint if there is a check and else worst)
        price: bound by which a query is priced: best (from q alone), exact (its law), or theorem6 (the paper's)
        """
        return _read_pate(self.request(
            "pate", **given(
                votes=listed(votes),
                labels=labels,
                classes=classes,
                teachers=teachers,
                mechanism=mechanism,
                threshold=threshold,
                sigma1=sigma1,
                sigma2=sigma2,
                gamma=gamma,
                baseline=listed(baseline),
                rounded=rounded,
                max_answers=max_answers,
                queries=queries,
                baseline_kind=baseline_kind,
                answered=listed(answered),
                delta=listed(delta),
                conversion=conversion,
                report=report,
                price=price,
                orders=listed(orders),
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        )["results"][0])

    @each("epsilon", "delta")
    def pate_calibrate(
        self,
        votes: Sequence[Any],
        mechanism: str,
        epsilon: Numbers,
        delta: Numbers,
        *,
        labels: Optional[bool] = None,
        classes: Optional[int] = None,
        teachers: Optional[int] = None,
        queries: Optional[int] = None,
        independent_epsilon: Optional[float] = None,
        threshold: Optional[float] = None,
        sigma1: Optional[float] = None,
        max_answers: Optional[int] = None,
        report: Optional[str] = None,
        publish: Optional[bool] = None,
        confidence: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> PateParameters:
        """Asks for the mechanism that answers best within a budget, and perhaps for the parameters of its publication.

        classes: number of classes, for format labels
        teachers: number of teachers, if some abstain
        queries: look at the first K queries only
        mechanism: gnmax or confident
        epsilon: target ε
        delta: δ of the target
        independent_epsilon: bound of the ε at every data set (default: four times epsilon)
        threshold: threshold T of the check, in votes (default: searched)
        sigma1: standard deviation of the check's noise, in votes (default: searched)
        max_answers: the number of answers after which no query is answered any more, fixed in advance
        report: which ε meets the target: joint or worst at these votes, or independent at every data set (default: joint if there is a check and else worst)
        publish: search order, beta and noise of publish, too
        confidence: the probability that the published bound holds (default 0.95)
        """
        return _read_pate_calibration(self.request(
            "pate-calibrate", **given(
                votes=listed(votes),
                labels=labels,
                classes=classes,
                teachers=teachers,
                queries=queries,
                mechanism=mechanism,
                epsilon=listed(epsilon),
                delta=listed(delta),
                independent_epsilon=independent_epsilon,
                threshold=threshold,
                sigma1=sigma1,
                max_answers=max_answers,
                report=report,
                publish=publish,
                confidence=confidence,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        )["results"][0])

    @each("epsilon")
    def _label(
        self,
        epsilon: Numbers,
        *,
        labels: Optional[Numbers] = None,
        weights: Optional[Numbers] = None,
        grid: Optional[int] = None,
        bias: Optional[float] = None,
        classes: Optional[Sequence[str]] = None,
        groups: Optional[Sequence[Any]] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> LabelRandomizer:
        """Has the privacy of one label and the prior: a weight for each label or class, of each group if examples have public groups."""
        return _read_label(self.request(
            "label", **given(
                epsilon=listed(epsilon),
                labels=listed(labels),
                weights=listed(weights),
                grid=grid,
                bias=bias,
                classes=listed(classes),
                groups=listed(groups),
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        )["results"][0])

    def _explain(
        self,
        *,
        topic: Optional[str] = None,
        containing: Optional[str] = None,
    ) -> Tuple[Topic, ...]:
        """Names a topic, a theorem or another word of the texts; without one it asks for all topics."""
        return tuple(_read_topic(x) for x in self.request(
            "explain", **given(
                topic=topic,
                containing=containing,
            )
        ))

    def _local_messages(
        self,
        mechanism: str,
        epsilon: float,
        categories: int,
        values: Sequence[Any],
        *,
        size: Optional[int] = None,
        test_seed: Optional[int] = None,
    ) -> List[List[int]]:
        """Asks for a message of each value."""
        return list(self.request(
            "local-messages", **given(
                mechanism=mechanism,
                epsilon=epsilon,
                categories=categories,
                size=size,
                values=listed(values),
                test_seed=test_seed,
            )
        )["messages"])

    def _local_estimates(
        self,
        mechanism: str,
        epsilon: float,
        categories: int,
        messages: Sequence[Any],
        *,
        size: Optional[int] = None,
    ) -> Tuple[LocalEstimate, ...]:
        """Asks what messages say of the number of users with each value."""
        return tuple(_read_local_estimate(x) for x in self.request(
            "local-estimates", **given(
                mechanism=mechanism,
                epsilon=epsilon,
                categories=categories,
                size=size,
                messages=listed(messages),
            )
        )["estimates"] or ())

    def draw(
        self,
        sampling: Any,
        population: int,
        *,
        batches: Optional[int] = None,
        test_seed: Optional[int] = None,
    ) -> List[List[int]]:
        """Asks for the first batches of a run.

        population: number of records N
        batches: number of batches
        test_seed: seed, for tests: who knows it knows the batches
        """
        return list(self.request(
            "draw", **given(
                sampling=sampling,
                population=population,
                batches=batches,
                test_seed=test_seed,
            )
        )["batches"])

    def _query(
        self,
        in_: str,
        budget: float,
        *,
        delta: Optional[float] = None,
        group: Optional[Sequence[str]] = None,
        keys: Optional[Sequence[Any]] = None,
        person: Optional[str] = None,
        per_person: Optional[int] = None,
        per_group: Optional[int] = None,
        count: Optional[bool] = None,
        sum: Optional[Sequence[str]] = None,
        mean: Optional[Sequence[str]] = None,
        quantile: Optional[Sequence[str]] = None,
        weight: Optional[Sequence[str]] = None,
        ledger: Optional[str] = None,
        note: Optional[str] = None,
        accuracy: Optional[float] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> Query:
        """Asks for statistics of a table, and says what they may cost."""
        return _read_query(self.request(
            "query", **given(
                in_=in_,
                budget=budget,
                delta=delta,
                group=listed(group),
                keys=listed(keys),
                person=person,
                per_person=per_person,
                per_group=per_group,
                count=count,
                sum=listed(sum),
                mean=listed(mean),
                quantile=listed(quantile),
                weight=listed(weight),
                ledger=ledger,
                note=note,
                accuracy=accuracy,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        ))

    def pate_publish(
        self,
        votes: Sequence[Any],
        mechanism: str,
        delta: Numbers,
        order: float,
        beta: float,
        noise: float,
        *,
        labels: Optional[bool] = None,
        classes: Optional[int] = None,
        teachers: Optional[int] = None,
        threshold: Optional[float] = None,
        sigma1: Optional[float] = None,
        sigma2: Optional[float] = None,
        gamma: Optional[float] = None,
        baseline: Optional[Sequence[Any]] = None,
        rounded: Optional[bool] = None,
        max_answers: Optional[int] = None,
        queries: Optional[int] = None,
        baseline_kind: Optional[str] = None,
        answered: Optional[Sequence[Any]] = None,
        conversion: Optional[str] = None,
        report: Optional[str] = None,
        price: Optional[str] = None,
        confidence: Optional[float] = None,
        seed: Optional[int] = None,
        private: Optional[bool] = None,
    ) -> PublishedCost:
        """Asks for a bound on ε that may be published.

        classes: number of classes, for format labels
        teachers: number of teachers, if some abstain
        mechanism: gnmax, confident, interactive or lnmax
        threshold: threshold T of the check, in votes
        sigma1: standard deviation of the check's noise, in votes
        sigma2: standard deviation of the answers' noise, in votes
        gamma: inverse scale of lnmax's noise
        rounded: interactive rounds its statistic to a whole number, which smooth needs
        max_answers: the number of answers after which no query is answered any more, fixed in advance
        queries: look at the first K queries only
        baseline_kind: what the scores are: probs, or votes (already multiplied by the number of teachers) (default probs)
        delta: δ; for what it cost several with commas between them
        conversion: from Rényi to (ε, δ): cks (improved), or classic as in the tables of the PATE paper (default cks)
        report: joint, expected (not a bound), realised, worst or independent (default: realised with answered; without, joint if there is a check and else worst)
        price: bound by which a query is priced: best (from q alone), exact (its law), or theorem6 (the paper's)
        order: Rényi order λ
        beta: smoothness β, about one over the distance at which votes still agree
        noise: standard deviation s of the noise on the logarithm of the cost
        confidence: the probability that the bound holds (default 0.95)
        seed: seed of the noise, for tests: a known seed gives no privacy
        private: print also what depends on the private votes and must not be published
        """
        return _read_pate_publish(self.request(
            "pate-publish", **given(
                votes=listed(votes),
                labels=labels,
                classes=classes,
                teachers=teachers,
                mechanism=mechanism,
                threshold=threshold,
                sigma1=sigma1,
                sigma2=sigma2,
                gamma=gamma,
                baseline=listed(baseline),
                rounded=rounded,
                max_answers=max_answers,
                queries=queries,
                baseline_kind=baseline_kind,
                answered=listed(answered),
                delta=listed(delta),
                conversion=conversion,
                report=report,
                price=price,
                order=order,
                beta=beta,
                noise=noise,
                confidence=confidence,
                seed=seed,
                private=private,
            )
        ))

    def pate_smooth(
        self,
        votes: Sequence[Any],
        mechanism: str,
        delta: Numbers,
        order: float,
        beta: float,
        *,
        labels: Optional[bool] = None,
        classes: Optional[int] = None,
        teachers: Optional[int] = None,
        threshold: Optional[float] = None,
        sigma1: Optional[float] = None,
        sigma2: Optional[float] = None,
        gamma: Optional[float] = None,
        baseline: Optional[Sequence[Any]] = None,
        rounded: Optional[bool] = None,
        max_answers: Optional[int] = None,
        queries: Optional[int] = None,
        baseline_kind: Optional[str] = None,
        answered: Optional[Sequence[Any]] = None,
        conversion: Optional[str] = None,
        report: Optional[str] = None,
        price: Optional[str] = None,
        sigma_ss: Optional[float] = None,
        optimise: Optional[bool] = None,
        gnss: Optional[str] = None,
        seed: Optional[int] = None,
        private: Optional[bool] = None,
    ) -> SanitizedCost:
        """Asks for a sanitized ε.

        classes: number of classes, for format labels
        teachers: number of teachers, if some abstain
        mechanism: gnmax, confident, interactive or lnmax
        threshold: threshold T of the check, in votes
        sigma1: standard deviation of the check's noise, in votes
        sigma2: standard deviation of the answers' noise, in votes
        gamma: inverse scale of lnmax's noise
        rounded: interactive rounds its statistic to a whole number, which smooth needs
        max_answers: the number of answers after which no query is answered any more, fixed in advance
        queries: look at the first K queries only
        baseline_kind: what the scores are: probs, or votes (already multiplied by the number of teachers) (default probs)
        delta: δ; for what it cost several with commas between them
        conversion: from Rényi to (ε, δ): cks (improved), or classic as in the tables of the PATE paper (default cks)
        report: joint, expected (not a bound), realised, worst or independent (default: realised with answered; without, joint if there is a check and else worst)
        price: bound by which a query is priced: best (from q alone), exact (its law), or theorem6 (the paper's)
        order: Rényi order λ
        beta: smoothness β, about 0.2/λ
        sigma_ss: noise scale σ, in units of the smooth sensitivity
        optimise: choose the noise scale from the votes instead; publishes nothing
        gnss: cost of the noise: exact, or paper (Theorem 23 as printed; publishes nothing) (default exact)
        seed: seed of the noise, for tests: a known seed gives no privacy
        private: print also what depends on the private votes and must not be published
        """
        return _read_pate_smooth(self.request(
            "pate-smooth", **given(
                votes=listed(votes),
                labels=labels,
                classes=classes,
                teachers=teachers,
                mechanism=mechanism,
                threshold=threshold,
                sigma1=sigma1,
                sigma2=sigma2,
                gamma=gamma,
                baseline=listed(baseline),
                rounded=rounded,
                max_answers=max_answers,
                queries=queries,
                baseline_kind=baseline_kind,
                answered=listed(answered),
                delta=listed(delta),
                conversion=conversion,
                report=report,
                price=price,
                order=order,
                beta=beta,
                sigma_ss=sigma_ss,
                optimise=optimise,
                gnss=gnss,
                seed=seed,
                private=private,
            )
        ))

    def _ledger_create(
        self,
        mode: str,
        *,
        path: Optional[str] = None,
        neighbors: Optional[str] = None,
        epsilon: Optional[float] = None,
        delta: Optional[float] = None,
        menu: Optional[PlanLike] = None,
        records_per_person: Optional[int] = None,
    ) -> str:
        """Makes a ledger: in memory, or at a path where the front end has files."""
        return str(self.request(
            "ledger-create", **given(
                path=None if path is None else self._path(path),
                neighbors=neighbors,
                epsilon=epsilon,
                delta=delta,
                mode=mode,
                menu=None if menu is None else plan_of(menu),
                records_per_person=records_per_person,
            )
        )["ledger"])

    def _ledger_open(
        self,
        path: str,
    ) -> str:
        """Opens a ledger."""
        return str(self.request(
            "ledger-open", **given(
                path=self._path(path),
            )
        )["ledger"])

    def _ledger_spend(
        self,
        ledger: str,
        plan: Optional[PlanLike] = None,
        *,
        type: Optional[str] = None,
        note: Optional[str] = None,
        key: Optional[str] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> Spent:
        """Spends a plan before it runs."""
        return _read_spent(self.request(
            "ledger-spend", **given(
                ledger=ledger,
                plan=None if plan is None else plan_of(plan),
                type=type,
                note=note,
                key=key,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        ))

    def _ledger_fits(
        self,
        ledger: str,
        plan: PlanLike,
        *,
        limit: Optional[int] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> int:
        """Asks how many times in a row a plan could be spent, at most Limit times."""
        return int(self.request(
            "ledger-fits", **given(
                ledger=ledger,
                plan=plan_of(plan),
                limit=limit,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        )["fits"])

    def _ledger_status(
        self,
        ledger: str,
        *,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> LedgerStatus:
        """Asks for what is spent and what is left."""
        return _read_ledger_state(self.request(
            "ledger-status", **given(
                ledger=ledger,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        ))

    def _ledger_check(
        self,
        path: str,
        *,
        head: Optional[str] = None,
        memory: Optional[float] = None,
        work: Optional[float] = None,
        time_limit: Optional[float] = None,
    ) -> LedgerStatus:
        """Has a ledger's file verified; Head is a checksum of earlier."""
        return _read_ledger_state(self.request(
            "ledger-check", **given(
                path=self._path(path),
                head=head,
                memory=memory,
                work=work,
                time_limit=time_limit,
            )
        ))
