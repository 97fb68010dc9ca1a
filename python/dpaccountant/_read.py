"""From the JSON of a result to an answer, and from arguments to the JSON of a request."""

from __future__ import annotations

import functools
import inspect
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, TypeVar, Union, cast

from ._errors import InputError

F = TypeVar("F", bound=Callable[..., Any])

PlanLike = Union[Mapping[str, Any], str, "os.PathLike[str]"]
"""A plan as a mapping (a Plan), as the text of a plan file (YAML or JSON), or as the path or name of such a file."""


Numbers = Union[float, Sequence[float], Any]
"""A number, or several: a list, an array or a Series."""


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


def numbers_of(values: Any) -> Optional[List[float]]:
    """The numbers of a list, a tuple, an array or a Series; None for a number alone."""
    values = listed(values)
    return [float(v) for v in values] if isinstance(values, list) else None


def each(*names: str, **apart: str) -> Callable[[F], F]:
    """Have a method return a list, an answer for each, where one of these arguments is a list, an array or a Series of numbers;
    of those with another name beside them only where that argument is given."""

    def of(method: F) -> F:
        parameters = inspect.signature(method)

        @functools.wraps(method)
        def called(*args: Any, **kwargs: Any) -> Any:
            bound = parameters.bind(*args, **kwargs)
            for name in (*names, *(name for name, other in apart.items() if bound.arguments.get(other) is not None)):
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


def listed(values: Any) -> Any:
    """A list for a sequence, an array or a Series; a number alone and None stay."""
    if hasattr(values, "tolist"):
        return values.tolist()
    return values if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__") else list(values)


def real(value: Any) -> Optional[float]:
    """A number of an answer, which may be an infinity in quotes; None stays."""
    return None if value is None else float(value)


def within(result: Any, *paths: str) -> Any:
    """What a result has at the first of the paths, of keys with points between them, where there is something; else None."""
    for path in paths:
        at = result
        for key in path.split("."):
            at = None if at is None else at.get(key)
        if at is not None:
            return at
    return None
