"""A privacy budget that is spent step by step, in a file or in memory."""

from __future__ import annotations

from typing import Optional

from ._connection import Connection
from ._errors import AccountantError
from ._read import PlanLike, given, plan_of, status_of
from .answers import LedgerStatus


class Ledger:
    """A budget that is spent step by step.

    The methods that compute take limits by name: ``memory`` in MB, ``work`` and ``time_limit``
    in seconds. A spend that is not proved to be within the budget by then is refused.
    """

    def __init__(self, accountant: Connection, name: str) -> None:
        self._accountant = accountant
        self._name = name

    def spend(self, plan: PlanLike, note: str = "", key: str = "", **limits: float) -> None:
        """Spend a plan before it runs; with a key once, however often it is asked for.

        Raises BudgetError when it would pass the budget: nothing is spent then,
        and the step must not run.
        """
        answer = self._accountant.request(
            "ledger-spend", ledger=self._name, plan=plan_of(plan), note=note, key=key, **given(**limits)
        )
        # Something in between may answer in the place of the accountant, with JSON of its own.
        if not isinstance(answer, dict) or answer.get("spent") is not True:
            raise AccountantError(f"{self._name}: the answer does not grant the spend, so that the step must not run: {answer!r:.80}")

    def spend_type(self, name: str, note: str = "", key: str = "") -> None:
        """Spend a use of a type of an adaptive-menu ledger before it runs, as ``spend`` does a plan."""
        answer = self._accountant.request("ledger-spend", ledger=self._name, type=name, note=note, key=key)
        if not isinstance(answer, dict) or answer.get("spent") is not True:
            raise AccountantError(f"{self._name}: the answer does not grant the spend, so that the step must not run: {answer!r:.80}")

    def fits(self, plan: PlanLike, limit: Optional[int] = None, **limits: float) -> int:
        """How many times in a row the plan could be spent now, at most ``limit`` times.

        Nothing is spent or reserved: only ``spend`` is.
        """
        return int(
            self._accountant.request(
                "ledger-fits", ledger=self._name, plan=plan_of(plan), **given(limit=limit, **limits)
            )["fits"]
        )

    def status(self, **limits: float) -> LedgerStatus:
        """What is spent and what is left."""
        return status_of(self._accountant.request("ledger-status", ledger=self._name, **given(**limits)))

    def close(self) -> None:
        """Forget the ledger; a file stays as it is."""
        self._accountant.request("ledger-close", ledger=self._name)
