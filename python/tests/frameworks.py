"""Stand-ins of PyTorch with Opacus, of trainers, JAX, TensorFlow and others, for the examples where these are not installed.

They have the functions that python/examples use, with the meaning that the frameworks
give them, and can differentiate one function: the cross-entropy of a linear layer. They show
that the examples are whole programs and account for what they run; whether the frameworks do what is
assumed of them here is shown where they are installed. KIND has which it was. Needs numpy.
"""

import contextlib
import importlib.util
import pickle
import sys
import types

import numpy as np

import peers

KIND = {}


def _found(*names):
    return all(importlib.util.find_spec(name) is not None for name in names)


def _gradients(x, weights, y):
    """Of the cross-entropy for the weights, one for each example: (examples, features, labels)."""
    z = x @ weights
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(y)), y] -= 1
    return x[:, :, None] * p[:, None, :]


# PyTorch and Opacus


class _Tensor(np.ndarray):
    def long(self):
        return self.astype(np.int64)

    def float(self):
        return self.astype(np.float32)


def _tensor(array):
    return np.asarray(array).view(_Tensor)


class _Linear:
    def __init__(self, features, labels):
        self.weight, self.bias = np.zeros((features, labels)), np.zeros(labels)
        self.samples = None  # gradients, the bias as one feature more

    def parameters(self):
        return [self.weight, self.bias]

    def state_dict(self):
        return {"weight": self.weight.copy(), "bias": self.bias.copy()}

    def load_state_dict(self, state):
        self.weight[:], self.bias[:] = state["weight"], state["bias"]

    def __call__(self, x):
        out = _tensor(x @ self.weight + self.bias)
        out.layer, out.x = self, np.asarray(x)
        return out


def _cross_entropy(logits, labels):
    layer, x = logits.layer, logits.x

    def backward():
        ones = np.ones((len(x), 1))
        layer.samples = _gradients(np.hstack([x, ones]), np.vstack([layer.weight, layer.bias]), np.asarray(labels))

    return types.SimpleNamespace(backward=backward)


class _DPOptimizer:
    """Clips each example's gradient, adds noise to the sum, divides by the expected size."""

    def __init__(self, module, rate, noise_multiplier, max_grad_norm, expected):
        self.module, self.rate, self.expected = module, rate, expected
        self.noise_multiplier, self.max_grad_norm, self.accumulated_iterations = noise_multiplier, max_grad_norm, 1
        self.step_hook = None

    @property
    def grad_samples(self):
        return [self.module.samples]

    def attach_step_hook(self, hook):
        self.step_hook = hook

    def zero_grad(self):
        self.module.samples = None

    def state_dict(self):
        return {}

    def load_state_dict(self, state): ...

    def step(self):
        norms = np.sqrt((self.module.samples**2).sum(axis=(1, 2)))
        scale = np.minimum(1, self.max_grad_norm / np.maximum(norms, 1e-6))
        total = np.tensordot(scale, self.module.samples, 1)
        noisy = total + np.random.default_rng().normal(0, self.noise_multiplier * self.max_grad_norm, total.shape)
        if self.step_hook is not None:
            self.step_hook(self)
        self.module.weight -= self.rate * noisy[:-1] / self.expected
        self.module.bias -= self.rate * noisy[-1] / self.expected


