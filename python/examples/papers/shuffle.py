"""The shuffle model (Feldman, McMillan and Talwar, 2021): each user answers by randomized response, and the shuffler amplifies."""

from dpaccountant import shared

accountant = shared()
truth = [i % 4 if i % 3 else 0 for i in range(2000)]  # of each user, one of four values
messages = accountant.local_messages("k-rr", truth, epsilon=2.0, categories=4)  # drawn on the users' devices
found = accountant.local_estimates("k-rr", messages, epsilon=2.0, categories=4)
central = accountant.shuffle(users=2000, epsilon=2.0, delta=1e-6, randomizer="k-rr", categories=4).results[0]
print(f"value 0: {truth.count(0)} users, estimated {found[0][0]:.0f} ± {found[0][1]:.0f}; local ε 2, behind the shuffler ε ≤ {central.upper:.3f}")
