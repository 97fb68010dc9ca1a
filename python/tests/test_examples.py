"""Runs each program of python/examples, with its framework or, where that is missing, a stand-in."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "..")
EXAMPLES = os.path.join(PACKAGE, "examples")
sys.path[:0] = [PACKAGE, HERE]

from dpaccountant import Gaussian, Laplace, Plan, dpsgd, shared

try:
    import numpy
except ImportError:
    numpy = None

KIND = {}  # of each framework that ran
DELTA, BUDGET = 1e-5, 1.0
RUNNER = """
import runpy, sys
sys.path[:0] = sys.argv[1:4]
import frameworks
getattr(frameworks, sys.argv[4])()
for name, kind in frameworks.KIND.items():
    print(f"framework: {name}: {kind}", file=sys.stderr)
sys.argv = sys.argv[5:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(framework, program, *arguments):
    """What a program prints. The warnings of frameworks are none of ours."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", RUNNER, PACKAGE, HERE, EXAMPLES, framework, os.path.join(EXAMPLES, program), *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", env=dict(os.environ, PYTHONIOENCODING="utf-8"))
    if done.returncode:
        raise AssertionError(done.stderr)
    KIND.update(re.findall(r"^framework: (.*?): (.*)$", done.stderr, re.MULTILINE))
    return done.stdout


def certified(steps):
    """ε of so many steps of every example."""
    return shared().epsilon({
        "neighbors": "add-remove",
        "steps": [{
            "mechanism": {"gaussian": {"noise-multiplier": 4}},
            "sampling": {"poisson": {"rate": 1 / 8}},
            "count": steps,
        }],
    }, DELTA)


@unittest.skipIf(numpy is None, "NUMPY IS NOT INSTALLED: the programs of python/examples are not run")
class Examples(unittest.TestCase):
    def check(self, out, at_once):
        """The lines say what the steps cost; not one more step, or epoch, fits the budget; it has learned."""
        lines = out.splitlines()
        live = [re.match(r"step +(\d+): ε ≤ ([0-9.]+)", line) for line in lines[:-1] if line.startswith("step")]
        self.assertGreaterEqual(len(live), 8)
        for found in live:
            self.assertEqual(found.group(2), f"{certified(int(found.group(1))).upper:.4f}")
        last = re.match(r"accuracy ([0-9.]+) after (\d+) .*?ε ≤ ([0-9.]+)", lines[-1])
        steps = int(last.group(2))
        self.assertEqual(last.group(3), f"{certified(steps).upper:.6f}")
        self.assertLessEqual(certified(steps).upper, BUDGET)
        self.assertGreater(certified(steps + at_once).lower, BUDGET)
        # 0.77 in the middle and 0.02 up or down, which is the noise; labels at random are 0.1.
        self.assertGreater(float(last.group(1)), 0.65)

    def test_secure_aggregation(self):
        """ε is that of the plan; the mean is as far off as its noise, but for sums that wrapped around."""
        done = subprocess.run(
            [sys.executable, "-B", os.path.join(EXAMPLES, "secure_aggregation.py")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            encoding="utf-8", env=dict(os.environ, PYTHONIOENCODING="utf-8", PYTHONPATH=PACKAGE))
        self.assertEqual(done.returncode, 0, done.stderr)
        wrapped, error, noise, low, high = re.search(
            r"(\d+) wrapped around\nmean off by ([0-9.]+) each \(noise alone: ([0-9.]+)\)\n([0-9.]+) ≤ ε ≤ ([0-9.]+) at", done.stdout).groups()
        if wrapped == "0":
            self.assertTrue(0.5 * float(noise) < float(error) < 2 * float(noise), done.stdout)
        step = {"skellam": {"standard-deviation": 8 * 90**0.5, "sensitivity": 68}}
        one = shared().epsilon({"neighbors": "zero-out", "steps": [{"mechanism": step}]}, 1e-6)
        self.assertEqual((low, high), (f"{one.lower:.4f}", f"{one.upper:.4f}"))

    @unittest.skipIf(numpy is None, "NUMPY IS NOT INSTALLED: budgets of single records are not tried")
    def test_individual_budgets(self):
        """No record takes part in fewer steps than with one budget for all, and the median one in a fifth more at least."""
        done = subprocess.run(
            [sys.executable, "-B", os.path.join(EXAMPLES, "individual_budgets.py"), "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            encoding="utf-8", env=dict(os.environ, PYTHONIOENCODING="utf-8", PYTHONPATH=PACKAGE))
        self.assertEqual(done.returncode, 0, done.stderr)
        units, epsilon, cost, alone, before, steps, after, middle, low, high = re.search(
            r"(\d+) units at ε ≤ ([0-9.]+); costs \[(\d+), .*\n.*: (\d+) steps, accuracy ([0-9.]+)\n.*: (\d+) steps, accuracy ([0-9.]+)\n"
            r"the median record is in (\d+) steps, .* more; the least (\d+), the most (\d+)\n", done.stdout).groups()
        self.assertLessEqual(float(epsilon), BUDGET)
        self.assertEqual(int(alone), int(units) // int(cost))
        self.assertTrue(int(alone) <= int(low) < int(middle) <= int(high) == int(steps), done.stdout)
        self.assertGreater(int(middle), 1.2 * int(alone))
        # Labels at random are 0.1; the records that leave are the hard ones, and accuracy falls.
        self.assertGreater(float(before), 0.7)
        self.assertGreater(float(after), 0.6)

    def test_pytorch_opacus(self):
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = os.path.join(folder, "checkpoint")
            out = run("torch", "pytorch_opacus.py", checkpoint)
            self.check(out, 1)
            again = run("torch", "pytorch_opacus.py", checkpoint).splitlines()
            # Nothing is left to train: the model and the account are those of before.
            self.assertEqual(again, ["resumed after 65 steps", out.splitlines()[-1]])

    def test_opacus_epsilon(self):
        noise, epsilon, steps = re.search(r"noise ([0-9.]+): ε ≤ ([0-9.]+) after (\d+) steps", run("torch", "opacus_epsilon.py")).groups()
        least = dpsgd.get_noise_multiplier(target_epsilon=BUDGET, target_delta=DELTA, sample_rate=1 / 8, steps=64)
        self.assertEqual((noise, int(steps)), (f"{least:.6f}", 64))
        self.assertTrue(0.999 < float(epsilon) <= BUDGET, epsilon)

    def test_trainers(self):
        """The trainer stops at the last step that fits, and has logged what it costs."""
        for framework, program in (("transformers", "transformers_trainer.py"), ("lightning", "lightning_digits.py")):
            logged, steps, most, epsilon = re.search(r"logged ([0-9.]+)\n(\d+) of (\d+) steps, ε ≤ ([0-9.]+)\n", run(framework, program)).groups()
            self.assertEqual((steps, logged), (most, epsilon))
            self.assertEqual(epsilon, f"{certified(int(steps)).upper:.6f}")
            self.assertGreater(certified(int(steps) + 1).lower, BUDGET)

    def test_flower_rounds(self):
        out = run("flower", "flower_rounds.py")
        rounds, epsilon, resumed = re.match(r"(\d+) rounds, ε ≤ ([0-9.]+) at δ = 1e-05, certified\nresumed after (\d+) rounds\n$", out).groups()
        cost = [shared().epsilon(Plan(Gaussian(0.8).poisson(0.005) * (int(rounds) + more)), 1e-5) for more in (0, 50)]
        self.assertEqual((rounds, epsilon), (resumed, f"{cost[0].upper:.6f}"))
        self.assertTrue(cost[0] <= 1.0 and not cost[1] <= 1.0, cost)

    def test_pipeline_dp_budget(self):
        count, total, keys = re.findall(r"standard deviation ([0-9.]+)", run("pipeline_dp", "pipeline_dp_budget.py"))
        self.assertAlmostEqual(float(total) / float(keys), 2.5, delta=1e-3)
        plan = Plan(Laplace(float(count) / 2**0.5), Gaussian(float(total) / 5), Gaussian(float(keys)))
        self.assertAlmostEqual(shared().epsilon(plan, 7.5e-7).upper, 1, delta=1e-3)

    def test_jax_privacy_calibrate(self):
        noise, low, high = re.match(r"noise ([0-9.]+): ε in \[([0-9.]+), ([0-9.]+)\]", run("jax_privacy", "jax_privacy_calibrate.py")).groups()
        self.assertTrue(0.9999 < float(low) <= float(high) <= 1.00001, (noise, low, high))

    def test_tensorflow_privacy_statement(self):
        out = run("tensorflow_privacy", "tensorflow_privacy_statement.py")
        self.assertIn("2.38", out)
        self.assertRegex(out, r"noise for ε = 2: 1\.2\d+\n$")

    def test_jax_events(self):
        self.check(run("jax", "jax_events.py"), 8)

    def test_tensorflow_keras(self):
        self.check(run("tensorflow", "tensorflow_keras.py"), 1)

    def test_every_program_is_run(self):
        programs = {name for name in os.listdir(EXAMPLES) if name.endswith(".py")}
        self.assertEqual(programs, {
            "digits.py", "individual_budgets.py", "secure_aggregation.py", "pytorch_opacus.py", "jax_events.py", "tensorflow_keras.py",
            "opacus_epsilon.py", "transformers_trainer.py", "lightning_digits.py", "flower_rounds.py", "pipeline_dp_budget.py", "jax_privacy_calibrate.py",
            "tensorflow_privacy_statement.py"})


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    print("peers:", ", ".join(f"{name} {kind}" for name, kind in sorted(KIND.items())), file=sys.stderr)
    sys.exit(not result.wasSuccessful())
