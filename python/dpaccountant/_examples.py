"""An example for each method and class whose text has none; a test runs them all.

``accountant`` is an Accountant, ``plan`` a plan, ``ledger`` a ledger in memory, ``menu`` a Menu.
"""

from __future__ import annotations

import inspect
import textwrap
from typing import Dict

METHODS: Dict[str, str] = {  # of Accountant
    "request": 'accountant.request("epsilon", plan=dict(plan), delta=[1e-5])',
    "alive": "accountant.alive()",
    "close": "Accountant().close()",
    "version": "accountant.version()",
    "certificate": "accountant.certificate(plan, 1e-5)",
    "delta": "accountant.delta(plan, [1.0, 2.0])",
    "risk": "accountant.risk(plan, false_positives=[0.01]).true_positive_rate[0].upper",
    "curve": "accountant.curve(plan, points=5, from_=0, to=4).rows()",
    "calibrate": "accountant.calibrate(plan, epsilon=1.0, delta=1e-5).value",
    "compare": "rows(accountant.compare(plan, 1e-5))",
    "draw": 'accountant.draw({"poisson": {"rate": 0.1}}, 100, batches=3)',
    "plan_convert": 'accountant.plan_convert(plan, to="events")',
    "gdp": "accountant.gdp(plan).upper",
    "gdp_solve": 'accountant.gdp_solve(plan, solve="noise-multiplier", mu=0.5)',
    "filter": 'accountant.filter({"neighbors": "add-remove", "budget": {"units": 4}, "menu": [{"name": "a", "cost": 1, "steps": [Gaussian(4)]}]})',
    "audit": 'accountant.audit(design="many-runs", members=[2.1, 1.7, 2.4], non_members=[0.2, 0.8, -0.4], delta=1e-5).epsilon',
    "dpsgd": "accountant.dpsgd(examples=60000, batch_size=256, epochs=5, noise_multiplier=1.1, delta=1e-5).statement",
    "profile": 'accountant.profile("gaussian", noise_multiplier=1.0, at=[0.5, 1.0]).rows()',
    "sampling": "rows(accountant.sampling(population=1000, batch=50, noise_multiplier=2.0, steps=10))",
    "plan_check": 'accountant.plan_check(plan).runs',
    "diff": 'accountant.diff(plan, plan + Laplace(20), delta=1e-5).more',
    "shuffle": "accountant.shuffle(users=1000, epsilon=1.0, delta=1e-6)",
    "explain": 'accountant.explain("poisson").text',
    "topics": "[topic.name for topic in accountant.topics()]",
    "create_ledger": 'accountant.create_ledger("2026.jsonl", neighbors="add-remove", epsilon=2.0, delta=1e-6, mode="planned")',
    "open_ledger": 'accountant.open_ledger("2026.jsonl").status().left',
    "log_ledger": 'accountant.log_ledger("2026.jsonl")',
    "check_ledger": 'accountant.check_ledger("2026.jsonl").head',
    "select": 'rows(accountant.select(candidate_epsilon=1.0, law=["geometric"], mean=[10]))',
    "matrix_optimize": 'accountant.matrix_optimize(strategy="toeplitz", steps=16, participation="{single: true}").rmse',
    "majority": "accountant.majority(mechanisms=11, epsilon=0.1, allowance=3).gamma",
    "pate": 'accountant.pate([[90, 10], [40, 60]], "gnmax", sigma2=40, delta=1e-5).data_independent_epsilon',
    "pate_calibrate": 'accountant.pate_calibrate([[95, 3, 2]] * 20, "gnmax", epsilon=1, delta=1e-5).sigma2',
    "pate_smooth": 'accountant.pate_smooth([[90, 10], [40, 60]], "gnmax", sigma2=40, delta=1e-5, order=10, beta=0.01, sigma_ss=5)',
    "pate_publish": 'accountant.pate_publish([[90, 10], [40, 60]], "gnmax", sigma2=40, delta=1e-5, order=10, beta=0.02, noise=0.15).epsilon',
    "label": "accountant.label(1.0, [0, 1, 2], [5, 3, 2]).probabilities",
    "query": 'accountant.query("visits.csv", budget=1.0, delta=1e-6, group="page", count=True).rows()',
    "local_messages": 'accountant.local_messages("k-rr", [0, 2, 1], epsilon=1.0, categories=3)',
    "local_estimates": 'accountant.local_estimates("k-rr", [[0], [2], [1]], epsilon=1.0, categories=3)',
}

OTHERS: Dict[str, str] = {  # of the package, and of its modules
    "Accountant": "with Accountant() as own:\n    own.epsilon(plan, 1e-5).upper",
    "Ledger": 'ledger.spend(Plan(Gaussian(20)), note="april")\nledger.fits(Plan(Gaussian(20))), ledger.status().left',
    "Menu": 'menu.epsilon(1e-5).upper, menu.costs["a"]',
    "AdaptiveRun": 'run = menu.run()\nwhile run.fits("a"):\n    run.spend("a")  # then run it, and look at the result',
    "IndividualFilter": "menu.individual(1000).spent(0)  # needs numpy",
    "Sampler": 'for batch in Sampler("poisson", 1000, batch_size=50):\n    len(batch)',
    "Step": 'Gaussian(1.1).poisson(0.004).named("training") * 1000',
    "mechanism": 'mechanism("finite", p=[0.6, 0.4], q=[0.4, 0.6])',
    "Gaussian": "Gaussian(1.1).poisson(256 / 60000) * 14063",
    "Laplace": "Laplace(20)",
    "DiscreteGaussian": "DiscreteGaussian(4, sensitivity=3)",
    "DiscreteLaplace": "DiscreteLaplace(4)",
    "RandomizedResponse": "RandomizedResponse(0.25, 4)",
    "Pure": "Pure(0.1) * 3",
    "Approximate": "Approximate(0.1, 1e-6)",
    "Exponential": "Exponential(0.1)",
    "PermuteAndFlip": "PermuteAndFlip(0.1)",
    "NoisyMax": 'NoisyMax("gumbel", 0.1)',
    "Threshold": 'Threshold("gaussian", 75, standard_deviation=12)',
    "SelectPartitions": "SelectPartitions(0.5, 1e-6)",
    "Density": "Density([0.5, 0.3, 0.2], [0.4, 0.3, 0.3])",
    "DensityGrid": "DensityGrid([-1.0, 0.0, 1.0], [-0.9, -0.6, -0.8], [-0.8, -0.6, -0.9], curvature=1.0, outside=0.1)",
    "Majority": "plans.Majority(11, 0.1, 3, answers=10)",
    "Matrix": 'Matrix(4.0, 64, strategy={"square-root": {}}, participation={"min-separation": 16, "at-most": 4})',
    "rows": "rows(accountant.compare(plan, 1e-5))",
    "shared": "shared().epsilon(plan, 1e-5)",
}


def add(of: object, names: Dict[str, str]) -> None:
    """Put the examples at the end of the texts of what has these names in a class or module."""
    for name, text in names.items():
        found = getattr(of, name, None)
        if found is not None and found.__doc__:
            found.__doc__ = inspect.cleandoc(found.__doc__) + "\n\n" + textwrap.indent(text, "    ") + "\n"
