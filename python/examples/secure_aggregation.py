"""Mean of clients' vectors by secure aggregation modulo 2^k, with noise that the clients add. Needs numpy.

What is assumed, for the ε that is printed:
- A client's whole numbers have an L2 norm of at most SENSITIVITY after clipping and rounding (round_within tries again until
  they have). Neighbours differ in what one client contributes, or contributes 0 in its place (zero-out); it takes part, and
  adds its noise, in both.
- All but MISSING clients add noise of their own to each number, independently, and keep it to themselves. Clients who drop
  out or collude with the server are among the missing.
- The server learns the sum modulo 2^BITS and nothing else: that is the promise of the protocol, of which `masks` here is a toy
  (pairs of clients share a seed; no drop-out can be mended).
- The sum may wrap around: what is done to it afterwards costs no privacy, only accuracy.
- NumPy's generators are not made for secrets and its Poisson variables are not exact. DrawIntegerNoise of the Go library is.
"""

import secrets

import numpy as np

from dpaccountant import shared

CLIENTS, MISSING, NUMBERS, BITS = 100, 10, 64, 12
DEVIATION = 8  # of one client's noise
SCALE = 64  # whole numbers to a unit of the data
NORM, SENSITIVITY = 1.0, 68.0  # of a client's vector, and of what it is rounded to
DELTA = 1e-6


def round_within(vector, rng):
    """Whole numbers of mean SCALE·vector, after clipping to NORM, with a norm of at most SENSITIVITY."""
    vector = vector * min(1, NORM / np.linalg.norm(vector)) * SCALE
    while True:
        low = np.floor(vector)
        whole = (low + (rng.random(vector.shape) < vector - low)).astype(np.int64)
        if whole @ whole <= SENSITIVITY**2:
            return whole


def skellam(rng, count):
    """The difference of two Poisson variables: whole numbers with standard deviation DEVIATION."""
    return rng.poisson(DEVIATION**2 / 2, count) - rng.poisson(DEVIATION**2 / 2, count)


def masks():
    """A mask for each client that makes what it sends uniform; the masks of all make 0."""
    out = np.zeros((CLIENTS, NUMBERS), np.int64)
    for i in range(CLIENTS):
        for j in range(i):
            shared_seed = np.random.default_rng(secrets.randbits(128))  # that i and j have agreed upon
            pad = shared_seed.integers(0, 1 << BITS, NUMBERS)
            out[i] += pad
            out[j] -= pad
    return out


def main():
    rng = np.random.default_rng(secrets.randbits(128))
    data = rng.normal(0.1, 0.05, (CLIENTS, NUMBERS))
    noise = [skellam(rng, NUMBERS) for _ in range(CLIENTS)]
    whole = [round_within(x, rng) for x in data]
    sent = [(x + n + m) % (1 << BITS) for x, n, m in zip(whole, noise, masks())]

    total = sum(sent) % (1 << BITS)  # what the server sees
    half = 1 << BITS - 1
    signed = (total + half) % (1 << BITS) - half
    true = sum(whole) + sum(noise)
    assert np.array_equal(total, true % (1 << BITS))
    wrapped = int(np.sum(signed != true))

    answer = shared().epsilon({
        "neighbors": "zero-out",
        "steps": [{"mechanism": {"summed-noise": {
            "noise": "skellam", "clients": CLIENTS, "missing": MISSING, "standard-deviation": DEVIATION, "sensitivity": SENSITIVITY}}}],
    }, DELTA)
    error = np.sqrt(np.mean((signed / SCALE / CLIENTS - np.mean(whole, axis=0) / SCALE) ** 2))
    print(f"{CLIENTS} clients, {NUMBERS} numbers modulo 2^{BITS}, {wrapped} wrapped around")
    print(f"mean off by {error:.4f} each (noise alone: {DEVIATION * CLIENTS**0.5 / SCALE / CLIENTS:.4f})")
    print(f"{answer.lower:.4f} ≤ ε ≤ {answer.upper:.4f} at δ = {DELTA}")


if __name__ == "__main__":
    main()
