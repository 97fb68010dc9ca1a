"""Batches of every sampling scheme, drawn by the accountant. No framework is imported."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

from ._errors import InputError
from ._shared import Asking
from .client import Accountant

__all__ = ["Sampler"]

BATCHINGS = ("poisson", "random-allocation", "shuffle", "truncated-poisson", "without-replacement", "fixed-order")

# About how many records one request asks for where the scheme leaves it open.
_AT_ONCE = 1 << 16


class Batching:
    """A way to draw batches, in the words of ``Accountant.dpsgd``."""

    def __init__(
        self,
        name: str,
        *,
        examples: Optional[int] = None,
        batch_size: Optional[int] = None,
        sampling_rate: Optional[float] = None,
        cap: Optional[int] = None,
    ) -> None:
        if name not in BATCHINGS:
            raise InputError(f"batching: {name!r} is not one of {', '.join(BATCHINGS)}")
        if (cap is not None) != (name == "truncated-poisson"):
            raise InputError(f"cap: must be given with truncated-poisson and with nothing else, not with {name}")
        self.name, self.examples, self.batch_size, self.cap = name, examples, batch_size, cap
        if sampling_rate is not None and batch_size is None:
            if not 0 < sampling_rate <= 1:
                raise InputError(f"sampling_rate: {sampling_rate} is not in (0, 1]")
            self.rate, exact = float(sampling_rate), _number(float(sampling_rate))
        elif examples is None or batch_size is None or sampling_rate is not None:
            raise InputError("must be given: examples and batch_size, or sampling_rate in place of batch_size")
        elif examples < 1:
            raise InputError(f"examples: {examples} is not a whole number above 0")
        elif not 1 <= batch_size <= examples:
            raise InputError(f"batch_size: {batch_size} is not in [1, {examples}]")
        else:
            self.rate, exact = batch_size / examples, Fraction(batch_size, examples)
        if name in ("truncated-poisson", "without-replacement") and batch_size is None:
            raise InputError(f"batch_size: is missing; {name} needs it, and examples, in place of sampling_rate")
        self.by_epochs = name in ("random-allocation", "shuffle", "fixed-order")
        self.pass_length = _whole(1 / exact)
        # How many steps belong together: of an epoch, or one.
        self.each = self.pass_length if self.by_epochs else 1
        # What it is accounted for under if nobody says otherwise: where examples have places, an empty place.
        self.neighbors = "zero-out" if name in ("shuffle", "fixed-order") else "add-remove"

    def scheme(self, rate: Optional[float] = None) -> Dict[str, Dict[str, Any]]:
        """The sampling of a step, or of an epoch, in a plan."""
        parameters: Dict[str, Dict[str, Any]] = {
            "poisson": {"rate": self.rate if rate is None else rate},
            "random-allocation": {"steps": self.each},
            "shuffle": {"batches": self.each},
            "truncated-poisson": {"rate": self.rate, "cap": self.cap, "population": self.examples},
            "without-replacement": {"population": self.examples, "batch": self.batch_size},
            "fixed-order": {"uses": 1},
        }
        return {self.name: parameters[self.name]}

    def steps(self, noise: float, rate: float, count: int, neighbors: str) -> List[Dict[str, Any]]:
        """The steps of a plan for so many steps of training: whole epochs, and a last one that is cut short.

        A last epoch without a price of its own is a whole one, which is not less.
        """
        whole, part = divmod(count, self.each)
        if part and not self.parts(neighbors):
            whole, part = whole + 1, 0
        runs: List[Tuple[Dict[str, Any], int]] = [(self.scheme(rate), whole)] if whole else []
        if part and self.name == "shuffle":
            # Of a permuted data set the first batches, in which an example is with probability part/each.
            runs.append(({"shuffle": {"batches": part, "unused": (self.each - part) / self.each}}, 1))
        elif part:
            runs.append(({"random-allocation": {"steps": self.each, "first": part}}, 1))
        return [
            {"mechanism": {"gaussian": {"noise-multiplier": noise}}, "sampling": sampling, "count": times}
            for sampling, times in runs
        ]

    def parts(self, neighbors: str) -> bool:
        """Whether a part of an epoch has a price of its own."""
        return self.name == "shuffle" or (self.name == "random-allocation" and neighbors != "substitute")


def _whole(x: Fraction) -> int:
    """⌈x⌉, where x is a whole number if the rounding of a rate explains what it is off: 1/0.004273504273504274 is 234."""
    near = math.floor(x + Fraction(1, 2))
    return near if abs(x - near) * 2**52 <= x else math.ceil(x)


def _number(x: Any) -> Fraction:
    """A number of a plan."""
    try:
        return Fraction(x.replace(" ", "") if isinstance(x, str) else repr(x))
    except ValueError as error:
        raise InputError(f"rate: {x!r} is not a number or a fraction") from error


class Sampler(Asking):
    """Batches of indices in [0, examples) by a sampling scheme, one list for each step of a pass.

    ``scheme`` is a batching of ``Accountant.dpsgd``, with ``batch_size`` or ``sampling_rate`` and perhaps ``cap``, or
    the sampling of a step in a plan, such as ``{"random-allocation": {"steps": 235}}``; "fixed-order" needs ``batch_size``
    in either case. A record that a batch has several times (with-replacement, must-…) is in its list as often.

    An iteration is a pass: one epoch where the scheme has epochs, else ``len(sampler)`` steps. PyTorch takes it as
    ``DataLoader(data, batch_sampler=Sampler(…))``, TensorFlow by
    ``tf.data.Dataset.from_generator(sampler.arrays, output_signature=tf.TensorSpec((None,), tf.int64))``.

    Batches are drawn by the program, with the randomness of the operating system; they must stay secret, and so must
    their sizes where these vary. ``test_seed`` makes the same batches again: for tests, as they protect nobody.
    InputError is raised for a scheme that cannot be drawn. One iteration at a time.
    """

    def __init__(
        self,
        scheme: Union[str, Mapping[str, Mapping[str, Any]]],
        examples: int,
        *,
        batch_size: Optional[int] = None,
        sampling_rate: Optional[float] = None,
        cap: Optional[int] = None,
        test_seed: Optional[int] = None,
        accountant: Optional[Accountant] = None,
    ) -> None:
        self._accountant = accountant
        self.examples = int(examples)
        self._length = 0  # not known yet
        if isinstance(scheme, str):
            batching = Batching(scheme, examples=self.examples, batch_size=batch_size, sampling_rate=sampling_rate, cap=cap)
            scheme, self._length = batching.scheme(), batching.pass_length
        elif not isinstance(scheme, Mapping) or len(scheme) != 1:
            raise InputError(f"scheme: {scheme!r} is not a batching or a mapping such as {{'poisson': {{'rate': 0.01}}}}")
        self.scheme: Mapping[str, Mapping[str, Any]] = scheme
        (self._name, parameters), = scheme.items()
        self._by_epochs = self._name in ("random-allocation", "balls-in-bins", "shuffle")
        self._seeds = None if test_seed is None else random.Random(test_seed)
        self._epoch: List[List[int]] = []
        self.passes, self.drawn = 0, 0  # passes begun, and batches drawn in all of them
        if self._name == "fixed-order":
            if batch_size is not None:
                self._length = Batching("fixed-order", examples=self.examples, batch_size=batch_size).pass_length
            elif not self._length:
                raise InputError("batch_size: is missing; a fixed order needs it")
            self._size = batch_size or -(-self.examples // self._length)
            return
        # Nobody sees these batches: what is wrong with the scheme is told here, and how long an epoch is.
        first = self._draw(None, 1 if self._by_epochs else self.examples)
        self._kept = int(parameters["epochs"]) if parameters.get("redraw") == "once" else 1
        if self._by_epochs:
            self._length = len(first)
        elif not self._length:
            rate = _number(parameters["rate"]) if "rate" in parameters else Fraction(parameters["batch"], parameters["population"])
            self._length = _whole(1 / rate) if rate else 1
        if self._name == "poisson":
            # By these names Opacus, and the adapters of this package, know Poisson samples.
            self.sample_rate, self.num_samples = float(_number(parameters["rate"])), self.examples

    def __len__(self) -> int:
        """The number of batches of a pass."""
        return self._length

    def __iter__(self) -> Iterator[List[int]]:
        self.passes += 1
        for batch in self._pass():
            self.drawn += 1
            yield batch

    def arrays(self) -> Iterator[Any]:
        """The batches of a pass as arrays of numpy's int64."""
        import numpy

        for batch in self:
            yield numpy.asarray(batch, numpy.int64)

    def _pass(self) -> Iterator[List[int]]:
        if self._name == "fixed-order":
            for start in range(0, self.examples, self._size):
                yield list(range(start, min(start + self._size, self.examples)))
        elif self._by_epochs:
            if self._kept == 1 or self.passes % self._kept == 1:
                self._epoch = self._draw(None, self.examples)
            for batch in self._epoch:
                yield list(batch)
        else:
            left, at_once = self._length, 1
            while left:
                batches = self._draw(min(left, at_once), self.examples)
                left -= len(batches)
                at_once = max(1, _AT_ONCE // max(1, len(batches[0])))
                yield from batches

    def _draw(self, batches: Optional[int], examples: int) -> List[List[int]]:
        seed = None if self._seeds is None else self._seeds.getrandbits(53)
        return self._ask().draw(self.scheme, examples, batches=batches, test_seed=seed)
