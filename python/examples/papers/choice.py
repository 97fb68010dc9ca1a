"""Permute-and-flip (McKenna and Sheldon, 2020), a histogram with a threshold, and a sparse vector (Liu and Talwar, 2019)."""

from dpaccountant import shared
from dpaccountant.plans import PermuteAndFlip, Threshold

accountant = shared()
ledger = accountant.create_ledger(neighbors="add-remove", epsilon=3, delta=1e-6, mode="planned")
visits = {"home": 4120, "news": 3305, "staff": 3}
top = accountant.release(PermuteAndFlip(0.2), visits, monotone=True, ledger=ledger, note="top page")
shown = accountant.release(
    Threshold("gaussian", 75, standard_deviation=12), visits, ledger=ledger, note="histogram")
# Each model reaches the target with this probability; the third is the first that does so in most runs.
reached = accountant.sparse_vector(
    [1e-9, 1e-9, 1 - 1e-9], percentile=0.5, candidate_epsilon=0.1, epsilon=1.0, queries=3, ledger=ledger)
print(f"top {top}; shown {sorted(shown)}; first good model {reached}; ε ≤ {ledger.status().spent_epsilon:.3f}")
search = accountant.adaptive_search(2, candidate_epsilon=0.1, delta=1e-6)
while search.left:
    found = search.attempt(lambda: ("candidate", 1.0), 0.5)
print(f"adaptive: two outcomes for ε ≤ {search.epsilon:.3f}")
