"""Writes pate_truth.json: costs of PATE answers at random parameters, with
mpmath at a precision that covers the smallest term. Run it as
python3 pate_truth.py > pate_truth.json.

Each row holds floats as exact hexadecimals and the value in 25 digits."""

import json
import math
import random
from mpmath import mp, mpf, exp, expm1, log, log1p, sqrt, nstr

random.seed(20180224)


def uniform(lo, hi):
    return math.exp(random.uniform(math.log(lo), math.log(hi)))


def gnmax(sigma, order, logq):
    mp.dps = 60 + int(-logq / 2.3)
    s, o, l = mpf(sigma), mpf(order), mpf(logq)
    t, q = 1 / s, sqrt(-l)
    cap = o / s**2
    if not (q > t and q >= (o - 1) * t and log((q + t) / (q - t)) <= 2 * q * t - t * t):
        return cap
    a = o * log1p(-exp(l)) - (o - 1) * log1p(-exp(-((q - t) ** 2)))
    b = l + (o - 1) * t * (2 * q + t)
    m = max(a, b)
    return min(cap, (m + log(exp(a - m) + exp(b - m))) / (o - 1))


def gnss(order, beta, sigma):
    mp.dps = 60
    o, b, s = mpf(order), mpf(beta), mpf(sigma)
    r = 1 + o * expm1(-2 * b)
    return o * exp(-2 * b) / (2 * s * s * r) - (o * b + log(r) / 2) / (o - 1)


rows = {"source": "testdata/golden/pate_truth.py", "gnmax": [], "gnss": []}
while len(rows["gnmax"]) < 400:
    sigma, order = uniform(0.05, 1e5), 1 + uniform(1e-3, 300)
    logq = -uniform(0.5, 1e3) if len(rows["gnmax"]) % 4 else -random.uniform(700, 760)
    v = gnmax(sigma, order, logq)
    rows["gnmax"].append([sigma.hex(), order.hex(), logq.hex(), nstr(v, 25)])
while len(rows["gnss"]) < 100:
    order = 1 + uniform(1e-3, 300)
    beta, sigma = uniform(1e-4, 0.48) / order, uniform(0.1, 1e4)
    rows["gnss"].append([order.hex(), beta.hex(), sigma.hex(), nstr(gnss(order, beta, sigma), 25)])
print("{\n" + ",\n".join(f"{json.dumps(k)}: " + (json.dumps(v) if isinstance(v, str) else "[\n" + ",\n".join(json.dumps(r) for r in v) + "\n]") for k, v in rows.items()) + "\n}")
