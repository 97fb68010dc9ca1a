"""An accountant for Opacus, registered under the name "certified".

    import dpaccountant.opacus
    from opacus import PrivacyEngine

    engine = PrivacyEngine(accountant="certified")
    …
    epsilon = engine.get_epsilon(delta=1e-5)

Opacus 1.5 and earlier have no names for accountants of others. This works with each version::

    engine = PrivacyEngine()
    engine.accountant = dpaccountant.opacus.CertifiedAccountant()  # before make_private

Like the accountants of Opacus it presumes what ``make_private(poisson_sampling=True)``
does: each record is in a batch independently with probability ``sample_rate``, and
neighbours differ by one record. Needs Opacus.
"""

from __future__ import annotations

import math
from typing import Any, Dict, List, Optional, Tuple

from opacus import accountants
from opacus.accountants import IAccountant

from ._errors import InputError
from ._shared import Asking
from .answers import Interval
from .client import Accountant

__all__ = ["CertifiedAccountant"]


class CertifiedAccountant(Asking, IAccountant):  # type: ignore[misc]
    """Counts the steps of an optimizer; ``get_epsilon`` is a proved upper bound.

    ``history`` has (noise multiplier, sample rate, steps), as in Opacus. Without
    ``accountant`` it asks the one of the process.
    """

    def __init__(self, *, accountant: Optional[Accountant] = None) -> None:
        super().__init__()
        self.history: List[Tuple[float, float, int]] = []
        self._accountant = accountant

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Count one step of the optimizer."""
        sigma, rate = float(noise_multiplier), float(sample_rate)
        if self.history and tuple(self.history[-1][:2]) == (sigma, rate):
            self.history[-1] = (sigma, rate, self.history[-1][2] + 1)
        else:
            self.history.append((sigma, rate, 1))

    def get_epsilon(self, delta: float, *args: Any, **kwargs: Any) -> float:
        """A proved upper bound of ε. Options of other accountants of Opacus have no effect."""
        if any(sigma == 0 and rate > 0 for sigma, rate, _ in self.history):
            return math.inf  # training without noise promises nothing
        return self.interval(delta).upper

    def interval(self, delta: float) -> Interval:
        """ε at a δ, with both of its ends."""
        return self._ask().epsilon(self.plan(), delta)

    def plan(self) -> Dict[str, Any]:
        """What ran so far, as a plan of the accountant."""
        # A batch that no record can be in costs nothing.
        ran = [entry for entry in self.history if entry[1] != 0]
        if not ran:
            return {"neighbors": "add-remove", "event": {"class_name": "NoOpDpEvent"}}
        return {
            "neighbors": "add-remove",
            "steps": [
                {
                    "mechanism": {"gaussian": {"noise-multiplier": sigma}},
                    "sampling": {"poisson": {"rate": rate}},
                    "count": steps,
                }
                for sigma, rate, steps in ran
            ],
        }

    def state_dict(self, destination: Any = None) -> Any:
        """What a checkpoint needs. The name is a string, for which Opacus 1.5 and earlier put a method."""
        state = super().state_dict(destination)
        state["mechanism"] = self.mechanism()
        return state

    def load_state_dict(self, state_dict: Any) -> None:
        """Take the state of a checkpoint; the history is copied."""
        if state_dict and state_dict.get("mechanism") == self.mechanism():
            state_dict = {**state_dict, "mechanism": super().state_dict()["mechanism"]}
        super().load_state_dict(state_dict)
        try:
            self.history = [(float(s), float(q), int(n)) for s, q, n in self.history]
        except (TypeError, ValueError) as error:
            raise InputError(f"history: is not a list of (noise, rate, steps): {error}") from error

    def __len__(self) -> int:
        """The number of steps so far."""
        return sum(steps for _, _, steps in self.history)

    @classmethod
    def mechanism(cls) -> str:
        return "certified"

    def __getstate__(self) -> Dict[str, Any]:
        # Copies ask the accountant of their process: a running program cannot be copied.
        return {**self.__dict__, "_accountant": None}


if hasattr(accountants, "register_accountant"):
    accountants.register_accountant(CertifiedAccountant.mechanism(), CertifiedAccountant, force=True)
