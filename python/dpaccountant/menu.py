"""Full adaptivity: each step is picked from a menu by the results so far."""

from __future__ import annotations

import threading
from typing import Any, Dict, List, Mapping, Optional, Tuple

from ._connection import Connection
from ._errors import BudgetError, InputError
from ._read import interval_of
from .answers import Interval

__all__ = ["AdaptiveRun", "Menu"]


class Menu:
    """A menu with its price: nothing that an analyst picks by the results costs more than the promise.

    ``menu`` has the keys of a menu file: neighbors, budget, menu and perhaps levels. The answer of the program is computed
    once. ``units`` is the budget, in whole units, and ``costs`` has what each type costs.
    """

    def __init__(self, accountant: Connection, menu: Mapping[str, Any], *, units: Optional[int] = None) -> None:
        self._accountant = accountant
        self.menu = dict(menu)
        answer = accountant.request("filter", menu=self.menu, units=units)
        self.units = int(answer["units"])
        self.costs: Dict[str, int] = {t["name"]: int(t["cost"]) for t in answer["types"]}
        self.efficiency: Optional[float] = answer.get("efficiency")
        #: (units, lower, upper) of ε for every budget; only the last is a promise.
        self.odometer: List[Tuple[int, float, float]] = [_row(r) for r in answer.get("odometer", ())]
        #: (units, lower, upper) of ε that may be shown when the run stops there, if the menu has levels.
        self.levels: List[Tuple[int, float, float]] = [_row(r) for r in answer.get("levels", ())]

    def delta(self, epsilon: float) -> Interval:
        """δ of the whole budget at ε."""
        answer = self._accountant.request("filter", menu=self.menu, units=self.units, epsilon=epsilon)
        return interval_of(answer["deltas"][0], "delta")

    def epsilon(self, delta: float) -> Interval:
        """ε of the whole budget at δ."""
        answer = self._accountant.request("filter", menu=self.menu, units=self.units, delta=delta)
        return interval_of(answer["epsilons"][0], "epsilon")

    def run(self) -> "AdaptiveRun":
        """A run that has spent nothing."""
        return AdaptiveRun(self)


def _row(r: Mapping[str, Any]) -> Tuple[int, float, float]:
    return int(r["units"]), float(r["epsilon"]["lower"]), float(r["epsilon"]["upper"])


class AdaptiveRun:
    """Admits steps of one interaction within the budget of a menu; one for everything that is released.

    It lives in this process. A budget that is to outlast it is a ledger of the mode adaptive-menu.
    """

    def __init__(self, menu: Menu) -> None:
        self.menu = menu
        self.spent = 0
        self._lock = threading.RLock()
        self._open: Optional[Tuple[float, float, int]] = None  # noise and rate of the block under way, and steps left

    def fits(self, name: str) -> bool:
        """Whether a use of the type would be admitted now."""
        return self._cost(name) <= self.menu.units - self.spent

    def spend(self, name: str) -> None:
        """Spend a use of a type before it runs; BudgetError is raised where it must not run, and nothing is spent."""
        cost = self._cost(name)
        with self._lock:
            left = self.menu.units - self.spent
            if cost > left:
                raise BudgetError(f"type {name!r} costs {cost} units, and {left} of {self.menu.units} are left")
            self.spent += cost

    def step(self, *, noise_multiplier: float, sample_rate: float) -> Optional[str]:
        """Spend one step of DP-SGD before it runs.

        It belongs to the block under way if that has at most its noise, at least its rate and a step left. Else a block of the
        cheapest such type begins, whose name is returned. Types of one step of Gaussian noise on Poisson samples serve.
        """
        sigma, rate = float(noise_multiplier), float(sample_rate)
        with self._lock:
            return self._step(sigma, rate)

    def _step(self, sigma: float, rate: float) -> Optional[str]:
        if self._open and self._open[0] <= sigma and self._open[1] >= rate and self._open[2] > 0:
            self._open = self._open[:2] + (self._open[2] - 1,)
            return None
        best: Optional[Tuple[int, str, Tuple[float, float, int]]] = None
        for kind in self.menu.menu["menu"]:
            block = _block(kind)
            if block and block[0] <= sigma and block[1] >= rate:
                cost = self.menu.costs[kind["name"]]
                if best is None or cost < best[0]:
                    best = cost, kind["name"], block
        if best is None:
            raise InputError(f"no type of the menu has at most the noise {sigma} and at least the rate {rate}")
        self.spend(best[1])
        self._open = best[2][:2] + (best[2][2] - 1,)
        return best[1]

    def _cost(self, name: str) -> int:
        if name not in self.menu.costs:
            raise InputError(f"type: {name!r} is not one of {sorted(self.menu.costs)}")
        return self.menu.costs[name]


def _block(kind: Mapping[str, Any]) -> Optional[Tuple[float, float, int]]:
    """Noise, rate and count of a type of one step of Gaussian noise on Poisson samples."""
    steps = kind["steps"]
    if len(steps) != 1:
        return None
    step = steps[0]
    gaussian = step.get("mechanism", {}).get("gaussian")
    poisson = step.get("sampling", {}).get("poisson") if isinstance(step.get("sampling"), Mapping) else None
    if gaussian is None or poisson is None or "noise-multiplier" not in gaussian or "rate" not in poisson:
        return None
    try:
        return float(gaussian["noise-multiplier"]), float(poisson["rate"]), int(step.get("count", 1))
    except (TypeError, ValueError):
        return None  # an expression
