"""A privacy budget that is spent step by step, in a file or in memory."""

from __future__ import annotations

from typing import Any, Optional

from ._errors import AccountantError
from ._operations import LedgerStatus, Operations
from ._read import PlanLike


class Ledger:
    """A budget that is spent step by step.

    The methods that compute take limits by name: ``memory`` in MB, ``work`` and ``time_limit``
    in seconds. A spend that is not proved to be within the budget by then is refused.
    """

    def __init__(self, accountant: Operations, name: str) -> None:
        self._accountant = accountant
        self._name = name

    def spend(self, plan: PlanLike, note: str = "", key: str = "", **limits: float) -> None:
        """Spend a plan before it runs; with a key once, however often it is asked for.

        Raises BudgetError when it would pass the budget: nothing is spent then,
        and the step must not run.
        """
        self._spend(plan=plan, note=note, key=key, **limits)

    def spend_type(self, name: str, note: str = "", key: str = "") -> None:
        """Spend a use of a type of an adaptive-menu ledger before it runs, as ``spend`` does a plan."""
        self._spend(type=name, note=note, key=key)

    def _spend(self, **what: Any) -> None:
        try:
            spent = self._accountant._ledger_spend(self._name, **what).spent
        except (TypeError, KeyError, AttributeError) as error:
            # Something in between may answer in the place of the accountant, with JSON of its own.
            raise AccountantError(f"{self._name}: the answer does not grant the spend, so that the step must not run") from error
        if spent is not True:
            raise AccountantError(f"{self._name}: the answer does not grant the spend, so that the step must not run")

    def fits(self, plan: PlanLike, limit: Optional[int] = None, **limits: float) -> int:
        """How many times in a row the plan could be spent now, at most ``limit`` times.

        Nothing is spent or reserved: only ``spend`` is.
        """
        return self._accountant._ledger_fits(self._name, plan, limit=limit, **limits)

    def status(self, **limits: float) -> LedgerStatus:
        """What is spent and what is left."""
        return self._accountant._ledger_status(self._name, **limits)

    def close(self) -> None:
        """Forget the ledger; a file stays as it is."""
        self._accountant.request("ledger-close", ledger=self._name)
