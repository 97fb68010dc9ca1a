"""PipelineDP: the noise of three aggregations within one budget, by a certified composition.

Imported and run: pipeline_dp.budget_accounting, where its source is at hand; elsewhere a stand-in. The rest of PipelineDP needs
Spark or Beam and PyDP, and was not run: its engine takes ε and δ of the naive accountant, and noise in places only.

    pip install pipeline-dp
    python python/examples/pipeline_dp_budget.py
"""

from pipeline_dp.aggregate_params import MechanismType

from dpaccountant.pipeline_dp import CertifiedBudgetAccountant

budget = CertifiedBudgetAccountant(total_epsilon=1.0, total_delta=1e-6)
count = budget.request_budget(MechanismType.LAPLACE, name="count")
total = budget.request_budget(MechanismType.GAUSSIAN, weight=2, sensitivity=5, name="sum")
keys = budget.request_budget(MechanismType.GAUSSIAN_THRESHOLDING, name="partitions")
budget.compute_budgets()
for spec in (count, total, keys):
    print(f"{spec.name}: standard deviation {spec.noise_standard_deviation:.4f}")
print(f"threshold for δ = {keys.thresholding_delta}")
