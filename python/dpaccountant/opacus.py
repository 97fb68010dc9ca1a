"""A privacy engine and an accountant for Opacus.

    from dpaccountant.opacus import PrivacyEngine

    engine = PrivacyEngine()
    model, optimizer, loader = engine.make_private(…)  # or make_private_with_epsilon
    …
    epsilon = engine.get_epsilon(delta=1e-5)

The accountant covers what ``make_private(poisson_sampling=True)`` does: each record is in a
batch independently with the same probability, and neighbours differ by one record. The
engine shows it the loader, and refuses one that draws other batches. With the engine of
Opacus show it yourself, before the first step::

    engine = opacus.PrivacyEngine(accountant="certified")
    model, optimizer, loader = engine.make_private(…)
    engine.accountant.watch(loader)

Needs Opacus.
"""

from __future__ import annotations

import math
from typing import Any, Dict, List, Optional, Tuple

import opacus
from opacus import accountants
from opacus.accountants import IAccountant

from ._batches import PoissonBatches
from ._errors import AccountantError, InfeasibleError, InputError
from ._shared import Asking
from .answers import Interval
from .client import Accountant
from .menu import AdaptiveRun
from .plans import Gaussian, Step

__all__ = ["CertifiedAccountant", "MenuHook", "PrivacyEngine"]


class _Hook:
    """What an optimizer of Opacus calls at each step, before it changes the model."""

    def __init__(self, accountant: "CertifiedAccountant", sample_rate: float) -> None:
        self.accountant, self.sample_rate = accountant, sample_rate
        self.batches: Optional[PoissonBatches] = None

    def __call__(self, optimizer: Any) -> None:
        if self.batches is None:
            raise AccountantError(
                "the accountant has not seen the loader: make the engine by dpaccountant.opacus.PrivacyEngine, or call "
                "accountant.watch(loader) with the loader that make_private returned"
            )
        # Counted first: a step that is refused can have shown its noise.
        rate = max(self.sample_rate, self.batches.rate)
        self.accountant.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=rate)
        try:
            self.batches.check(optimizer)
        except AccountantError as problem:
            self.accountant.problem = str(problem)
            raise


class MenuHook:
    """Spends each step of an optimizer from a menu before it changes the model, whatever noise it has by then.

    ``optimizer.attach_step_hook(MenuHook(run, sample_rate))``: the noise may be chosen by the results so far. A step that the budget does not
    allow raises BudgetError, and the optimizer must not step any more.
    """

    def __init__(self, run: AdaptiveRun, sample_rate: float) -> None:
        self.run, self.sample_rate = run, float(sample_rate)

    def __call__(self, optimizer: Any) -> None:
        self.run.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=self.sample_rate)


