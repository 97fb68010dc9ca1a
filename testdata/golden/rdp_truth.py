"""Writes rdp_truth.json: Rényi divergences to 30 digits (mpmath, 60 digits inside).

Sums are over all outcomes; the sampled Gaussian is a trapezoidal sum on the
whole line, taken at two steps, which must agree to 1e-25. Independent of the
Go code: plain definitions, no rearrangement.
"""
import json, random
from mpmath import mp, mpf, exp, log, sqrt, pi, inf

mp.dps = 60
rows = []
def put(kind, alpha, value, **params):
    rows.append({"kind": kind, "alpha": alpha, "value": mp.nstr(value, 30), **params})

def direct(ps, qs, alpha):
    return log(mp.fsum(p**alpha * q**(1-alpha) for p, q in zip(ps, qs))) / (alpha-1)

ORDERS = [1.000001, 1.1, 1.25, 1.5, 2, 2.5, 3, 4.75, 8, 10, 33.3, 64, 1000.5]

for m in [1e-6, 0.01, 0.1, 1, 3, 20]:
    for a in ORDERS:
        A = mpf(a); e = mpf(m)
        put("pure", a, log((exp(A*e)+exp((1-A)*e))/(1+exp(e)))/(A-1), eps=m)
        b = 1/mpf(1/m)
        put("laplace", a, log(A/(2*A-1)*exp((A-1)*b)+(A-1)/(2*A-1)*exp(-A*b))/(A-1), b=1/m)
        t = log((A-1)*(1-exp(-A*e))/(A*(exp(-e)-exp(-A*e))))
        q = (exp(-t)-exp(-e))/(1-exp(-e))
        put("exponential", a, log(q*exp(A*t)+(1-q)*exp(A*(t-e)))/(A-1), eps=m)

for prob, k in [(0.5, 2), (0.5, 10), (0.999, 3), (1e-3, 100), (0.9, 1000000)]:
    for a in ORDERS:
        P = mpf(prob); lie = P/k; tr = 1-P+lie
        put("rr", a, log(tr**mpf(a)*lie**(1-mpf(a))+lie**mpf(a)*tr**(1-mpf(a))+(k-2)*lie)/(mpf(a)-1), prob=prob, k=k)

rng = random.Random(7)
def norm(xs):
    s = sum(mpf(x) for x in xs); return [mpf(x)/s for x in xs]
for n, near in [(2, 0), (3, 0), (5, 0), (7, 1e-3), (4, 1e-8)]:
    p = [rng.random() for _ in range(n)]; s = sum(p); p = [x/s for x in p]
    q = [x*(1+near*(rng.random()-.5)) if near else rng.random() for x in p]; s = sum(q); q = [x/s for x in q]
    for a in ORDERS:
        P, Q = norm(p), norm(q)
        put("finite", a, max(direct(P, Q, mpf(a)), direct(Q, P, mpf(a))), p=p, q=q)

for s in [0.05, 0.2, 0.5, 1, 2, 2.4, 4]:
    for sens in [1, 3]:
        for a in ORDERS[:-1]:
            A = mpf(a); sig = mpf(s)*sens
            lo, hi = int(-60*sig)-5, int(a*sens+60*sig)+5
            w = [exp(-mpf(k)**2/(2*sig**2)) for k in range(lo, hi)]
            Z = mp.fsum(w)
            # P/Q at k is exp((2ks−s²)/(2σ²)).
            put("discrete-gaussian", a, log(mp.fsum(x*exp(A*(2*mpf(k)*sens-sens**2)/(2*sig**2)) for k, x in zip(range(lo, hi), w))/Z)/(A-1), noise=s, sens=sens)

for s in [0.1, 1, 7.5]:
    for sens in [1, 2, 5, 40]:
        for a in ORDERS:
            A = mpf(a); w = exp(-1/(mpf(s)*sens)); c = (1-w)/(1+w)
            P = [w**sens/(1+w)] + [c*w**(sens-k) for k in range(1, sens)] + [1/(1+w)]
            Q = [1/(1+w)] + [c*w**k for k in range(1, sens)] + [w**sens/(1+w)]
            put("discrete-laplace", a, direct(P, Q, A), noise=s, sens=sens)

