"""Statistics of a table that one budget pays for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from ._connection import Connection
from ._read import given
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


class Queries(Connection):
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
        a = self.request(
            "query",
            **given(
                in_=os.path.abspath(os.fspath(path)),
                budget=budget,
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
            ),
        )
        return QueryAnswer(
            columns=tuple(a["columns"]),
            table=tuple(tuple(row) for row in a["rows"]),
            epsilon_lower=float(a["epsilon"]["lower"]),
            epsilon_upper=float(a["epsilon"]["upper"]),
            delta=float(a["delta"]),
            noise={n["name"]: float(n["standard-deviation"]) for n in a["noise"]},
            plan=str(a["plan"]),
            statement=tuple(a["statement"]),
            _measures=len(a["columns"]) - len(columns),
        )

    def local_messages(
        self,
        mechanism: str,
        values: Sequence[int],
        *,
        epsilon: float,
        categories: int,
        size: Optional[int] = None,
        test_seed: Optional[int] = None,
    ) -> List[List[int]]:
        """A message of each value by a local randomizer, drawn exactly: k-rr, unary, subset-selection, hadamard, local-hash.

        In a survey each user's device draws its own; a list of all values is for rehearsals. ``values`` are whole
        numbers below ``categories``. The messages cost what ``accountant shuffle`` tells behind a shuffler, and ε each without.
        """
        answer = self.request(
            "local-messages", mechanism=mechanism, epsilon=epsilon, categories=categories, values=[int(v) for v in values],
            **given(size=size, test_seed=test_seed),
        )
        return [list(m) for m in answer["messages"]]

    def local_estimates(
        self, mechanism: str, messages: Sequence[Sequence[int]], *, epsilon: float, categories: int, size: Optional[int] = None
    ) -> List[Tuple[float, float]]:
        """How many users hold each value, without bias, and the standard deviation of that, from messages of ``local_messages``."""
        answer = self.request(
            "local-estimates", mechanism=mechanism, epsilon=epsilon, categories=categories, messages=[list(m) for m in messages],
            **given(size=size),
        )
        return [(float(e["count"]), float(e["deviation"])) for e in answer["estimates"]]