class CertifiedAccountant(Asking, IAccountant):  # type: ignore[misc]
    """Counts the steps of an optimizer; ``get_epsilon`` is a proved upper bound.

    ``history`` has (noise multiplier, sample rate, steps), as in Opacus. Without
    ``accountant`` it asks the one of the process.
    """

    def __init__(self, *, accountant: Optional[Accountant] = None) -> None:
        super().__init__()
        self.history: List[Tuple[float, float, int]] = []
        self.problem = ""  # why ε is not known, if it is not
        self._accountant = accountant
        self._hook: Optional[_Hook] = None  # the latest

    def get_optimizer_hook_fn(self, sample_rate: float) -> Any:
        """What counts the steps of an optimizer; ``watch`` must follow."""
        self._hook = _Hook(self, float(sample_rate))
        return self._hook

    def watch(self, loader: Any) -> None:
        """See the loader of the optimizer that was made private last.

        AccountantError is raised if it does not draw Poisson samples. At each step the
        sizes of its batches are checked, too.
        """
        if self._hook is None:
            raise AccountantError("the accountant counts no optimizer: assign it to the engine before make_private")
        self._hook.batches = PoissonBatches(loader)

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Count one step of the optimizer."""
        sigma, rate = float(noise_multiplier), float(sample_rate)
        if self.history and tuple(self.history[-1][:2]) == (sigma, rate):
            self.history[-1] = (sigma, rate, self.history[-1][2] + 1)
        else:
            self.history.append((sigma, rate, 1))

    def get_epsilon(self, delta: float, *args: Any, **kwargs: Any) -> float:
        """A proved upper bound of ε. Options of other accountants of Opacus have no effect.

        AccountantError is raised where there is none: nothing was counted, or what was
        counted is not what ran.
        """
        if self.problem:
            raise AccountantError(self.problem)
        if self._hook is None and not self.history:
            raise AccountantError("the accountant has counted nothing: assign it to the engine before make_private")
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
        return {"neighbors": "add-remove", "steps": [_step(*entry) for entry in ran]}

    def noise_for(self, target_epsilon: float, target_delta: float, sample_rate: float, steps: int) -> float:
        """The least noise multiplier of further steps with which everything is proved to meet the target."""
        spent = self.get_epsilon(target_delta) if self.history else 0.0
        if spent >= target_epsilon:
            raise InfeasibleError(f"target_epsilon: {target_epsilon} is not above {spent}, which was spent before")
        before = [_step(*entry) for entry in self.history if entry[1] != 0]
        plan = {"neighbors": "add-remove", "steps": [*before, _step(1.0, sample_rate, steps).named("next")]}
        return self._ask().calibrate(plan, epsilon=target_epsilon, delta=target_delta, step="next").value

    def state_dict(self, destination: Any = None) -> Any:
        """What a checkpoint needs. The name is a string, for which Opacus 1.5 and earlier put a method."""
        state = super().state_dict(destination)
        state["mechanism"] = self.mechanism()
        if self.problem:
            state["problem"] = self.problem
        return state

    def load_state_dict(self, state_dict: Any) -> None:
        """Take the state of a checkpoint; the history is copied."""
        if state_dict and state_dict.get("mechanism") == self.mechanism():
            state_dict = {**state_dict, "mechanism": super().state_dict()["mechanism"]}
        super().load_state_dict(state_dict)
        self.problem = state_dict.get("problem", "")
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


def _step(sigma: float, rate: float, count: int) -> Step:
    return Gaussian(sigma).poisson(rate) * count


class PrivacyEngine(opacus.PrivacyEngine):  # type: ignore[misc]
    """The engine of Opacus with a CertifiedAccountant that sees the loader.

    Options are those of Opacus. AccountantError is raised where the loader would not draw
    Poisson samples, and where the accountant is replaced after ``make_private``.
    """

    _private = False

    def __init__(self, *, accountant: Optional[CertifiedAccountant] = None, **options: Any) -> None:
        super().__init__(**options)
        self.accountant = CertifiedAccountant() if accountant is None else accountant

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "accountant" and self._private:
            raise AccountantError("accountant: the optimizer has one already; assign it before make_private")
        super().__setattr__(name, value)

    def make_private(self, **options: Any) -> Any:
        """As in Opacus. ``poisson_sampling=False`` is refused, unless the loader draws Poisson samples itself."""
        if not options.get("poisson_sampling", True):
            PoissonBatches(options["data_loader"])  # before anything is wrapped
        made = super().make_private(**options)
        self._private = True
        self.accountant.watch(made[-1])
        return made

    def make_private_with_epsilon(
        self, *, data_loader: Any, target_epsilon: float, target_delta: float, epochs: int, **options: Any
    ) -> Any:
        """As in Opacus, with the least noise that is proved to meet the target, together with what was counted before."""
        batches = len(data_loader)
        noise = self.accountant.noise_for(target_epsilon, target_delta, 1 / batches, math.ceil(epochs * batches))
        return self.make_private(data_loader=data_loader, noise_multiplier=noise, **options)


if hasattr(accountants, "register_accountant"):
    accountants.register_accountant(CertifiedAccountant.mechanism(), CertifiedAccountant, force=True)
else:  # Opacus 1.5 and earlier look names up in a function, of which three modules have a copy

    def _named(others: Any) -> Any:
        return lambda mechanism: CertifiedAccountant() if mechanism == "certified" else others(mechanism)

    for _module in (accountants, accountants.utils, opacus.privacy_engine):
        _module.create_accountant = _named(_module.create_accountant)
