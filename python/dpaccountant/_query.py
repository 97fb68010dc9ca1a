"""Statistics of a table that one budget pays for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from ._operations import Operations
from .answers import Answer
from .ledger import Ledger


@dataclass(frozen=True)
class QueryAnswer(Answer):
    """A table that may be published, and what it promises.

    ``table`` has a row for each group, its values as text; ``noise`` the standard deviation of
    what each measure is made of; ``plan`` what was spent.
    """

    columns: Tuple[str, ...]
    table: Tuple[Tuple[str, ...], ...]
    epsilon_lower: float
    epsilon_upper: float
    delta: float
    noise: Dict[str, float]
    plan: str
    statement: Tuple[str, ...]

    def rows(self) -> List[Dict[str, Any]]:
        """A dictionary for each group, numbers as floats: ``pandas.DataFrame(answer.rows())``."""
        keys = len(self.columns) - self._measures
        return [
            {name: value if i < keys else float(value) for i, (name, value) in enumerate(zip(self.columns, row))} for row in self.table
        ]

    _measures: int = 0


def _listed(x: Any) -> List[Any]:
    return [x] if isinstance(x, str) else list(x)


class Queries(Operations):
    """What an Accountant answers of tables. Servers with many users do not."""

    def query(
        self,
        path: Union[str, "os.PathLike[str]"],
        *,
        budget: float,
        delta: float = 0.0,
        group: Union[str, Sequence[str]] = (),
        keys: Optional[Sequence[Any]] = None,
        person: Optional[str] = None,
        per_person: int = 1,
        per_group: int = 1,
        count: bool = False,
        sum: Union[str, Sequence[str]] = (),
        mean: Union[str, Sequence[str]] = (),
        quantile: Union[str, Sequence[str]] = (),
        weight: Optional[Dict[str, float]] = None,
        ledger: Optional[Ledger] = None,
        note: Optional[str] = None,
    ) -> QueryAnswer:
        """Statistics of a CSV file, with exact noise, for one budget (ε, δ) of a person.

        Measures are ``"column:low:high"``, of quantiles ``"column:low:high:cells:level"``; values are
        clamped to the range, which must not come from the data. ``keys`` are the groups where these are
        public. With a ``ledger`` the query is spent before noise is drawn; BudgetError says that it
        was refused, and then nothing was drawn.
        """
        columns = _listed(group)
        if keys is not None:
            keys = [[k] if isinstance(k, (str, int, float)) else list(k) for k in keys]
            keys = [[str(value) for value in k] for k in keys]
        a = self._query(
            os.path.abspath(os.fspath(path)),
            budget,
            delta=delta,
            per_person=per_person,
            per_group=per_group,
            count=count or None,
            group=columns or None,
            keys=keys,
            person=person,
            sum=_listed(sum) or None,
            mean=_listed(mean) or None,
            quantile=_listed(quantile) or None,
            weight=[f"{name}={value!r}" for name, value in weight.items()] if weight else None,
            ledger=ledger._name if ledger is not None else None,
            note=note,
        )
        return QueryAnswer(
            columns=a.columns,
            table=tuple(tuple(row) for row in a.table),
            epsilon_lower=a.epsilon_lower,
            epsilon_upper=a.epsilon_upper,
            delta=a.delta,
            noise={n.name: n.standard_deviation for n in a.noise},
            plan=a.plan,
            statement=a.statement,
            _measures=len(a.columns) - len(columns),
        )
