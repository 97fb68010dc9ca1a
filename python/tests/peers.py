"""The interfaces of other libraries that the adapters are tested against.

A library that is installed is used, or one in the folder that the environment variable
DPACCOUNTANT_PEERS names. Opacus needs torch; of dp_accounting the modules with its interfaces
are loaded without the rest, which needs scipy. Else there are stand-ins, which do what the
documentation of the libraries says. KIND has which it was, and why it was a stand-in.
"""

import abc
import collections
import copy
import importlib
import importlib.util
import os
import random
import sys
import types
import warnings

KIND = {}


def add_module(name, path=None, **contents):
    module = types.ModuleType(name)
    if path is not None:
        module.__path__ = [path]
    module.__dict__.update(contents)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], last, module)
    return module


def opacus():
    """The module opacus.accountants."""
    if "opacus" not in KIND:
        folder = os.environ.get("DPACCOUNTANT_PEERS")
        sys.path += [folder] if folder else []
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                package = importlib.import_module("opacus")
            KIND["opacus"] = "installed, " + package.__version__
        except ImportError as error:
            KIND["opacus"] = f"STAND-IN ({error})"
            for name in [name for name in sys.modules if name.split(".")[0] == "opacus"]:
                del sys.modules[name]
            add_module("opacus", PrivacyEngine=_PrivacyEngine)
            accountants = add_module("opacus.accountants", **_opacus_stand_in())
            for name in ("opacus.accountants.utils", "opacus.privacy_engine"):
                add_module(name, create_accountant=accountants.create_accountant)
        finally:
            if folder:
                sys.path.remove(folder)
    return sys.modules["opacus.accountants"]