class _DataLoader:
    def __init__(self, data, batch_size):
        self.parts = data, batch_size

    def __len__(self):
        return -(-len(self.parts[0][0]) // self.parts[1])


class _PoissonLoader:
    def __init__(self, data, batch_size):
        self.data, self.rate, self.steps = data, 1 / -(-len(data[0]) // batch_size), -(-len(data[0]) // batch_size)
        self.batch_sampler = types.SimpleNamespace(sample_rate=self.rate, num_samples=len(data[0]))

    def __len__(self):
        return self.steps

    def __iter__(self):
        for _ in range(self.steps):
            batch = np.random.default_rng().random(len(self.data[0])) < self.rate
            yield tuple(part[batch] for part in self.data)


class _PrivacyEngine:
    def __init__(self):
        self.accountant = None

    def make_private(self, *, module, optimizer, data_loader, noise_multiplier, max_grad_norm):
        loader = _PoissonLoader(*data_loader.parts)
        private = _DPOptimizer(
            module, optimizer.lr, noise_multiplier, max_grad_norm, int(len(loader.data[0]) * loader.rate))
        private.attach_step_hook(self.accountant.get_optimizer_hook_fn(sample_rate=loader.rate))
        return module, private, loader

    def get_epsilon(self, delta):
        return self.accountant.get_epsilon(delta)


class _Fit:
    """The loop of the trainers: ``step`` is one batch, and says whether to stop."""

    def loop(self, loader, step):
        for _ in range(100):
            for batch in loader:
                if step(batch):
                    return


class _Trainer(_Fit):  # of transformers
    def __init__(self, *, model, args, optimizers, callbacks):
        self.model, self.args, self.optimizer, self.callbacks = model, args, optimizers[0], callbacks
        self.control = types.SimpleNamespace(should_training_stop=False)

    def event(self, name, **more):
        wrapped = types.SimpleNamespace(optimizer=self.optimizer)  # as accelerate does
        for callback in self.callbacks:
            getattr(callback, name)(self.args, None, self.control, optimizer=wrapped, train_dataloader=self.loader, model=self.model, **more)

    def train(self):
        self.loader = self.get_train_dataloader()
        self.event("on_train_begin")
        self.loop(self.loader, self.step)
        logs = {}
        self.event("on_log", logs=logs)
        print(f"logged {logs['epsilon']:.6f}")

    def step(self, batch):
        self.optimizer.zero_grad()
        self.compute_loss(self.model, batch).backward()
        self.event("on_pre_optimizer_step")
        self.optimizer.step()
        self.event("on_step_end")
        return self.control.should_training_stop


class _LightningTrainer(_Fit):
    should_stop, accumulate_grad_batches = False, 1

    def __init__(self, *, callbacks, **_):
        self.callbacks = callbacks

    def fit(self, module, loader):
        self.module, self.train_dataloader, self.optimizers = module, loader, [module.configure_optimizers()]
        module.log = lambda name, value: print(f"logged {value:.6f}")
        for callback in self.callbacks:
            callback.on_train_start(self, module)
        self.loop(loader, self.step)
        for callback in self.callbacks:
            callback.on_train_epoch_end(self, module)

    def step(self, batch):
        optimizer, = self.optimizers
        optimizer.zero_grad()
        self.module.training_step(batch, 0).backward()
        for callback in self.callbacks:
            callback.on_before_optimizer_step(self, self.module, optimizer)
        optimizer.step()
        for callback in self.callbacks:
            callback.on_train_batch_end(self, self.module, None, batch, 0)
        return self.should_stop


def transformers():
    """transformers with torch and opacus."""
    torch()
    KIND["transformers"] = "installed" if _found("transformers") else "stand-in"
    if KIND["transformers"] == "stand-in":
        peers.add_module(
            "transformers", Trainer=_Trainer, TrainerCallback=type("TrainerCallback", (), {}),
            TrainingArguments=lambda **options: types.SimpleNamespace(gradient_accumulation_steps=1, **options))


def lightning():
    """lightning with torch and opacus."""
    torch()
    KIND["lightning"] = "installed" if _found("lightning") else "stand-in"
    if KIND["lightning"] == "stand-in":
        peers.lightning()
        sys.modules["lightning.pytorch"].__dict__.update(Trainer=_LightningTrainer, LightningModule=type("LightningModule", (), {}))


# What has types and functions alone


def flower():
    """flwr's types of privacy accounting."""
    import dataclasses
    import enum

    if _found("flwr") and _found("flwr.supercore.privacy_accounting"):
        KIND["flower"] = "installed"
        return
    KIND["flower"] = "stand-in"
    peers.add_module("flwr", path="")
    peers.add_module("flwr.supercore", path="")
    module = peers.add_module(
        "flwr.supercore.privacy_accounting",
        NeighboringRelation=enum.Enum("NeighboringRelation", {"ADD_OR_REMOVE_ONE": "add-or-remove-one", "REPLACE_ONE": "replace-one"}),
        SamplingMethod=enum.Enum("SamplingMethod", {"POISSON": "poisson", "WITHOUT_REPLACEMENT": "without-replacement", "NO_AMPLIFICATION": "no-amplification"}))
    for name, fields in (
        ("PrivacyConfig", ["target_delta", "population_size", "neighboring_relation", "sampling_method", ("max_epsilon", object, None)]),
        ("GaussianPrivacyEvent", ["noise_multiplier", "sample_size", "population_size"]),
        ("PrivacySpent", ["epsilon", "delta", "num_releases", "accounting_method", ("optimal_order", object, None)]),
    ):
        kind = dataclasses.make_dataclass(name, fields, frozen=True)
        kind.__module__ = module.__name__
        setattr(module, name, kind)


def pipeline_dp():
    """pipeline_dp.aggregate_params and pipeline_dp.budget_accounting, as far as our accountant uses them."""
    import dataclasses
    import enum

    if _found("pipeline_dp"):
        KIND["pipeline_dp"] = "installed"
        return
    KIND["pipeline_dp"] = "stand-in"

    class BudgetAccountant:
        def __init__(self, total_epsilon, total_delta, num_aggregations, aggregation_weights):
            self._total_epsilon, self._total_delta = total_epsilon, total_delta
            self._mechanisms, self._scopes_stack, self._finalized = [], [], False

        def _check_aggregation_restrictions(self): ...

        def _finalize(self):
            self._finalized = True

        def _register_mechanism(self, mechanism):
            self._mechanisms.append(mechanism)

    @dataclasses.dataclass
    class MechanismSpec:
        mechanism_type: object
        name: str = ""
        _noise_standard_deviation: float = None
        _count: int = 1
        noise_standard_deviation = property(lambda self: self._noise_standard_deviation)
        standard_deviation_is_set = property(lambda self: self._noise_standard_deviation is not None)
        count = property(lambda self: self._count)

        def set_noise_standard_deviation(self, stddev):
            self._noise_standard_deviation = stddev

        def set_eps_delta(self, eps, delta):
            self.eps, self.delta = eps, delta

        def set_thresholding_delta(self, delta):
            self.thresholding_delta = delta

    peers.add_module("pipeline_dp", path="")
    kinds = "LAPLACE GAUSSIAN LAPLACE_THRESHOLDING GAUSSIAN_THRESHOLDING TRUNCATED_GEOMETRIC GENERIC"
    peers.add_module("pipeline_dp.aggregate_params", MechanismType=enum.Enum("MechanismType", kinds))
    peers.add_module(
        "pipeline_dp.budget_accounting", BudgetAccountant=BudgetAccountant, MechanismSpec=MechanismSpec,
        MechanismSpecInternal=dataclasses.make_dataclass("MechanismSpecInternal", ["sensitivity", "weight", "mechanism_spec"]))


def jax_privacy():
    """jax_privacy.execution_plan.BandMFConfig of one band, and dp_accounting."""
    peer = peers.dp_accounting()
    if _found("jax_privacy", "jax"):
        KIND["jax_privacy"] = "installed"
        return
    KIND["jax_privacy"] = "stand-in"

    class BandMFConfig:
        @classmethod
        def default(cls, num_bands, iterations, expected_participations):
            config = cls()
            config.rate, config.iterations = num_bands * expected_participations / iterations, iterations
            return config

        def calibrate(self, *, epsilon, delta, tol=None, accountant_fn):
            low, high = 0.0, 64.0
            while high - low > 1e-6:
                middle = (low + high) / 2
                event = peer.PoissonSampledDpEvent(self.rate, peer.GaussianDpEvent(middle))
                spent = accountant_fn(peer.NeighboringRelation.ADD_OR_REMOVE_ONE).compose(event, self.iterations).get_epsilon(delta)
                low, high = (low, middle) if spent <= epsilon else (middle, high)
            return types.SimpleNamespace(noise_multiplier=high)

    peers.add_module("jax_privacy", path="")
    peers.add_module("jax_privacy.execution_plan", BandMFConfig=BandMFConfig)


def tensorflow_privacy():
    """tensorflow_privacy.compute_dp_sgd_privacy_statement."""
    KIND["tensorflow_privacy"] = "installed" if _found("tensorflow_privacy", "tensorflow") else "stand-in"
    if KIND["tensorflow_privacy"] == "stand-in":
        peers.add_module("tensorflow_privacy", compute_dp_sgd_privacy_statement=lambda **run: f"theirs, of {len(run)} arguments")


def _save(state, path):
    with open(path, "wb") as file:
        pickle.dump(state, file)


def _load(path):
    with open(path, "rb") as file:
        return pickle.load(file)


def torch():
    """torch and opacus."""
    peers.opacus()
    KIND["torch and opacus"] = peers.KIND["opacus"]
    if KIND["torch and opacus"].startswith("installed"):
        return
    peers.add_module("torch", from_numpy=_tensor, save=_save, load=_load, no_grad=contextlib.nullcontext)
    peers.add_module("torch.nn", Linear=_Linear)
    peers.add_module("torch.nn.functional", cross_entropy=_cross_entropy)
    peers.add_module("torch.optim", SGD=lambda parameters, lr: types.SimpleNamespace(lr=lr))
    peers.add_module("torch.utils")
    peers.add_module("torch.utils.data", TensorDataset=lambda *parts: parts, DataLoader=_DataLoader)
    sys.modules["opacus"].PrivacyEngine = _PrivacyEngine


# JAX


class _Traced:
    """What vmap of grad sees: −log_softmax(pictures @ weights)[labels], and nothing else."""

    def __init__(self, kind, pictures, weights=None, labels=None):
        self.kind, self.pictures, self.weights, self.labels = kind, pictures, weights, labels

    def _next(self, before, kind, weights=None, labels=None):
        if self.kind != before:
            raise NotImplementedError(f"{kind} of {self.kind}")
        return _Traced(kind, self.pictures, self.weights if weights is None else weights, labels if self.labels is None else self.labels)

    def __matmul__(self, weights):
        return self._next("pictures", "product", weights)

    def __getitem__(self, labels):
        return self._next("logarithms", "chosen", None, labels)

    def __neg__(self):
        return self._next("chosen", "loss")


def _vmap(gradient, in_axes):
    if in_axes != (None, 0, 0):
        raise NotImplementedError(f"in_axes {in_axes}")

    def mapped(weights, pictures, labels):
        loss = gradient.of(weights, _Traced("pictures", pictures), labels)
        if loss.kind != "loss":
            raise NotImplementedError(loss.kind)
        return _gradients(loss.pictures, loss.weights, loss.labels)

    return mapped


def jax():
    """jax, jax.numpy, jax.nn, jax.random."""
    if _found("jax"):
        KIND["jax"] = "installed"
        return
    KIND["jax"] = "stand-in"
    peers.add_module("jax", jit=lambda f: f, grad=lambda f: types.SimpleNamespace(of=f), vmap=_vmap)
    sys.modules["jax.numpy"] = sys.modules["jax"].numpy = np
    peers.add_module("jax.nn", log_softmax=lambda product: product._next("product", "logarithms"))
    peers.add_module(
        "jax.random",
        PRNGKey=lambda seed: (seed,),
        fold_in=lambda key, data: (*key, data),
        split=lambda key, count=2: [(*key, i) for i in range(count)],
        bernoulli=lambda key, p, shape: np.random.default_rng([0, *key]).random(shape) < p,
        normal=lambda key, shape: np.random.default_rng([1, *key]).normal(size=shape),
    )


# TensorFlow


class _Variable:
    def __init__(self, value):
        self.value = np.array(value)

    def numpy(self):
        return self.value

    def assign_sub(self, step):
        self.value = self.value - step


class _Tape:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def jacobian(self, losses, variable):
        pictures, factor, labels = losses
        if factor is not variable:
            raise NotImplementedError("the losses are of another variable")
        return _gradients(pictures, variable.value, labels)


class _Model:
    def __call__(self, x):
        return self.call(x)

    def compile(self): ...

    def fit(self, batches, steps_per_epoch, epochs, verbose, callbacks):
        self.stop_training = False
        for callback in callbacks:
            callback.set_model(self)
            callback.on_train_begin()
        for epoch in range(epochs):
            for batch in range(steps_per_epoch):
                for callback in callbacks:
                    callback.on_train_batch_begin(batch)
                logs = self.train_step(next(batches))
                for callback in callbacks:
                    callback.on_train_batch_end(batch, logs)
                if self.stop_training:
                    break
            logs = {}
            for callback in callbacks:
                callback.on_epoch_end(epoch, logs)
            if self.stop_training:
                break


def _from_generator(generator, output_signature):
    for batch in generator():
        for part, (shape, dtype) in zip(batch, output_signature):
            if part.dtype != dtype or len(part.shape) != len(shape) or part.shape[1:] != tuple(shape[1:]):
                raise TypeError(f"{part.dtype} {part.shape} is not {dtype} {shape}")
        yield batch


def tensorflow():
    """tensorflow, and keras.callbacks."""
    if _found("tensorflow"):
        KIND["tensorflow"] = "installed"
        return
    KIND["tensorflow"] = "stand-in"
    base = peers.keras().Callback

    class LambdaCallback(base):
        def __init__(self, on_epoch_end):
            super().__init__()
            self.on_epoch_end = on_epoch_end

    peers.add_module(
        "tensorflow",
        Variable=_Variable, GradientTape=_Tape, float32=np.float32, int32=np.int32,
        TensorSpec=lambda shape, dtype: (shape, dtype),
        zeros=np.zeros, minimum=np.minimum, maximum=np.maximum, tensordot=np.tensordot, shape=np.shape,
        norm=lambda tensor, axis: np.sqrt((tensor**2).sum(axis=tuple(axis))),
        matmul=lambda pictures, variable: (pictures, variable),
        nn=types.SimpleNamespace(
            sparse_softmax_cross_entropy_with_logits=lambda labels, logits: (*logits, labels)),
        random=types.SimpleNamespace(normal=lambda shape, stddev: np.random.default_rng().normal(0, stddev, shape)),
        data=types.SimpleNamespace(Dataset=types.SimpleNamespace(from_generator=_from_generator)),
        keras=types.SimpleNamespace(Model=_Model, callbacks=types.SimpleNamespace(LambdaCallback=LambdaCallback)),
    )
