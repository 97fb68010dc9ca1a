"""Optimal unbiased randomizers for regression with label differential privacy (Badanidiyuru et al., 2023)."""

from dpaccountant import shared

accountant = shared()
ages = [18 + (7 * i) % 40 for i in range(2000)]  # of each person, in [18, 57]
known = list(range(18, 58))
ledger = accountant.create_ledger(neighbors="substitute", epsilon=2, delta=0, mode="planned")
private = accountant.label_apply(ages, 2.0, known, ledger=ledger, note="ages")
print(f"mean {sum(ages) / len(ages):.2f}, of the private labels {sum(private) / len(private):.2f}; ε ≤ {ledger.status().spent_epsilon:g}")
classes = accountant.label_apply(["cat", "dog", "cat"] * 500, 3.0, ["cat", "dog"], weights=[2, 1])
print(f"{classes.count('cat')} of {len(classes)} are cats")