def sampled(q, s, a, add, h):
    q, s, a, h = mpf(q), mpf(s), mpf(a), mpf(h)
    n0, n1 = int(-(22+(a/s if add else 0))/h), int(((0 if add else a/s)+1/s+22)/h)
    tot = mpf(0); c = 1/(2*s*s)
    for i in range(n0, n1+1):
        x = i*h
        r = 1-q+q*exp(x/s-c)
        f = (r**(1-a) if add else r**a)
        # subtract the exact values 1 and 0 of ∫φ and ∫φ(r−1) pointwise
        f = f - 1 - ((1-a) if add else a)*(r-1)
        tot += exp(-x*x/2)*f
    return log(1+tot*h/sqrt(2*pi))/(a-1)

import sys
CASES = {"A": (0.01, 1.0), "B": (0.001, 0.8), "C": (256/60000, 1.1), "D": (0.02, 0.5), "E": (1e-4, 0.6), "F": (0.1, 4.0),
         "q1e-7": (1e-7, 1.0), "q1e-9": (1e-9, 2.0), "half": (0.5, 20.0), "most": (0.99, 1.0), "small": (1e-6, 0.3), "wide": (0.01, 300.0), "nearly-all": (1-2**-53, 0.5)}
for name, (q, s) in CASES.items():
    for a in [1.000001, 1.1, 1.25, 1.5, 2, 2.5, 3, 3.7, 5, 8, 10, 16, 31.4, 64]:
        for add in (False, True):
            h = min(0.3, 0.15*s)
            v = sampled(q, s, a, add, h)
            w = sampled(q, s, a, add, h*0.61)
            assert abs(v-w) <= mpf(10)**-25*abs(v), (name, a, add, v, w)
            put("poisson-gaussian-add" if add else "poisson-gaussian", a, v, q=q, sigma=s)
    print(name, file=sys.stderr)

def sampled_laplace(q, b, a):
    q, m, a = mpf(q), 1/mpf(b), mpf(a)
    f = lambda l: (1-q+q*exp(l))**a - 1 - a*q*(exp(l)-1)
    mid = mp.quad(lambda s: m/2*exp(-m*s)*f(m*(2*s-1)), mp.linspace(0, 1, 41 if m > 5 else 5))
    return log(1 + f(-m)/2 + exp(-m)/2*f(m) + mid)/(a-1)
mp.dps = 40
for q, b in [(0.01, 1.0), (0.5, 0.25), (1e-7, 3.0), (0.999999, 0.1), (0.2, 100.0)]:
    for a in [1.000001, 1.1, 1.5, 2, 2.75, 5, 17.3]:
        put("poisson-laplace", a, sampled_laplace(q, b, a), q=q, b=b)

wor = []
def envelope(n, m, s, a):
    g, s, a = mpf(m)/n, mpf(s), mpf(a)
    x0 = 1/(2*s)
    def f(x):
        z = 1+g*(exp(x/s-1/(2*s*s))-1)
        return exp(-x*x/2)/sqrt(2*pi)*(z**a-1-a*(z-1) + z**(1-a)-1+(a-1)*(z-1))
    top = a/s
    cuts = [x0] + [x for x in mp.linspace(x0, max(top, x0+1)+25, 60)][1:]
    return log(1+mp.quad(f, cuts))/(a-1)
mp.dps = 40
for n, m, s in [(60000, 256, 1.1), (10000, 100, 1.0), (1000000, 100, 0.6), (1000, 100, 4.0), (10, 9, 2.0), (1000000000, 1, 30.0)]:
    for a in [1.000001, 1.5, 2, 3, 4.5, 8, 16, 40.25]:
        wor.append({"n": n, "m": m, "sigma": s, "alpha": a, "value": mp.nstr(envelope(n, m, s, a), 25)})
json.dump({"source": "testdata/golden/rdp_truth.py, mpmath 1.3.0 at 60 digits", "rows": rows, "wor": wor}, open("rdp_truth.json", "w"), indent=0)
