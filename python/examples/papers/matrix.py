"""Matrix mechanisms (Denisov et al., 2022; Choquette-Choo et al., 2023): correlated noise for running sums."""

from dpaccountant import Plan, shared
from dpaccountant.plans import Matrix

accountant = shared()
parameters = dict(noise_multiplier=8, steps=64, strategy={"square-root": {}}, participation={"min-separation": 16, "at-most": 4})
plan = Plan(Matrix(**parameters))
stream = accountant.noise_stream(plan, clip=1.0, dimension=2)
total, noisy = [0.0, 0.0], [0.0, 0.0]
for _ in range(64):  # the sum of 100 clipped gradients
    gradient = [30.0, -20.0]
    out = stream.step(gradient)
    total = [a + b for a, b in zip(total, gradient)]
    noisy = [a + b for a, b in zip(noisy, out)]
stream.close()
print(f"sum {total}, released {[round(x) for x in noisy]}; ε ≤ {accountant.epsilon(plan, 1e-6):.3f}")
