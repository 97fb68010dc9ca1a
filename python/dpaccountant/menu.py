"""Full adaptivity: each step is picked from a menu by the results so far."""

from __future__ import annotations

import threading
from typing import Any, Dict, List, Mapping, Optional, Tuple

from ._errors import BudgetError, InputError
from ._operations import FilterRow, Operations
from ._read import each
from .answers import Interval

__all__ = ["AdaptiveRun", "IndividualFilter", "Menu"]

Block = Tuple[float, float, int]  # noise, rate and count of steps


class Menu:
    """A menu with its price: nothing that an analyst picks by the results costs more than the promise.

    ``menu`` has the keys of a menu file: neighbors, budget, menu and perhaps levels. The answer of the program is computed
    once. ``units`` is the budget, in whole units, and ``costs`` has what each type costs.
    """

    def __init__(self, accountant: Operations, menu: Mapping[str, Any], *, units: Optional[int] = None, **limits: Any) -> None:
        self._accountant = accountant
        self.menu, self._limits = dict(menu), limits
        answer = accountant._filter(self.menu, units=units, **limits)
        self.units = answer.units
        self.costs: Dict[str, int] = {t.name: t.cost for t in answer.types}
        self.efficiency = answer.efficiency
        #: (units, lower, upper) of ε for every budget; only the last is a promise.
        self.odometer: List[Tuple[int, float, float]] = [_row(r) for r in answer.odometer]
        #: (units, lower, upper) of ε that may be shown when the run stops there, if the menu has levels.
        self.levels: List[Tuple[int, float, float]] = [_row(r) for r in answer.levels]

    @each("epsilon")
    def delta(self, epsilon: float) -> Interval:
        """δ of the whole budget at ε."""
        return self._accountant._filter(self.menu, units=self.units, epsilon=epsilon, **self._limits).deltas[0]

    @each("delta")
    def epsilon(self, delta: float) -> Interval:
        """ε of the whole budget at δ."""
        return self._accountant._filter(self.menu, units=self.units, delta=delta, **self._limits).epsilons[0]

    def run(self) -> "AdaptiveRun":
        """A run that has spent nothing."""
        return AdaptiveRun(self)

    def individual(self, records: int, *, empty_places: bool = False) -> "IndividualFilter":
        """Budgets of so many records, of which none has spent anything."""
        return IndividualFilter(self, records, empty_places=empty_places)


def _row(r: FilterRow) -> Tuple[int, float, float]:
    return r.units, r.epsilon.lower, r.epsilon.upper


class AdaptiveRun:
    """Admits steps of one interaction within the budget of a menu; one for everything that is released.

    It lives in this process. A budget that is to outlast it is a ledger of the mode adaptive-menu.
    """

    def __init__(self, menu: Menu) -> None:
        self.menu = menu
        self.spent = 0
        self._lock = threading.RLock()
        self._open: Optional[Block] = None  # with the steps that are left

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
            name, block = None, self._open
            if not (block and block[0] <= sigma and block[1] >= rate and block[2] > 0):
                name, block = self._cheapest(sigma, rate)
                self.spend(name)
            self._open = block[:2] + (block[2] - 1,)
        return name

    def _cheapest(self, sigma: float, rate: float) -> Tuple[str, Block]:
        """The cheapest type of at most such noise and at least such a rate."""
        blocks = [(kind["name"], block) for kind in self.menu.menu["menu"] for block in _blocks(kind) if block[0] <= sigma and block[1] >= rate]
        if not blocks:
            raise InputError(f"no type of the menu has at most the noise {sigma} and at least the rate {rate}")
        return min(blocks, key=lambda found: self.menu.costs[found[0]])

    def _cost(self, name: str) -> int:
        if name not in self.menu.costs:
            raise InputError(f"type: {name!r} is not one of {sorted(self.menu.costs)}")
        return self.menu.costs[name]


