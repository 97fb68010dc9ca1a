"""Multistage sampling (MUST; Zhao and Liu, 2023): batches of two stages, and what they cost beside one stage."""

from dpaccountant import Gaussian, Plan, Sampler, shared

accountant = shared()
sizes = {"population": 1000, "subset": 200, "batch": 20}
batches = iter(Sampler({"must-ow": sizes}, 1000))
first = next(batches)
step = Gaussian(2.0)
two = accountant.epsilon(Plan(step.sampled("must-ow", **sizes) * 10, neighbors="substitute"), 1e-6)
one = accountant.epsilon(Plan(step.without_replacement(population=1000, batch=20) * 10, neighbors="substitute"), 1e-6)
print(f"a batch has {len(first)} records, {len(set(first))} of them different; ten cost ε ≤ {two:.3f}, of one stage {one:.3f}")
