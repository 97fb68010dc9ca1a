"""Drive the privacy accountant from Python.

One ``accountant serve --stdio`` process runs beside the program and answers
requests, so a question costs no process start::

    from dpaccountant import Accountant

    plan = {
        "neighbors": "add-remove",
        "steps": [{
            "mechanism": {"gaussian": {"noise-multiplier": 1.1}},
            "sampling": {"poisson": {"rate": 0.004}},
            "count": 14000,
        }],
    }
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
from ._read import Plan
from ._samplers import Sampler
from ._shared import shared
from ._version import __version__
from .answers import (
    Answer, Audit, Calibration, Comparison, Curve, CurvePoint, GaussianDP, Interval,
    LabelGroup, LabelRandomizer, LedgerStatus, Majority, MatrixStrategy, PateCost, Probe, Profile, ProfilePoint, PublishedCost, Risk,
    RiskValue, SamplingScheme, SanitizedCost, SelectionLaw, Topic, Training, rows,
)
from .client import Accountant
from .ledger import Ledger

__all__ = [
    "Accountant",
    "AccountantError",
    "Answer",
    "Audit",
    "BudgetError",
    "Calibration",
    "Comparison",
    "Curve",
    "CurvePoint",
    "GaussianDP",
    "InfeasibleError",
    "InputError",
    "Interval",
    "LabelGroup",
    "LabelRandomizer",
    "Ledger",
    "LedgerStatus",
    "Majority",
    "MatrixStrategy",
    "NoAnswerError",
    "PateCost",
    "Plan",
    "Probe",
    "Profile",
    "ProfilePoint",
    "PublishedCost",
    "Risk",
    "RiskValue",
    "Sampler",
    "SamplingScheme",
    "SanitizedCost",
    "SelectionLaw",
    "Topic",
    "Training",
    "__version__",
    "rows",
    "shared",
]
