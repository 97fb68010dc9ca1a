"""An accountant that composes events, with the interface of dp_accounting, without that library.

Events are those of dp_accounting, as objects, as what ``to_named_tuple`` gives, or as
nested dictionaries with the key ``class_name``::

    from dpaccountant.events import PrivacyAccountant

    step = {
        "class_name": "PoissonSampledDpEvent",
        "sampling_probability": 0.01,
        "event": {"class_name": "GaussianDpEvent", "noise_multiplier": 1.1},
    }
    epsilon = PrivacyAccountant().compose(step, 1000).get_epsilon(1e-5)

``dpaccountant.dp_accounting`` has a subclass of dp_accounting's own accountant.
"""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, Optional, Set, Tuple

from ._connection import plain
from ._errors import InputError
from ._shared import Asking
from .answers import Interval
from .client import Accountant

__all__ = ["PrivacyAccountant", "UnsupportedEventError", "event_json"]

Event = Dict[str, Any]

_RELATIONS = {
    "ADD_OR_REMOVE_ONE": "add-remove",
    "REPLACE_ONE": "substitute",
    "REPLACE_SPECIAL": "zero-out",
}


class UnsupportedEventError(InputError):
    """An event has no privacy profile here; the message says why."""


def relation_name(relation: Any) -> str:
    """The name in plans of a relation: a member of dp_accounting's enumeration, or the name itself."""
    name = getattr(relation, "name", relation)
    return _RELATIONS.get(name, str(name))


def event_json(event: Any) -> Event:
    """An event as the nested dictionaries that the accountant reads.

    Events that cost nothing or everything become NoOpDpEvent and NonPrivateDpEvent: a
    composition of nothing, a sample of rate 0, noise of scale 0.
    """
    if hasattr(event, "to_named_tuple"):
        event = event.to_named_tuple()
    if hasattr(event, "_asdict"):
        event = event._asdict()
    if not isinstance(event, Mapping) or "class_name" not in event:
        raise TypeError(f"not an event: {event!r}")
    fields = {key: _field(value) for key, value in event.items() if key != "module_name"}
    if isinstance(fields["class_name"], bytes):
        fields["class_name"] = fields["class_name"].decode()
    kind = fields["class_name"]
    if kind in ("GaussianDpEvent", "LaplaceDpEvent") and fields.get("noise_multiplier") == 0:
        return {"class_name": "NonPrivateDpEvent"}
    if kind == "PoissonSampledDpEvent" and fields.get("sampling_probability") == 0:
        return {"class_name": "NoOpDpEvent"}
    if kind == "ComposedDpEvent" and fields.get("events") == []:
        return {"class_name": "NoOpDpEvent"}
    return fields


def _field(value: Any) -> Any:
    if hasattr(value, "to_named_tuple") or hasattr(value, "_asdict") or isinstance(value, Mapping):
        return event_json(value)
    if isinstance(value, (list, tuple)):
        return [_field(v) for v in value]
    if value is None or isinstance(value, (str, bytes, bool, int, float)):
        return value
    return plain(value)


class Answers(Asking):
    """What those who compose events ask: ``plan`` is everything composed so far."""

    def plan(self) -> Dict[str, Any]:
        """Everything composed so far, as a plan of the accountant."""
        raise NotImplementedError

    def get_epsilon(self, target_delta: float) -> float:
        """A proved upper bound of ε at a δ."""
        return self.interval(target_delta).upper

    def get_delta(self, target_epsilon: float) -> float:
        """A proved upper bound of δ at an ε."""
        return self._ask().delta(self.plan(), target_epsilon).upper

    def interval(self, target_delta: float) -> Interval:
        """ε at a δ, with both of its ends."""
        return self._ask().epsilon(self.plan(), target_delta)


