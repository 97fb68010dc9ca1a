"""A privacy accountant for Flower: its protocol ``PrivacyAccountant``, with proved bounds.

It takes Flower's ``PrivacyConfig`` and ``GaussianPrivacyEvent``, or objects with their attributes, and is in the place of its
``RdpAccountant``::

    from dpaccountant.flower import CertifiedAccountant

    accountant = CertifiedAccountant(config)
    if not accountant.would_exceed(event):
        accountant.compose(event)

The protocol is that of Flower's main branch of August 2026; releases up to 1.29 have none.
"""

from __future__ import annotations

import sys
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from ._errors import InputError
from .client import Accountant
from .events import PrivacyAccountant

__all__ = ["CertifiedAccountant", "PrivacySpent"]


class PrivacySpent(NamedTuple):
    """What was spent, where Flower's own type is not at hand."""

    epsilon: float
    delta: float
    num_releases: int
    accounting_method: str
    optimal_order: Optional[float] = None


def _value(x: Any) -> str:
    return str(getattr(x, "value", x))


class CertifiedAccountant:
    """Composes the releases of a server to its clients; ε and δ are proved upper bounds, for a client as the unit.

    ``config`` has target_delta, population_size, neighboring_relation, sampling_method and max_epsilon. Events of another
    population are a ValueError. With no-amplification, sampling is not counted upon.

        config = SimpleNamespace(target_delta=1e-5, population_size=1000, neighboring_relation="add-or-remove-one",
                                 sampling_method="poisson", max_epsilon=2.0)
        event = SimpleNamespace(noise_multiplier=1.0, sample_size=50, population_size=1000)
        CertifiedAccountant(config).would_exceed(event, count=100)
    """

    def __init__(self, config: Any, *, accountant: Optional[Accountant] = None) -> None:
        relation, method = _value(config.neighboring_relation), _value(config.sampling_method)
        relations = {"poisson": "add-or-remove-one", "without-replacement": "replace-one", "no-amplification": "add-or-remove-one"}
        if relations.get(method) != relation:
            raise InputError(
                f"sampling_method: {method} under {relation} is not one of "
                + ", ".join(f"{name} under {of}" for name, of in relations.items())
            )
        self._config, self._method = config, method
        self._total = PrivacyAccountant("substitute" if relation == "replace-one" else "add-remove", accountant=accountant)
        self._compositions: List[Tuple[Any, int]] = []

    @property
    def config(self) -> Any:
        """The configuration, as it was given."""
        return self._config

    @property
    def num_releases(self) -> int:
        """How many releases were composed."""
        return sum(count for _, count in self._compositions)

    def compose(self, event: Any, count: int = 1) -> None:
        """Add a release that happens ``count`` times."""
        self._total.compose(self._event(event), count)
        self._compositions.append((event, count))

    def get_epsilon(self, delta: float) -> float:
        """A proved upper bound of ε at a δ in (0, 1)."""
        return self._total.get_epsilon(delta)

    def get_delta(self, epsilon: float) -> float:
        """A proved upper bound of δ at an ε of at least 0."""
        return self._total.get_delta(epsilon)

    def get_privacy_spent(self, delta: Optional[float] = None) -> Any:
        """ε at ``delta``, target_delta if not given: Flower's PrivacySpent where it comes with the configuration's type."""
        at = self._config.target_delta if delta is None else delta
        kind = getattr(sys.modules.get(type(self._config).__module__), "PrivacySpent", PrivacySpent)
        return kind(
            epsilon=self.get_epsilon(at), delta=at, num_releases=self.num_releases, accounting_method="certified", optimal_order=None
        )

    def would_exceed(self, event: Any, max_epsilon: Optional[float] = None, count: int = 1) -> bool:
        """Whether ε at target_delta is not proved to stay within a limit, that of the configuration if not given, after the event."""
        limit = self._config.max_epsilon if max_epsilon is None else max_epsilon
        if limit is None:
            raise ValueError("max_epsilon: is missing; must be in the configuration or given here")
        return self._total.would_exceed(self._event(event), limit, self._config.target_delta, count)

    def state_dict(self) -> Dict[str, Any]:
        """What was composed, as JSON has it, and the configuration that it holds under."""
        releases = [{"event": _fields(event, _EVENT), "count": count} for event, count in self._compositions]
        return {"schema_version": 1, "backend": "certified", "config": _fields(self._config, _CONFIG), "compositions": releases}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what a checkpoint has, in place of what was composed. The configuration must be the same."""
        if state.get("backend") != "certified" or state.get("config") != _fields(self._config, _CONFIG):
            raise ValueError("config: the state is of another accountant or another configuration")
        fresh = CertifiedAccountant(self._config, accountant=self._total._accountant)
        for release in state["compositions"]:
            fresh.compose(_Event(**release["event"]), release["count"])
        self._total, self._compositions = fresh._total, fresh._compositions

    def _event(self, event: Any) -> Dict[str, Any]:
        if event.population_size != self._config.population_size:
            raise ValueError(f"population_size: {event.population_size} is not {self._config.population_size}, that of the configuration")
        noise: Dict[str, Any] = {"class_name": "GaussianDpEvent", "noise_multiplier": event.noise_multiplier}
        if self._method == "poisson":
            rate = event.sample_size / event.population_size
            return {"class_name": "PoissonSampledDpEvent", "sampling_probability": rate, "event": noise}
        if self._method == "without-replacement":
            return {"class_name": "SampledWithoutReplacementDpEvent", "source_dataset_size": event.population_size,
                    "sample_size": event.sample_size, "event": noise}
        return noise


class _Event(NamedTuple):
    noise_multiplier: float
    sample_size: int
    population_size: int


_EVENT = _Event._fields
_CONFIG = ("target_delta", "population_size", "neighboring_relation", "sampling_method", "max_epsilon")


def _fields(of: Any, names: Tuple[str, ...]) -> Dict[str, Any]:
    return {name: getattr(getattr(of, name), "value", getattr(of, name)) for name in names}
