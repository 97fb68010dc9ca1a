"""What a loader and an optimizer of PyTorch show of the batches. No framework is imported."""

from __future__ import annotations

import math
from typing import Any, Iterator, Optional, Union

from ._errors import AccountantError
from ._samplers import Batching, Sampler

__all__ = ["EpochBatches", "PoissonBatches", "batches_of"]

# Sizes are called impossible when their evidence reaches 1e15. In a million steps of Poisson
# samples that has a probability below 1e-9 (PoissonBatches._weigh).
_IMPOSSIBLE = math.log(1e15)


def _check_step(optimizer: Any) -> None:
    """Raise AccountantError for what no batching has in a step of Opacus."""
    if hasattr(optimizer, "unclipped_num_std"):
        raise AccountantError(
            "the optimizer adapts its clipping norm by the exact size of each batch, which no theorem covers: "
            "use clipping='flat' or 'per_layer'"
        )
    if getattr(optimizer, "accumulated_iterations", 1) != 1:
        raise AccountantError("a step is of one batch, and this one has several, in each of which a record can be")


class PoissonBatches:
    """Poisson samples, as a loader says that it draws them; checked at each step of an optimizer.

    A batch sampler draws them if it has ``sample_rate`` and ``num_samples``, as those of Opacus
    do. AccountantError is raised for every other loader.
    """

    def __init__(self, loader: Any) -> None:
        sampler = getattr(loader, "batch_sampler", None)
        if hasattr(sampler, "max_batch_size"):  # BatchMemoryManager of Opacus, which cuts batches for a small memory
            sampler = getattr(sampler, "sampler", None)
        rate, records = getattr(sampler, "sample_rate", None), getattr(sampler, "num_samples", None)
        if rate is None or records is None:
            order = getattr(sampler, "sampler", None)
            name = type(loader if sampler is None else sampler if order is None else order).__name__
            how = {"RandomSampler": "'shuffle'", "SubsetRandomSampler": "'shuffle'", "SequentialSampler": "'fixed-order'"}
            raise AccountantError(
                f"loader: {name} does not draw Poisson samples, and the ε of Poisson samples can be far too small for it. "
                "Train with make_private(poisson_sampling=True) on the loader that it returns, or ask "
                f"Accountant.dpsgd(batching={how.get(name, '…')}), or a TrainingBudget of that batching, what these batches cost"
            )
        self.rate, self.records = float(rate), int(records)
        if not (0 < self.rate <= 1 and self.records > 0):
            raise AccountantError(f"loader: the rate {rate} of {records} records is not in (0, 1] of at least one")
        self._last: Optional[int] = None
        self._evidence = 0.0

    def check(self, optimizer: Any) -> None:
        """Raise AccountantError if an optimizer of Opacus is about to take a step that is none of a Poisson sample."""
        _check_step(optimizer)
        try:
            size: Optional[int] = len(optimizer.grad_samples[0])
        except (AttributeError, IndexError, TypeError, ValueError):
            return  # ghost clipping keeps no gradients of single records
        if getattr(optimizer, "_is_last_step_skipped", False):
            size = None  # the last part of a batch that was cut
        self._weigh(size)

    def _weigh(self, size: Optional[int]) -> None:
        """Weigh the size of a batch, None if unknown, against Binomial(records, rate).

        The evidence is the logarithm of a product of 0.1 + 0.9·g(size)/p(size), g the uniform law
        on all sizes, after the first step mixed with nine times one on the last size; an unknown size counts 0.1.
        Under Poisson sampling each factor has mean at most 1 given the steps before, so that the
        product from a given step on ever reaches c with probability at most 1/c (Ville). It begins
        anew wherever it is below 1: in m steps c is reached with probability at most m/c.
        """
        factor = 0.1
        if size is not None:
            g = 1 / (self.records + 1)
            if self._last is not None:
                g = 0.1 * g + 0.9 * (size == self._last)
            surprise = math.log(g) - self._log_probability(size)
            factor = math.inf if surprise > 700 else 0.1 + 0.9 * math.exp(surprise)
            self._last = size
        self._evidence = max(0.0, self._evidence + math.log(factor))
        if self._evidence >= _IMPOSSIBLE:
            raise AccountantError(
                f"batches: such sizes, the last of them {size}, are not those of Poisson samples of {self.records} "
                f"records at rate {self.rate}; train on the loader that was given"
            )

    def _log_probability(self, size: int) -> float:
        n, q = self.records, self.rate
        if size > n or q == 1:
            return 0.0 if size == n else -math.inf
        choose = math.lgamma(n + 1) - math.lgamma(size + 1) - math.lgamma(n - size + 1)
        return choose + size * math.log(q) + (n - size) * math.log1p(-q)


