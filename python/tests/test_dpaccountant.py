"""Tests of dpaccountant against the program that ACCOUNTANT names."""

import fractions
import math
import multiprocessing
import os
import pathlib
import statistics
import sys
import tempfile
import threading
import unittest
import warnings
from unittest import mock

try:
    import numpy
except ImportError:
    numpy = None

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from dpaccountant import (
    Accountant, AccountantError, BudgetError, Density, DensityGrid, InfeasibleError, InputError, Ledger, NoAnswerError, Plan, _binary,
    shared,
)


def pure(epsilon, count=1):
    return {
        "neighbors": "add-remove",
        "steps": [{"mechanism": {"pure": {"epsilon": epsilon}}, "count": count}],
    }


GAUSSIAN = {"neighbors": "add-remove", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": 1}}}]}


class Tests(unittest.TestCase):
    def setUp(self):
        self.accountant = Accountant()
        self.addCleanup(self.accountant.close)

    def test_epsilon_and_delta(self):
        # Three runs of a pure 0.5 mechanism: 1.5 at δ = 0.
        answer = self.accountant.epsilon(pure(0.5, 3), delta=0)
        self.assertAlmostEqual(answer.upper, 1.5, places=9)
        self.assertLessEqual(answer.lower, answer.estimate)
        self.assertLessEqual(answer.estimate, answer.upper)
        self.assertEqual(set(answer.error_budget) >= {"discretization", "round-off"}, True)
        # One run at ε = 0: its total variation distance tanh(ε/2).
        answer = self.accountant.delta(pure(0.5), epsilon=0)
        self.assertAlmostEqual(answer.estimate, math.tanh(0.25), places=9)
        # YAML; δ = 0 for Gaussian noise has no finite ε.
        yaml = "neighbors: substitute\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 2}}\n"
        self.assertEqual(self.accountant.epsilon(yaml, delta=0).upper, math.inf)

    def test_certificate(self):
        lines = self.accountant.certificate(pure(0.5, 3), delta=1e-5).splitlines()
        self.assertEqual(lines[0], "accountant certificate 3")
        self.assertIn("step 3 pure epsilon 0x1p-1", lines)
        self.assertTrue(lines[-1].startswith("sha256 "))

    def test_risk(self):
        # Randomized response: advantage tanh(ε/2), power e^ε·α for small α, and
        # right with probability 1/(1 + e^−ε) when either is as likely.
        risk = self.accountant.risk(pure(1), false_positives=[1e-3], priors=[0.5])
        self.assertAlmostEqual(risk.advantage.upper, math.tanh(0.5), places=9)
        self.assertEqual(len(risk.true_positive_rate), 1)
        self.assertEqual(risk.true_positive_rate[0].at, 1e-3)
        self.assertAlmostEqual(risk.true_positive_rate[0].estimate, math.e * 1e-3, places=5)
        self.assertAlmostEqual(risk.bayes_success[0].estimate, 1 / (1 + math.exp(-1)), places=9)
        self.assertFalse(risk.theory_gap)
        self.assertEqual(len(self.accountant.risk(pure(1)).true_positive_rate), 3)

    def test_curve(self):
        curve = self.accountant.curve(pure(1), points=3, from_=0, to=1)
        self.assertEqual((curve.kind, curve.x, curve.y), ("delta", "epsilon", "delta"))
        self.assertEqual([p.x for p in curve.points], [0, 0.5, 1])
        self.assertAlmostEqual(curve.points[0].upper, math.tanh(0.5), places=9)
        self.assertAlmostEqual(curve.points[2].upper, 0, places=9)
        steps = self.accountant.curve(pure(0.1, 4), "steps", points=4, delta=1e-9)
        self.assertEqual([p.x for p in steps.points], [1, 2, 3, 4])
        power = self.accountant.curve(pure(1), "trade-off", log=True, points=2)
        self.assertEqual(power.y, "true-positive-rate")

    def test_calibrate(self):
        # Ten Laplace releases of noise b at δ = 0: 10/b ≤ 2.
        plan = {"neighbors": "add-remove", "steps": [{"mechanism": {"laplace": {"noise-multiplier": 1}}, "count": 10}]}
        found = self.accountant.calibrate(plan, epsilon=2, delta=0)
        self.assertAlmostEqual(found.value, 5, places=4)
        self.assertLessEqual(found.meets.upper, 2)
        self.assertGreater(found.fails.upper, 2)
        self.assertEqual(found.asked, "epsilon")
        self.assertEqual(found.steps, {"steps[0]": found.value})
        self.assertEqual(self.accountant.calibrate(plan, epsilon=12.5, delta=0, solve="count").value, 12)
        near = self.accountant.calibrate(plan, epsilon=0, delta=1e-3)
        self.assertEqual(near.asked, "delta")
        self.assertLessEqual(near.meets.upper, 1e-3)
        gauss = {"neighbors": "add-remove", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": 1}}}]}
        # The best test of false-positive rate F between two normals μ = 1/σ apart has the
        # true-positive rate Φ(μ + Φ⁻¹(F)), and the advantage 2Φ(μ/2) − 1.
        quantile = statistics.NormalDist().inv_cdf
        attack = self.accountant.calibrate(gauss, target_tpr=0.1, at_fpr=0.01)
        self.assertEqual(attack.asked, "true-positive-rate")
        self.assertLessEqual(attack.meets.upper, 0.1)
        self.assertAlmostEqual(attack.value, 1 / (quantile(0.1) - quantile(0.01)), places=5)
        attack = self.accountant.calibrate(gauss, target_advantage=0.2)
        self.assertAlmostEqual(attack.value, 0.5 / quantile(0.6), places=4)
        with self.assertRaises(InputError):
            self.accountant.calibrate(gauss, target_tpr=0.1)
        with self.assertRaises(InfeasibleError):
            self.accountant.calibrate(gauss, epsilon=1, delta=0)
        with self.assertRaises(InputError):
            self.accountant.calibrate(gauss, epsilon=1, delta=1e-5, solve="noise")

    def test_compare(self):
        rows = {r.method: r for r in self.accountant.compare(pure(0.1, 10), delta=1e-6)}
        self.assertAlmostEqual(rows["basic composition"].epsilon, 1, places=5)
        self.assertLessEqual(rows["Fourier accountant"].epsilon, 1)
        self.assertIsNotNone(rows["Fourier accountant"].lower)

    def test_dpsgd(self):
        run = self.accountant.dpsgd(
            examples=60000, batch_size=256, epochs=60, noise_multiplier=1.1, delta=[1e-5, 1e-7]
        )
        # ceil(60000/256·60); the ε of the literature's example.
        self.assertEqual((run.steps, run.deltas, run.neighbors), (14063, (1e-5, 1e-7), "add-remove"))
        self.assertAlmostEqual(run.epsilons[0].upper, 2.381, places=2)
        self.assertEqual(run.uses_per_example, 60)
        self.assertGreater(run.any_order[0].lower, 50)
        self.assertIn("PRIVACY STATEMENT", run.statement)
        self.assertIsNone(run.calibration)
        empty = self.accountant.dpsgd(
            examples=60000, batch_size=256, epochs=60, noise_multiplier=1.1, delta=[1e-5, 1e-7], neighbors="zero-out"
        )
        self.assertEqual((empty.neighbors, empty.epsilons[0].upper), ("zero-out", run.epsilons[0].upper))
        self.assertIn("empty place", empty.statement)
        run = self.accountant.dpsgd(
            examples=1000, batch_size=100, epochs=2.5, noise_multiplier=2, delta=1e-5, batching="random-allocation"
        )
        self.assertEqual((run.batching, run.steps), ("random-allocation", 25))
        self.assertIn("Random allocation", run.statement)
        with self.assertRaisesRegex(InputError, "^cap: is missing"):
            self.accountant.dpsgd(
                examples=1000, batch_size=100, epochs=2, noise_multiplier=2, delta=1e-5, batching="truncated-poisson"
            )
        attack = self.accountant.dpsgd(sampling_rate=1, steps=1, target_tpr=0.1, at_fpr=0.01, delta=[1e-5, 1e-6])
        self.assertAlmostEqual(attack.noise_multiplier, 0.957125, places=5)
        self.assertEqual((attack.calibration.asked, len(attack.epsilons)), ("true-positive-rate", 2))
        found = self.accountant.dpsgd(sampling_rate=0.01, steps=100, target_epsilon=1, delta=1e-5)
        self.assertLessEqual(found.epsilons[0].upper, 1)
        self.assertEqual(found.calibration.value, found.noise_multiplier)
        with self.assertRaises(InputError) as caught:
            self.accountant.dpsgd(sampling_rate=0.01, steps=100, delta=1e-5)
        self.assertIn("noise-multiplier", str(caught.exception))

    def test_profile(self):
        profile = self.accountant.profile("gaussian", noise_multiplier=1, at=[0, 1])
        # δ(0) = 2Φ(1/2) − 1.
        self.assertAlmostEqual(profile.points[0].estimate, 0.3829249225, places=9)
        self.assertEqual([p.direction for p in profile.points], ["remove", "add"] * 2)
        gap = self.accountant.profile("noisy-max", noise="laplace", epsilon=1, at=[0.1])
        self.assertLess(gap.points[0].attack, gap.points[0].upper)

    def test_sampling_by_epochs(self):
        rows = {
            s.scheme: s
            for s in self.accountant.sampling(population=100, batch=10, noise_multiplier=5, epochs=2)
        }
        self.assertLess(rows["random-allocation"].noise_needed, rows["shuffle"].noise_needed)

    def test_sampling(self):
        rows = {
            s.scheme: s
            for s in self.accountant.sampling(population=100, batch=10, noise_multiplier=5, steps=10)
        }
        self.assertEqual(rows["must-ow"].not_applicable, "needs a subset")
        # 1 − 0.99^10.
        self.assertAlmostEqual(rows["with-replacement"].eta, 0.0956179249912, places=12)
        self.assertLessEqual(rows["poisson"].lower, rows["poisson"].upper)
        self.assertIsNone(rows["must-ow"].upper)

    def test_select(self):
        law, = self.accountant.select(candidate_epsilon=1, law=["geometric"], mean=[100])
        self.assertAlmostEqual(law.epsilon, 2.95370423426358, places=12)
        self.assertEqual((law.papernot_steinke, law.delta), (3, 0))
        law, = self.accountant.select(pure(1), delta=1e-6, law=["geometric"])
        self.assertLess(law.epsilon, 3)
        with self.assertRaises(InputError):
            self.accountant.select(pure(1))

    def test_matrix_optimize(self):
        found = self.accountant.matrix_optimize(strategy="banded", steps=16, participation="{epochs: 4}")
        self.assertAlmostEqual(found.rmse, 3.6973947, places=5)  # SciPy, testdata/golden/strategies.py
        plan = {"neighbors": "add-remove", "steps": [{"mechanism": {"matrix": {
            "noise-multiplier": found.noise_multiplier, "steps": 16, "strategy": found.strategy,
            "participation": {"epochs": 4}}}}]}
        price = self.accountant.epsilon(plan, found.delta)
        self.assertEqual((price.lower, price.upper), (found.epsilon_lower, found.epsilon_upper))
        with self.assertRaisesRegex(InputError, "bands: 5 is above the separation"):
            self.accountant.matrix_optimize(strategy="banded", steps=16, participation="{epochs: 4}", bands=5)

    def test_majority(self):
        # Five mechanisms of 0.1 cost at most 0.3: no noise is needed.
        found = self.accountant.majority(mechanisms=5, epsilon=0.1, allowance=3)
        self.assertEqual(found.gamma, (1,) * 6)
        self.assertTrue(found.certified)
        self.assertLessEqual(found.max_f, found.budget_f)
        with self.assertRaises(InputError):
            self.accountant.majority(mechanisms=0, epsilon=0.1, allowance=3)
        # A hundred answers of the README's example, together.
        many = self.accountant.majority(
            mechanisms=11, epsilon=0.1, allowance=3, answers=100, delta=1e-5
        )
        self.assertLess(many.epsilon_upper - many.epsilon_lower, 0.01)
        self.assertAlmostEqual(many.epsilon_upper, 11.16, delta=0.01)
        # Unlike mechanisms: one sampled vote costs the largest ε.
        unlike = self.accountant.majority(
            mechanisms=3, epsilon=0.3, allowance=1, voter_epsilons=[0.1, 0.2, 0.3]
        )
        self.assertTrue(unlike.certified)
        labels = self.accountant.majority(mechanisms=4, epsilon=0.5, allowance=2, classes=10)
        self.assertTrue(labels.certified)
        trained = self.accountant.majority(
            mechanisms=5, epsilon=0.5, allowance=2, output_delta=1e-4,
            plan="neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 3}}}]\n",
        )
        self.assertTrue(trained.certified)
        self.assertLess(trained.attained_f, trained.max_f)

    def test_pate_calibrate(self):
        """Parameters for a target on votes that are public, which analyze and publish take."""
        votes = [[95, 3, 2], [40, 35, 25], [70, 20, 10]] * 5
        found = self.accountant.pate_calibrate(votes, "confident", epsilon=2, delta=1e-5, publish=True)
        self.assertLessEqual(found.epsilon, 2)
        self.assertTrue(0 < found.expected_correct <= found.expected_answers <= 15)
        mechanism = dict(threshold=found.threshold, sigma1=found.sigma1, sigma2=found.sigma2)
        self.assertLessEqual(self.accountant.pate(votes, "confident", delta=1e-5, **mechanism).epsilon, 2)
        told = self.accountant.pate_publish(votes, "confident", delta=1e-5, **mechanism, **found.publication, private=True)
        self.assertAlmostEqual(told.private["median-epsilon"], found.median_epsilon, places=9)
        with self.assertRaisesRegex(InputError, "epsilon"):
            self.accountant.pate_calibrate(votes, "gnmax", epsilon=0, delta=1e-5)

    def test_pate(self):
        votes = [[95, 3, 2], [40, 35, 25]]
        cost = self.accountant.pate(votes, "gnmax", sigma2=40, delta=1e-5)
        self.assertEqual((cost.report, cost.bound, cost.answered), ("worst", True, 2))
        self.assertLessEqual(cost.epsilon, cost.data_independent_epsilon)
        self.assertEqual(len(cost.orders), len(cost.rdp))
        with self.assertRaises(InputError) as caught:
            self.accountant.pate(votes, "gnmax", delta=1e-5)
        self.assertIn("missing sigma2", str(caught.exception))
        clean = self.accountant.pate_smooth(
            votes, "gnmax", sigma2=40, delta=1e-5, order=14, beta=0.0143, sigma_ss=5
        )
        self.assertTrue(math.isfinite(clean.epsilon))
        self.assertEqual(clean.why_none, "")
        self.assertIsNone(clean.private)
        exact = self.accountant.pate(votes, "gnmax", sigma2=40, delta=1e-5, price="exact")
        self.assertLessEqual(exact.epsilon, cost.epsilon)
        self.assertLessEqual(exact.exact["forward"]["upper"], exact.epsilon)
        bound = self.accountant.pate_publish(
            votes, "gnmax", sigma2=40, delta=1e-5, order=12, beta=0.02, noise=0.15
        )
        self.assertEqual(bound.confidence, 0.95)
        self.assertIsNone(bound.private)
        self.assertGreater(bound.epsilon, exact.exact["forward"]["upper"])
        private = self.accountant.pate_publish(
            votes, "gnmax", sigma2=40, delta=1e-5, order=12, beta=0.02, noise=0.15, private=True
        )
        self.assertGreater(private.private["smooth-bound"], 0)

    def test_query(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "in.csv"
            lines = [f"{i},{'north' if i % 2 else 'south'},{i % 10}" for i in range(2000)]
            path.write_text("\n".join(["id,area,hours"] + lines) + "\n")
            ledger = self.accountant.create_ledger(neighbors="add-remove", epsilon=1.2, delta=1e-6, mode="planned")
            asked = dict(
                budget=1, delta=1e-6, group="area", keys=["north", "south", "west"], person="id",
                count=True, sum="hours:0:9", weight={"count": 2}, ledger=ledger,
            )
            found = self.accountant.query(path, **asked)
            self.assertEqual([row["area"] for row in found.rows()], ["north", "south", "west"])
            self.assertEqual(found.columns, ("area", "count", "sum_hours"))
            self.assertAlmostEqual(found.rows()[0]["count"], 1000, delta=8 * found.noise["count"])
            self.assertAlmostEqual(found.rows()[1]["sum_hours"], 4000, delta=8 * found.noise["sum(hours)"])
            self.assertAlmostEqual(found.noise["sum(hours)"] / found.noise["count"], 18, places=6)
            self.assertTrue(0.999 < found.epsilon_upper <= 1)
            self.assertAlmostEqual(self.accountant.epsilon(found.plan, delta=1e-6).upper, found.epsilon_upper, places=9)
            with self.assertRaises(BudgetError):
                self.accountant.query(path, **asked)
            with self.assertRaises(InputError):
                self.accountant.query(path, budget=1, delta=1e-6, group="town", count=True)

    def test_local(self):
        values = [0] * 3000 + [1] * 900 + [2] * 100
        for mechanism in ("k-rr", "unary", "subset-selection", "hadamard", "local-hash"):
            asked = dict(epsilon=2, categories=3)
            messages = self.accountant.local_messages(mechanism, values, test_seed=4, **asked)
            self.assertEqual(len(messages), len(values))
            self.assertEqual(messages, self.accountant.local_messages(mechanism, values, test_seed=4, **asked))
            self.assertNotEqual(messages, self.accountant.local_messages(mechanism, values, **asked))
            for (count, deviation), truth in zip(self.accountant.local_estimates(mechanism, messages, **asked), (3000, 900, 100)):
                self.assertLess(abs(count - truth), 5 * deviation)
                self.assertTrue(10 < deviation < 200)
        with self.assertRaises(InputError):
            self.accountant.local_messages("k-rr", [3], epsilon=1, categories=3)

    def test_label(self):
        found = self.accountant.label(1, [0, 1, 2], [1, 1, 3])
        for got, want in zip(found.prior, (0.2, 0.2, 0.6)):
            self.assertAlmostEqual(got, want, places=15)
        for label, row in zip(found.labels, found.probabilities):
            self.assertAlmostEqual(sum(row), 1, places=12)
            self.assertAlmostEqual(sum(p * y for p, y in zip(row, found.outputs)), label, places=9)
        self.assertLess(found.loss["optimal"], found.loss["laplace"])
        grouped = self.accountant.label(2, [0, 1, 2], groups={"am": [3, 1, 0], "pm": [0, 1, 3]})
        self.assertEqual([g.name for g in grouped.groups], ["am", "pm"])
        self.assertLess(grouped.grouped_loss, grouped.loss["optimal"])
        classes = self.accountant.label(1, classes=["cat", "dog", "fox", "owl"], weights=[50, 40, 6, 4])
        self.assertAlmostEqual(classes.kept["rr-with-prior"], 0.657953, places=6)

    def test_explain(self):
        topic = self.accountant.explain("unbounded")
        self.assertEqual(topic.name, "add-remove")
        self.assertIn(topic, self.accountant.topics())
        with self.assertRaises(InputError):
            self.accountant.explain("fuorier")

    def test_other_currencies(self):
        found = self.accountant.gdp(GAUSSIAN)
        self.assertLessEqual(found.lower, 1)
        self.assertGreaterEqual(found.upper, 1)
        self.assertLess(found.upper - found.lower, 1e-3)
        noise = self.accountant.gdp_solve(GAUSSIAN, solve="noise-multiplier", mu=0.5)
        self.assertAlmostEqual(noise, 2, delta=1e-3)
        events = self.accountant.plan_convert(GAUSSIAN, to="events")
        self.assertIn("GaussianDpEvent", events)
        self.assertEqual(self.accountant.epsilon(events, delta=1e-5).upper, self.accountant.epsilon(GAUSSIAN, delta=1e-5).upper)

    def test_audit(self):
        far = self.accountant.audit(design="many-runs", members=[2.0 + i for i in range(200)], non_members=[-i for i in range(200)], delta=1e-5, threshold=1, plan=GAUSSIAN)
        self.assertGreater(far.epsilon, 2)
        self.assertIsInstance(far.consistent, bool)
        scores = {"members": [2.0 + i for i in range(200)], "non_members": [-i for i in range(200)], "delta": 1e-5}
        any_, gaussian = (self.accountant.audit(design="one-run", family=family, **scores) for family in (None, "gaussian"))
        self.assertEqual(any_.mu, gaussian.mu)
        self.assertGreater(gaussian.epsilon, any_.epsilon)
        with self.assertRaisesRegex(InputError, "family"):
            self.accountant.audit(design="one-run", family="laplace", **scores)
        with self.assertRaises(InputError):
            self.accountant.audit(design="no-run", members=[1.0], non_members=[0.0], delta=1e-5)

    def test_menu(self):
        kind = lambda name, cost, sigma, count: {
            "name": name, "cost": cost,
            "steps": [{"mechanism": {"gaussian": {"noise-multiplier": sigma}}, "sampling": {"poisson": {"rate": 0.01}}, "count": count}],
        }
        declared = {
            "neighbors": "add-remove", "budget": {"units": 5, "delta": 1e-5}, "levels": 2,
            "menu": [kind("loud", 2, 1.0, 2), kind("quiet", 1, 2.0, 3)],
        }
        menu = self.accountant.filter(declared)
        self.assertEqual((menu.units, menu.costs), (5, {"loud": 2, "quiet": 1}))
        self.assertEqual([row[0] for row in menu.odometer], [0, 1, 2, 3, 4, 5])
        self.assertEqual([row[0] for row in menu.levels], [3, 5])
        at = menu.epsilon(1e-5)
        self.assertTrue(0 < at.lower <= at.upper < 3)
        self.assertLess(menu.delta(at.upper + 0.01).upper, 1e-5)
        run = menu.run()
        run.spend("loud")
        # Three steps of one block, and one of the next; less noise takes the dearer type.
        self.assertEqual([run.step(noise_multiplier=2.5, sample_rate=0.01) for _ in range(4)], ["quiet", None, None, "quiet"])
        self.assertEqual(run.spent, 4)
        self.assertIsNone(run.step(noise_multiplier=2.0, sample_rate=0.005))
        with self.assertRaises(BudgetError):
            run.step(noise_multiplier=1.5, sample_rate=0.01)
        with self.assertRaises(InputError):
            run.step(noise_multiplier=0.5, sample_rate=0.01)
        self.assertTrue(run.fits("quiet"))
        self.assertFalse(run.fits("loud"))
        run.spend("quiet")
        self.assertEqual(run.spent, 5)
        with self.assertRaises(BudgetError):
            run.spend("quiet")
        with self.assertRaises(InputError):
            run.spend("louder")
        ledger = self.accountant.create_ledger(mode="adaptive-menu", menu=declared)
        for _ in range(2):
            ledger.spend_type("loud")
        with self.assertRaises(BudgetError):
            ledger.spend_type("loud")
        self.assertEqual(ledger.status().left, 1)

    @unittest.skipIf(numpy is None, "NUMPY IS NOT INSTALLED: budgets of single records are not tested")
    def test_individual_budgets(self):
        kind = lambda name, cost, epsilon: {"name": name, "cost": cost, "steps": [{"mechanism": {"pure": {"epsilon": epsilon}}}]}
        declared = {"neighbors": "add-remove", "budget": {"units": 5, "delta": 1e-5}, "menu": [kind("loud", 3, 0.3), kind("quiet", 1, 0.1)]}
        menu = self.accountant.filter(declared)
        budgets = menu.individual(4)
        self.assertEqual((len(budgets), budgets.types), (4, ("loud", "quiet")))
        self.assertEqual(budgets.spend([0, 1, -1, 0]).tolist(), [True, True, False, True])
        # Of records 0 and 3 two units are left: too few for loud, enough for quiet.
        self.assertEqual(budgets.spend(numpy.array([0, 1]), [3, 0]).tolist(), [False, True])
        self.assertEqual([budgets.spent(i) for i in range(4)], [4, 1, 0, 3])
        for types, records in (([0], None), ([0, 2], [0, 1]), ([-2], [0]), ([0], [4]), ([0], [-1]), ([1, 1], [2, 2]), ([0.5], [0]), ([[0]], [0])):
            with self.assertRaises(InputError, msg=(types, records)):
                budgets.spend(types, records)
        self.assertEqual([budgets.spent(i) for i in range(4)], [4, 1, 0, 3])
        # To the end: each record has five uses of quiet, as often as it may ask.
        taken = sum(budgets.spend([1] * 4).astype(int) for _ in range(8))
        self.assertEqual(taken.tolist(), [1, 4, 5, 2])
        # At the end of 16 bits nothing wraps.
        for units in (65_535, 65_536):
            wide = menu.individual(1)
            wide.menu = type("Fixed", (), {"units": units})
            wide._costs, wide._spent = numpy.array([units - 1, 2, 0], numpy.uint32), numpy.zeros(1, numpy.uint16 if units < 65_536 else numpy.uint32)
            self.assertEqual([bool(wide.spend([k])[0]) for k in (0, 1, 0, 1)], [True, False, False, False])
            self.assertEqual(wide.spent(0), units - 1)
        for change, message in (
            ({"neighbors": "substitute"}, "neighbors"),
            ({"records-per-person": 2}, "records-per-person"),
            ({"neighbors": "zero-out", "menu": [{"name": "drawn", "cost": 1, "steps": [
                {"mechanism": {"gaussian": {"noise-multiplier": 2}}, "sampling": {"without-replacement": {"population": 100, "batch": 10}}}]}]}, "sampling"),
        ):
            other = self.accountant.filter({**declared, **change})
            with self.assertRaisesRegex(InputError, "^" + message):
                other.individual(2)
        self.assertEqual(len(other.individual(2, empty_places=True)), 2)

    def test_plans_compared(self):
        self.assertEqual(self.accountant.plan_check(pure(1)).runs, 1)
        d = self.accountant.diff(pure(1), pure(2), delta=0)
        self.assertEqual([c.path for c in d.changes], ["steps[0].mechanism.pure.epsilon"])
        self.assertTrue(d.more.lower <= 1 <= d.more.upper)

    def test_every_operation_has_a_method(self):
        """The operations of the program are those that the tests above call."""
        with self.assertRaises(InputError) as caught:
            self.accountant.request("")
        names = str(caught.exception).split("one of ")[1].split(", ")
        self.assertGreater(len(names), 20)
        for name in names:
            if name == "cancel" or name.startswith("run-"):  # for clients that send several requests; for searches
                continue
            method = name.replace("-", "_")
            if name.startswith("ledger-"):
                verb = name[len("ledger-"):]
                found = hasattr(Accountant, verb + "_ledger") or hasattr(Ledger, verb)
            else:
                found = hasattr(Accountant, method)
            self.assertTrue(found, name)

    def test_bad_input_leaves_it_running(self):
        for call, text in [
            (lambda: self.accountant.epsilon(pure(-1), delta=0), "epsilon: -1 is not in"),
            (lambda: self.accountant.epsilon(pure(1), delta=2), "delta: 2 is not in"),
            (lambda: self.accountant.epsilon("[", delta=0), "plan"),
            (lambda: self.accountant.epsilon({"step": []}, delta=0), "unknown key"),
            (lambda: self.accountant.epsilon(pure(math.nan), delta=0), "JSON"),
            (lambda: self.accountant.request("epsilom"), 'did you mean "epsilon"'),
            (lambda: self.accountant.open_ledger("/no/such/file"), "no such file"),
        ]:
            with self.assertRaises(InputError) as caught:
                call()
            self.assertIn(text, str(caught.exception))
        self.assertTrue(self.accountant.version())

    def test_ledgers(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "budget.ledger")
            config = dict(neighbors="add-remove", epsilon=1, delta=0, mode="planned")
            file = self.accountant.create_ledger(path, **config)
            for ledger in (file, self.accountant.create_ledger(**config)):
                self.assertEqual(ledger.fits(pure(0.4)), 2)
                self.assertEqual(ledger.fits(pure(0.4), limit=1), 1)
                ledger.spend(pure(0.4), note="a")
                ledger.spend(pure(0.4))
                with self.assertRaises(BudgetError) as caught:
                    ledger.spend(pure(0.4))
                self.assertIn("0.2 is left", str(caught.exception))
                status = ledger.status()
                self.assertEqual((status.entries, status.runs, status.mode), (2, 2, "planned"))
                self.assertAlmostEqual(status.spent_epsilon, 0.8, places=9)
                self.assertAlmostEqual(status.left, 0.2, places=9)
            head = file.status().head
            self.assertEqual(self.accountant.check_ledger(path, head).entries, 2)
            log = self.accountant.log_ledger(path)
            self.assertEqual([(e.get("note"), e["runs"]) for e in log], [("a", 1), (None, 1)])
            self.assertEqual(log[-1]["head"], head)
            other = self.accountant.open_ledger(path)
            other.spend(pure(0.1))
            self.assertEqual(file.status().entries, 3)
            other.close()
            with self.assertRaises(InputError):
                other.status()
            with self.assertRaises(InputError):
                self.accountant.create_ledger(path, **config)

    def test_ledger_of_persons(self):
        ledger = self.accountant.create_ledger(
            neighbors="add-remove", epsilon=3, delta=0, mode="planned", records_per_person=2
        )
        plan = {"records-per-person": 2, **pure(1)}
        ledger.spend(plan)
        # ε of two records of a person is twice that of one.
        self.assertAlmostEqual(ledger.status().spent_epsilon, 2, places=9)
        self.assertEqual(ledger.fits(plan), 0)

    def test_adaptive(self):
        ledger = self.accountant.create_ledger(
            neighbors="substitute", epsilon=1, delta=1e-6, mode="adaptive"
        )
        ledger.spend({"neighbors": "substitute", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": 50}}}]})
        status = ledger.status()
        self.assertGreater(status.order, 1)
        # Gaussian noise under substitute: order·(2/50)²/2.
        self.assertAlmostEqual(status.spent_renyi, status.order * 0.0008, places=9)
        self.assertIsNone(status.spent_epsilon)
        self.assertIn("filter", status.guarantee)

    def test_threads(self):
        results = {}

        def ask(i):
            results[i] = self.accountant.epsilon(pure(i), delta=0).estimate

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(1, 9)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for i in range(1, 9):
            self.assertAlmostEqual(results[i], i, places=7)

    @unittest.skipUnless(hasattr(os, "fork"), "the system has no fork")
    def test_fork(self):
        """A child gets no answer of its parent, and may have an accountant of its own."""

        def ask_both(i, results):
            try:
                self.accountant.epsilon(pure(i), delta=0)
                results.put((i, "answered by the parent's accountant"))
            except AccountantError as error:
                with Accountant() as own:
                    ask = [own.epsilon(pure(i), delta=0).estimate for _ in range(20)]
                results.put((i, str(error), max(ask), min(ask)))

        context = multiprocessing.get_context("fork")
        results = context.SimpleQueue()
        children = [context.Process(target=ask_both, args=(i, results)) for i in (1, 2, 3)]
        for child in children:
            child.start()
        # Meanwhile the parent gets its own answers.
        for _ in range(50):
            self.assertAlmostEqual(self.accountant.epsilon(pure(7), delta=0).estimate, 7, places=7)
        for i, error, *answers in [results.get() for _ in children]:
            self.assertIn("another process", error)
            self.assertEqual(len(answers), 2)
            for answer in answers:
                self.assertAlmostEqual(answer, i, places=7)
        for child in children:
            child.join()
            self.assertEqual(child.exitcode, 0)

    @unittest.skipUnless(hasattr(os, "fork"), "the system has no fork")
    def test_close_with_a_forked_worker(self):
        """A worker that still runs does not keep the program from ending by itself."""
        accountant = Accountant()
        context = multiprocessing.get_context("fork")
        mine, other = context.Pipe()
        worker = context.Process(target=other.recv)
        worker.start()
        accountant.close()
        self.assertEqual(accountant._process.returncode, 0)
        mine.send("end")
        worker.join()
        self.assertEqual(worker.exitcode, 0)

    def test_fork_while_a_thread_asks(self):
        """A fork in the middle of a request of another thread."""
        if not hasattr(os, "fork"):
            self.skipTest("the system has no fork")
        done = threading.Event()
        wrong = []

        def ask():
            while not done.is_set():
                answer = self.accountant.epsilon(pure(3), delta=0).estimate
                if abs(answer - 3) > 1e-6:
                    wrong.append(answer)

        thread = threading.Thread(target=ask)
        thread.start()
        for _ in range(20):
            with warnings.catch_warnings():
                # Newer Pythons warn of what this is about.
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if child == 0:
                try:
                    self.accountant.version()
                except AccountantError:
                    os._exit(0)
                os._exit(1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
        done.set()
        thread.join()
        self.assertEqual(wrong, [])

    def test_timeout(self):
        plan = "neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 1}}, count: 1000000}]"
        with Accountant(timeout=1e-6) as accountant:
            with self.assertRaises(NoAnswerError):
                accountant.risk(plan)
        with self.assertRaises(NoAnswerError):
            self.accountant.request("risk", plan=plan, timeout=1e-6)
        self.assertTrue(self.accountant.version())

    def test_answer_of_another_request(self):
        """An answer with another id is refused, and so is everything after it."""
        accountant = Accountant()
        self.addCleanup(accountant.close)
        accountant._process.stdin.write(b'{"id": 5, "op": "version"}\n')
        with self.assertRaises(AccountantError) as caught:
            accountant.version()
        self.assertIn("another request", str(caught.exception))
        with self.assertRaises(AccountantError):
            accountant.version()

    def test_numbers_of_other_libraries(self):
        self.assertAlmostEqual(
            self.accountant.epsilon(pure(fractions.Fraction(1, 2), 3), delta=0).upper, 1.5, places=9
        )

    @unittest.skipIf(numpy is None, "NUMPY IS NOT INSTALLED: its scalars are not tested")
    def test_numpy(self):
        for epsilon, count in [
            (numpy.float64(0.5), numpy.int64(3)),
            (numpy.float32(0.5), numpy.uint8(3)),
            (numpy.float16(0.5), 3),
            (numpy.array(0.5), numpy.array(3)),
        ]:
            answer = self.accountant.epsilon(pure(epsilon, count), delta=numpy.float32(0))
            self.assertAlmostEqual(answer.upper, 1.5, places=9)
        cells = Density(numpy.array([0.1, 0.9]), numpy.array([0.2, 0.8]), low=numpy.array([-numpy.inf, 0]), high=numpy.array([-0.5, 1]))
        self.assertLessEqual(self.accountant.delta(Plan(cells), epsilon=0).lower, 0.1)
        risk = self.accountant.risk(pure(1), false_positives=numpy.array([1e-3, 1e-2]), priors=numpy.array([0.5]))
        self.assertEqual([r.at for r in risk.true_positive_rate], [1e-3, 1e-2])
        with self.assertRaises(InputError):
            self.accountant.epsilon(pure(numpy.float32("nan")), delta=0)

    def test_own_mechanism(self):
        """A pair by cells, whose losses may be infinite, from lists or arrays; tables of no pair are refused by field."""
        sized = [0.1, 0.9], [0.2, 0.8]
        answer = self.accountant.delta(Plan(Density(*sized, low=[-math.inf, 0], high=(-0.5, math.inf))), epsilon=0)
        self.assertTrue(answer.lower <= 0.1 <= answer.upper)
        whole = self.accountant.delta(Plan(Density(*sized)), epsilon=0)
        self.assertAlmostEqual(whole.upper, 0.1, places=9)
        for wrong, field in [
            (dict(low=[0.1, 0], high=[1, 1]), r"steps\[0\].mechanism.density.p\[0\]"),
            (dict(low=[math.nan, 0], high=[1, 1]), r"low\[0\]: nan is not a loss"),
            (dict(order="falling"), "order"),
            (dict(mass_error=2), "mass-error"),
        ]:
            with self.assertRaisesRegex(InputError, field):
                self.accountant.delta(Plan(Density(*sized, **wrong)), epsilon=0)  # type: ignore[arg-type]
        with self.assertRaisesRegex(InputError, r"log-p\[1\].*curvature 0.5"):
            self.accountant.delta(Plan(DensityGrid([0, 1, 2], [0, 1, 0], [0, 0, 0], 0.5)), epsilon=0)

    def test_readme(self):
        """The programs of the README and of the quick start run; what they say stands in the page."""
        python, programs = os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."), []
        for page in ("README.md", "../docs/guide/start.md", "../docs/guide/choice.md"):
            with open(os.path.join(python, page), encoding="utf-8") as file:
                programs += [part.split("```")[0] for part in file.read().split("```python\n")[1:]]
        self.assertEqual(len(programs), 9)
        printed = []
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for program in programs:
                    printed.append([])
                    exec(program, {"print": lambda *a: printed[-1].append(" ".join(map(str, a))), "__name__": "readme"})
                status = self.accountant.check_ledger(os.path.join(folder, "budget.ledger"))
            finally:
                os.chdir(here)
        for program, lines in zip(programs, printed):
            said = [line.split("#", 1)[1].strip() for line in program.splitlines() if "print(" in line and "#" in line]
            for line in said:
                self.assertIn(line, lines)
            self.assertTrue(said or program is programs[3], program)
        self.assertIn("does not allow this step", printed[3][-1])
        self.assertTrue(1 < status.entries < 100)
        self.assertLessEqual(status.spent_epsilon, 2)

    def test_where_the_program_is(self):
        """ACCOUNTANT, the package, beside the interpreter, the path: the first that has it."""
        before = dict(os.environ)
        self.addCleanup(os.environ.update, before)
        program = os.environ.pop("ACCOUNTANT")
        name = "accountant.exe" if os.name == "nt" else "accountant"
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for place in ("package", "beside", "path"):
                os.mkdir(os.path.join(folder, place))
                paths.append(os.path.join(folder, place, name))
                os.symlink(program, paths[-1])
            inside = mock.patch.object(_binary, "__file__", os.path.join(folder, "_binary.py"))
            os.rename(os.path.join(folder, "package"), os.path.join(folder, "bin"))
            paths[0] = os.path.join(folder, "bin", name)
            beside = mock.patch.object(sys, "executable", os.path.join(folder, "beside", "python3"))
            no_scripts = mock.patch.object(_binary.sysconfig, "get_path", lambda *_: os.path.join(folder, "none"))
            os.environ["PATH"] = os.path.join(folder, "path")
            with inside, beside, no_scripts:
                for path in paths:
                    self.assertEqual(_binary.find(), path)
                    with Accountant() as accountant:
                        self.assertTrue(accountant.version())
                    os.remove(path)
                self.assertEqual(_binary.find(), "accountant")
                with self.assertRaisesRegex(AccountantError, "cannot start accountant"):
                    Accountant()

    def test_shared(self):
        """One for the process; another one when it is gone."""
        first = shared()
        self.assertIs(shared(), first)
        first.close()
        second = shared()
        self.assertIsNot(second, first)
        second._process.kill()
        second._process.wait()
        self.assertAlmostEqual(shared().epsilon(pure(0.5), delta=0).upper, 0.5, places=9)

    @unittest.skipUnless(hasattr(os, "fork"), "the system has no fork")
    def test_shared_after_fork(self):
        """Children ask at the same time as their parent, each a program of its own."""
        own = shared()

        def ask(i, results):
            got = [shared().epsilon(pure(i), delta=0).estimate for _ in range(20)]
            results.put((i, min(got), max(got), shared()._process.pid))

        context = multiprocessing.get_context("fork")
        results = context.SimpleQueue()
        children = [context.Process(target=ask, args=(i, results)) for i in (1, 2, 3)]
        for child in children:
            child.start()
        for _ in range(50):
            self.assertAlmostEqual(shared().epsilon(pure(7), delta=0).estimate, 7, places=7)
        programs = {own._process.pid}
        for i, low, high, pid in [results.get() for _ in children]:
            self.assertAlmostEqual(low, i, places=7)
            self.assertAlmostEqual(high, i, places=7)
            programs.add(pid)
        for child in children:
            child.join()
        self.assertEqual(len(programs), 4)

    def test_closed(self):
        with Accountant() as accountant:
            pass
        with self.assertRaises(AccountantError):
            accountant.version()
        accountant.close()
        with self.assertRaises(AccountantError):
            Accountant("/no/such/program")
        # The process dies on its own.
        accountant = Accountant()
        accountant._process.kill()
        accountant._process.wait()
        with self.assertRaises(AccountantError):
            accountant.version()
        accountant.close()


if __name__ == "__main__":
    unittest.main()
