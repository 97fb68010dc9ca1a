"""A budget that stops a training loop: by hand, in PyTorch, in Keras, in Lightning.

No framework is imported before one of its functions here is called.
"""

from __future__ import annotations

import importlib
import math
from typing import Any, Dict, Mapping, Optional, Tuple

from ._batches import PoissonBatches
from ._errors import AccountantError, BudgetError, InfeasibleError, InputError
from ._shared import Asking
from .answers import Interval
from .client import Accountant

__all__ = ["TrainingBudget", "attach", "keras_callback", "lightning_callback"]


Kind = Tuple[float, float]  # the noise multiplier and the sampling rate of a step


class TrainingBudget(Asking):
    """Counts the steps of a run of DP-SGD, and knows how many fit.

    Each step is Gaussian noise on a Poisson sample. ``max_steps`` is the largest number of
    steps with this noise and rate that is proved to meet ``target_epsilon`` at ``delta``; None
    without a target, or when nothing limits it. It is computed once, so that a step
    costs an addition. InfeasibleError is raised if not even one step fits.

    Steps with other noise or another rate are counted as what they are, and what still
    fits is computed anew where they change. Their schedule must be fixed before training:
    noise that is chosen by looking at results is not covered.
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
        self._target = None if target_epsilon is None else float(target_epsilon)
        self._ran: Dict[Kind, int] = {}
        self._kind: Kind = (float(noise_multiplier), float(sampling_rate))  # of the last step
        self._found: Dict[Any, Optional[int]] = {}  # the latest answer of _most
        self._ask().plan_check(self._plan({self._kind: 1}))
        self.max_steps = self._most(self._kind)

    @property
    def steps(self) -> int:
        """The number of steps so far."""
        return sum(self._ran.values())

    @property
    def exhausted(self) -> bool:
        """Whether no further step like the last one fits."""
        return not self.fits(1)

    def fits(self, count: int) -> bool:
        """Whether so many further steps like the last one fit."""
        return self._fit(self._kind, count)

    def step(
        self, count: int = 1, *, noise_multiplier: Optional[float] = None, sampling_rate: Optional[float] = None
    ) -> None:
        """Count steps before they run, with the noise and the rate of the budget if none are given.

        BudgetError is raised, and nothing counted, if they do not fit.
        """
        if count < 1:
            raise ValueError(f"count: {count} is not in [1, 2^53]")
        kind = (
            self._run["noise_multiplier"] if noise_multiplier is None else float(noise_multiplier),
            self._run["sampling_rate"] if sampling_rate is None else float(sampling_rate),
        )
        if not (0 < kind[0] < math.inf and 0 < kind[1] <= 1):
            raise ValueError(f"noise_multiplier, sampling_rate: {kind} is not in (0, ∞) and (0, 1]")
        if not self._fit(kind, count):
            ran, most = self._ran.get(kind, 0), self._most(kind)
            raise BudgetError(f"steps: {ran} + {count} are more than the {most} that fit the budget")
        self._kind = kind
        self._ran[kind] = self._ran.get(kind, 0) + count

    def epsilon(self) -> Interval:
        """The ε of the steps so far."""
        plan = self._plan(self._ran)
        if not self._ran:
            plan = {"neighbors": self._run["neighbors"], "event": {"class_name": "NoOpDpEvent"}}
        return self._ask().epsilon(plan, self._run["delta"])

    def compare(self, noise_multiplier: Optional[float], sampling_rate: Optional[float]) -> None:
        """Raise InputError if what is about to run has less noise or a higher rate than the budget is for."""
        for name, actual, sign in (("noise_multiplier", noise_multiplier, 1), ("sampling_rate", sampling_rate, -1)):
            expected = self._run[name]
            if actual is not None and sign * (float(actual) - expected) < -1e-9 * expected:
                raise InputError(f"{name}: the budget is for {expected}, and {float(actual)} is about to run")

    def state_dict(self) -> Dict[str, Any]:
        """What a checkpoint needs. Steps after it that are thrown away must not have been shown to anyone."""
        return {"run": dict(self._run), "ran": [[*kind, count] for kind, count in self._ran.items()], "last": list(self._kind)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint of the same run."""
        if dict(state["run"]) != self._run:
            raise ValueError(f"the checkpoint is of another run: {state['run']} and not {self._run}")
        ran = {(float(sigma), float(rate)): int(count) for sigma, rate, count in state["ran"]}
        if any(count < 1 for count in ran.values()):
            raise ValueError(f"ran: {state['ran']} has a count that is not in [1, 2^53]")
        self._kind = (float(state["last"][0]), float(state["last"][1]))
        self._ran = ran

    def _fit(self, kind: Kind, count: int) -> bool:
        most = self._most(kind)
        return most is None or self._ran.get(kind, 0) + count <= most

    def _most(self, kind: Kind) -> Optional[int]:
        """The largest number of steps of a kind that fits beside those of other kinds; None without a limit."""
        if self._target is None:
            return None
        others = {other: count for other, count in self._ran.items() if other != kind}
        key = (kind, tuple(others.items()))
        if key not in self._found:
            try:
                found = self._ask().calibrate(
                    self._plan({**others, kind: 1}), epsilon=self._target, delta=self._run["delta"], solve="count",
                    step=f"steps[{len(others)}]",
                )
                most = None if found.unlimited else int(found.value)
            except InfeasibleError:
                if not self._ran:
                    raise
                most = 0
            self._found = {key: most}
        return self._found[key]

    def _plan(self, ran: Mapping[Kind, int]) -> Dict[str, Any]:
        return {
            "neighbors": self._run["neighbors"],
            "steps": [
                {
                    "name": f"steps[{i}]",
                    "mechanism": {"gaussian": {"noise-multiplier": sigma}},
                    "sampling": {"poisson": {"rate": rate}},
                    "count": count,
                }
                for i, ((sigma, rate), count) in enumerate(ran.items())
            ],
        }


