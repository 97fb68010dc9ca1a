"""From the JSON of a result to an answer, and from arguments to the JSON of a request."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence, Union

from .answers import Calibration, Interval, LedgerStatus, Probe, RiskValue

Plan = Union[Mapping[str, Any], str]
"""A plan as a mapping, or as the text of a plan file (YAML or JSON)."""


def plan_of(plan: Plan) -> Any:
    return plan if isinstance(plan, str) else dict(plan)


def rows_of(rows: Sequence[Sequence[int]]) -> Any:
    return [list(row) for row in rows]


def interval_of(result: Mapping[str, Any], key: str) -> Interval:
    bounds = result[key]
    return Interval(
        lower=float(bounds["lower"]),
        estimate=float(bounds["estimate"]),
        upper=float(bounds["upper"]),
        worst_direction=result["worst-direction"],
        error_budget={k: float(v) for k, v in result["error-budget"].items()},
        theory_gap=bool(result.get("theory-gap", False)),
        warnings=tuple(result.get("warnings", ())),
    )


def given(**options: Any) -> Dict[str, Any]:
    """The keys of a request for the options that are given."""
    return {k.strip("_").replace("_", "-"): v for k, v in options.items() if v is not None}


def number_of(value: Any) -> Optional[float]:
    return None if value is None else float(value)


def calibration_of(result: Mapping[str, Any]) -> Calibration:
    asked = next(name for name in ("epsilon", "delta", "true-positive-rate") if name in result["meets"])

    def probe(p: Mapping[str, Any]) -> Probe:
        bounds = p[asked]
        return Probe(
            float(p["value"]), float(bounds["lower"]), float(bounds["estimate"]), float(bounds["upper"])
        )

    fails = result.get("fails")
    return Calibration(
        solve=result["solve"],
        value=float(result["value"]),
        common_factor=result["common-factor"],
        unlimited=result["unlimited"],
        asked=asked,
        meets=probe(result["meets"]),
        fails=None if fails is None else probe(fails),
        fails_proved=result["fails-proved"],
        steps={s["path"]: float(s["value"]) for s in result["steps"]},
        theory_gap=bool(result.get("theory-gap", False)),
        warnings=tuple(result.get("warnings", ())),
    )


def risk_of(result: Mapping[str, Any], at: float) -> RiskValue:
    return RiskValue(
        at=at,
        lower=float(result["lower"]),
        estimate=float(result["estimate"]),
        upper=float(result["upper"]),
        worst_direction=result["worst-direction"],
    )


def status_of(result: Mapping[str, Any]) -> LedgerStatus:
    spent = result.get("spent-epsilon")
    renyi = result.get("spent-renyi")
    return LedgerStatus(
        mode=result["mode"],
        neighbors=result["neighbors"],
        budget_epsilon=float(result["budget"]["epsilon"]),
        budget_delta=float(result["budget"]["delta"]),
        entries=result["entries"],
        runs=result["runs"],
        left=float(result["left"]),
        guarantee=result["guarantee"],
        head=result.get("head", ""),
        spent_epsilon=None if spent is None else float(spent["upper"]),
        order=None if renyi is None else float(renyi["order"]),
        spent_renyi=None if renyi is None else float(renyi["spent"]),
        budget_renyi=None if renyi is None else float(renyi["budget"]),
        warnings=tuple(result.get("warnings", ())),
    )
