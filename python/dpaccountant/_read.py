"""From the JSON of a result to an answer, and from arguments to the JSON of a request."""

from __future__ import annotations

import functools
import inspect
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, TypeVar, Union, cast

from ._errors import InputError
from .answers import Calibration, Interval, LedgerStatus, Probe, RiskValue

F = TypeVar("F", bound=Callable[..., Any])

PlanLike = Union[Mapping[str, Any], str, "os.PathLike[str]"]
"""A plan as a mapping (a Plan), as the text of a plan file (YAML or JSON), or as the path or name of such a file."""


def plan_of(plan: PlanLike) -> Any:
    """The plan of a request. A text on one line that ends as the name of a plan file does is one."""
    if isinstance(plan, Mapping):
        return dict(plan)
    if not isinstance(plan, (str, os.PathLike)):
        raise InputError(f"plan: {type(plan).__name__} is not a mapping, the text of a plan, or the path of a plan file")
    name = os.fspath(plan)
    if isinstance(plan, str) and ("\n" in plan or not plan.endswith((".yaml", ".yml", ".json"))):
        return plan
    try:
        with open(name, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"plan: {name} cannot be read: {error}") from error


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


def numbers_of(values: Any) -> Optional[List[float]]:
    """The numbers of a list, a tuple, an array or a Series; None for a number alone."""
    values = values.tolist() if hasattr(values, "tolist") else values
    return [float(v) for v in values] if isinstance(values, (list, tuple, range)) else None


def each(*names: str) -> Callable[[F], F]:
    """Have a method return a list, an answer for each, where one of these arguments is a list, an array or a Series of numbers."""

    def of(method: F) -> F:
        parameters = inspect.signature(method)

        @functools.wraps(method)
        def called(*args: Any, **kwargs: Any) -> Any:
            bound = parameters.bind(*args, **kwargs)
            for name in names:
                values = numbers_of(bound.arguments.get(name))
                if values == []:
                    raise InputError(f"{name}: is an empty list, must be a number or a list of them")
                if values is not None:
                    answers = []
                    for bound.arguments[name] in values:
                        answers.append(called(*bound.args, **bound.kwargs))
                    return answers
            return method(*args, **kwargs)

        return cast(F, called)

    return of


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