class _Loader:
    """Batches of indices: those of a shuffle, or Poisson samples."""

    def __init__(self, records, batch, rate=None):
        order = type("RandomSampler", (), {})()
        self.dataset = range(records)
        self.batch, self.steps = batch, -(-records // batch)
        self.batch_sampler = (
            types.SimpleNamespace(sampler=order)
            if rate is None
            else types.SimpleNamespace(sample_rate=rate, num_samples=records)
        )
        self.rate = rate

    def __len__(self):
        return self.steps

    def __iter__(self):
        order = random.sample(self.dataset, len(self.dataset))
        for i in range(self.steps):
            if self.rate is None:
                yield order[i * self.batch : (i + 1) * self.batch]
            else:
                yield [record for record in self.dataset if random.random() < self.rate]


class _DPOptimizer:
    step_hook = None

    def __init__(self, noise_multiplier):
        self.noise_multiplier, self.accumulated_iterations, self.grad_samples = noise_multiplier, 1, []

    def attach_step_hook(self, hook):
        self.step_hook = hook

    def step(self):
        self.step_hook(self)


class _PrivacyEngine:
    def __init__(self, *, accountant="rdp"):
        self.accountant = accountant

    def make_private(self, *, module, optimizer, data_loader, noise_multiplier, max_grad_norm, poisson_sampling=True):
        if poisson_sampling:
            data_loader = _Loader(len(data_loader.dataset), data_loader.batch, 1 / len(data_loader))
        private = _DPOptimizer(noise_multiplier)
        private.attach_step_hook(self.accountant.get_optimizer_hook_fn(sample_rate=1 / len(data_loader)))
        return module, private, data_loader

    def get_epsilon(self, delta):
        return self.accountant.get_epsilon(delta)


def unprivate(records=1000, batch=50):
    """What make_private takes: a module, its optimizer, a loader that shuffles, a norm."""
    if not KIND["opacus"].startswith("installed"):
        return {"module": None, "optimizer": None, "data_loader": _Loader(records, batch), "max_grad_norm": 1.0}
    import torch

    module = torch.nn.Linear(5, 2)
    data = torch.utils.data.TensorDataset(torch.randn(records, 5), torch.randint(0, 2, (records,)))
    return {
        "module": module,
        "optimizer": torch.optim.SGD(module.parameters(), lr=0.1),
        "data_loader": torch.utils.data.DataLoader(data, batch_size=batch, shuffle=True),
        "max_grad_norm": 1.0,
    }


def train(module, optimizer, loader):
    """One pass over the loader."""
    for batch in loader:
        if module is None:
            optimizer.grad_samples = [batch]
        else:
            import torch

            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(module(batch[0]), batch[1]).backward()
        optimizer.step()


def _opacus_stand_in():
    known = {}

    class IAccountant(abc.ABC):
        @abc.abstractmethod
        def __init__(self):
            self.history = []

        @abc.abstractmethod
        def step(self, *, noise_multiplier, sample_rate): ...

        @abc.abstractmethod
        def get_epsilon(self, delta, *args, **kwargs): ...

        @abc.abstractmethod
        def __len__(self): ...

        @classmethod
        @abc.abstractmethod
        def mechanism(cls): ...

        def get_optimizer_hook_fn(self, sample_rate):
            return lambda optimizer: self.step(
                noise_multiplier=optimizer.noise_multiplier,
                sample_rate=sample_rate * optimizer.accumulated_iterations,
            )

        def state_dict(self, destination=None):
            into = collections.OrderedDict() if destination is None else destination
            into.update(history=copy.deepcopy(self.history), mechanism=self.mechanism())
            return into

        def load_state_dict(self, state_dict):
            if not state_dict or state_dict.get("mechanism") != self.mechanism() or "history" not in state_dict:
                raise ValueError("the state is not of this accountant")
            self.history = state_dict["history"]

    def register_accountant(mechanism, accountant, force=False):
        if mechanism in known and not force:
            raise ValueError(mechanism)
        known[mechanism] = accountant

    def create_accountant(mechanism):
        if mechanism not in known:
            raise ValueError(mechanism)
        return known[mechanism]()

    return dict(
        IAccountant=IAccountant, register_accountant=register_accountant, create_accountant=create_accountant
    )


def dp_accounting():
    """dp_accounting: events, NeighboringRelation, PrivacyAccountant, UnsupportedEventError."""
    if "dp_accounting" in KIND:
        return sys.modules["dp_accounting"]
    if importlib.util.find_spec("dp_accounting") is not None:
        KIND["dp_accounting"] = "installed"
        return importlib.import_module("dp_accounting")
    path = os.path.join(os.environ.get("DPACCOUNTANT_PEERS", ""), "dp_accounting")
    if os.path.isdir(path) and importlib.util.find_spec("attr") is not None:
        KIND["dp_accounting"] = "source"
        package = add_module("dp_accounting", path=path)
        for name in ("dp_event", "dp_event_builder", "privacy_accountant"):
            module = importlib.import_module("dp_accounting." + name)
            package.__dict__.update({k: v for k, v in vars(module).items() if isinstance(v, type)})
        return package
    KIND["dp_accounting"] = "stand-in"
    return add_module("dp_accounting", **_dp_accounting_stand_in())


def _dp_accounting_stand_in():
    import dataclasses
    import enum

    class NeighboringRelation(enum.Enum):
        ADD_OR_REMOVE_ONE = 1
        REPLACE_ONE = 2
        REPLACE_SPECIAL = 3

    class DpEvent:
        def to_named_tuple(self):
            def named(value):
                if isinstance(value, DpEvent):
                    return value.to_named_tuple()
                return [named(v) for v in value] if isinstance(value, list) else value

            fields = {f.name: named(getattr(self, f.name)) for f in dataclasses.fields(self)}
            names = ["module_name", "class_name", *fields]
            return collections.namedtuple("Wrapper", names)("dp_accounting.dp_event", type(self).__name__, *fields.values())

    def event(name, *fields):
        return dataclasses.make_dataclass(name, fields, bases=(DpEvent,), frozen=True)

    events = {
        name: event(name, *fields)
        for name, fields in {
            "NoOpDpEvent": (),
            "GaussianDpEvent": ("noise_multiplier",),
            "ZCDpEvent": ("rho", "xi"),
            "PoissonSampledDpEvent": ("sampling_probability", "event"),
            "SelfComposedDpEvent": ("event", "count"),
            "SingleEpochTreeAggregationDpEvent": ("noise_multiplier", "step_counts"),
            "ComposedDpEvent": ("events",),
        }.items()
    }

    class UnsupportedEventError(Exception):
        pass

    class PrivacyAccountant(abc.ABC):
        CompositionErrorDetails = collections.namedtuple("CompositionErrorDetails", "invalid_event error_message")

        def __init__(self, neighboring_relation):
            self.neighboring_relation = neighboring_relation
            self._events = []

        def supports(self, event):
            return self._maybe_compose(event, 0, False) is None

        @abc.abstractmethod
        def _maybe_compose(self, event, count, do_compose): ...

        def compose(self, event, count=1):
            if not isinstance(event, DpEvent):
                raise TypeError(event)
            error = self._maybe_compose(event, count, False)
            if error:
                raise UnsupportedEventError(error.error_message)
            self._events.append(event if count == 1 else events["SelfComposedDpEvent"](event, count))
            self._maybe_compose(event, count, True)
            return self

        @property
        def ledger(self):
            return events["ComposedDpEvent"](self._events) if self._events else events["NoOpDpEvent"]()

    return dict(
        events,
        NeighboringRelation=NeighboringRelation,
        DpEvent=DpEvent,
        PrivacyAccountant=PrivacyAccountant,
        UnsupportedEventError=UnsupportedEventError,
    )


def keras():
    """keras.callbacks.Callback, and a fit that calls it as Keras does."""
    if "keras" not in KIND:
        KIND["keras"] = "stand-in"

        class Callback:
            def __init__(self):
                self.model = None

            def set_model(self, model):
                self.model = model

            def on_train_begin(self, logs=None): ...

            def on_train_batch_begin(self, batch, logs=None): ...

            def on_train_batch_end(self, batch, logs=None): ...

            def on_epoch_end(self, epoch, logs=None): ...

        add_module("keras", path="")
        add_module("keras.callbacks", Callback=Callback)
    return sys.modules["keras.callbacks"]


def keras_fit(callback, epochs, batches, at_once=1, optimizer=None):
    """Run as keras.Model.fit does, and return the logs of each epoch and the steps that ran."""
    model = types.SimpleNamespace(stop_training=False, steps_per_execution=at_once, optimizer=optimizer)
    callback.set_model(model)
    callback.on_train_begin()
    logs_of_epochs, ran = [], 0
    for epoch in range(epochs):
        for batch in range(0, batches, at_once):
            callback.on_train_batch_begin(batch)
            ran += at_once
            callback.on_train_batch_end(batch, {})
            if model.stop_training:
                break
        logs = {}
        callback.on_epoch_end(epoch, logs)
        logs_of_epochs.append(logs)
        if model.stop_training:
            break
    return logs_of_epochs, ran


def lightning():
    """lightning.pytorch.callbacks.Callback."""
    if "lightning" not in KIND:
        KIND["lightning"] = "stand-in"
        add_module("lightning", path="")
        add_module("lightning.pytorch", path="")
        add_module("lightning.pytorch.callbacks", Callback=type("Callback", (), {}))