def attach(optimizer: Any, budget: TrainingBudget, *, loader: Any = None) -> Any:
    """Count each step of a PyTorch optimizer before it changes the model; BudgetError stops it.

    ``loader`` is the loader that training iterates over. AccountantError is raised if it
    does not draw Poisson samples, InputError if its rate is above that of the budget.

    An optimizer of Opacus needs it. It keeps the hook that it has, and its virtual steps are
    not counted. Its noise is compared here, and each step is counted with the noise that it
    has; batches whose sizes are impossible for Poisson samples are an AccountantError.
    Any other optimizer counts by ``register_step_pre_hook``, whose handle is returned. Its noise
    and, without ``loader``, its batches are not seen: they are what the budget says.
    """
    batches = None if loader is None else PoissonBatches(loader)
    rate = None if batches is None else batches.rate
    if not hasattr(optimizer, "attach_step_hook"):
        budget.compare(None, rate)
        return optimizer.register_step_pre_hook(lambda *_: budget.step(sampling_rate=rate))
    if batches is None:
        raise AccountantError(
            "loader: is missing: attach(optimizer, budget, loader=…) takes the loader that make_private returned; "
            "where Poisson samples are drawn without one, call budget.step() at each step"
        )
    seen = batches
    budget.compare(optimizer.noise_multiplier, rate)
    before = getattr(optimizer, "step_hook", None)

    def hook(opt: Any) -> None:
        seen.check(opt)
        budget.step(noise_multiplier=opt.noise_multiplier, sampling_rate=rate)
        if before is not None:
            before(opt)

    return optimizer.attach_step_hook(hook)


def keras_callback(budget: TrainingBudget) -> Any:
    """A Keras callback: stops ``fit`` at the budget, and logs ``epsilon`` after each epoch.

    A step is counted before it runs; with ``steps_per_execution`` so many at once, as Keras
    runs them. A fit that begins with nothing left is refused with BudgetError.

    Keras shows a callback no data: that batches are Poisson samples is what the budget says, and
    ``fit`` on arrays draws none. The noise of an optimizer or model of TensorFlow Privacy
    is compared, and counted as what it is; that of others is what the budget says.
    """
    base = _first("Callback", "keras.callbacks", "tensorflow.keras.callbacks")

    class PrivacyCallback(base):  # type: ignore[misc, valid-type]
        def on_train_begin(self, logs: Any = None) -> None:
            budget.compare(_noise_of(self.model), None)

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            budget.step(_at_once(self.model), noise_multiplier=_noise_of(self.model))

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if not budget.fits(_at_once(self.model)):
                self.model.stop_training = True

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            if logs is not None:
                logs["epsilon"] = budget.epsilon().upper

    return PrivacyCallback()


def lightning_callback(budget: TrainingBudget) -> Any:
    """A Lightning callback: stops ``Trainer.fit`` at the budget, logs ``epsilon``, and is in checkpoints.

    A step is counted before the optimizer takes it. As in ``attach``, the trainer's loader must
    draw Poisson samples, at no higher rate than that of the budget; the noise of an optimizer of
    Opacus is compared and counted as what it is; that of others is what the budget says.
    """
    base = _first("Callback", "lightning.pytorch.callbacks", "pytorch_lightning.callbacks")

    class PrivacyCallback(base):  # type: ignore[misc, valid-type]
        batches: Optional[PoissonBatches] = None

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            loader = trainer.train_dataloader
            self.batches = PoissonBatches(getattr(loader, "loaders", loader))
            budget.compare(None, self.batches.rate)
            for optimizer in trainer.optimizers:
                budget.compare(getattr(optimizer, "noise_multiplier", None), None)
            if trainer.accumulate_grad_batches != 1:
                raise AccountantError("a step is of one batch, and accumulate_grad_batches makes it one of several")

        def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any, *_: Any) -> None:
            rate = None if self.batches is None else self.batches.rate
            budget.step(noise_multiplier=getattr(optimizer, "noise_multiplier", None), sampling_rate=rate)

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


def _noise_of(model: Any) -> Optional[float]:
    """The noise multiplier of a model or an optimizer of TensorFlow Privacy; None of any other."""
    for of in (model, getattr(model, "optimizer", None)):
        if getattr(of, "_num_microbatches", None) is not None:
            raise AccountantError(
                "num_microbatches: clips means of several records, which one record changes by up to twice the norm; "
                "must be None, so that each record is clipped by itself"
            )
        query = getattr(of, "_dp_sum_query", None)
        if query is not None and not hasattr(query, "_stddev"):
            raise AccountantError(f"the optimizer adds the noise of {type(query).__name__}, and the budget is for Gaussian noise at each step")
        noise = getattr(of, "_noise_multiplier", None) if query is None else query._stddev / query._l2_norm_clip
        if noise is not None:
            return float(noise)
    return None


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
