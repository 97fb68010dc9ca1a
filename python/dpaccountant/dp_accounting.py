"""An accountant for programs that use dp_accounting, JAX-Privacy among them.

It is a ``dp_accounting.PrivacyAccountant``, so it goes wherever an ``RdpAccountant`` or a
``PLDAccountant`` does, ``calibrate_dp_mechanism`` included::

    from dpaccountant.dp_accounting import CertifiedAccountant

    epsilon = CertifiedAccountant().compose(event, 1000).get_epsilon(1e-5)

Needs dp_accounting. ``dpaccountant.events`` has the same without it.
"""

from __future__ import annotations

from typing import Any, Optional

import dp_accounting as peer

from .client import Accountant
from .events import Answers, event_json, event_problem, relation_name

__all__ = ["CertifiedAccountant"]


class CertifiedAccountant(Answers, peer.PrivacyAccountant):  # type: ignore[misc]
    """Composes DpEvents; ``get_epsilon`` and ``get_delta`` are proved upper bounds.

    The relation is that of the constructor, for every event. Without ``accountant`` it is
    the one of the process.
    """

    def __init__(
        self,
        neighboring_relation: Any = peer.NeighboringRelation.ADD_OR_REMOVE_ONE,
        *,
        accountant: Optional[Accountant] = None,
    ) -> None:
        super().__init__(neighboring_relation)
        self._accountant = accountant

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Optional[Any]:
        # The base class keeps the events in its ledger, which get_epsilon reads.
        if do_compose:
            return None
        try:
            problem = event_problem(self._ask(), self._neighbors(), event_json(event))
        except TypeError as error:
            problem = str(error)
        if problem is None:
            return None
        return self.CompositionErrorDetails(event, problem)

    def plan(self) -> Any:
        """Everything composed so far, as a plan of the accountant."""
        return {"neighbors": self._neighbors(), "event": event_json(self.ledger)}

    def _neighbors(self) -> str:
        return relation_name(self.neighboring_relation)
