"""Tests of the adapters against the interfaces of the libraries that they stand in for."""

import ast
import copy
import importlib
import inspect
import json
import math
import os
import pickle
import random
import subprocess
import sys
import types
import unittest
import warnings
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), HERE]

import peers
from dpaccountant import AccountantError, BudgetError, Gaussian, InfeasibleError, InputError, Plan, Sampler, callbacks, dpsgd, events, flower, rows, shared
from dpaccountant._batches import PoissonBatches

try:
    import pandas
except ImportError:
    pandas = None


def run(sigma, rate, count):
    return {
        "neighbors": "add-remove",
        "steps": [{
            "mechanism": {"gaussian": {"noise-multiplier": sigma}},
            "sampling": {"poisson": {"rate": rate}},
            "count": count,
        }],
    }


def upper(sigma, rate, count, delta=1e-5):
    return shared().epsilon(run(sigma, rate, count), delta).upper


STEP = {
    "class_name": "PoissonSampledDpEvent",
    "sampling_probability": 0.01,
    "event": {"class_name": "GaussianDpEvent", "noise_multiplier": 1.1},
}


# A loader of Poisson samples: 1000 records at rate 1/20.
LOADER = types.SimpleNamespace(batch_sampler=types.SimpleNamespace(sample_rate=0.05, num_samples=1000))
SHUFFLED = types.SimpleNamespace(batch_sampler=types.SimpleNamespace(sampler=type("RandomSampler", (), {})()))
TREE = {"class_name": "SingleEpochTreeAggregationDpEvent", "noise_multiplier": 10.0, "step_counts": 100}


