"""Statistics of a table that one budget pays for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Union

from ._operations import Operations, Query
from .ledger import Ledger


@dataclass(frozen=True)
class QueryAnswer(Query):
    """A table that may be published, and what it promises.

    ``table`` has a row for each group, its values as text; ``noise`` the standard deviation of
    what each measure is made of; ``plan`` what was spent.
    """

    groups: int = 0  # columns that are no measure

    def rows(self) -> List[Dict[str, Any]]:
        """A dictionary for each group, numbers as floats: ``pandas.DataFrame(answer.rows())``."""
        return [
            {name: value if i < self.groups else float(value) for i, (name, value) in enumerate(zip(self.columns, row))} for row in self.table
        ]


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
        noise = {n.name: n.standard_deviation for n in a.noise}
        return QueryAnswer(**{**vars(a), "table": tuple(map(tuple, a.table)), "noise": noise, "groups": len(columns)})
