"""The stub of other libraries' interfaces against their sources, where these are at hand, and the adapters against the stub.

DPACCOUNTANT_REPOSITORIES names a folder with a git directory OWNER+NAME/repo for each library, which has the commit of the
stub. With numpy and scipy the code of dp_accounting, jax_privacy and PipelineDP that needs no other library is run, too.
"""

import ast
import dataclasses
import importlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "..", "dpaccountant")
sys.path[:0] = [os.path.join(HERE, ".."), HERE, os.path.join(HERE, "stubs")]

from dpaccountant import InputError, dpsgd, shared
from interfaces import PEERS
from peers import add_module

REPOSITORIES = os.environ.get("DPACCOUNTANT_REPOSITORIES", "")


def git(peer, *arguments):
    """What git says of a peer's repository; None where that or the commit is missing."""
    folder = os.path.join(REPOSITORIES, PEERS[peer][0].replace("/", "+"), "repo")
    if not REPOSITORIES or not os.path.isdir(folder):
        return None
    done = subprocess.run(["git", "--git-dir", folder, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout if done.returncode == 0 else None


def interface(node):
    """The parameters of a function, as the stub has them."""
    a = node.args
    plain = a.posonlyargs + a.args
    words = [p.arg for p in plain]
    for i in range(1, len(a.defaults) + 1):
        words[-i] += "="
    if a.vararg or a.kwonlyargs:
        words.append("*" + (a.vararg.arg if a.vararg else ""))
    words += [p.arg + ("=" if d is not None else "") for p, d in zip(a.kwonlyargs, a.kw_defaults)]
    return " ".join(words + ([f"**{a.kwarg.arg}"] if a.kwarg else []))


def functions(text, within=""):
    """The functions of a text, or of a class or function in it, by name."""
    body = ast.parse(text).body
    if within:
        node = next(n for n in ast.walk(ast.Module(body, [])) if isinstance(n, (ast.ClassDef, ast.FunctionDef)) and n.name == within)
        body = next((n.body for n in ast.walk(node) if isinstance(n, ast.ClassDef)), node.body)
    return {n.name: interface(n) for n in body if isinstance(n, ast.FunctionDef)}


def takes(ours, theirs):
    """What of their parameters ours do not take."""
    have = ours.replace("=", "").split()
    if any(word.startswith("**") for word in have):
        return set()
    theirs = [word.rstrip("=") for word in theirs.split() if not word.startswith("*")]
    if any(word.startswith("*") and len(word) > 1 for word in have):  # what follows is passed over
        return set(theirs[: len(have) - 1]) - set(have)
    return set(theirs) - set(have)


class Stubs(unittest.TestCase):
    def test_stub_is_the_source(self):
        missing = []
        for peer, (_, commit, files) in PEERS.items():
            for (path, within), names in files.items():
                text = git(peer, "show", f"{commit}:{path}")
                if text is None:
                    missing.append(peer)
                    continue
                found = functions(text, within)
                self.assertEqual(names, {name: found.get(name) for name in names}, peer)
        if missing:
            raise unittest.SkipTest(f"NO SOURCE OF {', '.join(dict.fromkeys(missing))}: the stub is not compared with it")

    def test_adapters_take_every_argument(self):
        for peer, file, within, of in (
            ("Opacus 1.5.4", "opacus.py", "CertifiedAccountant", "IAccountant"),
            ("Opacus 1.5.4", "opacus.py", "PrivacyEngine", "PrivacyEngine"),
            ("Opacus 1.5.4", "dpsgd.py", "", ""),
            ("dp_accounting", "events.py", "PrivacyAccountant", "PrivacyAccountant"),
            ("dp_accounting", "dp_accounting.py", "CertifiedAccountant", "PrivacyAccountant"),
            ("TensorFlow Privacy", "dpsgd.py", "", ""),
            ("transformers", "callbacks.py", "transformers_callback", "TrainerCallback"),
            ("Lightning", "callbacks.py", "lightning_callback", "Callback"),
            ("Flower", "flower.py", "CertifiedAccountant", "PrivacyAccountant"),
            ("PipelineDP", "pipeline_dp.py", "CertifiedBudgetAccountant", "PLDBudgetAccountant"),
        ):
            with open(os.path.join(PACKAGE, file), encoding="utf-8") as source:
                ours = functions(source.read(), within)
            tried = 0
            for (_, name), theirs in PEERS[peer][2].items():
                for function in theirs if name == of else ():
                    if function in ours:  # else it is inherited
                        tried += 1
                        self.assertEqual(takes(ours[function], theirs[function]), set(), (peer, function))
                    else:
                        self.assertIn(file, ("events.py", "dp_accounting.py", "dpsgd.py"), (peer, function))
            self.assertGreater(tried, 0, peer)

    def test_arguments_that_change_nothing(self):
        run = dict(target_epsilon=2.0, target_delta=1e-5, sample_rate=0.01, steps=100)
        self.assertEqual(dpsgd.get_noise_multiplier(**run), dpsgd.get_noise_multiplier(**run, accountant="rdp", epsilon_tolerance=0.1, alphas=[2]))
        text = (60000, 256, 1, 1.1, 1e-5)
        self.assertEqual(dpsgd.compute_dp_sgd_privacy_statement(*text), dpsgd.compute_dp_sgd_privacy_statement(*text, accountant_type="PLD"))

    def test_a_wrong_stub_is_noticed(self):
        node = ast.parse("def f(self, a, b=1, *, c, d=2, **e): pass").body[0]
        self.assertEqual(interface(node), "self a b= * c d= **e")
        self.assertEqual(takes("self a", "self a b="), {"b"})
        self.assertEqual(takes("self a *_", "self a b c"), set())
        self.assertEqual(takes("self x *_", "self a b c"), {"a"})


class Sources(unittest.TestCase):
    """Code of the peers that runs without their other dependencies."""

    def unpacked(self, peer, path):
        """A folder with a part of the commit."""
        tree = git(peer, "archive", PEERS[peer][1], path)
        if tree is None:
            raise unittest.SkipTest(f"NO SOURCE OF {peer}: it is not run")
        where = tempfile.TemporaryDirectory()
        self.addCleanup(where.cleanup)
        with tarfile.open(fileobj=io.BytesIO(tree)) as archive:
            archive.extractall(where.name, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        return where.name

    def package(self, peer, folder, name):
        """A package whose modules are read from the commit, without what its __init__ imports."""
        where = self.unpacked(peer, f"{folder}/{name}".lstrip("/"))
        for module in [m for m in sys.modules if m.split(".")[0] == name or m == f"dpaccountant.{name}"]:
            del sys.modules[module]  # of a test before this one
        return add_module(name, path=os.path.join(where, folder, name))

    def imported(self, *names):
        try:
            return [importlib.import_module(name) for name in names]
        except ImportError as error:
            raise unittest.SkipTest(f"NOT RUN: {error}") from error

    def dp_accounting(self):
        package = self.package("dp_accounting", "python/dp_accounting", "dp_accounting")
        for module in self.imported(*("dp_accounting." + m for m in ("dp_event", "dp_event_builder", "privacy_accountant", "mechanism_calibration"))):
            package.__dict__.update({k: v for k, v in vars(module).items() if isinstance(v, type) or k == "calibrate_dp_mechanism"})
        return package

    def test_jax_privacy_calibrates(self):
        """BandMFConfig.calibrate with our accountant; its class needs jax and is a stand-in, the method and the events are theirs."""
        peer = self.dp_accounting()
        self.package("jax_privacy", "", "jax_privacy")
        if importlib.util.find_spec("jax") is None:  # which is imported for what is not called here
            add_module("jax", path="")
            add_module("jax.numpy")
            self.addCleanup(lambda: [sys.modules.pop(name) for name in ("jax.numpy", "jax")])
        accounting, = self.imported("jax_privacy.accounting")
        path, = [path for path, within in PEERS["jax_privacy"][2] if within]
        tree = ast.parse(git("jax_privacy", "show", f"{PEERS['jax_privacy'][1]}:{path}"))
        calibrate = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "calibrate")
        calibrate.args.kw_defaults = [None if d is None else ast.Constant(None) for d in calibrate.args.kw_defaults]  # one is jax's
        calibrate.returns = None
        for argument in calibrate.args.kwonlyargs:
            argument.annotation = None
        known = {"dp_accounting": peer, "dataclasses": dataclasses}
        exec(compile(ast.fix_missing_locations(ast.Module([calibrate], [])), path, "exec"), known)

        @dataclasses.dataclass
        class Config:
            noise_multiplier: float = None
            _neighboring_relation = peer.NeighboringRelation.ADD_OR_REMOVE_ONE

            def _get_dp_event(self, sigma):
                return accounting.amplified_bandmf_event(noise_multiplier=sigma, iterations=1000, num_bands=1, sampling_prob=0.01)

        from dpaccountant.dp_accounting import CertifiedAccountant

        found = known["calibrate"](Config(), epsilon=1.0, delta=1e-6, accountant_fn=CertifiedAccountant).noise_multiplier
        direct = dpsgd.get_noise_multiplier(target_epsilon=1.0, target_delta=1e-6, sample_rate=0.01, steps=1000)
        self.assertLess(abs(found / direct - 1), 1e-5)

    def test_pipeline_dp_budgets(self):
        """The noise is within (ε, δ) by our price and not more than theirs, where theirs is at hand; specs are theirs."""
        self.package("PipelineDP", "", "pipeline_dp")
        params, budgets = self.imported("pipeline_dp.aggregate_params", "pipeline_dp.budget_accounting")
        from dpaccountant.pipeline_dp import CertifiedBudgetAccountant

        check_pipeline(self, params.MechanismType, CertifiedBudgetAccountant)
        with self.assertRaises(Exception):
            budgets.NaiveBudgetAccountant(1, 1e-6, num_aggregations=1, aggregation_weights=[1])


    def test_tensorflow_privacy_says_the_same(self):
        """Its statement, by its own accountants, and ours have the same ε, for one example of each epoch and for Poisson samples."""
        self.imported("scipy", "absl", "attr", "mpmath")
        paths = os.path.join(self.unpacked("dp_accounting", "python/dp_accounting"), "python", "dp_accounting"), self.unpacked("TensorFlow Privacy", "tensorflow_privacy")
        done = subprocess.run(
            [sys.executable, "-B", "-W", "ignore", "-c", TENSORFLOW, *paths], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
            env=dict(os.environ, PYTHONIOENCODING="utf-8"))
        self.assertEqual(done.returncode, 0, done.stderr)
        epoch, poisson = re.findall(r"(?:per epoch|sampling \(\*\)): +([0-9.]+)", done.stdout)
        ours = dpsgd.compute_dp_sgd_privacy_statement(60000, 256, 60, 1.1, 1e-5, used_microbatching=False)
        found = [float(x) for x in re.findall(r"ε = ([0-9.]+), δ", ours)]
        self.assertTrue(abs(found[0] - float(poisson)) < 1e-3 and abs(found[1] - float(epoch)) < 1e-3, (found, poisson, epoch))

    def test_opacus_trains(self):
        """Opacus 1.5.4 itself, with empty modules for what only torch 2 has: the examples by its engine, trainers are stand-ins."""
        self.imported("torch", "scipy")
        source = self.package("Opacus 1.5.4", "", "opacus").__path__[0]
        del sys.modules["opacus"]
        for framework, program in (("torch", "opacus_epsilon.py"), ("transformers", "transformers_trainer.py"), ("lightning", "lightning_digits.py")):
            done = subprocess.run(
                [sys.executable, "-B", "-W", "ignore", "-c", OPACUS, os.path.dirname(source), HERE, framework, program],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", env=dict(os.environ, PYTHONIOENCODING="utf-8"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, "^installed, 1.5.4\n")
            self.assertRegex(done.stdout, r"noise 3\.97\d+: ε ≤ (0\.99\d+|1\.000000) after 64 steps" if framework == "torch" else "65 of 65 steps")


TENSORFLOW = """
import importlib.util, sys
sys.path[:0] = sys.argv[1:]
spec = importlib.util.spec_from_file_location("lib", sys.argv[2] + "/tensorflow_privacy/privacy/analysis/compute_dp_sgd_privacy_lib.py")
lib = importlib.util.module_from_spec(spec)
spec.loader.exec_module(lib)
print(lib.compute_dp_sgd_privacy_statement(60000, 256, 60, 1.1, 1e-5, used_microbatching=False, accountant_type=lib.AccountantType.PLD))
"""

OPACUS = """
import os, runpy, sys, types
source, here, framework, program = sys.argv[1:]
sys.path[:0] = [source, here, os.path.join(here, ".."), os.path.join(here, "..", "examples")]
import torch
class Empty(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})
if not hasattr(torch, "func"):
    for name in ("torch.func", "torch.distributed.tensor", "torch.distributed.fsdp", "torch.distributed._composable", "torch.distributed._composable.fsdp",
                 "torch.distributed._tensor", "torch.distributed._tensor.experimental", "opt_einsum"):
        sys.modules[name] = Empty(name)
    torch.func = sys.modules["torch.func"]
    torch.nn.RMSNorm = type("RMSNorm", (torch.nn.Module,), {})
import frameworks
getattr(frameworks, framework)()
print(frameworks.KIND["torch and opacus"])
sys.argv = [os.path.join(here, "..", "examples", program)]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def check_pipeline(test, kinds, accountant):
    """What the budgets of a pipeline must be."""
    budget = accountant(1.0, 1e-6)
    first = budget.request_budget(kinds.GAUSSIAN)
    second = budget.request_budget(kinds.LAPLACE, weight=2, sensitivity=3, count=2)
    budget.compute_budgets()
    base = first.noise_standard_deviation
    test.assertAlmostEqual(second.noise_standard_deviation, base / 2 * 3 * 2**0.5, delta=1e-9 * base)
    steps = [{"mechanism": {"gaussian": {"noise-multiplier": base}}}, {"mechanism": {"laplace": {"noise-multiplier": base / 2}}, "count": 2}]
    whole = shared().epsilon({"neighbors": "add-remove", "steps": steps}, 1e-6)
    test.assertTrue(1 - 1e-4 < whole.upper <= 1 + 1e-12, whole)
    # Thresholds and mechanisms of their own have a quarter of δ each; what is fixed is counted.
    budget = accountant(2.0, 1e-6)
    generic = budget.request_budget(kinds.GENERIC, weight=3)
    keys = budget.request_budget(kinds.GAUSSIAN_THRESHOLDING, count=2)
    fixed = budget.request_budget(kinds.LAPLACE, noise_standard_deviation=10.0)
    budget.compute_budgets()
    test.assertEqual((generic.delta, keys.thresholding_delta, fixed.noise_standard_deviation), (2.5e-7, 1.25e-7, 10.0))
    steps = [
        {"mechanism": {"pure": {"epsilon": generic.eps}}}, {"mechanism": {"gaussian": {"noise-multiplier": keys.noise_standard_deviation}}, "count": 2},
        {"mechanism": {"laplace": {"noise-multiplier": 10 / 2**0.5}}},
    ]
    whole = shared().epsilon({"neighbors": "add-remove", "steps": steps}, 5e-7)
    test.assertTrue(2 - 2e-4 < whole.upper <= 2 + 1e-12, whole)
    # δ = 0 is for Laplace noise and pure ε, whose counts add up.
    budget = accountant(1.0, 0)
    laplace = budget.request_budget(kinds.LAPLACE, count=4)
    budget.compute_budgets()
    test.assertAlmostEqual(laplace.noise_standard_deviation, 4 * 2**0.5, delta=1e-4)
    for wrong, text in (
        (lambda: accountant(1.0, 0).request_budget(kinds.GAUSSIAN), "total_delta: 0 is not enough for GAUSSIAN"),
        (lambda: budget.request_budget(kinds.LAPLACE), "is called after compute_budgets"),
        (lambda: accountant(1.0, 1e-6).request_budget(kinds.GENERIC, noise_standard_deviation=1), "must be given to LAPLACE or GAUSSIAN"),
    ):
        with test.assertRaises(InputError) as caught:
            wrong()
        test.assertIn(text, str(caught.exception))
    budget = accountant(1.0, 1e-6)
    budget.request_budget(kinds.LAPLACE, noise_standard_deviation=0.1)
    budget.request_budget(kinds.LAPLACE)
    with test.assertRaisesRegex(Exception, "is not met by any noise"):
        budget.compute_budgets()


if __name__ == "__main__":
    unittest.main()
