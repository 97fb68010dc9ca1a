"""Private selection from private candidates (Liu and Talwar, 2019): the best of K runs, and the first that is good enough."""

import random

from dpaccountant import Gaussian, Plan, shared

accountant = shared()
secret = random.SystemRandom()  # the candidates' own noise, which must be secret
candidates = {"shallow": 310, "deep": 342, "wide": 335}  # how many of 400 records each gets right


def trial():
    """A random candidate and its noisy score: one count of sensitivity 1, by noise of multiplier 8."""
    name = secret.choice(sorted(candidates))
    return name, accountant.release({"gaussian": {"noise-multiplier": 8}}, [candidates[name]], sensitivity=1)[0]


law = {"law": "geometric", "mean": 30}
run = Plan(Gaussian(8))
ledger = accountant.create_ledger(neighbors="add-remove", epsilon=3, delta=1e-5, mode="planned")
best = accountant.best_of(law, trial, candidate=run, ledger=ledger, note="choice of a model")
print(f"best: {best.payload}, noisy score {best.score:.0f}; ε ≤ {ledger.status().spent_epsilon:.3f}")
first = accountant.first_above(law, 330, trial)
print(f"first above 330: {first.payload if first else None}")
