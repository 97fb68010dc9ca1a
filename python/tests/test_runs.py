"""Tests of what runs mechanisms, of plans by Python, and of answers in a notebook."""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "..")
PAPERS = os.path.join(PACKAGE, "examples", "papers")
sys.path[:0] = [PACKAGE, HERE]

import dpaccountant
from dpaccountant import (
    Accountant, BudgetError, DiscreteGaussian, Gaussian, InputError, Interval, Laplace, Plan, Pure, RandomizedResponse, shared,
)
from dpaccountant.plans import Step

try:
    import numpy
except ImportError:
    numpy = None

GEOMETRIC = {"law": "geometric", "mean": 5}


class Runs(unittest.TestCase):
    def setUp(self):
        self.accountant = shared()

    def ledger(self, epsilon=1, neighbors="add-remove", delta=1e-5):
        return self.accountant.create_ledger(neighbors=neighbors, epsilon=epsilon, delta=delta, mode="planned")

    def raises(self, kind, text, call):
        with self.assertRaises(kind) as caught:
            call()
        self.assertIn(text, str(caught.exception))

    def test_release(self):
        release = self.accountant.release
        step = {"exponential": {"epsilon": 0.5}}
        # 1/(1 + e^{−ε/2·2}) of 2000: six standard deviations are 120.
        often = sum(release(step, [4, 0]) == 0 for _ in range(2000))
        self.assertLess(abs(often / 2000 - 1 / (1 + math.exp(-1))), 0.06)
        self.assertEqual(release(step, {"a": 500, "b": 0}), "a")
        self.assertEqual(release(step, [1, 2, 3], test_seed=4), release(step, [1, 2, 3], test_seed=4))
        noisy = release({"laplace": {"noise-multiplier": 1}}, [5.0, 7.0], sensitivity=1e-9)
        self.assertTrue(abs(noisy[0] - 5) < 1e-7 and noisy[0] != 5)
        threshold = {"threshold": {"noise": "laplace", "scale": 1, "threshold": 50}}
        self.assertEqual(set(release(threshold, {"x": 200, "y": 1})), {"x"})
        self.assertEqual(release(threshold, [1, 2]), [None, None])
        self.raises(InputError, "sensitivity: is missing", lambda: release({"gaussian": {"noise-multiplier": 1}}, [1]))
        whole = release(DiscreteGaussian(2, sensitivity=3), [5, -7], test_seed=1)
        self.assertEqual(whole, [float(round(x)) for x in whole])
        self.assertEqual(release(RandomizedResponse(0, 3), [0, 2, 1]), [0, 2, 1])
        self.raises(InputError, "values[1]: 3 is not a whole number in [0, 2]", lambda: release(RandomizedResponse(0.5, 3), [0, 3]))
        plan = Plan(Laplace(1e-6), neighbors="substitute")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plan.json"
            path.write_text(json.dumps(dict(plan)))
            for what in (plan, path, str(path)):
                self.assertAlmostEqual(release(what, [5.0], sensitivity=1)[0], 5, delta=1e-3)
        self.raises(InputError, "runs its step 2 times", lambda: release(Laplace(1) * 2, [1.0], sensitivity=1))

    def test_ledger(self):
        """What fits is spent before it runs, under the plan that prices it; what does not, does not run."""
        ledger = self.ledger(1)
        self.accountant.release({"permute-and-flip": {"epsilon": 0.6}}, [1, 2], ledger=ledger)
        self.assertAlmostEqual(ledger.status().spent_epsilon, 0.6, delta=1e-4)
        with mock.patch.object(self.accountant, "request", wraps=self.accountant.request) as asked:
            for call in (
                lambda: self.accountant.release({"exponential": {"epsilon": 0.6}}, [1, 2], ledger=ledger),
                lambda: self.accountant.majority_release({"mechanisms": 3, "epsilon": 2, "allowance": 3}, [[1, 1, 0]], ledger=ledger),
                lambda: self.accountant.pate_answer([[9, 1]], "lnmax", gamma=0.3, ledger=ledger),
                lambda: self.accountant.sparse_vector([1], percentile=0.5, candidate_epsilon=0.1, epsilon=0.6, queries=1, ledger=ledger),
            ):
                with self.assertRaises(BudgetError):
                    call()
            # A search that is refused is closed, and no trial is run.
            for call in (
                lambda: self.accountant.best_of(GEOMETRIC, self.fail, candidate_epsilon=0.6, ledger=ledger),
                lambda: self.accountant.best_of(GEOMETRIC, self.fail, candidate=Plan(Pure(2)), ledger=ledger),
                lambda: self.accountant.adaptive_search(1, candidate_epsilon=0.6, delta=1e-6, ledger=ledger),
                lambda: self.accountant.noise_stream(
                    {"noise-multiplier": 1, "steps": 2, "strategy": "identity", "participation": {"epochs": 1}},
                    clip=1, dimension=1, ledger=ledger),
            ):
                with self.assertRaises(BudgetError):
                    call()
            ops = [call.args[0] for call in asked.call_args_list]
        self.assertFalse({"run-next"} & set(ops))
        self.assertEqual(ledger.status().entries, 1)
        self.raises(InputError, "candidate-epsilon: is missing", lambda: self.accountant.first_above(GEOMETRIC, 1, self.fail, ledger=ledger))
        self.raises(InputError, "must be under substitute", lambda: self.accountant.label_apply([0, 1], 0.1, [0, 1], weights=[1, 1], ledger=ledger))

    def test_ledger_elsewhere(self):
        """A ledger of another accountant is charged the same, before anything is shown."""
        with Accountant() as other:
            for make in (
                lambda ledger: self.accountant.release(Laplace(2), [1.0], sensitivity=1, ledger=ledger),
                lambda ledger: self.accountant.pate_answer([[9, 1]], "confident", threshold=5, sigma1=3, sigma2=4, ledger=ledger),
                lambda ledger: self.accountant.best_of(GEOMETRIC, lambda: ("x", 1), candidate=Plan(Pure(0.1)), ledger=ledger),
                lambda ledger: self.accountant.adaptive_search(1, candidate_epsilon=0.1, delta=1e-6, ledger=ledger).close(),
            ):
                spent = []
                for accountant in (self.accountant, other):
                    ledger = accountant.create_ledger(neighbors="add-remove", epsilon=50, delta=1e-5, mode="planned")
                    make(ledger)
                    spent.append(ledger.status().spent_epsilon)
                    self.assertEqual(ledger.status().entries, 1)
                self.assertEqual(*spent)
                small = other.create_ledger(neighbors="add-remove", epsilon=1e-3, delta=1e-9, mode="planned")
                with self.assertRaises(BudgetError):
                    make(small)

    def test_teachers(self):
        votes = [[200, 0], [100, 100], [0, 200]]
        labels = self.accountant.pate_answer(votes, "confident", threshold=150, sigma1=2, sigma2=2)
        self.assertEqual((labels.labels, labels.answered), ((0, -1, 1), (True, False, True)))
        cost = self.accountant.pate(votes, "confident", threshold=150, sigma1=2, sigma2=2, delta=1e-5, answered=labels.answered)
        self.assertGreater(cost.epsilon, 0)
        again = self.accountant.pate_answer(
            votes, "interactive", threshold=150, sigma1=2, sigma2=2, confidence=0.9, baseline=[[0.5, 0.5], [0.9, 0.1], [0, 1]])
        self.assertEqual((again.labels, again.answered), ((-1, -1, 1), (False, False, False)))
        # What the ledger is charged is what pate says that holds at every data set, or more.
        for mechanism, options in (
            ("gnmax", {"sigma2": 20}), ("lnmax", {"gamma": 0.05}), ("confident", {"threshold": 150, "sigma1": 30, "sigma2": 20}),
        ):
            ledger = self.ledger(50)
            self.accountant.pate_answer(votes, mechanism, ledger=ledger, **options)
            independent = self.accountant.pate(votes, mechanism, delta=1e-5, report="independent", **options).epsilon
            spent = ledger.status().spent_epsilon
            # Rényi orders are not exact: the charge is below that price, and not below half of it.
            self.assertTrue(independent / 2 < spent <= independent * (1 + 1e-9), (mechanism, spent, independent))

    def test_labels(self):
        column = [0, 1, 2] * 400
        ledger = self.ledger(3, "substitute")
        private = self.accountant.label_apply(column, 2.0, [0, 1, 2], weights=[1, 1, 1], ledger=ledger)
        # Unbiased: 1 ± 6 standard deviations of 1200 labels of variance below 4.
        self.assertLess(abs(sum(private) / len(private) - 1), 6 * 2 / math.sqrt(1200))
        self.assertAlmostEqual(ledger.status().spent_epsilon, 2, delta=1e-4)  # at δ = 1e-5
        names = self.accountant.label_apply(["a", "b"] * 300, 20.0, ["a", "b"], weights=[1, 1])
        self.assertEqual(names, ["a", "b"] * 300)  # a flip has probability e^-20
        grouped = self.accountant.label_apply(column, 4.0, [0, 1, 2], groups=["x", "y", "y"] * 400)
        self.assertEqual(len(grouped), 1200)
        self.raises(InputError, "column[1]: is not one of the labels", lambda: self.accountant.label_apply(["a", "c"], 1, ["a", "b"], weights=[1, 1]))

        class Series:  # of pandas, as far as is used here
            def __init__(self, values, index=None, name=None):
                self.values, self.index, self.name = list(values), index, name

            def tolist(self):
                return self.values

            to_numpy = tolist

        series = self.accountant.label_apply(Series(column, index="rows", name="age"), 2.0, [0, 1, 2], weights=[1, 1, 1])
        self.assertEqual((type(series), series.index, series.name, len(series.values)), (Series, "rows", "age", 1200))

    @unittest.skipIf(numpy is None, "NUMPY IS NOT INSTALLED: arrays are not tested")
    def test_arrays(self):
        private = self.accountant.label_apply(numpy.array([0, 1, 1]), 1.0, numpy.array([0, 1]), weights=numpy.array([1, 1]))
        self.assertIsInstance(private, numpy.ndarray)
        self.assertIsInstance(self.accountant.release({"gaussian": {"noise-multiplier": 1}}, numpy.zeros(3), sensitivity=1), numpy.ndarray)
        self.accountant.pate_answer(numpy.array([[9, 1]]), "gnmax", sigma2=1)
        self.assertEqual(len(self.accountant.epsilon(Plan(Pure(1)), numpy.array([0, 1e-5]))), 2)
        stream = self.accountant.noise_stream(
            {"noise-multiplier": 1, "steps": 2, "strategy": "identity", "participation": {"epochs": 1}}, clip=1, dimension=2)
        self.assertEqual(stream.step(numpy.zeros(2)).shape, (2,))
        stream.close()

    def test_searches(self):
        """The best and the first of equals; the number of runs has the law; payloads stay here."""
        counts = []
        for _ in range(400):
            ran = []

            def trial():
                ran.append(len(ran))
                return ("outcome", ran[-1]), [0.5, math.nan, 2, 2, -math.inf][ran[-1] % 5]

            best = self.accountant.best_of(GEOMETRIC, trial)
            want = max(ran, key=lambda i: ([0.5, -math.inf, 2, 2, -math.inf][i % 5], -i))
            self.assertEqual(best.payload, ("outcome", want))
            counts.append(len(ran))
        # A mean of 5, and of 400 a standard deviation of √20/20 = 0.22: six are 1.4.
        self.assertLess(abs(sum(counts) / 400 - 5), 1.4)
        rows = iter([1, 3, 9, 2] + [0] * 10**4)
        first = self.accountant.first_above({"law": "geometric", "gamma": 1e-9}, 5, lambda: ("x", next(rows)))
        self.assertEqual((first.payload, first.score), ("x", 9))
        rows = iter(range(100))
        padded = self.accountant.best_of({"law": "geometric", "gamma": 0.5, "max": 20}, lambda: (None, -next(rows)), padding=True)
        self.assertEqual((next(rows), padded.score), (20, 0))
        seen = []

        def scored():
            seen.append(len(seen) * 7 % 11)
            return seen[-1], seen[-1]

        top = self.accountant.top_of({"law": "negative-binomial", "shape": 3, "mean": 12}, 3, scored)
        self.assertEqual([t.payload for t in top], sorted(seen, reverse=True)[:3])

    def test_search_fails(self):
        """Nothing is shown of a search with a trial that fails, and it is closed."""
        def trial():
            raise ValueError("no convergence")

        for call in (lambda: self.accountant.best_of(GEOMETRIC, trial), lambda: self.accountant.adaptive_search(1).attempt(trial, 0)):
            with mock.patch.object(self.accountant, "request", wraps=self.accountant.request) as asked:
                self.raises(ValueError, "no convergence", call)
            self.assertEqual(asked.call_args_list[-1].args, ("run-close",))
        for wrong in (5, ("x", "y"), (1, 2, 3)):
            self.raises(InputError, "trial: what it returns", lambda: self.accountant.best_of({"law": "geometric", "gamma": 0.5, "max": 9}, lambda: wrong))
        self.raises(InputError, "values: int is not a list", lambda: self.accountant.release({"exponential": {"epsilon": 1}}, 5))
        search = self.accountant.adaptive_search(1, candidate_epsilon=0.1, delta=1e-6)
        self.assertIsNone(search.attempt(lambda: ("a", 1), 2))
        self.assertEqual(search.attempt(lambda: ("b", 3), 2).payload, "b")
        self.raises(BudgetError, "have been shown", lambda: search.attempt(lambda: ("c", 3), 2))

    def test_papers(self):
        """Each example of a paper is a program of some 20 lines, and says what it has done."""
        says = {
            "choice.py": r"top home; shown \['home', 'news'\]; first good model 2; ε ≤ [12]\.\d{3}\nadaptive: two outcomes for ε ≤ 2\.\d{3}",
            "labels.py": r"mean 37\.50, of the private labels 3[678]\.\d\d; ε ≤ 2\n\d+ of 1500 are cats",
            "majority.py": r"answers \[[01], [01], [01]\], ε ≤ 0\.\d{3}, of which the ledger knows 0\.\d{3}",
            "matrix.py": r"sum \[1920\.0, -1280\.0\], released \[\d+, -\d+\]; ε ≤ 2\.\d{3}",
            "must.py": r"a batch has 20 records, \d+ of them different; ten cost ε ≤ 3\.\d{3}, of one stage 1\.\d{3}",
            "shuffle.py": r"value 0: 1000 users, estimated 1?[089]\d\d ± \d\d; local ε 2, behind the shuffler ε ≤ 0\.242",
            "pate.py": r"\d+ of 40 queries answered, \d+ of them right; ε ≤ 0\.\d{3} at this data set",
            "selection.py": r"best: (\w+), noisy score \d+; ε ≤ 0\.\d{3}\nfirst above 330: \w+",
        }
        self.assertEqual(set(says), {name for name in os.listdir(PAPERS) if name.endswith(".py")})
        for name, text in says.items():
            path = os.path.join(PAPERS, name)
            with open(path, encoding="utf-8") as file:
                self.assertLessEqual(len(file.read().splitlines()), 25, name)
            out = subprocess.run(
                [sys.executable, "-B", "-W", "error", path], stdout=subprocess.PIPE, encoding="utf-8", check=True,
                env=dict(os.environ, PYTHONPATH=PACKAGE, PYTHONIOENCODING="utf-8")).stdout
            self.assertRegex(out.strip(), f"^{text}$")


