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
    PateCost, Probe, PublishedCost, Risk, RiskValue, SamplingScheme, SanitizedCost, SelectionLaw, Topic, Training,
)
from .answers import Answer, Curve, Found, Interval, PateLabels, Profile, ProfilePoint, rows
from .client import Accountant
from .ledger import Ledger
from .menu import AdaptiveRun, IndividualFilter, Menu
from .plans import (
    Approximate, DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace, Matrix,
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