class IndividualFilter:
    """Keeps a budget of a menu for each record by itself. Needs numpy.

    A record takes part in a step only if what it has spent and the cost of its own type are within the budget. Its type is
    that of the step with and without it, and may depend on the outputs so far and on the record, such as on its clipped norm.
    The menu's ε then holds for every record (docs/theory/adaptive.md, Theorem 4), if

    - a record that is out is neither summed nor drawn (add-remove), or is an empty place that goes on being drawn where
      places are drawn, and contributes nothing (zero-out; ``empty_places=True`` says so);
    - sums are divided by public constants, and the end of the run depends on outputs alone;
    - which records take part, their number, and everything that is spent stay secret.

    A record has 2 bytes if the menu has at most 65,535 units, else 4.
    """

    def __init__(self, menu: Menu, records: int, *, empty_places: bool = False) -> None:
        import numpy

        neighbors = menu.menu.get("neighbors")
        if neighbors not in ("add-remove", "zero-out"):
            raise InputError(f"neighbors: {neighbors!r} is not one of add-remove, zero-out: two records that are substituted would leave at different times")
        if menu.menu.get("records-per-person", 1) != 1:
            raise InputError(f"records-per-person: {menu.menu['records-per-person']} is not 1: each record has a budget of its own")
        if neighbors == "zero-out" and not empty_places and _draws_places(menu.menu["menu"]):
            raise InputError("sampling: draws places, so that under zero-out a record that is out must keep its place: empty_places=True")
        if not 1 <= records <= 1 << 34:
            raise InputError(f"records: {records} is not in [1, 2^34]")
        self.menu = menu
        #: The names of the types, in the order of their numbers.
        self.types: Tuple[str, ...] = tuple(menu.costs)
        self._costs = numpy.array([*menu.costs.values(), 0], numpy.uint32)  # that of -1 is the last
        self._spent = numpy.zeros(records, numpy.uint16 if menu.units <= 65_535 else numpy.uint32)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._spent)

    def spend(self, types: Any, records: Any = None) -> Any:
        """Charge a step, and return which records take part, as an array of bool.

        ``types`` has the number of each record's type, or -1 for a record that contributes nothing. ``records`` are the
        indices of the records, each at most once; by default all, in their order. Nothing is spent on an error.
        """
        import numpy

        kinds = _whole("types", types, -1, len(self.types))
        where: Any = slice(None)
        if records is not None:
            where = _whole("records", records, 0, len(self))
            if len(numpy.unique(where)) != len(where):
                raise InputError("records: name a record more than once")
        count = len(self) if records is None else len(where)
        if len(kinds) != count:
            raise InputError(f"types: {len(kinds)} of them, must be one for each of {count} records")
        cost = self._costs[kinds]
        with self._lock:
            spent = self._spent[where]
            takes = (kinds >= 0) & (cost <= self.menu.units - spent.astype(numpy.uint32))
            # What is spent is at most the budget, and so is the sum: nothing wraps.
            self._spent[where] = numpy.where(takes, spent + cost, spent)
        return takes

    def spent(self, record: int) -> int:
        """Units that a record has spent: for nobody but whom the record is about."""
        if not 0 <= record < len(self):
            raise InputError(f"record: {record} is not in [0, {len(self) - 1}]")
        return int(self._spent[record])


def _whole(name: str, values: Any, low: int, end: int) -> Any:
    """Values as an array of whole numbers from low to below end."""
    import numpy

    array = numpy.asarray(values)
    if array.ndim != 1 or array.size and array.dtype.kind not in "iu":
        raise InputError(f"{name}: are not a list of whole numbers")
    if array.size and not (low <= int(array.min()) and int(array.max()) < end):
        wrong = array.min() if array.min() < low else array.max()
        raise InputError(f"{name}: {wrong} is not in [{low}, {end - 1}]")
    return array.astype(numpy.int64, copy=False)


def _draws_places(value: Any) -> bool:
    """Whether some step has a sampling other than Poisson's, which draws each record by itself."""
    if isinstance(value, Mapping):
        sampling = value.get("sampling")
        if sampling is not None and not (isinstance(sampling, Mapping) and set(sampling) == {"poisson"}):
            return True
        return any(_draws_places(v) for v in value.values())
    return isinstance(value, (list, tuple)) and any(_draws_places(v) for v in value)


def _blocks(kind: Mapping[str, Any]) -> List[Block]:
    """A type of one step of Gaussian noise on Poisson samples; nothing for any other."""
    try:
        (step,) = kind["steps"]
        noise, rate = step["mechanism"]["gaussian"]["noise-multiplier"], step["sampling"]["poisson"]["rate"]
        return [(float(noise), float(rate), int(step.get("count", 1)))]
    except (KeyError, TypeError, ValueError):
        return []  # another type, or an expression
