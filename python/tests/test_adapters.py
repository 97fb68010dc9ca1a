"""Tests of the adapters against the interfaces of the libraries that they stand in for."""

import ast
import copy
import importlib
import inspect
import json
import math
import os
import pickle
import subprocess
import sys
import types
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), HERE]

import peers
from dpaccountant import BudgetError, InfeasibleError, InputError, callbacks, dpsgd, events, rows, shared

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
        from dpaccountant.opacus import CertifiedAccountant

        self.kind = CertifiedAccountant
        registry = hasattr(self.opacus, "register_accountant")  # Opacus 1.5 and earlier have none
        self.accountant = self.opacus.create_accountant("certified") if registry else self.kind()

    def test_is_one_of_opacus(self):
        self.assertIsInstance(self.accountant, self.kind)
        self.assertIsInstance(self.accountant, self.opacus.IAccountant)
        self.assertEqual(self.accountant.mechanism(), "certified")

    def test_steps(self):
        self.assertEqual((len(self.accountant), self.accountant.get_epsilon(1e-5)), (0, 0))
        # The hook of Opacus counts the steps; accumulated batches raise the rate.
        optimizer = types.SimpleNamespace(noise_multiplier=1.1, accumulated_iterations=1)
        hook = self.accountant.get_optimizer_hook_fn(sample_rate=0.01)
        for _ in range(100):
            hook(optimizer)
        self.assertEqual(self.accountant.history, [(1.1, 0.01, 100)])
        self.assertEqual(len(self.accountant), 100)
        self.assertEqual(self.accountant.get_epsilon(delta=1e-5, alphas=[2, 3]), upper(1.1, 0.01, 100))
        optimizer.accumulated_iterations = 2
        hook(optimizer)
        self.assertEqual(self.accountant.history[1:], [(1.1, 0.02, 1)])
        found = self.accountant.interval(1e-5)
        self.assertGreater(found.lower, upper(1.1, 0.01, 100))
        self.assertEqual(found.upper, self.accountant.get_epsilon(1e-5))

    def test_edges(self):
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
        """Opacus 1.5 and earlier: the adapter is there all the same, for engine.accountant."""
        module = sys.modules[self.kind.__module__]
        register = self.opacus.__dict__.pop("register_accountant", None)
        try:
            accountant = importlib.reload(module).CertifiedAccountant()
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
            if register is not None:
                self.opacus.register_accountant = register
            importlib.reload(module)

    def test_search_of_opacus(self):
        if not hasattr(self.opacus, "utils") or not hasattr(self.opacus, "register_accountant"):
            self.skipTest("OPACUS IS A STAND-IN, OR ONE WITHOUT A REGISTRY: its search for the noise is not run")
        sigma = self.opacus.utils.get_noise_multiplier(
            target_epsilon=2, target_delta=1e-5, sample_rate=0.01, steps=500, accountant="certified"
        )
        self.assertLessEqual(upper(sigma, 0.01, 500), 2)
        self.assertGreater(upper(sigma, 0.01, 500), 1.99 - 0.01)


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
                "number_of_examples batch_size num_epochs noise_multiplier delta used_microbatching max_examples_per_user",
            ),
            (dpsgd.get_noise_multiplier, "target_epsilon target_delta sample_rate epochs steps"),
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
                    self.assertEqual(list(inspect.signature(ours).parameters), names)


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
        for wrong in ({"steps": 7, "run": {}}, dict(budget.state_dict(), steps=-1)):
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

        budget = self.budget()
        optimizer = Optimizer()
        callbacks.attach(optimizer, budget)
        for _ in range(budget.max_steps):
            optimizer.step()
        with self.assertRaises(BudgetError):
            optimizer.step()

        class DPOptimizer(types.SimpleNamespace):
            """That of Opacus."""

            def attach_step_hook(self, hook):
                self.step_hook = hook

        seen = []
        budget = self.budget()
        optimizer = DPOptimizer(accumulated_iterations=1, step_hook=seen.append)
        callbacks.attach(optimizer, budget)
        optimizer.step_hook(optimizer)
        self.assertEqual((budget.steps, seen), (1, [optimizer]))
        optimizer.accumulated_iterations = 2
        with self.assertRaisesRegex(Exception, "several"):
            optimizer.step_hook(optimizer)


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
