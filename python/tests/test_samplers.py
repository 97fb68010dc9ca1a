"""Tests of the samplers: laws against enumeration, budgets against the command, loaders against budgets."""

import collections
import itertools
import json
import math
import os
import subprocess
import sys
import time
import types
import unittest
import warnings
from fractions import Fraction as F

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), HERE]

import peers
from dpaccountant import AccountantError, BudgetError, InfeasibleError, InputError, Sampler, _binary, callbacks, shared

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None

ALL = os.environ.get("SLOW") == "2"


def survival(x, degrees):
    """The probability that chi-square is above x."""
    h = x / 2
    if degrees % 2 == 0:
        return math.exp(-h) * sum(h**k / math.factorial(k) for k in range(degrees // 2))
    return math.erfc(math.sqrt(h)) + math.exp(-h) * sum(
        h ** (k - 0.5) / math.gamma(k + 0.5) for k in range(1, (degrees + 1) // 2))


def law(outcomes):
    """Probabilities of what (outcome, probability) lists, perhaps several times."""
    found = collections.Counter()
    for outcome, probability in outcomes:
        found[outcome] += probability
    assert sum(found.values()) == 1
    return found


def poisson(n, rate, cap=None):
    for chosen in itertools.product((0, 1), repeat=n):
        batch = tuple(i for i in range(n) if chosen[i])
        probability = math.prod(rate if c else 1 - rate for c in chosen)
        kept = [batch] if cap is None or len(batch) <= cap else list(itertools.combinations(batch, cap))
        yield from ((b, probability / len(kept)) for b in kept)


def without(items, k):
    """Ordered draws without replacement; by places, so that equal items stay apart."""
    all_ = list(itertools.permutations(items, k))
    return [(drawn, F(1, len(all_))) for drawn in all_]


def with_(items, k):
    return [(drawn, F(1, len(items) ** k)) for drawn in itertools.product(items, repeat=k)]


def one(draws):
    return ((tuple(sorted(drawn)), p) for drawn, p in draws)


def two(first, n, m, second, b):
    return ((tuple(sorted(drawn)), p * q) for subset, p in first(range(n), m) for drawn, q in second(subset, b))


def allocation(n, steps, uses=1, first=None):
    for bins in itertools.product(itertools.combinations(range(steps), uses), repeat=n):
        epoch = tuple(tuple(i for i in range(n) if s in bins[i]) for s in range(steps))
        yield epoch[:first], F(1, math.comb(steps, uses) ** n)


def shuffled(n, size):
    for order in itertools.permutations(range(n)):
        yield tuple(tuple(sorted(order[i : i + size])) for i in range(0, n, size)), F(1, math.factorial(n))


# Schemes that draw anew at each step: the scheme, the number of examples, the law of a batch.
STEPS = [
    ({"poisson": {"rate": 0.4}}, 3, law(poisson(3, F(2, 5)))),
    ({"poisson": {"rate": "1/3"}}, 2, law(poisson(2, F(1, 3)))),
    ({"truncated-poisson": {"rate": 0.5, "cap": 2, "population": 3}}, 3, law(poisson(3, F(1, 2), 2))),
    ({"without-replacement": {"population": 4, "batch": 2}}, 4, law(one(without(range(4), 2)))),
    ({"with-replacement": {"population": 3, "batch": 2}}, 3, law(one(with_(range(3), 2)))),
    ({"must-ow": {"population": 3, "subset": 2, "batch": 2}}, 3, law(two(without, 3, 2, with_, 2))),
    ({"must-wo": {"population": 3, "subset": 3, "batch": 2}}, 3, law(two(with_, 3, 3, without, 2))),
    ({"must-ww": {"population": 3, "subset": 2, "batch": 2}}, 3, law(two(with_, 3, 2, with_, 2))),
]
# Schemes with epochs: the law of a pass.
EPOCHS = [
    ({"random-allocation": {"steps": 3}}, 3, law(allocation(3, 3))),
    ({"random-allocation": {"steps": 3, "uses": 2}}, 3, law(allocation(3, 3, 2))),
    ({"random-allocation": {"steps": 3, "first": 2}}, 2, law(allocation(2, 3, 1, 2))),
    ({"balls-in-bins": {"bins": 2, "redraw": "each-epoch"}}, 4, law(allocation(4, 2))),
    ({"shuffle": {"batches": 2}}, 5, law(shuffled(5, 3))),
]


class Laws(unittest.TestCase):
    def accepted(self, expected, drawn):
        """Whether chi-square accepts what was drawn at 1e-6; an outcome of probability 0 never is."""
        seen = collections.Counter(drawn)
        if not set(seen) <= set(expected):
            return False
        count = sum(seen.values())
        self.assertGreater(count * min(expected.values()), 5)
        x = sum((seen[o] - count * p) ** 2 / (count * p) for o, p in ((o, float(p)) for o, p in expected.items()))
        return survival(x, len(expected) - 1) > 1e-6

    def test_chi_square(self):
        """The 1e-6 quantiles of a table for 1, 2, 5 and 20 degrees."""
        for degrees, x in ((1, 23.92813), (2, 27.63102), (5, 35.88819), (20, 65.4207)):
            self.assertAlmostEqual(survival(x, degrees) * 1e6, 1, places=3)

    def batches(self, sampler, count):
        while True:
            for batch in sampler:
                yield tuple(batch)
                count -= 1
                if not count:
                    return

    def test_steps(self):
        """Two batches in a row, within a request of the sampler and across two, are independent and have the law."""
        for scheme, n, of_one in STEPS:
            count = 4000 if ALL else 2500  # the rarest pair of the first scheme is to be expected five times
            drawn = list(self.batches(Sampler(scheme, n, test_seed=1), count + 1))
            pairs = {(a, b): p * q for a, p in of_one.items() for b, q in of_one.items()}
            for offset in (0, 1):
                self.assertTrue(self.accepted(pairs, zip(drawn[offset:count:2], drawn[offset + 1 :: 2])), scheme)

    def test_epochs(self):
        for scheme, n, of_pass in EPOCHS:
            sampler = Sampler(scheme, n, test_seed=2)
            passes = [tuple(map(tuple, sampler)) for _ in range(2500)]
            self.assertEqual(len(passes[0]), len(sampler))
            self.assertTrue(self.accepted(of_pass, passes), scheme)
            if len(of_pass) <= 12:  # two in a row
                pairs = {(a, b): p * q for a, p in of_pass.items() for b, q in of_pass.items()}
                self.assertTrue(self.accepted(pairs, zip(passes[::2], passes[1::2])), scheme)

    def test_once(self):
        """Drawn once: the same batches for so many epochs, then others."""
        for scheme, n, of_pass in (
            ({"balls-in-bins": {"bins": 2, "redraw": "once", "epochs": 3}}, 4, law(allocation(4, 2))),
            ({"random-allocation": {"steps": 3, "redraw": "once", "epochs": 3}}, 2, law(allocation(2, 3))),
            ({"shuffle": {"batches": 2, "redraw": "once", "epochs": 3}}, 4, law(shuffled(4, 2))),
        ):
            sampler = Sampler(scheme, n, test_seed=3)
            passes = [tuple(map(tuple, sampler)) for _ in range(900)]
            self.assertEqual(passes[0::3], passes[1::3])
            self.assertEqual(passes[0::3], passes[2::3])
            self.assertTrue(self.accepted(of_pass, passes[::3]), scheme)

    def test_another_law_is_refused(self):
        wrong = Sampler({"poisson": {"rate": 0.35}}, 3, test_seed=1)
        self.assertFalse(self.accepted(law(poisson(3, F(2, 5))), self.batches(wrong, 6000)))
        epochs = Sampler({"shuffle": {"batches": 2}}, 4, test_seed=1)
        self.assertFalse(self.accepted(law(allocation(4, 2)), (tuple(map(tuple, epochs)) for _ in range(3000))))

    def test_fixed_order(self):
        sampler = Sampler("fixed-order", 10, batch_size=4)
        for _ in range(2):
            self.assertEqual(list(sampler), [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]])
        self.assertEqual(len(Sampler({"fixed-order": {"uses": 2}}, 10, batch_size=6)), 2)


class Samplers(unittest.TestCase):
    def test_randomness(self):
        """The system's by default; a seed repeats, from the first pass on."""
        def epoch(**options):
            return list(Sampler("random-allocation", 1000, batch_size=100, **options))

        self.assertNotEqual(epoch(), epoch())
        self.assertEqual(epoch(test_seed=7), epoch(test_seed=7))
        self.assertNotEqual(epoch(test_seed=7), epoch(test_seed=8))
        again = Sampler("random-allocation", 1000, batch_size=100, test_seed=7)
        self.assertNotEqual(list(again), list(again))

    def test_lengths(self):
        for arguments, want in (
            (dict(scheme="poisson", sampling_rate=0.3), 4),
            (dict(scheme="poisson", sampling_rate=1 / 234), 234),  # for which 64 bits have a little less
            (dict(scheme={"poisson": {"rate": "256/60000"}}), 235),
            (dict(scheme={"poisson": {"rate": 0}}), 1),
            (dict(scheme="without-replacement", batch_size=30), 4),
            (dict(scheme={"must-ww": {"population": 100, "subset": 50, "batch": 40}}), 3),
            (dict(scheme="shuffle", batch_size=30), 4),
            (dict(scheme={"random-allocation": {"steps": 9, "first": 5}}), 5),
            (dict(scheme="truncated-poisson", batch_size=10, cap=15), 10),
        ):
            sampler = Sampler(examples=100, **arguments)
            self.assertEqual((len(sampler), len(list(sampler))), (want, want), arguments)
            self.assertEqual((sampler.passes, sampler.drawn), (1, want))
            name = arguments["scheme"]
            self.assertEqual(hasattr(sampler, "sample_rate"), name == "poisson" or "poisson" in name and name != "truncated-poisson")
        self.assertEqual((Sampler("poisson", 100, batch_size=10).sample_rate, Sampler("poisson", 100, batch_size=10).num_samples), (0.1, 100))

    def test_refusals(self):
        for wrong, text in (
            (dict(scheme="poison", batch_size=3), "batching: 'poison' is not one of poisson, "),
            (dict(scheme="poisson"), "examples and batch_size, or sampling_rate"),
            (dict(scheme="poisson", batch_size=3, sampling_rate=0.5), "examples and batch_size, or sampling_rate"),
            (dict(scheme="poisson", batch_size=11), r"batch_size: 11 is not in \[1, 10\]"),
            (dict(scheme="poisson", sampling_rate=math.nan), r"sampling_rate: nan is not in \(0, 1\]"),
            (dict(scheme="shuffle", batch_size=3, cap=5), "cap: must be given with truncated-poisson"),
            (dict(scheme="without-replacement", sampling_rate=0.5), "batch_size: is missing"),
            (dict(scheme={}), "scheme: {} is not"),
            (dict(scheme={"poisson": 3}), "sampling.poisson: 3 is not a mapping"),
            (dict(scheme={"poisson": {"rate": 2}}), r"sampling.poisson.rate: 2 is not in \[0, 1\]"),
            (dict(scheme={"shuffled": {"batches": 2}}), "sampling: unknown key"),
            (dict(scheme={"without-replacement": {"population": 9, "batch": 2}}), "population: 10 is not the scheme's, 9"),
            (dict(scheme={"fixed-order": {"uses": 1}}), "batch_size: is missing"),
        ):
            with self.assertRaisesRegex(InputError, text):
                Sampler(examples=10, **wrong)

    def test_speed(self):
        """A million indices of a million records, by processor time of both processes. 3e6 a second were measured."""
        if not os.path.exists("/proc/self/stat"):
            self.skipTest("THERE IS NO /proc: speed is not measured")

        def used():
            with open(f"/proc/{shared()._process.pid}/stat") as file:
                ticks = sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
            return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")

        for scheme in ("poisson", "random-allocation", "shuffle", "without-replacement"):
            sampler = Sampler(scheme, 10**6, batch_size=4000)
            before = used()
            drawn = sum(map(len, sampler))
            rate = drawn / (used() - before)
            self.assertGreater(rate, 1e6, scheme)

    @unittest.skipIf(numpy is None, "NUMPY IS NOT INSTALLED: arrays are not made")
    def test_arrays(self):
        data = numpy.arange(100) * 2
        arrays = list(Sampler({"random-allocation": {"steps": 500}}, 100).arrays())  # most are empty
        self.assertEqual({a.dtype for a in arrays}, {numpy.dtype("int64")})
        self.assertEqual(sorted(numpy.concatenate([data[a] for a in arrays])), sorted(data))

    @unittest.skipIf(torch is None, "TORCH IS NOT INSTALLED: samplers are not given to its loaders")
    def test_torch(self):
        data = torch.arange(100)
        for workers in (0, 2):
            sampler = Sampler("random-allocation", 100, batch_size=20)
            loader = torch.utils.data.DataLoader(data, batch_sampler=sampler, num_workers=workers)
            self.assertEqual(len(loader), 5)
            for passes in (1, 2):
                self.assertEqual(sorted(torch.cat(list(loader)).tolist()), list(range(100)))
                self.assertEqual((sampler.passes, sampler.drawn), (passes, 5 * passes))


SIZES = dict(examples=1000, batch_size=100)
# Each batching of dpsgd: what it needs, under which relations, and lengths: steps, and a target that some steps meet.
RUNS = [
    ("poisson", {}, (None, "substitute", "zero-out"), (1, 25), 1.5),
    ("random-allocation", {}, (None, "zero-out"), (3, 25), 1.5),
    ("random-allocation", {}, ("substitute",), (10, 20), 3.0),
    ("shuffle", {}, (None, "substitute"), (3, 20), 9.0),
    ("truncated-poisson", {"cap": 140}, (None, "zero-out"), (25,), 1.5),
    ("without-replacement", {}, (None, "substitute"), (3, 25), 3.0),
    ("fixed-order", {}, (None, "substitute"), (3, 20, 25), 9.0),
]


def run_of(batching, noise=2.0, **options):
    return callbacks.TrainingBudget(noise_multiplier=noise, batching=batching, delta=1e-5, **{**SIZES, **options})


def command(batching, steps, neighbors, cap=None, sizes=("--examples", "1000", "--batch-size", "100")):
    """ε by the command."""
    words = ["dpsgd", *sizes, "--noise-multiplier", "2", "--steps", str(steps), "--delta", "1e-5", "--batching", batching, "--json"]
    words += ["--neighbors", neighbors] if neighbors else []
    words += ["--cap", str(cap)] if cap else []
    return json.loads(subprocess.check_output([_binary.find(), *words]))["results"][0]["results"][0]["epsilon"]


class Budgets(unittest.TestCase):
    def test_batchings(self):
        """The interval of each batching is that of the command."""
        for batching, more, relations, lengths, _ in RUNS:
            for neighbors, steps in itertools.product(relations, lengths):
                if (neighbors != relations[0] or neighbors == "substitute") and steps != lengths[0] and not ALL:
                    continue  # seconds each
                budget = run_of(batching, neighbors=neighbors, **more)
                for _ in range(steps - 1):
                    budget.step()
                budget.step()
                found, want = budget.epsilon(), command(batching, steps, neighbors, **more)
                self.assertEqual((found.lower, found.upper), (want["lower"], want["upper"]), (batching, neighbors, steps))
        with self.assertRaises(InputError):  # as the command says
            run_of("fixed-order", neighbors="add-remove")

    def test_most(self):
        """The largest number of steps fits, and one more does not."""
        for batching, more, relations, _, target in RUNS:
            if (batching == "shuffle" or relations == ("substitute",)) and not ALL:
                continue  # each takes more than ten seconds
            for neighbors in relations[:1]:
                budget = run_of(batching, neighbors=neighbors, target_epsilon=target, **more)
                budget.step(budget.max_steps)
                self.assertLessEqual(budget.epsilon().upper, target, (batching, neighbors))
                self.assertTrue(budget.exhausted)
                with self.assertRaises(BudgetError):
                    budget.step()
                free = run_of(batching, neighbors=neighbors, **more)  # without a limit
                free.step(budget.max_steps + 1)
                self.assertGreater(free.epsilon().upper, target, (batching, neighbors))
                with self.assertRaises(InfeasibleError):
                    run_of(batching, neighbors=neighbors, target_epsilon=1e-7, **more)

    def test_one_changed_line(self):
        """60 epochs of batches of 256 of 60,000 at noise 1.1: 2.336 by random allocation, 11.4 to 54 by shuffling."""
        ends = {}
        for batching in ("random-allocation", "shuffle"):
            budget = run_of(batching, 1.1, examples=60_000, batch_size=256)
            budget.step(60 * 235)
            ends[batching] = budget.epsilon()
        self.assertEqual(f"{ends['random-allocation'].upper:.3f}", "2.336")
        self.assertGreater(ends["shuffle"].lower, 11.4)
        self.assertAlmostEqual(ends["shuffle"].upper, 54.05, places=2)

    def test_rate_only(self):
        budget = callbacks.TrainingBudget(noise_multiplier=2, sampling_rate=0.1, delta=1e-5, batching="random-allocation")
        budget.step(25)
        want = command("random-allocation", 25, None, sizes=("--sampling-rate", "0.1"))
        self.assertEqual((budget.epsilon().lower, budget.epsilon().upper), (want["lower"], want["upper"]))
        with self.assertRaisesRegex(InputError, "examples"):
            budget.sampler()
        self.assertEqual(len(budget.sampler(50)), 10)
        with self.assertRaisesRegex(InputError, "examples: 50"):
            run_of("shuffle").sampler(50)

    def test_persons(self):
        budget = run_of("poisson", records_per_person=3)
        budget.step(5)
        want = shared().dpsgd(**SIZES, noise_multiplier=2, steps=5, delta=1e-5, records_per_person=3).epsilons[0]
        self.assertEqual(budget.epsilon().upper, want.upper)

    def test_sampler(self):
        """Steps are of batches that were drawn; an epoch that is left counts whole."""
        for batching, more, _, _, _ in RUNS:
            budget = run_of(batching, **more)
            sampler = budget.sampler()
            for _ in range(2):
                for batch in sampler:
                    self.assertLessEqual(set(batch), set(range(1000)))
                    budget.step()
            with self.assertRaisesRegex(AccountantError, "0 are left, and 1 are to be counted"):
                budget.step()
            self.assertEqual(budget.steps, 20)
            for _ in range(3):
                for _ in zip(range(3), sampler):
                    budget.step()
            # Three epochs were begun: two of them are whole ones now, and the last has 3 steps of 10.
            self.assertEqual(budget.steps, 43 if budget.batching.by_epochs else 29, batching)

    def test_left_epochs(self):
        budget = run_of("random-allocation", target_epsilon=3.0)
        sampler = budget.sampler()
        with self.assertRaises(BudgetError):
            while True:
                for _ in zip(range(9), sampler):
                    budget.step()
        same = run_of("random-allocation", target_epsilon=3.0)
        self.assertLess(10 * sampler.passes - 20, same.max_steps)
        self.assertLessEqual(budget.steps, same.max_steps)
        self.assertLess(same.max_steps - budget.steps, 10)
        # A checkpoint in the middle of an epoch: a new one begins after it.
        first = run_of("random-allocation")
        first.step(13)
        other = run_of("random-allocation")
        other.load_state_dict(json.loads(json.dumps(first.state_dict())))
        self.assertEqual((other.steps, other.epsilon().upper), (13, first.epsilon().upper))
        other.step()
        self.assertEqual(other.steps, 21)
        for wrong in (run_of("shuffle"), run_of("random-allocation", batch_size=50)):
            with self.assertRaisesRegex(ValueError, "another run"):
                wrong.load_state_dict(first.state_dict())

    def test_other_noise(self):
        """Noise changes between epochs, and is counted as what it is."""
        budget = run_of("random-allocation")
        budget.step(15)
        with self.assertRaisesRegex(ValueError, "epoch, in which it cannot change"):
            budget.step(noise_multiplier=3)
        with self.assertRaisesRegex(ValueError, "sampling_rate: 0.2 is not 0.1"):
            budget.step(sampling_rate=0.2)
        budget.step(5)
        budget.step(10, noise_multiplier=3)
        epochs = [
            {"mechanism": {"gaussian": {"noise-multiplier": sigma}}, "sampling": {"random-allocation": {"steps": 10}}, "count": count}
            for sigma, count in ((2, 2), (3, 1))
        ]
        self.assertEqual(budget.epsilon().upper, shared().epsilon({"neighbors": "add-remove", "steps": epochs}, 1e-5).upper)


class Loaders(unittest.TestCase):
    def attach(self, budget, loader):
        optimizer = peers._DPOptimizer(2.0)
        callbacks.attach(optimizer, budget, loader=loader)
        return optimizer

    def loader(self, sampler):
        return types.SimpleNamespace(batch_sampler=sampler)

    def test_attach(self):
        """Each batching takes its own sampler, and no other's."""
        for batching, more, _, _, _ in RUNS:
            for other, more2, _, _, _ in RUNS:
                sampler = Sampler(other, 1000, batch_size=100, **more2)
                budget = run_of(batching, **more)
                if batching != other:
                    with self.assertRaisesRegex(AccountantError, "^loader: "):
                        self.attach(budget, self.loader(sampler))
                    continue
                optimizer = self.attach(budget, self.loader(sampler))
                for batch in sampler:
                    optimizer.grad_samples = [batch]
                    optimizer.step()
                self.assertEqual(budget.steps, 10)
                if batching != "poisson":
                    with self.assertRaisesRegex(AccountantError, "0 are left"):
                        optimizer.step()
                optimizer.accumulated_iterations = 2
                with self.assertRaisesRegex(AccountantError, "several"):
                    optimizer.step()

    def test_other_sizes(self):
        for wrong in (dict(examples=1000, batch_size=50), dict(examples=2000, batch_size=200)):
            for batching in ("random-allocation", "shuffle", "fixed-order", "without-replacement"):
                with self.assertRaisesRegex(AccountantError, "^loader: has .* and the budget is for " + batching):
                    self.attach(run_of(batching), self.loader(Sampler(batching, **wrong)))

    def orders(self, order, **options):
        """A batch sampler with the parts of PyTorch's that are looked at."""
        class BatchSampler:
            batch_size, drop_last, sampler = 100, options.pop("drop_last", False), None

            def __iter__(self):
                every = list(self.sampler)
                return (every[i : i + 100] for i in range(0, len(every), 100))

        class Order:
            data_source = range(options.pop("records", 1000))
            replacement = options.pop("replacement", False)

            def __len__(self):
                return options.get("length", len(self.data_source))

            def __iter__(self):
                return iter(self.data_source)

        Order.__name__ = order
        found = BatchSampler()
        found.sampler = Order()
        return found

    def test_orders_of_torch(self):
        """DataLoader(shuffle=True) is a shuffle, without it a fixed order: for budgets of these, and their passes are counted."""
        for batching, order in (("shuffle", "RandomSampler"), ("fixed-order", "SequentialSampler")):
            sampler = self.orders(order)
            budget = run_of(batching)
            for _ in range(2):  # attached again, it is the same
                optimizer = self.attach(budget, self.loader(sampler))
            for _ in range(3):
                for _ in zip(range(4), sampler):
                    optimizer.step()
            self.assertEqual(budget.steps, 24)
            for wrong in (
                self.orders("SequentialSampler" if batching == "shuffle" else "RandomSampler"),
                self.orders(order, replacement=True),
                self.orders(order, records=1050, drop_last=True),
                self.orders(order, length=1500),
                self.orders(order, records=900),
                self.orders("WeightedRandomSampler"),
                types.SimpleNamespace(),
            ):
                with self.assertRaisesRegex(AccountantError, "^loader: "):
                    self.attach(run_of(batching), self.loader(wrong))
        with self.assertRaisesRegex(AccountantError, "RandomSampler.*Sampler\\('random-allocation'"):
            self.attach(run_of("random-allocation"), self.loader(self.orders("RandomSampler")))

    def test_lightning(self):
        peers.lightning()
        sampler = Sampler("random-allocation", 1000, batch_size=100)
        optimizer = types.SimpleNamespace(noise_multiplier=2.0)
        trainer = types.SimpleNamespace(train_dataloader=self.loader(sampler), optimizers=[optimizer], accumulate_grad_batches=1)
        budget = run_of("random-allocation")
        callback = callbacks.lightning_callback(budget)
        callback.on_train_start(trainer, None)
        for _ in sampler:
            callback.on_before_optimizer_step(trainer, None, optimizer)
        self.assertEqual(budget.steps, 10)
        with self.assertRaisesRegex(AccountantError, "^loader: "):
            callbacks.lightning_callback(run_of("shuffle")).on_train_start(trainer, None)

    def test_keras(self):
        """A callback sees no batches: steps are counted, and a new fit begins an epoch."""
        peers.keras()
        budget = run_of("random-allocation")
        budget.sampler()
        callback = callbacks.keras_callback(budget)
        peers.keras_fit(callback, 2, 10)
        self.assertEqual(budget.steps, 20)
        peers.keras_fit(callback, 1, 3)
        peers.keras_fit(callback, 1, 3)
        self.assertEqual(budget.steps, 33)

    @unittest.skipIf(torch is None, "TORCH IS NOT INSTALLED: its loaders are not tried")
    def test_loaders_of_torch(self):
        """Real loaders, with processes that draw ahead: a pass that is left in its middle is an epoch."""
        load = torch.utils.data.DataLoader
        data = torch.arange(1000)
        for batching, loader in (
            ("random-allocation", load(data, batch_sampler=Sampler("random-allocation", 1000, batch_size=100), num_workers=2)),
            ("shuffle", load(data, batch_size=100, shuffle=True, num_workers=2)),
            ("fixed-order", load(data, batch_size=100)),
        ):
            budget = run_of(batching)
            optimizer = self.attach(budget, loader)
            for _ in loader:
                optimizer.step()
            for _ in range(2):
                for _ in zip(range(8), loader):
                    optimizer.step()
            self.assertEqual(budget.steps, 28, batching)
        with self.assertRaisesRegex(AccountantError, "^loader: "):
            self.attach(run_of("shuffle"), load(data[:950], batch_size=100, shuffle=True, drop_last=True))

    def test_opacus(self):
        """Opacus's own engine trains on random allocation, and on a shuffle, each with its own price."""
        peers.opacus()
        if peers.KIND["opacus"].startswith("STAND-IN"):
            self.skipTest(f"OPACUS IS A {peers.KIND['opacus']}: it does not train on other batches")
        warnings.simplefilter("ignore")  # those of Opacus are none of ours
        import opacus

        for batching in ("random-allocation", "shuffle", "without-replacement", "poisson"):
            parts = peers.unprivate(1000, 100)
            if batching != "shuffle":
                parts["data_loader"] = torch.utils.data.DataLoader(
                    parts["data_loader"].dataset, batch_sampler=Sampler(batching, **SIZES))
            module, optimizer, loader = opacus.PrivacyEngine().make_private(noise_multiplier=2.0, poisson_sampling=False, **parts)
            budget = run_of(batching)
            callbacks.attach(optimizer, budget, loader=loader)
            for _ in range(2):
                peers.train(module, optimizer, loader)
            want = command(batching, 20, None)
            self.assertEqual((budget.epsilon().lower, budget.epsilon().upper), (want["lower"], want["upper"]), batching)
            budget = run_of(batching, target_epsilon=3.0 if batching != "shuffle" else 6.0)
            callbacks.attach(optimizer, budget, loader=loader)
            with self.assertRaises(BudgetError):
                for _ in range(1000):
                    peers.train(module, optimizer, loader)
            self.assertEqual(budget.steps, budget.max_steps)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    print("peers:", ", ".join(f"{name} {kind}" for name, kind in sorted(peers.KIND.items())), file=sys.stderr)
    sys.exit(not result.wasSuccessful())
