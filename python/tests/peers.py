"""The interfaces of other libraries that the adapters are tested against.

A library that is installed is used. Else, if the environment variable DPACCOUNTANT_PEERS
names a folder with the source of Opacus and dp_accounting (``opacus/accountants`` and
``dp_accounting``), the modules with their interfaces are loaded from there, without the
rest, which needs torch and scipy. Else there are stand-ins, which do what the documentation
of the libraries says. KIND tells which it was.
"""

import abc
import collections
import copy
import importlib
import importlib.util
import os
import sys
import types

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


def _source(*parts):
    folder = os.environ.get("DPACCOUNTANT_PEERS")
    path = os.path.join(folder, *parts) if folder else None
    return path if path and os.path.isdir(path) else None


def opacus():
    """opacus.accountants: IAccountant, register_accountant, create_accountant."""
    if "opacus" in KIND:
        return sys.modules["opacus.accountants"]
    if importlib.util.find_spec("opacus") is not None:
        KIND["opacus"] = "installed"
        return importlib.import_module("opacus.accountants")
    path = _source("opacus", "accountants")
    add_module("opacus", path="" if path is None else os.path.dirname(path))
    if path is None:
        KIND["opacus"] = "stand-in"
        return add_module("opacus.accountants", **_opacus_stand_in())
    KIND["opacus"] = "source"
    add_module("opacus.optimizers", DPOptimizer=object)
    accountants = add_module("opacus.accountants", path=path)
    base = importlib.import_module("opacus.accountants.accountant")
    accountants.IAccountant = base.IAccountant
    # Its own accountants need scipy; the registry only names them.
    for module, name in (("gdp", "GaussianAccountant"), ("prv", "PRVAccountant"), ("rdp", "RDPAccountant")):
        add_module("opacus.accountants." + module, **{name: object})
    registry = importlib.import_module("opacus.accountants.registry")
    accountants.register_accountant = registry.register_accountant
    accountants.create_accountant = registry.create_accountant
    accountants.utils = importlib.import_module("opacus.accountants.utils")
    return accountants


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
    path = _source("dp_accounting")
    if path is not None and importlib.util.find_spec("attr") is not None:
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

            def on_train_batch_begin(self, batch, logs=None): ...

            def on_train_batch_end(self, batch, logs=None): ...

            def on_epoch_end(self, epoch, logs=None): ...

        add_module("keras", path="")
        add_module("keras.callbacks", Callback=Callback)
    return sys.modules["keras.callbacks"]


def keras_fit(callback, epochs, batches, at_once=1):
    """Run as keras.Model.fit does, and return the logs of each epoch and the steps that ran."""
    model = types.SimpleNamespace(stop_training=False, steps_per_execution=at_once)
    callback.set_model(model)
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