class Imports(unittest.TestCase):
    def test_no_framework_is_imported(self):
        """The modules for everyone import nothing outside of the standard library."""
        program = (
            "import sys; sys.path.insert(0, sys.argv[1])\n"
            "import dpaccountant.callbacks, dpaccountant.dpsgd, dpaccountant.events\n"
            "print([m for m in ('torch', 'keras', 'tensorflow', 'numpy', 'pandas', 'opacus', 'dp_accounting')\n"
            "       if m in sys.modules])"
        )
        out = subprocess.check_output([sys.executable, "-B", "-c", program, os.path.join(HERE, "..")])
        self.assertEqual(out.strip(), b"[]")

    def test_syntax_is_of_python_3_8(self):
        folder = os.path.join(HERE, "..", "dpaccountant")
        for name in os.listdir(folder):
            if name.endswith(".py"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    ast.parse(file.read(), name, feature_version=(3, 8))


def old_state_dict(self, destination=None):
    """As in Opacus 1.5."""
    return dict(destination or {}, history=copy.deepcopy(self.history), mechanism=type(self).mechanism)


def old_load_state_dict(self, state_dict):
    if type(self).mechanism != state_dict["mechanism"]:
        raise ValueError(state_dict["mechanism"])
    self.history = state_dict["history"]


class Opacus(unittest.TestCase):
    def setUp(self):
        self.opacus = peers.opacus()
        warnings.simplefilter("ignore")  # those of Opacus are none of ours
        self.module = importlib.import_module("dpaccountant.opacus")
        self.kind = self.module.CertifiedAccountant
        self.accountant = self.opacus.create_accountant("certified")

    def private(self, engine=None, **options):
        """An engine of ours, if none is given, with what it makes of a loader of 20 shuffled batches of 50."""
        engine = engine or self.module.PrivacyEngine()
        return (engine, *engine.make_private(noise_multiplier=1.0, **{**peers.unprivate(), **options}))

    def test_is_one_of_opacus(self):
        self.assertIsInstance(self.accountant, self.kind)
        self.assertIsInstance(self.accountant, self.opacus.IAccountant)
        self.assertEqual(self.accountant.mechanism(), "certified")
        with self.assertRaises(ValueError):
            self.opacus.create_accountant("unheard of")

    def test_steps(self):
        engine, module, optimizer, loader = self.private()
        self.assertEqual(engine.get_epsilon(1e-5), 0)
        for epoch in (1, 2):
            peers.train(module, optimizer, loader)
            self.assertEqual(engine.accountant.history, [(1.0, 1 / 20, 20 * epoch)])
            self.assertEqual(engine.get_epsilon(delta=1e-5), upper(1.0, 1 / 20, 20 * epoch))
        found = engine.accountant.interval(1e-5)
        self.assertLess(0, found.lower)
        self.assertEqual(found.upper, engine.accountant.get_epsilon(1e-5, alphas=[2, 3]))

    def test_schedule(self):
        """A noise scheduler is accounted for as what ran."""
        engine, module, optimizer, loader = self.private()
        for noise in (1.0, 0.5):
            optimizer.noise_multiplier = noise
            peers.train(module, optimizer, loader)
        self.assertEqual(engine.accountant.history, [(1.0, 1 / 20, 20), (0.5, 1 / 20, 20)])

    def test_shuffled_loader(self):
        """What Poisson samples cost is not said of another loader: 1.98 here, where a shuffle has at least 4."""
        for engine in (None, self.other()):
            with self.assertRaisesRegex(AccountantError, "loader"):
                engine, module, optimizer, loader = self.private(engine, poisson_sampling=False)
                peers.train(module, optimizer, loader)
        with self.assertRaisesRegex(AccountantError, "RandomSampler.*'shuffle'"):
            engine.accountant.watch(loader)

    def other(self):
        """The engine of Opacus with our accountant."""
        engine = sys.modules["opacus"].PrivacyEngine()
        engine.accountant = self.kind()
        return engine

    def test_engine_of_opacus(self):
        engine, module, optimizer, loader = self.private(self.other())
        with self.assertRaisesRegex(AccountantError, "has not seen the loader"):
            peers.train(module, optimizer, loader)
        engine.accountant.watch(loader)
        peers.train(module, optimizer, loader)
        self.assertEqual(engine.get_epsilon(1e-5), upper(1.0, 1 / 20, 20))

    def test_another_loader(self):
        """Batches of 50 each, twenty times: no Poisson sampling draws these."""
        shuffled = peers.unprivate()["data_loader"]
        engine, module, optimizer, _ = self.private(data_loader=shuffled)
        for _ in range(2):
            with self.assertRaisesRegex(AccountantError, "the last of them 50, are not those of Poisson samples of 1000"):
                peers.train(module, optimizer, shuffled)
                engine.get_epsilon(1e-5)
        other = self.kind()
        other.load_state_dict(json.loads(json.dumps(engine.accountant.state_dict())))
        for accountant in (engine.accountant, other):
            with self.assertRaisesRegex(AccountantError, "Poisson"):
                accountant.get_epsilon(1e-5)

    def test_steps_that_are_none(self):
        """Several batches in one step; clipping that adapts to the exact size of a batch."""
        for wrong, name in (({"accumulated_iterations": 2}, "several"), ({"unclipped_num_std": 1.0}, "clipping norm")):
            accountant = self.kind()
            hook = accountant.get_optimizer_hook_fn(sample_rate=0.05)
            accountant.watch(LOADER)
            with self.assertRaisesRegex(AccountantError, name):
                hook(types.SimpleNamespace(**{"noise_multiplier": 1.0, "accumulated_iterations": 1, **wrong}))
            with self.assertRaisesRegex(AccountantError, name):
                accountant.get_epsilon(1e-5)

    def test_assigned_too_late(self):
        """An accountant that counts nothing does not say that nothing was spent."""
        engine = sys.modules["opacus"].PrivacyEngine()
        engine.accountant = first = self.kind()
        _, module, optimizer, loader = self.private(engine)
        first.watch(loader)
        engine.accountant = self.kind()
        peers.train(module, optimizer, loader)
        with self.assertRaisesRegex(AccountantError, "before make_private"):
            engine.get_epsilon(1e-5)
        with self.assertRaisesRegex(AccountantError, "before make_private"):
            engine.accountant.watch(loader)
        engine = self.private()[0]
        with self.assertRaisesRegex(AccountantError, "before make_private"):
            engine.accountant = self.kind()

    def test_make_private_with_epsilon(self):
        budget = dict(target_epsilon=2.0, target_delta=1e-5, epochs=2)
        engine = self.module.PrivacyEngine()
        module, optimizer, loader = engine.make_private_with_epsilon(**budget, **peers.unprivate())
        for _ in range(2):
            peers.train(module, optimizer, loader)
        self.assertTrue(1.9999 < engine.get_epsilon(1e-5) <= 2)
        # What was counted before belongs to the budget.
        with self.assertRaises(InfeasibleError):
            engine.make_private_with_epsilon(**dict(budget, target_epsilon=1.9), **peers.unprivate())
        optimizer = engine.make_private_with_epsilon(**dict(budget, target_epsilon=3.0), **peers.unprivate())[1]
        engine.accountant.history.append((optimizer.noise_multiplier, 1 / 20, 40))
        self.assertTrue(2.9999 < engine.get_epsilon(1e-5) <= 3)

    def test_names_of_opacus(self):
        """PrivacyEngine(accountant="certified") and its own search for the noise, with a registry or without."""
        if peers.KIND["opacus"].startswith("STAND-IN"):
            self.skipTest(f"OPACUS IS A {peers.KIND['opacus']}: its search for the noise is not run")
        engine = sys.modules["opacus"].PrivacyEngine(accountant="certified")
        module, optimizer, loader = engine.make_private_with_epsilon(
            target_epsilon=2, target_delta=1e-5, epochs=2, **peers.unprivate())
        engine.accountant.watch(loader)
        for _ in range(2):
            peers.train(module, optimizer, loader)
        self.assertTrue(1.98 < engine.get_epsilon(1e-5) <= 2)

    def test_adaptive_clipping(self):
        if peers.KIND["opacus"].startswith("STAND-IN"):
            self.skipTest(f"OPACUS IS A {peers.KIND['opacus']}: its optimizer with adaptive clipping is not run")
        from opacus.optimizers.adaclipoptimizer import AdaClipDPOptimizer

        engine, module, optimizer, loader = self.private()
        adaptive = AdaClipDPOptimizer(
            optimizer.original_optimizer, noise_multiplier=1.0, target_unclipped_quantile=0.5, clipbound_learning_rate=0.2,
            max_clipbound=10, min_clipbound=0.1, unclipped_num_std=0.6, max_grad_norm=1.0, expected_batch_size=50)
        adaptive.attach_step_hook(optimizer.step_hook)
        with self.assertRaisesRegex(AccountantError, "clipping norm"):
            peers.train(module, adaptive, loader)

    def test_memory_manager(self):
        """Batches that are cut for a small memory are one step each, and their parts are no evidence."""
        if peers.KIND["opacus"].startswith("STAND-IN"):
            self.skipTest(f"OPACUS IS A {peers.KIND['opacus']}: its BatchMemoryManager is not run")
        from opacus.utils.batch_memory_manager import BatchMemoryManager

        engine, module, optimizer, loader = self.private()
        with BatchMemoryManager(data_loader=loader, max_physical_batch_size=20, optimizer=optimizer) as parts:
            engine.accountant.watch(parts)
            for _ in range(3):
                peers.train(module, optimizer, parts)
        self.assertEqual(engine.accountant.history, [(1.0, 1 / 20, 60)])
        self.assertEqual(engine.get_epsilon(1e-5), upper(1.0, 1 / 20, 60))

    def test_edges(self):
        with self.assertRaisesRegex(AccountantError, "counted nothing"):
            self.accountant.get_epsilon(1e-5)
        self.accountant.step(noise_multiplier=0, sample_rate=0)
        self.assertEqual(self.accountant.get_epsilon(1e-5), 0)
        self.accountant.step(noise_multiplier=0, sample_rate=0.1)
        self.assertEqual(self.accountant.get_epsilon(1e-5), math.inf)
        self.accountant.history = [(1.0, 1.5, 3)]
        with self.assertRaises(InputError):
            self.accountant.get_epsilon(1e-5)

    def test_state(self):
        self.accountant.step(noise_multiplier=1.1, sample_rate=0.01)
        # What a checkpoint in JSON makes of tuples.
        state = json.loads(json.dumps(self.accountant.state_dict()))
        other = self.kind()
        other.load_state_dict(state)
        other.step(noise_multiplier=1.1, sample_rate=0.01)
        self.assertEqual(other.history, [(1.1, 0.01, 2)])
        self.assertEqual(state["history"], [[1.1, 0.01, 1]])
        for wrong in ({}, {"history": [], "mechanism": "rdp"}, {"history": [1], "mechanism": "certified"}):
            with self.assertRaises((ValueError, InputError)):
                other.load_state_dict(wrong)
        given = self.kind(accountant=shared())
        given.step(noise_multiplier=1.1, sample_rate=0.01)
        for same in (copy.deepcopy(given), pickle.loads(pickle.dumps(given))):
            self.assertEqual(same.get_epsilon(1e-5), upper(1.1, 0.01, 1))

    def test_opacus_without_a_registry(self):
        """Opacus 1.5 and earlier: the name is found all the same."""
        register = self.opacus.__dict__.pop("register_accountant", None)
        places = (self.opacus, self.opacus.utils, sys.modules["opacus.privacy_engine"])
        created = [place.create_accountant for place in places]
        try:
            importlib.reload(self.module)
            for place in places:
                accountant = place.create_accountant("certified")
                accountant.step(noise_multiplier=1.1, sample_rate=0.01)
                self.assertEqual(accountant.get_epsilon(1e-5), upper(1.1, 0.01, 1))
            # There, a state has the method in the place of its name, which not every checkpoint can hold.
            with mock.patch.object(self.opacus.IAccountant, "state_dict", old_state_dict), mock.patch.object(
                self.opacus.IAccountant, "load_state_dict", old_load_state_dict
            ):
                state = json.loads(json.dumps(accountant.state_dict()))
                other = type(accountant)()
                other.load_state_dict(state)
                self.assertEqual(other.history, [(1.1, 0.01, 1)])
                with self.assertRaises(ValueError):
                    other.load_state_dict(dict(state, mechanism="rdp"))
        finally:
            for place, create in zip(places, created):
                place.create_accountant = create
            if register is not None:
                self.opacus.register_accountant = register
            importlib.reload(self.module)


class Events(unittest.TestCase):
    def test_compose(self):
        accountant = events.PrivacyAccountant()
        self.assertEqual(accountant.get_epsilon(1e-5), 0)
        for _ in range(3):
            self.assertIs(accountant.compose(STEP, 100), accountant)
        self.assertEqual(accountant.ledger, {"class_name": "SelfComposedDpEvent", "event": STEP, "count": 300})
        self.assertEqual(accountant.get_epsilon(1e-5), upper(1.1, 0.01, 300))
        self.assertEqual(accountant.get_delta(0.5), shared().delta(run(1.1, 0.01, 300), 0.5).upper)
        before = accountant.interval(1e-5)
        accountant.compose({"class_name": "LaplaceDpEvent", "noise_multiplier": 20})
        self.assertGreater(accountant.interval(1e-5).lower, before.upper)

    def test_refusals(self):
        accountant = events.PrivacyAccountant("substitute")
        zc = {"class_name": "ZCDpEvent", "rho": 1, "xi": 0}
        self.assertFalse(accountant.supports(zc))
        self.assertTrue(accountant.supports(STEP))
        with self.assertRaisesRegex(events.UnsupportedEventError, "ZCDpEvent"):
            accountant.compose(zc)
        for wrong, count in (({}, 1), (3, 1), (STEP, 0), (STEP, 1.5), (STEP, True)):
            with self.assertRaises((TypeError, ValueError)):
                accountant.compose(wrong, count)
        self.assertEqual(accountant.ledger, {"class_name": "NoOpDpEvent"})

    def test_relations(self):
        """Each event is under a relation under which it has a price, as in dp_accounting."""
        response = {"class_name": "RandomizedResponseDpEvent", "noise_parameter": 0.5, "num_buckets": 4}
        fixed = {"class_name": "SampledWithoutReplacementDpEvent", "source_dataset_size": 100, "sample_size": 10, "event": STEP["event"]}
        for event, relations in ((TREE, ["zero-out"]), (response, ["substitute", "zero-out"]), (fixed, ["substitute", "zero-out"])):
            for relation in ("add-remove", "substitute", "zero-out"):
                accountant = events.PrivacyAccountant(relation)
                if relation in relations:
                    self.assertGreater(accountant.compose(event).get_epsilon(1e-5), 0)
                    continue
                self.assertFalse(accountant.supports(event))
                with self.assertRaisesRegex(events.UnsupportedEventError, f"not covered under {relation}; must be under {relations[0]}"):
                    accountant.compose({"class_name": "SelfComposedDpEvent", "event": event, "count": 2})

    def test_edges(self):
        """What costs nothing or everything, which a search for parameters asks."""
        nothing = dict(STEP, sampling_probability=0)
        empty = {"class_name": "ComposedDpEvent", "events": []}
        self.assertEqual(events.PrivacyAccountant().compose(nothing, 5).compose(empty).get_epsilon(1e-5), 0)
        bare = dict(STEP, event={"class_name": "GaussianDpEvent", "noise_multiplier": 0})
        self.assertEqual(events.PrivacyAccountant().compose(bare).get_epsilon(1e-5), math.inf)


class DpAccounting(unittest.TestCase):
    def setUp(self):
        self.peer = peers.dp_accounting()
        from dpaccountant.dp_accounting import CertifiedAccountant

        self.kind = CertifiedAccountant

    def step(self, sigma=1.1, rate=0.01):
        return self.peer.PoissonSampledDpEvent(rate, self.peer.GaussianDpEvent(sigma))

    def test_compose(self):
        accountant = self.kind()
        self.assertIsInstance(accountant, self.peer.PrivacyAccountant)
        self.assertEqual(accountant.get_epsilon(1e-5), 0)
        self.assertIs(accountant.compose(self.step(), 100), accountant)
        accountant.compose(self.peer.ComposedDpEvent([self.peer.SelfComposedDpEvent(self.step(), 200)]))
        self.assertEqual(accountant.get_epsilon(1e-5), upper(1.1, 0.01, 300))
        self.assertLess(accountant.get_delta(1), 1e-5)
        self.assertLessEqual(accountant.interval(1e-5).lower, accountant.get_epsilon(1e-5))

    def test_relation(self):
        replace = self.kind(self.peer.NeighboringRelation.REPLACE_ONE).compose(self.step(rate=0.1), 10)
        self.assertGreater(replace.get_epsilon(1e-5), upper(1.1, 0.1, 10))
        special = self.kind(self.peer.NeighboringRelation.REPLACE_SPECIAL).compose(self.step())
        self.assertEqual(special.plan()["neighbors"], "zero-out")
        self.assertTrue(0 < special.get_epsilon(1e-5) < 2)

    def test_refusals(self):
        accountant = self.kind()
        zc = self.peer.ZCDpEvent(1.0, 0.0)
        self.assertFalse(accountant.supports(zc))
        with self.assertRaisesRegex(self.peer.UnsupportedEventError, "ZCDpEvent"):
            accountant.compose(zc)
        with self.assertRaises(TypeError):
            accountant.compose(3)
        self.assertEqual(accountant.get_epsilon(1e-5), 0)

    def test_tree(self):
        """As in RdpAccountant, a tree is under REPLACE_SPECIAL alone; the default is refused."""
        tree = self.peer.SelfComposedDpEvent(self.peer.SingleEpochTreeAggregationDpEvent(10.0, 100), 2)
        for accountant in (self.kind(), self.kind(self.peer.NeighboringRelation.REPLACE_ONE)):
            self.assertFalse(accountant.supports(tree))
            with self.assertRaisesRegex(self.peer.UnsupportedEventError, "must be under zero-out"):
                accountant.compose(tree)
        special = self.kind(self.peer.NeighboringRelation.REPLACE_SPECIAL).compose(tree)
        self.assertGreater(special.get_epsilon(1e-5), 0)

    def test_events_without_it(self):
        """The accountant for events takes those objects, too."""
        accountant = events.PrivacyAccountant(self.peer.NeighboringRelation.ADD_OR_REMOVE_ONE)
        accountant.compose(self.step(), 2).compose(self.step().to_named_tuple())
        self.assertEqual(accountant.get_epsilon(1e-5), upper(1.1, 0.01, 3))


class DPSGD(unittest.TestCase):
    def test_privacy(self):
        # ceil(15 · 60000 / 256) steps.
        epsilon, order = dpsgd.compute_dp_sgd_privacy(60000, 256, 1.1, 15, 1e-5)
        self.assertEqual((epsilon, order), (upper(1.1, 256 / 60000, 3516), None))

    def test_statement(self):
        plain = dpsgd.compute_dp_sgd_privacy_statement(60000, 256, 15, 1.1, 1e-5, used_microbatching=False)
        half = dpsgd.compute_dp_sgd_privacy_statement(60000, 256, 15, 2.2, 1e-5)
        self.assertTrue(half.startswith(plain))
        self.assertIn("2.2 is counted as 1.1", half)
        person = dpsgd.compute_dp_sgd_privacy_statement(60000, 256, 15, 1.1, 1e-5, False, 3)
        self.assertNotEqual(person, plain)

    def test_noise(self):
        sigma = dpsgd.compute_noise(60000, 256, 2, 15, 1e-5, 1e-5)
        self.assertLessEqual(upper(sigma, 256 / 60000, 3516), 2)
        self.assertGreater(upper(sigma * 0.999, 256 / 60000, 3516), 2)
        self.assertEqual(dpsgd.compute_noise(60000, 256, 2, 15, 1e-5, 7), 7)
        same = dpsgd.get_noise_multiplier(target_epsilon=2, target_delta=1e-5, sample_rate=256 / 60000, steps=3516)
        self.assertAlmostEqual(same, sigma, places=6)
        with self.assertRaises(ValueError):
            dpsgd.get_noise_multiplier(target_epsilon=2, target_delta=1e-5, sample_rate=0.01)

    def test_signatures(self):
        """The arguments are those of the libraries, in their order."""
        for function, names in (
            (dpsgd.compute_dp_sgd_privacy, "n batch_size noise_multiplier epochs delta"),
            (dpsgd.compute_noise, "n batch_size target_epsilon epochs delta noise_lbd"),
            (
                dpsgd.compute_dp_sgd_privacy_statement,
                "number_of_examples batch_size num_epochs noise_multiplier delta used_microbatching max_examples_per_user accountant_type",
            ),
            (dpsgd.get_noise_multiplier, "target_epsilon target_delta sample_rate epochs steps accountant epsilon_tolerance kwargs"),
        ):
            self.assertEqual(list(inspect.signature(function).parameters), names.split())
        folder = os.environ.get("DPACCOUNTANT_PEERS")
        analysis = os.path.join(folder or "", "tensorflow_privacy", "privacy", "analysis")
        if not folder or not os.path.isdir(analysis):
            return
        for file in ("compute_dp_sgd_privacy_lib.py", "compute_noise_from_budget_lib.py"):
            with open(os.path.join(analysis, file), encoding="utf-8") as source:
                tree = ast.parse(source.read())
            for theirs in tree.body:
                ours = getattr(dpsgd, getattr(theirs, "name", ""), None)
                if ours is not None:
                    names = [a.arg for a in theirs.args.args if a.arg != "accountant_type"]
                    self.assertEqual([name for name in inspect.signature(ours).parameters if name != "accountant_type"], names)


class Callbacks(unittest.TestCase):
    def budget(self, target=1.0):
        return callbacks.TrainingBudget(
            noise_multiplier=1.1, sampling_rate=0.01, delta=1e-5, target_epsilon=target
        )

    def test_budget(self):
        budget = self.budget()
        self.assertEqual(budget.epsilon().upper, 0)
        # The largest number that fits.
        self.assertLessEqual(upper(1.1, 0.01, budget.max_steps), 1)
        self.assertGreater(upper(1.1, 0.01, budget.max_steps + 1), 1)
        budget.step(budget.max_steps - 1)
        budget.step()
        self.assertTrue(budget.exhausted)
        for count in (1, 5):
            with self.assertRaises(BudgetError):
                budget.step(count)
        with self.assertRaises(ValueError):
            budget.step(-1)
        self.assertEqual(budget.steps, budget.max_steps)
        self.assertLessEqual(budget.epsilon().upper, 1)
        class Tensor:  # as torch's of 1.5
            def __index__(self) -> int:
                raise TypeError("only integer tensors of a single element can be converted to an index")

            def __int__(self) -> int:
                return 1

        for count in (0, 1.5, float("nan"), True, None, 2**53 + 1, Tensor()):  # a count of nan was added, and no budget was ever spent
            with self.assertRaisesRegex(ValueError, "count: .* is not a whole number in"):
                callbacks.TrainingBudget(noise_multiplier=1.1, sampling_rate=0.01, delta=1e-5).step(count)
        with self.assertRaisesRegex(InputError, "examples: -5 is not a whole number above 0"):
            Sampler("random-allocation", -5, batch_size=10)
        free = callbacks.TrainingBudget(noise_multiplier=1.1, sampling_rate=0.01, delta=1e-5)
        free.step(10**6)
        self.assertFalse(free.exhausted)
        with self.assertRaises(InfeasibleError):
            self.budget(1e-6)
        with self.assertRaises(InputError):
            callbacks.TrainingBudget(noise_multiplier=-1, sampling_rate=0.01, delta=1e-5)

    def test_state(self):
        budget = self.budget()
        budget.step(7)
        other = self.budget(2.0)
        other.load_state_dict(json.loads(json.dumps(budget.state_dict())))
        self.assertEqual(other.steps, 7)
        for wrong in ({"ran": [], "run": {}}, dict(budget.state_dict(), ran=[[1.1, 0.01, -1]])):
            with self.assertRaises(ValueError):
                other.load_state_dict(wrong)

    def test_keras(self):
        peers.keras()
        for at_once in (1, 7):
            budget = self.budget()
            callback = callbacks.keras_callback(budget)
            logs, ran = peers.keras_fit(callback, epochs=100, batches=70, at_once=at_once)
            self.assertEqual(ran, budget.steps)
            self.assertTrue(budget.max_steps - at_once < ran <= budget.max_steps)
            self.assertEqual(logs[0]["epsilon"], upper(1.1, 0.01, 70))
            self.assertLessEqual(logs[-1]["epsilon"], 1)
            with self.assertRaises(BudgetError):
                peers.keras_fit(callback, epochs=1, batches=70, at_once=at_once)

    def test_lightning(self):
        peers.lightning()
        budget = self.budget()
        callback = callbacks.lightning_callback(budget)
        trainer = types.SimpleNamespace(should_stop=False)
        logged = {}
        module = types.SimpleNamespace(log=logged.__setitem__)
        while not trainer.should_stop:
            callback.on_before_optimizer_step(trainer, module, None)
            callback.on_train_batch_end(trainer, module, None, None, 0)
        callback.on_train_epoch_end(trainer, module)
        self.assertEqual(budget.steps, budget.max_steps)
        self.assertEqual(logged["epsilon"], budget.epsilon().upper)
        other = self.budget()
        callbacks.lightning_callback(other).load_state_dict(callback.state_dict())
        self.assertTrue(other.exhausted)

    def optimizer(self, noise=1.1):
        return peers._DPOptimizer(noise)

    def step(self, optimizer, times=1):
        """Poisson samples of 1000 records at rate 1/20."""
        for _ in range(times):
            optimizer.grad_samples = [[0] * sum(random.random() < 0.05 for _ in range(1000))]
            optimizer.step()

    def run_of(self, noise=1.1, rate=0.05, target=None):
        return callbacks.TrainingBudget(noise_multiplier=noise, sampling_rate=rate, delta=1e-5, target_epsilon=target)

    def test_other_steps(self):
        """Steps with other noise are counted as what they are, and what still fits beside them."""
        budget = self.run_of(target=3.0)
        budget.step(10)
        budget.step(10, noise_multiplier=0.9)
        self.assertEqual(budget.steps, 20)

        def beside(count):
            return shared().epsilon({"neighbors": "add-remove", "steps": run(1.1, 0.05, 10)["steps"] + run(0.9, 0.05, count)["steps"]}, 1e-5)

        self.assertEqual(budget.epsilon().upper, beside(10).upper)
        while not budget.exhausted:
            budget.step(noise_multiplier=0.9)
        self.assertLessEqual(budget.epsilon().upper, 3)
        self.assertGreater(beside(budget.steps - 9).lower, 3)
        other = self.run_of(target=3.0)
        other.load_state_dict(json.loads(json.dumps(budget.state_dict())))
        self.assertTrue(other.exhausted)
        self.assertEqual(other.epsilon(), budget.epsilon())
        for wrong in (0, -1, math.nan, math.inf):
            with self.assertRaises(ValueError):
                budget.step(noise_multiplier=wrong)

    def test_attach_compares(self):
        """1.319 was said of noise 0.5 against a budget for 1.0, and of a larger batch."""
        for noise, rate, name in ((1.2, 0.05, "noise_multiplier"), (1.1, 0.04, "sampling_rate")):
            with self.assertRaisesRegex(InputError, name + ": the budget is for"):
                callbacks.attach(self.optimizer(), self.run_of(noise, rate), loader=LOADER)
        with self.assertRaisesRegex(AccountantError, "loader: is missing"):
            callbacks.attach(self.optimizer(), self.run_of())
        with self.assertRaisesRegex(AccountantError, "RandomSampler"):
            callbacks.attach(self.optimizer(), self.run_of(), loader=SHUFFLED)
        # More noise and smaller batches than the budget is for are counted as what they are.
        budget, optimizer = self.run_of(1.0, 0.06), self.optimizer(1.1)
        callbacks.attach(optimizer, budget, loader=LOADER)
        self.step(optimizer, 3)
        self.assertEqual(budget.epsilon().upper, upper(1.1, 0.05, 3))

    def test_attach_schedule(self):
        """1.319 was said of a scheduler whose noise falls."""
        seen = []
        budget, optimizer = self.run_of(target=2.0), self.optimizer()
        optimizer.step_hook = seen.append
        callbacks.attach(optimizer, budget, loader=LOADER)
        self.step(optimizer, 10)
        optimizer.noise_multiplier = 0.9
        with self.assertRaises(BudgetError):
            self.step(optimizer, 1000)
        self.assertEqual(len(seen), budget.steps)
        same = self.run_of(target=2.0)
        same.step(10)
        same.step(budget.steps - 10, noise_multiplier=0.9)
        self.assertEqual(same.epsilon(), budget.epsilon())
        self.assertTrue(same.exhausted)

    def test_attach_batches(self):
        budget, optimizer = self.run_of(), self.optimizer()
        callbacks.attach(optimizer, budget, loader=LOADER)
        with self.assertRaisesRegex(AccountantError, "the last of them 50"):
            for _ in range(20):
                optimizer.grad_samples = [[0] * 50]
                optimizer.step()
        optimizer.accumulated_iterations = 2
        with self.assertRaisesRegex(AccountantError, "several"):
            optimizer.step()

    def test_sizes(self):
        """Sizes of Poisson samples are evidence of nothing; fixed sizes, a cut epoch or another rate soon are."""

        def steps(sizes, records=1000, rate=0.05):
            batches = PoissonBatches(
                types.SimpleNamespace(batch_sampler=types.SimpleNamespace(sample_rate=rate, num_samples=records)))
            for step, size in enumerate(sizes, 1):
                try:
                    batches._weigh(size)
                except AccountantError:
                    return step
            return None

        def sample(records, rate):
            return sum(random.random() < rate for _ in range(records))

        self.assertEqual(steps([50] * 20), 15)
        self.assertLess(steps(([50] * 7 + [30]) * 10), 40)
        self.assertEqual(steps([1001]), 1)
        self.assertLess(steps(sample(1000, 0.1) for _ in range(20)), 20)
        self.assertIsNone(steps([1000] * 1000, rate=1.0))
        self.assertIsNone(steps([None] * 1000))
        for records, rate in ((1000, 0.05), (100, 0.01), (20, 0.5), (50, 0.99)):
            self.assertIsNone(steps((sample(records, rate) for _ in range(2000)), records, rate))

    def test_torch(self):
        class Optimizer:
            """The part of torch.optim.Optimizer that is asked."""

            hooks = ()

            def register_step_pre_hook(self, hook):
                self.hooks = (*self.hooks, hook)
                return self

            def step(self):
                for hook in self.hooks:
                    hook(self, (), {})

        for budget, loader in ((self.budget(), None), (self.run_of(1.1, 0.05, 1.0), LOADER)):
            optimizer = Optimizer()
            callbacks.attach(optimizer, budget, loader=loader)
            for _ in range(budget.max_steps):
                optimizer.step()
            with self.assertRaises(BudgetError):
                optimizer.step()
        with self.assertRaisesRegex(AccountantError, "RandomSampler"):
            callbacks.attach(Optimizer(), self.budget(), loader=SHUFFLED)
        with self.assertRaisesRegex(InputError, "sampling_rate"):
            callbacks.attach(Optimizer(), self.budget(), loader=LOADER)

    def test_keras_noise(self):
        """The noise of TensorFlow Privacy is compared; means of several records are refused."""
        peers.keras()
        query = types.SimpleNamespace(_stddev=2.2, _l2_norm_clip=2.0)
        for optimizer in (types.SimpleNamespace(_noise_multiplier=1.1), types.SimpleNamespace(_dp_sum_query=query)):
            budget = self.budget(None)
            peers.keras_fit(callbacks.keras_callback(budget), 1, 5, optimizer=optimizer)
            self.assertEqual(budget.epsilon().upper, upper(1.1, 0.01, 5))
        for wrong, error in (
            ({"_noise_multiplier": 1.0}, "noise_multiplier: the budget is for 1.1"),
            ({"_noise_multiplier": 1.1, "_num_microbatches": 1}, "num_microbatches"),
            ({"_dp_sum_query": object()}, "adds the noise of object"),
        ):
            with self.assertRaisesRegex(AccountantError, error):
                peers.keras_fit(callbacks.keras_callback(self.budget()), 1, 5, optimizer=types.SimpleNamespace(**wrong))

    def test_lightning_sees(self):
        peers.lightning()
        optimizer = types.SimpleNamespace(noise_multiplier=1.1)
        trainer = dict(train_dataloader=LOADER, optimizers=[optimizer], accumulate_grad_batches=1)
        budget = self.run_of()
        callback = callbacks.lightning_callback(budget)
        callback.on_train_start(types.SimpleNamespace(**trainer), None)
        callback.on_before_optimizer_step(None, None, optimizer)
        optimizer.noise_multiplier = 0.9
        callback.on_before_optimizer_step(None, None, optimizer)
        same = self.run_of()
        same.step()
        same.step(noise_multiplier=0.9)
        self.assertEqual(budget.epsilon(), same.epsilon())
        for wrong, error in (
            ({"train_dataloader": SHUFFLED}, "RandomSampler"),
            ({"optimizers": [optimizer]}, "noise_multiplier"),
            ({"optimizers": [], "accumulate_grad_batches": 2}, "several"),
        ):
            with self.assertRaisesRegex(AccountantError, error):
                callbacks.lightning_callback(self.run_of()).on_train_start(types.SimpleNamespace(**{**trainer, **wrong}), None)


    def test_transformers_sees(self):
        peers.add_module("transformers", TrainerCallback=type("TrainerCallback", (), {}))
        self.addCleanup(sys.modules.pop, "transformers")
        optimizer = types.SimpleNamespace(noise_multiplier=1.1)
        more = dict(train_dataloader=LOADER, optimizer=types.SimpleNamespace(optimizer=optimizer))
        args, control = types.SimpleNamespace(gradient_accumulation_steps=1), types.SimpleNamespace(should_training_stop=False)
        budget = self.run_of()
        callback = callbacks.transformers_callback(budget)
        callback.on_train_begin(args, None, control, **more)
        callback.on_pre_optimizer_step(args, None, control, **more)
        optimizer.noise_multiplier = 0.9
        callback.on_pre_optimizer_step(args, None, control, **more)
        self.assertFalse(callback.on_step_end(args, None, control).should_training_stop)
        same = self.run_of()
        same.step()
        same.step(noise_multiplier=0.9)
        self.assertEqual(budget.epsilon(), same.epsilon())
        logs = {}
        callback.on_log(args, None, control, logs=logs)
        self.assertEqual(logs, {"epsilon": same.epsilon().upper})
        for wrong, error in (
            ({"train_dataloader": SHUFFLED}, "RandomSampler"),
            ({}, "noise_multiplier"),
            ({"args": types.SimpleNamespace(gradient_accumulation_steps=2)}, "several"),
        ):
            with self.assertRaisesRegex(AccountantError, error):
                callbacks.transformers_callback(self.run_of()).on_train_begin(wrong.pop("args", args), None, control, **{**more, **wrong})

    def test_flower(self):
        def config(**other):
            return types.SimpleNamespace(**{**dict(
                target_delta=1e-5, population_size=1000, neighboring_relation="add-or-remove-one", sampling_method="poisson", max_epsilon=2.0), **other})

        event = types.SimpleNamespace(noise_multiplier=2.0, sample_size=50, population_size=1000)
        steps = {
            "poisson": ("add-or-remove-one", Plan(Gaussian(2.0).poisson(0.05) * 30)),
            "without-replacement": ("replace-one", Plan(Gaussian(2.0).without_replacement(population=1000, batch=50) * 30, neighbors="substitute")),
            "no-amplification": ("add-or-remove-one", Plan(Gaussian(2.0) * 30)),
        }
        for method, (relation, plan) in steps.items():
            accountant = flower.CertifiedAccountant(config(sampling_method=method, neighboring_relation=relation))
            accountant.compose(event, 20)
            accountant.compose(event, 10)
            want = shared().epsilon(plan, 1e-5).upper
            self.assertEqual((accountant.get_epsilon(1e-5), accountant.num_releases), (want, 30))
            self.assertEqual(accountant.get_delta(1.0), shared().delta(plan, 1.0).upper)
            self.assertEqual(accountant.get_privacy_spent(), (want, 1e-5, 30, "certified", None))
            self.assertEqual(accountant.would_exceed(event, want + 1), False)
            self.assertEqual(accountant.would_exceed(event, want), True)
            again = flower.CertifiedAccountant(accountant.config)
            again.load_state_dict(json.loads(json.dumps(accountant.state_dict())))
            self.assertEqual((again.get_epsilon(1e-5), again.state_dict()), (want, accountant.state_dict()))
            with self.assertRaisesRegex(ValueError, "another configuration"):
                flower.CertifiedAccountant(config(max_epsilon=3.0)).load_state_dict(accountant.state_dict())
        for wrong, error in (
            (lambda: flower.CertifiedAccountant(config(sampling_method="shuffle")), "sampling_method: shuffle under add-or-remove-one is not one of"),
            (lambda: flower.CertifiedAccountant(config(neighboring_relation="replace-one")), "poisson under replace-one"),
            (lambda: flower.CertifiedAccountant(config(population_size=9)).compose(event), "population_size: 1000 is not 9"),
            (lambda: flower.CertifiedAccountant(config(max_epsilon=None)).would_exceed(event), "max_epsilon: is missing"),
        ):
            with self.assertRaisesRegex((ValueError, InputError), error):
                wrong()


class Rows(unittest.TestCase):
    def tables(self):
        accountant = shared()
        plan = run(1.1, 0.01, 100)
        return {
            "epsilon": (accountant.epsilon(plan, 1e-5).rows(), 1),
            "curve": (accountant.curve(plan, points=4, from_=0, to=1).rows(), 4),
            "risk": (accountant.risk(plan).rows(), 7),
            "compare": (rows(accountant.compare(plan, 1e-5)), None),
            "calibrate": (accountant.calibrate(plan, epsilon=1, delta=1e-5).rows(), 1),
            "dpsgd": (
                accountant.dpsgd(
                    examples=1000, batch_size=10, epochs=1, noise_multiplier=1.1, delta=[1e-5, 1e-6]
                ).rows(),
                2,
            ),
            "sampling": (rows(accountant.sampling(population=100, batch=10, noise_multiplier=5, steps=10)), None),
            "profile": (accountant.profile("gaussian", noise_multiplier=1, at=[0, 1]).rows(), 4),
        }

    def test_rows(self):
        tables = self.tables()
        for name, (table, count) in tables.items():
            self.assertEqual(len(table), count or len(table), name)
            self.assertEqual({tuple(row) for row in table}, {tuple(table[0])}, name)
            json.dumps([{k: v if v not in (math.inf, -math.inf) else None for k, v in row.items()} for row in table])
        self.assertEqual([row["x"] for row in tables["curve"][0]][-1], 1)
        self.assertEqual(tables["curve"][0][0]["kind"], "delta")
        self.assertLessEqual(tables["calibrate"][0][0]["meets.upper"], 1)
        self.assertEqual(tables["risk"][0][0]["measure"], "advantage")
        first = tables["dpsgd"][0][0]
        self.assertEqual(first["delta"], 1e-5)
        # Two δ at once are answered from one table, whose rounding is another.
        self.assertAlmostEqual(first["upper"], upper(1.1, 0.01, 100), places=9)
        self.assertGreater(first["any_order.upper"], first["upper"])

    def test_to_dict(self):
        curve = shared().curve(run(1.1, 0.01, 10), points=2, from_=0, to=1).to_dict()
        self.assertEqual([set(p) >= {"x", "upper"} for p in curve["points"]], [True, True])

    @unittest.skipIf(pandas is None, "PANDAS IS NOT INSTALLED: rows are not made into a table")
    def test_pandas(self):
        for table, _ in self.tables().values():
            self.assertEqual(len(pandas.DataFrame(table)), len(table))


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    print("peers:", ", ".join(f"{name} {kind}" for name, kind in sorted(peers.KIND.items())), file=sys.stderr)
    sys.exit(not result.wasSuccessful())
