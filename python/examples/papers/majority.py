"""Private majority of private mechanisms (DaRRM): eleven models answer, one bit is released for each query."""

from dpaccountant import Plan, shared
from dpaccountant.plans import Majority

accountant = shared()
parameters = {"mechanisms": 11, "epsilon": 0.1, "allowance": 3, "answers": 3}
votes = [[1] * 11, [1] * 6 + [0] * 5, [0] * 11]
ledger = accountant.create_ledger(neighbors="add-remove", epsilon=2, delta=1e-5, mode="planned")
bits = accountant.majority_release(parameters, votes, ledger=ledger)
whole = accountant.epsilon(Plan(Majority(**parameters)), 1e-5)
print(f"answers {bits}, ε ≤ {whole:.3f}, of which the ledger knows {ledger.status().spent_epsilon:.3f}")