class Notebook(unittest.TestCase):
    def setUp(self):
        self.accountant = shared()

    def test_builder(self):
        plan = Plan(Gaussian(1.1).poisson(256 / 60000) * 14063, Laplace(20).named("statistics"), records_per_person=2)
        self.assertEqual(json.loads(json.dumps(dict(plan))), {
            "neighbors": "add-remove", "records-per-person": 2, "steps": [
                {"mechanism": {"gaussian": {"noise-multiplier": 1.1}}, "sampling": {"poisson": {"rate": 256 / 60000}}, "count": 14063},
                {"mechanism": {"laplace": {"noise-multiplier": 20}}, "name": "statistics"}]})
        self.assertEqual(self.accountant.plan_check(plan).runs, 14064)
        self.assertEqual((2 * (Gaussian(1) * 3))["count"], 6)
        more = Plan(Gaussian(1), neighbors="substitute", records_per_person=3) + Pure(1)
        self.assertEqual((len(more["steps"]), more["neighbors"], more["records-per-person"]), (2, "substitute", 3))
        for call, text in (
            (lambda: Gaussian(1) * 0, "count: 0 is not a whole number in [1, 2^53]"),
            (lambda: Gaussian(1) * 1.5, "count: 1.5 is not a whole number"),
            (lambda: Plan(), "steps: is missing"),
            (lambda: Plan("x"), "steps[0]: str is not a step"),
            (lambda: Gaussian(1).poisson(0.1).shuffle(3), "sampling: shuffle is a second scheme"),
            (lambda: self.accountant.epsilon(Plan(Gaussian(-1)), 1e-5), "noise-multiplier: -1"),
            (lambda: self.accountant.epsilon(plan, float("nan")), "epsilon: delta: nan is not what JSON has: a finite number"),
            (lambda: self.accountant.epsilon(Plan(Gaussian(1) * 2, Gaussian(math.inf)), 1e-5), "plan.steps.1.mechanism.gaussian.noise-multiplier: inf is not what JSON has"),
            (lambda: self.accountant.epsilon(3, 1e-5), "plan: int is not a mapping"),
        ):
            with self.assertRaises(InputError) as caught:
                call()
            self.assertIn(text, str(caught.exception))

    def test_lists_of_numbers(self):
        """What is asked at a list of δ or ε is answered by a list, in its order; two lists are lists in a list."""
        a, plan, ds = self.accountant, Plan(Gaussian(2) * 3), (1e-6, 1e-5)
        for ask in (
            lambda d: a.compare(plan, d), lambda d: a.certificate(plan, d), lambda d: a.diff(plan, plan, delta=d), lambda d: a.gdp(plan, tolerance=d),
            lambda d: a.calibrate(plan, epsilon=1.0, delta=d), lambda d: a.curve(plan, "steps", delta=d, points=3),
            lambda d: a.pate([[9, 1]], "gnmax", sigma2=40, delta=d), lambda d: a.select(plan, law=["geometric"], mean=[5], delta=d),
            lambda d: a.matrix_optimize(strategy="toeplitz", steps=4, participation="{single: true}", epsilon=1.0, delta=d),
            lambda d: a.sampling(population=100, batch=10, noise_multiplier=2.0, steps=2, delta=d),
            lambda d: a.dpsgd(sampling_rate=0.1, steps=5, target_epsilon=1.0, delta=d),
        ):
            self.assertEqual(ask(ds), [ask(d) for d in ds])
        menu = a.filter({"neighbors": "add-remove", "budget": {"units": 3}, "menu": [{"name": "a", "cost": 1, "steps": [Gaussian(4)]}]}, work=1e9)
        self.assertEqual(menu.epsilon(ds), [menu.epsilon(d) for d in ds])
        both = a.calibrate(plan, epsilon=[1.0, 2.0], delta=ds)
        self.assertEqual([[c.value for c in row] for row in both], [[a.calibrate(plan, epsilon=e, delta=d).value for d in ds] for e in (1.0, 2.0)])
        with self.assertRaises(InputError) as caught:
            a.compare(plan, [])
        self.assertIn("delta: is an empty list", str(caught.exception))

    def test_limits(self):
        """Limits that are far away change nothing; one of work that is reached is told."""
        a, plan = self.accountant, Plan(Gaussian(2).poisson(0.01) * 50)
        caps = {"memory": 500, "work": 1e9, "time_limit": 100}
        for ask in (
            lambda **c: a.certificate(plan, 1e-5, **c), lambda **c: a.calibrate(plan, epsilon=1.0, delta=1e-5, **c), lambda **c: a.compare(plan, 1e-5, **c),
            lambda **c: a.gdp(plan, **c), lambda **c: a.gdp_solve(plan, solve="noise-multiplier", mu=0.5, **c), lambda **c: a.diff(plan, plan, delta=1e-5, **c),
            lambda **c: a.audit(design="many-runs", members=[2, 3, 4.0], non_members=[0, 1, 1.5], delta=1e-5, **c),
            lambda **c: a.dpsgd(delta=1e-5, sampling_rate=0.01, steps=50, noise_multiplier=2.0, **c), lambda **c: a.label(1.0, [0, 1], [1, 1], **c),
            lambda **c: a.sampling(population=100, batch=10, noise_multiplier=2.0, steps=2, **c), lambda **c: a.select(candidate_epsilon=1.0, law=["geometric"], **c),
            lambda **c: a.majority(mechanisms=3, epsilon=0.1, allowance=1, **c),
            lambda **c: a.matrix_optimize(strategy="toeplitz", steps=4, participation="{single: true}", **c),
            lambda **c: a.pate([[9, 1]], "gnmax", sigma2=40, delta=1e-5, **c),
        ):
            self.assertEqual(ask(**caps), ask())
        self.assertTrue(a.dpsgd(delta=1e-5, sampling_rate=0.01, steps=50, noise_multiplier=2.0, work=1).epsilons[0].warnings)
        with self.assertRaises(TypeError):
            a.compare(plan, 1e-5, speed=3)

    def test_every_step_is_a_plan(self):
        """Each constructor has the keys of plans."""
        values = {"noise": "laplace", "strategy": "identity", "participation": {"epochs": 1}, "probability": 0.9, "categories": 3, "delta": 1e-6,
                  "threshold": 20, "scale": 1, "epsilon": 0.5, "mechanisms": 3, "allowance": 1, "steps": 2, "noise_multiplier": 4, "p": [0.5, 0.5], "q": [0.25, 0.75], "curvature": 0,
                  "grid": [0, 1], "log_p": [0, 0], "log_q": [-0.5413248546129181, 0.4586751453870819]}
        import inspect

        tried = 0
        for name in dpaccountant.plans.__all__:
            make = getattr(dpaccountant.plans, name)
            if inspect.isclass(make) or name == "mechanism":
                continue
            wanted = {k: values[k] for k, p in inspect.signature(make).parameters.items() if p.default is p.empty and p.kind is not p.VAR_KEYWORD}
            if name == "Threshold":
                wanted["scale"] = 1
            self.assertGreater(self.accountant.epsilon(Plan(make(**wanted)), 1e-5).upper, 0, name)
            tried += 1
        self.assertEqual(tried, 16)
        step = Gaussian(4)
        for sampled in (step.truncated_poisson(0.1, cap=9, population=50), step.without_replacement(population=50, batch=5),
                        step.random_allocation(5), step.random_allocation(5, uses=2), step.sampled("balls-in-bins", bins=5, redraw="each-epoch")):
            self.assertIsInstance(sampled, Step)
            self.assertGreater(self.accountant.plan_check(Plan(sampled)).runs, 0)
        self.assertGreater(self.accountant.plan_check(Plan(step.shuffle(5), neighbors="zero-out")).runs, 0)

    def test_files(self):
        plan = Plan(Pure(1.5))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plan.json"
            path.write_text(json.dumps(dict(plan)), encoding="utf-8")
            for given in (path, str(path), plan, path.read_text(encoding="utf-8")):
                self.assertEqual(self.accountant.epsilon(given, 0).upper, 1.5)
            with self.assertRaises(InputError) as caught:
                self.accountant.epsilon(str(path) + ".yaml", 0)
            self.assertIn("plan.json.yaml cannot be read", str(caught.exception))

    def test_lists(self):
        plan = Plan(Gaussian(2) * 3)
        many = self.accountant.epsilon(plan, [1e-5, 1e-7])
        self.assertEqual([e.upper for e in many], [self.accountant.epsilon(plan, d).upper for d in (1e-5, 1e-7)])
        self.assertEqual(len(self.accountant.delta(plan, range(1, 4))), 3)
        wide = self.accountant.epsilon(Plan(Gaussian(1).poisson(0.01) * 1000), 1e-5, accuracy=0.1)
        narrow = self.accountant.epsilon(Plan(Gaussian(1).poisson(0.01) * 1000), 1e-5)
        self.assertLessEqual(wide.lower, narrow.upper)
        for call, text in ((lambda: self.accountant.epsilon(plan, []), "delta: is an empty list"),
                           (lambda: self.accountant.epsilon(plan, 1e-5, accuracy=2), "accuracy: 2 is not in"),
                           (lambda: self.accountant.epsilon(plan, 1e-5, work=0), "work: 0 is not in")):
            with self.assertRaises(InputError) as caught:
                call()
            self.assertIn(text, str(caught.exception))

    def test_intervals(self):
        x = Interval(1.0000001, 1.2, 1.2999999, "add", {"truncation": 0.0})
        self.assertEqual((float(x), f"{x:.2f}", str(x), f"{x}"), (1.2999999, "1.30", "[1, 1.3]", "[1, 1.3]"))
        self.assertEqual(str(Interval(1.23456789e-30, 0, 1.23456789e-7, "add", {})), "[1.23456e-30, 1.23457e-7]")
        self.assertEqual(str(Interval(0.0, 0.0, math.inf, "add", {})), "[0, inf]")
        self.assertTrue(x <= 1.3 and x < 1.3 and x >= 1 and x > 1 and 1.3 >= x and 1 < x)
        self.assertFalse(x <= 1.2 or x >= 1.2 or x < 1.2 or x > 1.2)
        self.assertTrue(x < Interval(2, 2, 3, "add", {}) and not x < x)
        self.assertLess(len(repr(x)), 140)
        self.assertIn("<td>1.3</td>", x._repr_html_())
        self.assertIn("&lt;b&gt;", dpaccountant.Topic("<b>", "", "")._repr_html_())

    def test_round_by_round(self):
        """A server of federated learning: would the next round pass the budget? A checkpoint has what ran."""
        from dpaccountant.events import PrivacyAccountant

        event = {"class_name": "PoissonSampledDpEvent", "sampling_probability": 0.1, "event": {"class_name": "GaussianDpEvent", "noise_multiplier": 1.0}}
        account, rounds = PrivacyAccountant(), 0
        while not account.would_exceed(event, 2.0, 1e-5):
            account.compose(event)
            rounds += 1
        self.assertLessEqual(account.get_epsilon(1e-5), 2.0)
        self.assertGreater(PrivacyAccountant().compose(event, rounds + 1).get_epsilon(1e-5), 2.0)
        self.assertTrue(account.would_exceed(event, 2.0, 1e-5, 50))
        again = PrivacyAccountant()
        again.load_state_dict(json.loads(json.dumps(account.state_dict())))
        self.assertEqual(again.get_epsilon(1e-5), account.get_epsilon(1e-5))
        with self.assertRaises(InputError):
            PrivacyAccountant("substitute").load_state_dict(account.state_dict())

    def test_pandas_and_matplotlib(self):
        """By stand-ins where they are missing: that is what is asked of them."""
        curve = self.accountant.curve(Plan(Gaussian(1)), points=5)
        pandas = types.SimpleNamespace(DataFrame=lambda rows: rows)
        with mock.patch.dict(sys.modules, pandas=pandas):
            self.assertEqual(curve.to_pandas(), curve.rows())
        axes = mock.MagicMock()
        self.assertIs(curve.plot(ax=axes, color="red"), axes)
        (xs, ys), options = axes.plot.call_args
        self.assertEqual((xs, ys, options), ([p.x for p in curve.points], [p.upper for p in curve.points], {"color": "red"}))
        axes.set_xlabel.assert_called_once_with(curve.x)
        pyplot = mock.MagicMock()
        with mock.patch.dict(sys.modules, {"matplotlib": mock.MagicMock(pyplot=pyplot), "matplotlib.pyplot": pyplot}):
            self.assertIs(self.accountant.profile("laplace", noise_multiplier=1, at=[0, 1]).plot(), pyplot.gca())
        self.assertEqual([c.kwargs["label"] for c in pyplot.gca().plot.call_args_list], ["remove", "add"])


if __name__ == "__main__":
    unittest.main()
