"""A budget that stops a training loop: by hand, in PyTorch, in Keras, in Lightning, in transformers.

No framework is imported before one of its functions here is called.
"""

from __future__ import annotations

import importlib
import math
import operator
from typing import Any, Dict, Mapping, Optional, Tuple, Union

from ._batches import EpochBatches, PoissonBatches, batches_of
from ._errors import AccountantError, BudgetError, InfeasibleError, InputError
from ._samplers import Batching, Sampler
from ._shared import Asking
from .answers import Interval
from .client import Accountant

__all__ = ["TrainingBudget", "attach", "keras_callback", "lightning_callback", "transformers_callback"]


# Up to how many steps a gap in theory is narrowed step by step, as the command dpsgd does; more are in blocks.
STEP_BY_STEP = 100

Kind = Tuple[float, float]  # the noise multiplier and the sampling rate of a step


class TrainingBudget(Asking):
    """Counts the steps of a run of DP-SGD, and knows how many fit.

    Each step is Gaussian noise on a batch. ``batching`` is how batches are drawn, in the words of ``Accountant.dpsgd``;
    they are given by ``examples`` and ``batch_size``, or by ``sampling_rate`` where that is enough, and ``cap`` is that of
    truncated-poisson. ``neighbors`` is add-remove if it is not given, and zero-out for shuffle and fixed-order.

    ``max_steps`` is the largest number of steps with this noise that is proved to meet ``target_epsilon`` at ``delta``; None
    without a target, or when nothing limits it. It is computed once, so that a step
    costs an addition. InfeasibleError is raised if not even one step fits.

    Steps with other noise or, of Poisson samples, another rate are counted as what they are, and what still
    fits is computed anew where they change. Their schedule must be fixed before training:
    noise that is chosen by looking at results is not covered.

    With random-allocation, shuffle and fixed-order so many steps are an epoch as a pass of ``sampler()`` has. An epoch that is
    left before its end counts as a whole one, and noise changes between epochs only.

        budget = callbacks.TrainingBudget(noise_multiplier=2.0, delta=1e-5, sampling_rate=0.01, target_epsilon=1.0)
        while not budget.exhausted:
            budget.step()  # then train on a batch
        budget.epsilon().upper
    """

    def __init__(
        self,
        *,
        noise_multiplier: float,
        delta: float,
        sampling_rate: Optional[float] = None,
        examples: Optional[int] = None,
        batch_size: Optional[int] = None,
        batching: str = "poisson",
        cap: Optional[int] = None,
        target_epsilon: Optional[float] = None,
        neighbors: Optional[str] = None,
        records_per_person: Optional[int] = None,
        accountant: Optional[Accountant] = None,
    ) -> None:
        self._accountant = accountant
        self.batching = Batching(
            batching, examples=examples, batch_size=batch_size, sampling_rate=sampling_rate, cap=cap
        )
        if batching == "fixed-order" and neighbors == "add-remove":
            raise InputError("neighbors: add-remove is not for a fixed order: without one example all later ones move up, into other batches; zero-out or substitute keep its place")
        rate = self.batching.rate
        self._run: Dict[str, Any] = {
            "neighbors": neighbors or self.batching.neighbors,
            "noise_multiplier": float(noise_multiplier),
            "sampling_rate": rate,
            "delta": float(delta),
        }
        if batching != "poisson":
            self._run["batching"] = self.batching.scheme()
        if records_per_person is not None:
            self._run["records_per_person"] = records_per_person
        self._target = None if target_epsilon is None else float(target_epsilon)
        self._ran: Dict[Kind, int] = {}
        self._kind: Kind = (float(noise_multiplier), rate)  # of the last step
        self._found: Dict[Any, Optional[int]] = {}  # the latest answer of _most
        # What counts passes and batches, what it had counted when it was last looked at, and whether
        # the epoch was left otherwise.
        self._source: Any = None
        self._passes, self._spare, self._left = 0, 0, False
        self._ask().plan_check(self._plan({self._kind: 1}))
        self.max_steps = self._most(self._kind, {})

    @property
    def steps(self) -> int:
        """The number of steps so far; an epoch that was left before its end has all of its own."""
        return sum(self._ran.values())

    @property
    def exhausted(self) -> bool:
        """Whether no further step like the last one fits."""
        return not self.fits(1)

    def sampler(self, examples: Optional[int] = None, *, test_seed: Optional[int] = None) -> Sampler:
        """The batches that this budget is for: iterate over it, and call ``step`` for each batch.

        ``examples`` is needed where the budget was given a rate only.
        """
        b = self.batching
        examples = b.examples if examples is None else examples
        if examples is None or b.examples not in (None, examples):
            raise InputError(f"examples: {examples} is not the number that the batches are drawn from, {b.examples or 'which must be given'}")
        sampler = Sampler(
            b.name, examples, batch_size=b.batch_size, sampling_rate=b.rate if b.batch_size is None else None, cap=b.cap,
            test_seed=test_seed, accountant=self._accountant,
        )
        self._watch(sampler)
        return sampler

    def fits(self, count: int) -> bool:
        """Whether so many further steps like the last one fit."""
        most = self._most(self._kind, self._ran)
        return most is None or self._ran.get(self._kind, 0) + count <= most

    def step(
        self, count: int = 1, *, noise_multiplier: Optional[float] = None, sampling_rate: Optional[float] = None
    ) -> None:
        """Count steps before they run, with the noise and the rate of the budget if none are given.

        BudgetError is raised, and nothing counted, if they do not fit; AccountantError if ``sampler`` has not drawn so many batches.
        """
        try:
            whole = operator.index(count)  # of numpy and torch, too, but of no fraction
        except (TypeError, ValueError):
            whole = 0
        if isinstance(count, bool) or not 1 <= whole <= 2**53:
            raise ValueError(f"count: {count!r} is not a whole number in [1, 2^53]")
        count = whole
        kind = (
            self._run["noise_multiplier"] if noise_multiplier is None else float(noise_multiplier),
            self._run["sampling_rate"] if sampling_rate is None else float(sampling_rate),
        )
        if not (0 < kind[0] < math.inf and 0 < kind[1] <= 1):
            raise ValueError(f"noise_multiplier, sampling_rate: {kind} is not in (0, ∞) and (0, 1]")
        if kind[1] != self._run["sampling_rate"] and self.batching.name != "poisson":
            raise ValueError(f"sampling_rate: {kind[1]} is not {self._run['sampling_rate']}, that of the batches by {self.batching.name}")
        source = self._source
        if source is not None and source.drawn - self._spare < count:
            raise AccountantError(f"a step is of a batch that was drawn before it: {source.drawn - self._spare} are left, and {count} are to be counted")
        ran, each = self._ran, self.batching.each
        begun = ran.get(self._kind, 0)
        if begun % each and (self._left or source is not None and source.passes != self._passes):
            begun = -(-begun // each) * each
            ran = {**ran, self._kind: begun}
        if kind != self._kind and begun % each:
            raise ValueError(f"noise_multiplier: {kind[0]} is not {self._kind[0]}, that of the epoch, in which it cannot change")
        most = self._most(kind, ran)
        if most is not None and ran.get(kind, 0) + count > most:
            raise BudgetError(f"steps: {ran.get(kind, 0)} + {count} are more than the {most} that fit the budget")
        self._kind, self._left = kind, False
        self._ran = {**ran, kind: ran.get(kind, 0) + count}
        if source is not None:
            self._passes, self._spare = source.passes, self._spare + count

    def epsilon(self) -> Interval:
        """The ε of the steps so far. What of an epoch has no price of its own is counted as a whole one."""
        plan = self._plan(self._ran)
        if not self._ran:
            plan = {"neighbors": self._run["neighbors"], "event": {"class_name": "NoOpDpEvent"}}
        return self._ask().epsilon(plan, float(self._run["delta"]), recursion=STEP_BY_STEP)

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
        """Go on from a checkpoint of the same run, with a new epoch where batches are drawn for epochs."""
        if dict(state["run"]) != self._run:
            raise ValueError(f"the checkpoint is of another run: {state['run']} and not {self._run}")
        ran = {(float(sigma), float(rate)): int(count) for sigma, rate, count in state["ran"]}
        if any(count < 1 for count in ran.values()):
            raise ValueError(f"ran: {state['ran']} has a count that is not in [1, 2^53]")
        self._kind = (float(state["last"][0]), float(state["last"][1]))
        self._ran = ran
        self._left = True

    def _watch(self, source: Any) -> None:
        """Count with the passes and batches of a source from here on; an epoch that was begun before is left."""
        self._source, self._left = source, True
        if source is not None:
            self._passes, self._spare = source.passes, source.drawn

    def _most(self, kind: Kind, ran: Mapping[Kind, int]) -> Optional[int]:
        """The largest number of steps of a kind that fits beside those of other kinds; None without a limit."""
        if self._target is None:
            return None
        others = {other: count for other, count in ran.items() if other != kind}
        key = (kind, tuple(others.items()))
        if key not in self._found:
            try:
                most = self._search(kind, others)
            except InfeasibleError:
                if not ran:
                    raise
                most = 0
            self._found = {key: most}
        return self._found[key]

    def _search(self, kind: Kind, others: Mapping[Kind, int]) -> Optional[int]:
        """The same, found anew: whole epochs by calibration, then steps of one more; InfeasibleError where none fits."""
        each, target, delta = self.batching.each, self._target, self._run["delta"]
        plan = self._plan({**others, kind: each})
        none: Optional[InfeasibleError] = None
        whole, low, high = 0, 0, each  # low steps of one more fit, and high do not
        try:
            found = self._ask().calibrate(
                plan, epsilon=target, delta=delta, solve="count", step=f"steps[{len(plan['steps']) - 1}]"
            )
            if found.unlimited:
                return None
            whole = int(found.value)
        except InfeasibleError as error:
            none = error
        while self.batching.parts(self._run["neighbors"]) and high - low > 1:
            middle = (low + high) // 2
            with_it = self._plan({**others, kind: whole * each + middle})
            if self._ask().epsilon(with_it, delta, recursion=STEP_BY_STEP).upper <= (target or 0):
                low = middle
            else:
                high = middle
        if none is not None and low == 0:
            raise none
        return whole * each + low

    def _plan(self, ran: Mapping[Kind, int]) -> Dict[str, Any]:
        neighbors = self._run["neighbors"]
        steps = [step for (sigma, rate), count in ran.items() for step in self.batching.steps(sigma, rate, count, neighbors)]
        plan = {"neighbors": neighbors, "steps": [{"name": f"steps[{i}]", **step} for i, step in enumerate(steps)]}
        if "records_per_person" in self._run:
            plan["records-per-person"] = self._run["records_per_person"]
        return plan


def attach(optimizer: Any, budget: TrainingBudget, *, loader: Any = None) -> Any:
    """Count each step of a PyTorch optimizer before it changes the model; BudgetError stops it.

    ``loader`` is the loader that training iterates over. AccountantError is raised if it
    does not draw the batches of the budget, InputError if its rate is above that of the budget. Where the budget
    is for epochs, the passes over the loader are its epochs.

    An optimizer of Opacus needs it. It keeps the hook that it has, and its virtual steps are
    not counted. Its noise is compared here, and each step is counted with the noise that it
    has; batches whose sizes are impossible for Poisson samples are an AccountantError.
    Any other optimizer counts by ``register_step_pre_hook``, whose handle is returned. Its noise
    and, without ``loader``, its batches are not seen: they are what the budget says.
    """
    batches = None if loader is None else _batches_for(loader, budget)
    rate = None if batches is None else batches.rate
    if not hasattr(optimizer, "attach_step_hook"):
        budget.compare(None, rate)
        return optimizer.register_step_pre_hook(lambda *_: budget.step(sampling_rate=rate))
    if batches is None:
        raise AccountantError(
            "loader: is missing: attach(optimizer, budget, loader=…) takes the loader that make_private returned; "
            "where batches are drawn without one, call budget.step() at each step"
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


def _batches_for(loader: Any, budget: TrainingBudget) -> Union[PoissonBatches, EpochBatches]:
    """The batches of a loader, which must be those of the budget, and whose passes it counts from here on."""
    batches = batches_of(loader, budget.batching)
    if isinstance(batches, EpochBatches):
        budget._watch(batches.source)
    return batches


def keras_callback(budget: TrainingBudget) -> Any:
    """A Keras callback: stops ``fit`` at the budget, and logs ``epsilon`` after each epoch.

    A step is counted before it runs; with ``steps_per_execution`` so many at once, as Keras
    runs them. A fit that begins with nothing left is refused with BudgetError.

    Keras shows a callback no data: that batches are drawn as the budget says is taken at its word (``fit`` on arrays draws no
    Poisson samples), and each fit begins an epoch. The noise of an optimizer or model of TensorFlow Privacy
    is compared, and counted as what it is; that of others is what the budget says.
    """
    base = _first("Callback", "keras.callbacks", "tensorflow.keras.callbacks")

    class PrivacyCallback(base):  # type: ignore[misc, valid-type]
        def on_train_begin(self, logs: Any = None) -> None:
            budget.compare(_noise_of(self.model), None)
            budget._watch(None)  # batches are drawn long before their steps

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
    draw the batches of the budget, at no higher rate; the noise of an optimizer of
    Opacus is compared and counted as what it is; that of others is what the budget says.
    """
    base = _first("Callback", "lightning.pytorch.callbacks", "pytorch_lightning.callbacks")

    class PrivacyCallback(base):  # type: ignore[misc, valid-type]
        rate: Optional[float] = None

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            loader = trainer.train_dataloader
            self.rate = _batches_for(getattr(loader, "loaders", loader), budget).rate
            for optimizer in [None, *trainer.optimizers]:
                budget.compare(getattr(optimizer, "noise_multiplier", None), self.rate)
            if trainer.accumulate_grad_batches != 1:
                raise AccountantError("a step is of one batch, and accumulate_grad_batches makes it one of several")

        def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any, *_: Any) -> None:
            budget.step(noise_multiplier=getattr(optimizer, "noise_multiplier", None), sampling_rate=self.rate)

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


def transformers_callback(budget: TrainingBudget) -> Any:
    """A callback for the Trainer of transformers: stops training at the budget and puts ``epsilon`` into its logs.

    A step is counted before the optimizer takes it. As in ``attach``, the trainer's loader must draw the batches of the
    budget (override ``get_train_dataloader``), and the noise of an optimizer of Opacus is compared and counted as what it
    is. A checkpoint of the trainer does not hold it: save ``budget.state_dict()`` beside it.
    """
    base = _first("TrainerCallback", "transformers")

    class PrivacyCallback(base):  # type: ignore[misc, valid-type]
        rate: Optional[float] = None

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if getattr(args, "gradient_accumulation_steps", 1) != 1:
                raise AccountantError("a step is of one batch, and gradient_accumulation_steps makes it one of several")
            self.rate = _batches_for(kwargs.get("train_dataloader"), budget).rate
            budget.compare(_inner(kwargs.get("optimizer")), self.rate)

        def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            budget.step(noise_multiplier=_inner(kwargs.get("optimizer")), sampling_rate=self.rate)

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
            if budget.exhausted:
                control.should_training_stop = True
            return control

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
            if logs is not None:
                logs["epsilon"] = budget.epsilon().upper

    return PrivacyCallback()


def _inner(optimizer: Any) -> Optional[float]:
    """The noise multiplier of an optimizer of Opacus, which others may have wrapped; None of any other."""
    for _ in range(4):
        if optimizer is None or getattr(optimizer, "noise_multiplier", None) is not None:
            break
        optimizer = getattr(optimizer, "optimizer", None)
    return getattr(optimizer, "noise_multiplier", None)


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
