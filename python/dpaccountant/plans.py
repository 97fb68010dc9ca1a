"""Plans by Python: ``Gaussian(1.1).poisson(256 / 60000) * 14063`` is a step, ``Plan(step, …)`` a plan."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ._errors import InputError
from ._read import given

__all__ = [
    "Step", "Plan", "mechanism", "Gaussian", "Laplace", "DiscreteGaussian", "DiscreteLaplace", "RandomizedResponse",
    "Pure", "Approximate", "Exponential", "PermuteAndFlip", "NoisyMax", "Threshold", "SelectPartitions", "Majority", "Matrix",
    "Density", "DensityGrid",
]


class Step(Dict[str, Any]):
    """A step of a plan: a mechanism, perhaps on a sample, so many times. Ranges are checked where a plan is asked about.

    ``step * 14063`` runs it so often; the methods draw the sample that it runs on. Each returns another step.
    """

    def __mul__(self, count: int) -> "Step":
        """The step so many times, in [1, 2^53]."""
        if isinstance(count, bool) or not hasattr(count, "__index__") or not 1 <= int(count) <= 2**53:
            raise InputError(f"count: {count!r} is not a whole number in [1, 2^53]")
        return Step({**self, "count": int(count) * int(self.get("count", 1))})

    __rmul__ = __mul__

    def named(self, name: str) -> "Step":
        """The step with a name, which is free text."""
        return Step({**self, "name": name})

    def sampled(self, scheme: str, **parameters: Any) -> "Step":
        """The step on a sample by any scheme of plans: ``sampled("balls-in-bins", bins=8)``."""
        if "sampling" in self:
            raise InputError(f"sampling: {scheme} is a second scheme, must be the only one")
        return Step({**self, "sampling": {scheme: given(**parameters)}})

    def poisson(self, rate: float) -> "Step":
        """Each record takes part with probability ``rate``, in [0, 1]."""
        return self.sampled("poisson", rate=rate)

    def truncated_poisson(self, rate: float, *, cap: int, population: int) -> "Step":
        """Poisson samples of ``population`` records, of which at most ``cap`` are kept."""
        return self.sampled("truncated-poisson", rate=rate, cap=cap, population=population)

    def without_replacement(self, *, population: int, batch: int) -> "Step":
        """``batch`` different records of ``population``."""
        return self.sampled("without-replacement", population=population, batch=batch)

    def random_allocation(self, steps: int, *, uses: Optional[int] = None) -> "Step":
        """An epoch of so many steps, of which each record takes part in ``uses`` (1) at random."""
        return self.sampled("random-allocation", steps=steps, uses=uses)

    def shuffle(self, batches: int) -> "Step":
        """An epoch: the shuffled records, cut into so many batches."""
        return self.sampled("shuffle", batches=batches)


class Plan(Dict[str, Any]):
    """What runs: steps, or mappings of the same form, under a neighbouring relation.

    ``neighbors`` is add-remove, substitute or zero-out; ``records_per_person`` makes persons with so many records the
    unit. It is a mapping, which every method with a plan takes. ``plan + step`` has another step.

        Plan(Gaussian(1.1).poisson(256 / 60000) * 14063, Laplace(20))
    """

    def __init__(
        self, *steps: Mapping[str, Any], neighbors: str = "add-remove", records_per_person: Optional[int] = None
    ) -> None:
        if not steps:
            raise InputError("steps: is missing; must be one step or more")
        for i, step in enumerate(steps):
            if not isinstance(step, Mapping):
                raise InputError(f"steps[{i}]: {type(step).__name__} is not a step or a mapping")
        super().__init__(
            {"neighbors": neighbors, **given(records_per_person=records_per_person), "steps": [dict(step) for step in steps]}
        )

    def __add__(self, step: Mapping[str, Any]) -> "Plan":
        more = Plan(*self["steps"], step)
        more.update({**self, "steps": more["steps"]})
        return more


def mechanism(name: str, **parameters: Any) -> Step:
    """A step with any mechanism of plans, whose keys have underscores here: ``mechanism("finite", p=[…], q=[…])``."""
    return Step({"mechanism": {name: given(**parameters)}})


def Gaussian(noise_multiplier: float) -> Step:
    """Gaussian noise; its standard deviation over the L2 sensitivity, above 0."""
    return mechanism("gaussian", noise_multiplier=noise_multiplier)


def Laplace(noise_multiplier: float) -> Step:
    """Laplace noise; its scale over the L1 sensitivity, above 0."""
    return mechanism("laplace", noise_multiplier=noise_multiplier)


def DiscreteGaussian(noise_multiplier: float, *, sensitivity: Optional[int] = None) -> Step:
    """Gaussian noise on whole numbers."""
    return mechanism("discrete-gaussian", noise_multiplier=noise_multiplier, sensitivity=sensitivity)


def DiscreteLaplace(noise_multiplier: float, *, sensitivity: Optional[int] = None) -> Step:
    """Laplace noise on a whole number."""
    return mechanism("discrete-laplace", noise_multiplier=noise_multiplier, sensitivity=sensitivity)


def RandomizedResponse(probability: float, categories: int) -> Step:
    """A category drawn uniformly with ``probability``, else the true one."""
    return mechanism("randomized-response", probability=probability, categories=categories)


def Pure(epsilon: float) -> Step:
    """Whatever is ε-DP."""
    return mechanism("pure", epsilon=epsilon)


def Approximate(epsilon: float, delta: float) -> Step:
    """Whatever is (ε, δ)-DP."""
    return mechanism("approximate", epsilon=epsilon, delta=delta)


def Exponential(epsilon: float) -> Step:
    """The exponential mechanism."""
    return mechanism("exponential", epsilon=epsilon)


def PermuteAndFlip(epsilon: float) -> Step:
    """Permute-and-flip."""
    return mechanism("permute-and-flip", epsilon=epsilon)


def NoisyMax(noise: str, epsilon: float) -> Step:
    """Report-noisy-max with noise gumbel, exponential or laplace."""
    return mechanism("noisy-max", noise=noise, epsilon=epsilon)


def Threshold(
    noise: str, threshold: float, *, standard_deviation: Optional[float] = None, scale: Optional[float] = None,
    partitions: Optional[int] = None,
) -> Step:
    """Noisy counts of keys that pass a threshold; noise is gaussian (``standard_deviation``), laplace or discrete-laplace (``scale``)."""
    return mechanism(
        "threshold", noise=noise, threshold=threshold, standard_deviation=standard_deviation, scale=scale, partitions=partitions
    )


def SelectPartitions(epsilon: float, delta: float, *, partitions: Optional[int] = None) -> Step:
    """Keys without their counts, of persons in at most so many partitions."""
    return mechanism("select-partitions", epsilon=epsilon, delta=delta, partitions=partitions)


def Density(
    p: Sequence[float], q: Sequence[float], *, low: Optional[Sequence[float]] = None, high: Optional[Sequence[float]] = None,
    order: Optional[str] = None, mass_error: Optional[float] = None, loss_error: Optional[float] = None, outside: Optional[float] = None,
) -> Step:
    """A mechanism of one's own by the masses of cells of outputs, ``p`` on one data set and ``q`` on its neighbour.

    ``low`` and ``high`` bound log(dP/dQ) in each cell and may be infinite; ``order="ascending"`` says in their place that it does
    not fall from cell to cell; without either, a cell is one outcome. ``mass_error`` bounds the relative error of masses,
    ``loss_error`` that of ``low`` and ``high``, ``outside`` what either mass has in no cell. Lists or arrays.
    """
    return mechanism(
        "density", p=p, q=q, low=_losses("low", low), high=_losses("high", high), order=order, mass_error=mass_error, loss_error=loss_error, outside=outside
    )


def DensityGrid(
    grid: Sequence[float], log_p: Sequence[float], log_q: Sequence[float], curvature: float, *, kinks: Optional[Sequence[float]] = None,
    density_error: Optional[float] = None, outside: Optional[float] = None,
) -> Step:
    """A mechanism of one's own by the logarithms of two densities at the points of a grid.

    ``curvature`` bounds their second derivatives between points, ``density_error`` the error of the values, ``outside`` the mass of either
    density beyond the grid; the densities may have ``kinks`` at points of it.
    """
    return mechanism(
        "density", grid=grid, log_p=log_p, log_q=log_q, curvature=curvature, kinks=kinks, density_error=density_error, outside=outside
    )


def _losses(name: str, values: Optional[Sequence[float]]) -> Optional[List[Any]]:
    """Losses as plans have them: JSON has no infinite numbers."""
    if values is None:
        return None
    losses = [float(x) for x in values]
    for i, x in enumerate(losses):
        if math.isnan(x):
            raise InputError(f"{name}[{i}]: nan is not a loss; must be a number, inf or -inf")
    return [x if math.isfinite(x) else "inf" if x > 0 else "-inf" for x in losses]


def Majority(mechanisms: int, epsilon: float, allowance: float, *, answers: Optional[int] = None, **parameters: Any) -> Step:
    """The private majority of so many ε-DP mechanisms; other parameters are those of majority in plans."""
    return mechanism("majority", mechanisms=mechanisms, epsilon=epsilon, allowance=allowance, answers=answers, **parameters)


def Matrix(noise_multiplier: float, steps: int, *, strategy: Any, participation: Any) -> Step:
    """A run of a matrix mechanism: ``strategy={"square-root": {}}, participation={"min-separation": 100, "at-most": 20}``."""
    return mechanism("matrix", noise_multiplier=noise_multiplier, steps=steps, strategy=strategy, participation=participation)