class _Order:
    """The order of a loader of PyTorch, with a count of its passes and of the batches that are cut from it."""

    def __init__(self, order: Any, batch_size: int) -> None:
        self.order, self.batch_size = order, batch_size
        self.passes, self.drawn = 0, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["order"], name)

    def __len__(self) -> int:
        return len(self.order)

    def __iter__(self) -> Iterator[Any]:
        self.passes += 1
        for i, record in enumerate(self.order):
            self.drawn += i % self.batch_size == 0
            yield record


class EpochBatches:
    """The batches of a loader for a budget of another batching than Poisson's, and how many were drawn.

    The loader has a Sampler as its batch sampler, or for shuffle and fixed-order is one of PyTorch, whose order
    counts its passes from here on. AccountantError is raised if these are not the batches of the budget.
    """

    rate = None  # nothing to compare: the scheme is the budget's

    def __init__(self, loader: Any, batching: Batching) -> None:
        self.batching = batching
        sampler = getattr(loader, "batch_sampler", None)
        if sampler is None and isinstance(loader, Sampler):
            sampler = loader
        if hasattr(sampler, "max_batch_size"):  # as above
            sampler = getattr(sampler, "sampler", None)
        self.source: Union[Sampler, _Order] = self._ours(sampler) if isinstance(sampler, Sampler) else self._order(loader, sampler)

    def _ours(self, sampler: Sampler) -> Sampler:
        wanted = self.batching.scheme()
        if dict(sampler.scheme) != wanted or len(sampler) != self.batching.pass_length:
            self._refuse(f"{dict(sampler.scheme)} with {len(sampler)} batches a pass", f"{wanted} with {self.batching.pass_length}")
        if self.batching.examples not in (None, sampler.examples):
            self._refuse(f"batches of {sampler.examples} examples", self.batching.examples)
        return sampler

    def _order(self, loader: Any, sampler: Any) -> _Order:
        order = getattr(sampler, "sampler", None)
        bare = order.order if isinstance(order, _Order) else order
        kinds = {"shuffle": ("RandomSampler", "SubsetRandomSampler"), "fixed-order": ("SequentialSampler",)}
        name = type(loader if sampler is None else sampler if bare is None else bare).__name__
        if name not in kinds.get(self.batching.name, ()) or getattr(bare, "replacement", False):
            self._refuse(f"batches by {name}", f"a loader with batch_sampler=dpaccountant.Sampler({self.batching.name!r}, …)")
        size, records = sampler.batch_size, len(bare)
        if len(getattr(bare, "data_source", bare)) < records or getattr(sampler, "drop_last", False) and records % size:
            self._refuse("batches in which not every record is once in a pass", "drop_last=False and no num_samples")
        if -(-records // size) != self.batching.each or self.batching.examples not in (None, records):
            self._refuse(f"{-(-records // size)} batches of {records} records", f"{self.batching.each} of {self.batching.examples or 'as many'}")
        if not isinstance(order, _Order):
            sampler.sampler = order = _Order(order, size)
        return order

    def _refuse(self, has: Any, wants: Any) -> None:
        raise AccountantError(f"loader: has {has}, and the budget is for {self.batching.name}: must be {wants}")

    def check(self, optimizer: Any) -> None:
        """Raise AccountantError if an optimizer of Opacus is about to take a step that is none of one batch."""
        _check_step(optimizer)


def batches_of(loader: Any, batching: Batching) -> Union[PoissonBatches, EpochBatches]:
    """The batches of a loader; AccountantError if they are not those of the batching."""
    return PoissonBatches(loader) if batching.name == "poisson" else EpochBatches(loader, batching)
