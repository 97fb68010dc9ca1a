"""Strategies of least error by SciPy, for matrix/optimize_test.go: dense algebra and L-BFGS-B.

banded(n, p, groups) has the least root mean squared error of prefix sums over lower triangular C with p
bands whose squared column norms add up to 1 in each group: columns alone (one participation), or
j, j+b, ... (epochs). In X = CᵀC the problem is convex, so that a stationary point is the optimum.
apart(n, b, k, p) is that of any pattern of k columns at least b apart, by a soft maximum over patterns whose
temperature falls: an upper bound of the optimum, a little above it. toeplitz and blt search coefficients and
buffers with numerical gradients, from many starts.
"""
import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from scipy.signal import lfilter


def root(n):
    c = np.ones(n)
    for t in range(1, n):
        c[t] = c[t - 1] * (2 * t - 1) / (2 * t)
    return c


def band(n, p):
    return np.where(np.tri(n, dtype=bool) & ~np.tri(n, k=-p, dtype=bool))


def error(C):
    """Mean squared error and its gradient by C."""
    n = len(C)
    B = solve_triangular(C.T, np.tri(n).T, lower=False).T  # A C⁻¹
    return (B * B).sum() / n, -2 / n * solve_triangular(C, B.T @ B, lower=True).T


def banded(n, p, groups):
    rows, cols = band(n, p)
    same = (groups[:, None] == groups[None, :]).astype(float)

    def f(x):
        V = np.zeros((n, n))
        V[rows, cols] = x
        norm = np.sqrt(same @ (V * V).sum(0))
        C = V / norm
        L, G = error(C)
        G = (G - C * (same @ (G * C).sum(0))) / norm
        return L, G[rows, cols]

    r = minimize(f, root(n)[rows - cols], jac=True, method="L-BFGS-B",
                 options=dict(maxiter=5000, maxfun=6000, ftol=1e-14, gtol=1e-9, maxcor=30))
    return np.sqrt(r.fun)


def most(d, b, k, T):
    """The largest sum of d over patterns, softened by T, and its gradient."""
    n = len(d)
    F = [np.zeros(n + b + 1)]
    for _ in range(k):
        G = np.zeros(n + b + 1)
        for i in range(n - 1, -1, -1):
            G[i] = np.logaddexp(G[i + 1] / T, (d[i] + F[-1][i + b]) / T) * T if T else max(G[i + 1], d[i] + F[-1][i + b])
        F.append(G)
    if not T:
        return F[k][0], None
    g, bar = np.zeros(n), [np.zeros(n + b + 1) for _ in range(k + 1)]
    bar[k][0] = 1
    for q in range(k, 0, -1):
        for i in range(n):
            take = np.exp((d[i] + F[q - 1][i + b] - F[q][i]) / T)
            w = bar[q][i]
            bar[q][i + 1] += w * (1 - take)
            bar[q - 1][i + b] += w * take
            g[i] += w * take
    return F[k][0], g


def apart(n, b, k, p):
    rows, cols = band(n, p)
    c = root(n)
    x = c[rows - cols] / np.sqrt((c[:p] ** 2).sum())
    for T in [.03, .01, .003, .001, .0003]:
        def f(x):
            C = np.zeros((n, n))
            C[rows, cols] = x
            scale = np.sqrt((C * C).sum() / n)
            C /= scale
            L, G = error(C)
            v, g = most((C * C).sum(0), b, k, T)
            G = G / L + 2 * C * g / v
            G = (G - C * (G * C).sum() / n) / scale
            return np.log(L) + np.log(v), G[rows, cols]
        x = minimize(f, x, jac=True, method="L-BFGS-B", options=dict(maxiter=400, maxfun=500, ftol=1e-12, gtol=1e-9, maxcor=30)).x
    C = np.zeros((n, n))
    C[rows, cols] = x
    return np.sqrt(error(C)[0] * most((C * C).sum(0), b, k, 0)[0])


def spread(c, n, largest):
    g = lfilter([1.0], np.asarray(c), np.ones(n))
    return ((1 if largest else (n - np.arange(n)) / n) * g * g).sum()


def toeplitz(n, p, largest):
    def f(x):
        c = np.concatenate([[1.0], x])
        return np.log(spread(c, n, largest)) + np.log((c * c).sum())
    r = minimize(f, root(p)[1:], method="L-BFGS-B", options=dict(maxiter=3000, maxfun=10**6, ftol=1e-13, gtol=1e-8))
    return np.exp(r.fun / 2)


def blt(n, b, k, d, largest):
    def f(x):
        decay, scale = 1 / (1 + np.exp(-x[:d])), np.exp(x[d:])
        scale /= 1 + scale.sum()
        c = np.concatenate([[1.0], (scale[:, None] * decay[:, None] ** np.arange(n - 1)).sum(0)])
        s = np.zeros(n)
        for j in range(k):
            if j * b < n:
                s[j * b:] += c[:n - j * b]
        return np.log(spread(c, n, largest)) + np.log((s * s).sum())
    best, rng = np.inf, np.random.default_rng(1)
    for i in range(25):
        s = np.exp(rng.uniform(np.log(.2 / n), np.log(.8), d))
        x = np.concatenate([np.log((1 - s) / s), np.log(.5 * np.ones(d) / d)])
        r = minimize(f, x, method="Nelder-Mead" if i % 5 == 0 else "BFGS", options=dict(maxiter=2000))
        if np.isfinite(r.fun):
            best = min(best, r.fun)
    return np.exp(best / 2)


if __name__ == "__main__":
    for n, p in [(4, 2), (8, 8), (16, 4), (32, 8), (64, 64), (64, 8), (100, 10), (128, 16), (128, 128), (256, 16), (256, 64), (256, 256)]:
        print("columns", n, p, "%.8f" % banded(n, p, np.arange(n)))
    for n, b, p in [(16, 4, 4), (64, 16, 16), (64, 16, 8), (60, 10, 10), (256, 64, 64), (256, 16, 16)]:
        print("epochs", n, b, p, "%.8f" % banded(n, p, np.arange(n) % b))
    for n, b, k, p in [(16, 4, 4, 4), (60, 10, 6, 10), (64, 16, 4, 16), (64, 16, 2, 16), (64, 16, 3, 16), (60, 10, 4, 10), (40, 8, 4, 4)]:
        print("apart", n, b, k, p, "%.8f" % apart(n, b, k, p))
    for n, p, largest in [(16, 16, 0), (64, 64, 0), (64, 8, 0), (256, 16, 0), (64, 64, 1)]:
        print("toeplitz", n, p, largest, "%.8f" % toeplitz(n, p, largest))
    for n, b, k, d, largest in [(100, 100, 1, 1, 0), (100, 100, 1, 2, 0), (100, 100, 1, 3, 0), (256, 64, 4, 1, 0), (256, 64, 4, 2, 0), (256, 16, 16, 2, 0), (200, 5, 2, 2, 1), (500, 100, 5, 3, 0)]:
        print("blt", n, b, k, d, largest, "%.8f" % blt(n, b, k, d, largest))
