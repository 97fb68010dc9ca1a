"""A budget that stops a training loop: by hand, in PyTorch, in Keras, in Lightning.

No framework is imported before one of its functions here is called.
"""

from __future__ import annotations

import importlib
from typing import Any, Dict, Mapping, Optional

from ._errors import AccountantError, BudgetError
from ._shared import Asking
from .answers import Interval
from .client import Accountant

__all__ = ["TrainingBudget", "attach", "keras_callback", "lightning_callback"]


class TrainingBudget(Asking):
    """Counts the steps of a run of DP-SGD, and knows how many fit.

    Every step has the same noise and Poisson sampling at the same rate. ``max_steps`` is the
    largest number of steps that is proved to meet ``target_epsilon`` at ``delta``; None
    without a target, or when nothing limits it. It is computed once, so that a step
    costs an addition. InfeasibleError is raised if not even one step fits.
    """

    def __init__(
        self,
        *,
        noise_multiplier: float,
        sampling_rate: float,
        delta: float,
        target_epsilon: Optional[float] = None,
        neighbors: str = "add-remove",
        accountant: Optional[Accountant] = None,
    ) -> None:
        self._accountant = accountant
        self._run: Dict[str, Any] = {
            "neighbors": neighbors,
            "noise_multiplier": float(noise_multiplier),
            "sampling_rate": float(sampling_rate),
            "delta": float(delta),
        }
        self.steps = 0
        self.max_steps: Optional[int] = None
        if target_epsilon is not None:
            found = self._ask().calibrate(
                self._plan(1), epsilon=float(target_epsilon), delta=float(delta), solve="count"
            )
            self.max_steps = None if found.unlimited else int(found.value)
        else:
            self._ask().plan_check(self._plan(1))

    @property
    def exhausted(self) -> bool:
        """Whether no further step fits."""
        return not self.fits(1)

    def fits(self, count: int) -> bool:
        """Whether so many further steps fit."""
        return self.max_steps is None or self.steps + count <= self.max_steps

    def step(self, count: int = 1) -> None:
        """Count steps before they run. BudgetError is raised, and nothing counted, if they do not fit."""
        if count < 1:
            raise ValueError(f"count: {count} is not in [1, 2^53]")
        if not self.fits(count):
            raise BudgetError(f"steps: {self.steps} + {count} are more than the {self.max_steps} of the budget")
        self.steps += count

    def epsilon(self) -> Interval:
        """The ε of the steps so far."""
        plan = self._plan(self.steps)
        if not self.steps:
            plan = {"neighbors": self._run["neighbors"], "event": {"class_name": "NoOpDpEvent"}}
        return self._ask().epsilon(plan, self._run["delta"])

    def state_dict(self) -> Dict[str, Any]:
        """What a checkpoint needs. Steps after it that are thrown away must not have been shown to anyone."""
        return {"run": dict(self._run), "steps": self.steps}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint of the same run."""
        if dict(state["run"]) != self._run:
            raise ValueError(f"the checkpoint is of another run: {state['run']} and not {self._run}")
        steps = int(state["steps"])
        if steps < 0:
            raise ValueError(f"steps: {steps} is not in [0, 2^53]")
        self.steps = steps

    def _plan(self, count: int) -> Dict[str, Any]:
        return {
            "neighbors": self._run["neighbors"],
            "steps": [
                {
                    "mechanism": {"gaussian": {"noise-multiplier": self._run["noise_multiplier"]}},
                    "sampling": {"poisson": {"rate": self._run["sampling_rate"]}},
                    "count": count,
                }
            ],
        }


def attach(optimizer: Any, budget: TrainingBudget) -> Any:
    """Count each step of a PyTorch optimizer before it changes the model; BudgetError stops it.

    An optimizer of Opacus keeps the hook that it has, and its virtual steps are not counted.
    Any other counts by ``register_step_pre_hook``, whose handle is returned.
    """
    if not hasattr(optimizer, "attach_step_hook"):
        return optimizer.register_step_pre_hook(lambda *_: budget.step())
    before = getattr(optimizer, "step_hook", None)

    def hook(opt: Any) -> None:
        if getattr(opt, "accumulated_iterations", 1) != 1:
            raise AccountantError("the budget is for steps of one batch, and this one has several")
        budget.step()
        if before is not None:
            before(opt)

    return optimizer.attach_step_hook(hook)


def keras_callback(budget: TrainingBudget) -> Any:
    """A Keras callback: stops ``fit`` at the budget, and logs ``epsilon`` after each epoch.

    A step is counted before it runs; with ``steps_per_execution`` so many at once, as Keras
    runs them. A fit that begins with nothing left is refused with BudgetError.
    """
    base = _first("Callback", "keras.callbacks", "tensorflow.keras.callbacks")

    class PrivacyCallback(base):  # type: ignore[misc, valid-type]
        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            budget.step(_at_once(self.model))

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if not budget.fits(_at_once(self.model)):
                self.model.stop_training = True

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            if logs is not None:
                logs["epsilon"] = budget.epsilon().upper

    return PrivacyCallback()


def lightning_callback(budget: TrainingBudget) -> Any:
    """A Lightning callback: stops ``Trainer.fit`` at the budget, logs ``epsilon``, and is in checkpoints.

    A step is counted before the optimizer takes it.
    """
    base = _first("Callback", "lightning.pytorch.callbacks", "pytorch_lightning.callbacks")

    class PrivacyCallback(base):  # type: ignore[misc, valid-type]
        def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any, *_: Any) -> None:
            budget.step()

        def on_train_batch_end(self, trainer: Any, pl_module: Any, *_: Any) -> None:
            if budget.exhausted:
                trainer.should_stop = True

        def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
            pl_module.log("epsilon", budget.epsilon().upper)

        def state_dict(self) -> Dict[str, Any]:
            return budget.state_dict()

        def load_state_dict(self, state_dict: Dict[str, Any]) -> None:
            budget.load_state_dict(state_dict)

    return PrivacyCallback()


def _at_once(model: Any) -> int:
    """How many steps Keras runs between two calls of a callback."""
    for name in ("steps_per_execution", "_steps_per_execution"):
        count = getattr(model, name, None)
        if count is not None:
            return max(1, int(count.numpy()) if hasattr(count, "numpy") else int(count))
    return 1


def _first(name: str, *modules: str) -> Any:
    for module in modules:
        try:
            return getattr(importlib.import_module(module), name)
        except ImportError:
            pass
    raise ImportError(f"none of {', '.join(modules)} is installed")
