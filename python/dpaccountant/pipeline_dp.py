"""A budget accountant for PipelineDP: the least noise that is proved to keep a pipeline within (ε, δ).

It is in the place of its ``PLDBudgetAccountant``, with the same arguments::

    from dpaccountant.pipeline_dp import CertifiedBudgetAccountant

    budget = CertifiedBudgetAccountant(total_epsilon=1, total_delta=1e-6)
    spec = budget.request_budget(MechanismType.GAUSSIAN)
    budget.compute_budgets()
    spec.noise_standard_deviation

Needs PipelineDP.
"""

from __future__ import annotations

import math
from typing import Any, Dict, List, Optional

from pipeline_dp import budget_accounting as peer

from ._errors import InfeasibleError, InputError
from ._shared import Asking
from .client import Accountant

__all__ = ["CertifiedBudgetAccountant"]

_SHARE = 0.25  # of δ: what thresholds get where there are any, and what mechanisms of which only (ε, δ) is known get
_ROOT = math.nextafter(math.sqrt(2), 2) if hasattr(math, "nextafter") else math.sqrt(2) * (1 + 2**-51)


class CertifiedBudgetAccountant(Asking, peer.BudgetAccountant):  # type: ignore[misc]
    """Splits a budget by weights: twice the weight, half the noise.

    The noise of Laplace and Gaussian mechanisms is a standard deviation for sensitivity 1 times ``sensitivity``; generic
    mechanisms and truncated geometric ones get ε and δ. A quarter of δ goes to thresholds if there are any, another to mechanisms with a δ of
    their own; the rest is that of the composition. ``pld_discretization`` is taken as PipelineDP has it, and changes nothing.
    InfeasibleError is raised where no noise is enough.
    """

    def __init__(
        self,
        total_epsilon: float,
        total_delta: float,
        pld_discretization: float = 1e-4,
        num_aggregations: Optional[int] = None,
        aggregation_weights: Optional[List[float]] = None,
        *,
        accountant: Optional[Accountant] = None,
    ) -> None:
        super().__init__(total_epsilon, total_delta, num_aggregations, aggregation_weights)
        self._accountant = accountant
        self.base_noise_std: Optional[float] = None

    def request_budget(
        self,
        mechanism_type: Any,
        sensitivity: float = 1,
        weight: float = 1,
        count: int = 1,
        noise_standard_deviation: Optional[float] = None,
        name: str = "",
    ) -> Any:
        """A mechanism that runs ``count`` times. With ``noise_standard_deviation`` its noise is fixed, and counted as it is."""
        if self._finalized:
            raise InputError("request_budget: is called after compute_budgets, must be called before it")
        kind = mechanism_type.name
        fixed = noise_standard_deviation is not None
        if self._total_delta == 0 and kind not in ("LAPLACE", "GENERIC"):
            raise InputError(f"total_delta: 0 is not enough for {kind}; must be above 0")
        if fixed and kind not in ("LAPLACE", "GAUSSIAN"):
            raise InputError(f"noise_standard_deviation: is given to {kind}, must be given to LAPLACE or GAUSSIAN alone")
        spec = peer.MechanismSpec(mechanism_type=mechanism_type, name=name, _count=count, _noise_standard_deviation=noise_standard_deviation)
        self._register_mechanism(peer.MechanismSpecInternal(sensitivity=sensitivity, weight=weight, mechanism_spec=spec))
        return spec

    def compute_budgets(self) -> None:
        """Set the noise, or ε and δ, of every mechanism that was requested."""
        self._check_aggregation_restrictions()
        self._finalize()
        if self._scopes_stack:
            raise InputError("compute_budgets: is called within a scope, must be called after it")
        fixed = {id(m) for m in self._mechanisms if m.mechanism_spec.standard_deviation_is_set}
        free = [m for m in self._mechanisms if id(m) not in fixed]
        if not free:
            return
        thresholds = [m for m in free if m.mechanism_spec.mechanism_type.name.endswith("THRESHOLDING")]
        own = [m for m in free if m.mechanism_spec.mechanism_type.name in ("GENERIC", "TRUNCATED_GEOMETRIC")]
        share = self._total_delta * _SHARE
        delta = self._total_delta - (share if thresholds else 0) - (share if own else 0)

        def fits(base: float) -> bool:
            plan = {"neighbors": "add-remove", "steps": [self._step(m, base, id(m) in fixed) for m in self._mechanisms]}
            return bool(self._ask().epsilon(plan, delta).upper <= self._total_epsilon)

        high = 1.0
        while not fits(high):
            high *= 2
            if high > 2**30:
                raise InfeasibleError(f"total_epsilon: {self._total_epsilon} is not met by any noise; what is fixed costs more")
        low = high / 2
        while low > 2**-16 and fits(low):
            low, high = low / 2, low
        while high - low > 1e-6 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if fits(middle) else (middle, high)
        self.base_noise_std = high  # the last that was proved to fit
        weights = sum(m.weight * m.mechanism_spec.count for m in own)
        for m in self._mechanisms:
            spec = m.mechanism_spec
            if id(m) in fixed:
                continue
            if m in own:
                spec.set_eps_delta(m.weight / high, share * m.weight / weights)
            else:
                spec.set_noise_standard_deviation(high * m.sensitivity / m.weight * (_ROOT if "LAPLACE" in spec.mechanism_type.name else 1))
            if m in thresholds:
                spec.set_thresholding_delta(share / sum(t.mechanism_spec.count for t in thresholds))

    def _step(self, m: Any, base: float, fixed: bool) -> Dict[str, Any]:
        """The step of a mechanism where a weight of 1 has so much noise, for Laplace its scale."""
        spec, kind = m.mechanism_spec, m.mechanism_spec.mechanism_type.name
        # Rounded to the side of more cost.
        noise = (spec.noise_standard_deviation / m.sensitivity if fixed else base / m.weight) * (1 - 2**-50)
        if "GAUSSIAN" in kind:
            what: Dict[str, Any] = {"gaussian": {"noise-multiplier": noise}}
        elif "LAPLACE" in kind:
            what = {"laplace": {"noise-multiplier": noise / _ROOT if fixed else noise}}
        else:
            what = {"pure": {"epsilon": m.weight / base * (1 + 2**-50)}}
        return {"mechanism": what, "count": spec.count}
