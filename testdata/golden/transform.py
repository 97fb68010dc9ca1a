"""Transforms of Gaussian mixtures to 50 digits, by the trapezoidal rule at a fine step.

Writes transform.json: log M(theta + it) - 0 for pairs P = sum P_c N(c, sigma^2), Q alike,
with float64 parameters taken exactly. Run: python3 transform.py > transform.json
"""
import json
import random
from mpmath import mp, mpf, mpc, exp, log, pi, sqrt, nstr

mp.dps = 60


def weights(pairs):
    """Weights of the means other than 0, and what is left for 0."""
    w = {c: mpf(x) for c, x in pairs}
    w[0] = 1 - sum(w.values())
    return {c: x for c, x in w.items() if x > 0}


def transform(P, Q, sigma, theta, t):
    """log M at theta + it, on the branch of the principal logarithm of M."""
    sigma, z = mpf(sigma), mpc(theta, t)
    span = max(max(P), max(Q)) - min(min(P), min(Q))
    ends = [(theta + 1) * c - theta * d for c in (min(P), max(P)) for d in (min(Q), max(Q))]
    lo, hi = min(ends + list(P) + list(Q)) - 22 * sigma, max(ends + list(P) + list(Q)) + 22 * sigma
    # Step: 2 pi b / h >= 150 + what |f| grows by on the line b, b = 1 radian of the span.
    b = min(sigma * 12, sigma**2 / span)
    beta = float(b * span / sigma**2)
    growth = float(b * b / (2 * sigma**2)) + abs(t) * beta + (abs(theta) + 1) * beta * beta / 4
    h = 2 * pi * b / (150 + growth)
    n = int((hi - lo) / h) + 1
    s2 = 2 * sigma**2
    total = mpc(0)
    for j in range(n):
        x = lo + j * h
        p = sum(w * exp((2 * c * x - c * c) / s2) for c, w in P.items())
        q = sum(w * exp((2 * c * x - c * c) / s2) for c, w in Q.items())
        total += exp(-x * x / s2 + log(p) + z * (log(p) - log(q)))
    return log(total * h / sqrt(2 * pi) / sigma)


def main():
    random.seed(20240607)
    cases = []

    def add(name, p, q, sigma, theta, t):
        l = transform(weights(p), weights(q), sigma, theta, t)
        cases.append({"name": name, "p": p, "q": q, "sigma": sigma, "theta": theta, "t": t,
                      "re": nstr(l.real, 25), "im": nstr(l.imag, 25)})

    def poisson(rate, sigma, theta, t, reverse=False):
        p, q = [[1, rate]], []
        if reverse:
            p, q = q, p
            theta_, name = theta, "add"
        else:
            theta_, name = theta, "remove"
        add(name, p, q, sigma, theta_, t)

    for reverse in (False, True):
        for rate, sigma, theta, t in [
            (0.01, 1, 14, 0), (0.01, 1, 25, 0), (0.01, 1, -0.3, 2), (0.01, 1, -0.7, 2), (0.01, 1, -6, 3), (0.01, 1, 1e-6, 0),
            (1e-9, 1, 2, 1), (1e-9, 1e4, 1e5, 1e5), (0.3, 1e4, 100, 1e4), (0.999, 0.3, 5, 1), (0.999, 0.3, 50, 0),
            (0.999, 1, 50, 2), (1 - 1e-6, 0.3, 5, 0), (1 - 1e-6, 1, 50, 1), (0.5, 0.5, 3, 4), (0.75, 2, 7, 9),
            (1e-6, 4, 442, 1), (0.01, 0.05, 1.5, 0), (0.01, 0.05, 0.5, 0.5), (0.01, 0.05, -0.5, 0), (0.2, 0.02, 1e-4, 0),
            (0.2, 2, 3, 30), (0.001, 0.8, 8, 100),
        ]:
            poisson(rate, sigma, theta, t, reverse)
        for _ in range(25):
            rate = float(mpf(10) ** random.uniform(-6, -0.01))
            sigma = float(mpf(10) ** random.uniform(-0.5, 1.5))
            theta = random.choice([1, 1, 1, -1]) * float(mpf(10) ** random.uniform(-2, 1.3))
            poisson(rate, sigma, theta, random.choice([0, 1]) * random.uniform(0, 20), reverse)
    for rate, sigma, theta, t in [(0.05, 2, 4, 6), (0.01, 1, 3, 2), (0.5, 1, 2, 1), (0.9, 0.7, 6, 3), (0.3, 3, -0.4, 5), (1e-4, 1, 9, 1)]:
        add("substitute", [[1, rate]], [[-1, rate]], sigma, theta, t)
    for sigma, theta, t in [(5, 4, 6), (3, 12, 2), (2, 1, 9), (4, -5, 3), (3, -0.6, 1)]:
        law = [[1, 0.05], [2, 0.004], [3, 2e-4], [4, 1e-6], [5, 1e-9]]
        add("copies", law, [], sigma, theta, t)
        add("copies reversed", [], law, sigma, theta, t)
        add("copies opposite", law, [[-c, w] for c, w in law], sigma, theta, t)
    print(json.dumps({"cases": cases}, indent=0))


main()