class PrivacyAccountant(Answers):
    """Composes events, and tells the ε or δ of all of them together.

    ``neighboring_relation`` is add-remove, substitute or zero-out, or a member of
    dp_accounting's ``NeighboringRelation``. Numbers are proved upper bounds; ``interval``
    has the lower ends as well. Without ``accountant`` it is the one of the process.

        noise = {"class_name": "GaussianDpEvent", "noise_multiplier": 2.0}
        events.PrivacyAccountant().compose(noise, 3).get_epsilon(1e-5)
    """

    def __init__(
        self, neighboring_relation: Any = "add-remove", *, accountant: Optional[Accountant] = None
    ) -> None:
        self._relation = neighboring_relation
        self._neighbors = relation_name(neighboring_relation)
        self._accountant = accountant
        self._composed: List[Tuple[Event, int]] = []
        self._supported: Set[str] = set()

    @property
    def neighboring_relation(self) -> Any:
        """The relation, as it was given."""
        return self._relation

    def supports(self, event: Any) -> bool:
        """Whether the event can be composed."""
        return self._problem(event_json(event)) is None

    def compose(self, event: Any, count: int = 1) -> "PrivacyAccountant":
        """Add an event that runs ``count`` times, and return this accountant."""
        if isinstance(count, bool) or not hasattr(count, "__index__"):
            raise TypeError(f"count: {count!r} is not a whole number")
        count = int(count)
        if count < 1:
            raise ValueError(f"count: {count} is not in [1, 2^53]")
        found = event_json(event)
        problem = self._problem(found)
        if problem is not None:
            raise UnsupportedEventError(problem)
        if self._composed and self._composed[-1][0] == found:
            count += self._composed.pop()[1]
        self._composed.append((found, count))
        return self

    def would_exceed(self, event: Any, target_epsilon: float, target_delta: float, count: int = 1) -> bool:
        """Whether ε at δ is not proved to stay within ``target_epsilon`` with ``count`` more of the event. Nothing is composed."""
        after = PrivacyAccountant(self._relation, accountant=self._accountant)
        after._composed, after._supported = list(self._composed), set(self._supported)
        return not after.compose(event, count).get_epsilon(target_delta) <= target_epsilon

    def state_dict(self) -> Dict[str, Any]:
        """What was composed, as JSON has it: for a checkpoint."""
        return {"neighbors": self._neighbors, "composed": [[event, count] for event, count in self._composed]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what a checkpoint has, in place of what was composed. The relation must be the same."""
        if state.get("neighbors") != self._neighbors:
            raise InputError(f"neighbors: {state.get('neighbors')!r} is not {self._neighbors}, that of this accountant")
        fresh = PrivacyAccountant(self._relation, accountant=self._accountant)
        for event, count in state["composed"]:
            fresh.compose(event, count)
        self._composed, self._supported = fresh._composed, fresh._supported

    @property
    def ledger(self) -> Event:
        """Everything composed so far, as one event."""
        return composition(self._composed)

    def plan(self) -> Dict[str, Any]:
        """Everything composed so far, as a plan of the accountant."""
        return {"neighbors": self._neighbors, "event": self.ledger}

    def _problem(self, event: Event) -> Optional[str]:
        """Why the event cannot be composed; None if it can."""
        key = json.dumps(event, sort_keys=True)
        if key in self._supported:
            return None
        problem = event_problem(self._ask(), self._neighbors, event)
        if problem is None:
            self._supported.add(key)
        return problem


def event_problem(accountant: Accountant, neighbors: str, event: Event) -> Optional[str]:
    """What the accountant has against an event under a relation; None if it takes it."""
    try:
        accountant.plan_check({"neighbors": neighbors, "event": event})
    except InputError as error:
        return str(error)
    return None


def composition(composed: List[Tuple[Event, int]]) -> Event:
    """Events and their counts as one event."""
    events = [
        event if count == 1 else {"class_name": "SelfComposedDpEvent", "event": event, "count": count}
        for event, count in composed
    ]
    if not events:
        return {"class_name": "NoOpDpEvent"}
    return events[0] if len(events) == 1 else {"class_name": "ComposedDpEvent", "events": events}
