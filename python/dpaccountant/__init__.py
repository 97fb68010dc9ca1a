"""Drive the privacy accountant from Python.

One ``accountant serve --stdio`` process runs beside the program and answers
requests, so a question costs no process start::

    from dpaccountant import Accountant, Gaussian, Plan

    plan = Plan(Gaussian(1.1).poisson(0.004) * 14000)
    with Accountant() as accountant:
        answer = accountant.epsilon(plan, delta=1e-5)
        print(answer.lower, answer.upper)

Adapters with the interfaces of other libraries are modules that are imported by name:
``dpaccountant.opacus``, ``dpaccountant.dp_accounting``, ``dpaccountant.events``,
``dpaccountant.dpsgd`` and ``dpaccountant.callbacks``.

Needs Python 3.8 or newer, the ``accountant`` program, and nothing else.
"""

from . import _examples, _samplers, _shared, answers, client, ledger, menu, plans
from ._errors import (
    AccountantError, InputError, InfeasibleError, BudgetError, NoAnswerError,
)
from ._read import PlanLike
from ._runs import AdaptiveSearch, NoiseStream
from ._samplers import Sampler
from ._shared import shared
from ._version import __version__
from ._operations import (
    Audit, Calibration, Comparison, CurvePoint, GaussianDP, LabelGroup, LabelRandomizer, LedgerStatus, Majority, MatrixStrategy,
    PateCost, PateParameters, Probe, PublishedCost, Risk, RiskValue, SamplingScheme, SanitizedCost, SelectionLaw, Topic, Training,
)
from .answers import Answer, Curve, Found, Interval, PateLabels, Profile, ProfilePoint, rows
from .client import Accountant
from .ledger import Ledger
from .menu import AdaptiveRun, IndividualFilter, Menu
from .plans import (
    Approximate, Density, DensityGrid, DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace, Matrix,
    NoisyMax, PermuteAndFlip, Plan, Pure, RandomizedResponse, SelectPartitions, Step, Threshold, mechanism,
)

__all__ = [
    "Accountant",
    "AccountantError",
    "AdaptiveRun",
    "AdaptiveSearch",
    "Answer",
    "Approximate",
    "Audit",
    "BudgetError",
    "Calibration",
    "Comparison",
    "Curve",
    "CurvePoint",
    "Density",
    "DensityGrid",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "Found",
    "Gaussian",
    "GaussianDP",
    "IndividualFilter",
    "InfeasibleError",
    "InputError",
    "Interval",
    "LabelGroup",
    "LabelRandomizer",
    "Laplace",
    "Ledger",
    "LedgerStatus",
    "Majority",
    "Matrix",
    "MatrixStrategy",
    "Menu",
    "NoAnswerError",
    "NoiseStream",
    "NoisyMax",
    "PateCost",
    "PateLabels",
    "PateParameters",
    "PermuteAndFlip",
    "Plan",
    "PlanLike",
    "Probe",
    "Profile",
    "ProfilePoint",
    "PublishedCost",
    "Pure",
    "RandomizedResponse",
    "Risk",
    "RiskValue",
    "Sampler",
    "SamplingScheme",
    "SanitizedCost",
    "SelectPartitions",
    "SelectionLaw",
    "Step",
    "Threshold",
    "Topic",
    "Training",
    "__version__",
    "mechanism",
    "rows",
    "shared",
]

_examples.add(Accountant, _examples.METHODS)
for _module in (plans, _shared, answers, client, ledger, menu, _samplers):
    _examples.add(_module, {k: v for k, v in _examples.OTHERS.items() if getattr(getattr(_module, k, None), "__module__", "") == _module.__name__})
