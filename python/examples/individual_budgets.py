"""Trains on real digits with a budget for each record: one whose gradients are small spends less, and takes part for longer.

More steps are no better model of their own: the records that leave first are those that the model gets wrong, and what goes
on without them forgets them. The program prints the accuracy of both, so that this is seen.

Needs numpy. What is assumed, for the ε that is printed:
- Every record draws by itself, with probability RATE, whether it is in a batch (add-remove); sums are divided by RATE·EXAMPLES,
  a public constant, and the number of steps is fixed beforehand.
- A record's type is its clipped norm, rounded up to one of NORMS: its noise multiplier is that of the loudest over its norm.
- Who takes part, and what is spent, stay secret. They are printed here since these digits are public.
- NumPy's generators are not made for secrets, and noise in floating point is not exact.
"""

import math
import secrets
import sys

import numpy as np

import digits
from dpaccountant import shared

EPSILON, DELTA = 1.0, 1e-5
EXAMPLES, RATE, SIGMA = 1600, 0.2, 6.0  # SIGMA is the noise multiplier of a record with the largest norm
NORMS = [2 ** (-k / 2) for k in range(5)]
LONGER = 1.5  # times as many steps as records of the loudest type take part in
SPEED = 8.0


def menu():
    """One step of training for a record of each norm. Costs may be any; those of Gaussian noise are as norm²."""
    return {
        "neighbors": "add-remove",
        "budget": {"epsilon": EPSILON, "delta": DELTA},
        "menu": [
            {"name": f"norm {norm:.2f}", "cost": round(16 * norm**2), "steps": [
                {"mechanism": {"gaussian": {"noise-multiplier": SIGMA / norm}}, "sampling": {"poisson": {"rate": RATE}}}]}
            for norm in NORMS
        ],
    }


def gradients(weights, pictures, labels):
    """Gradients of the records, clipped to norm 1, as a factor for each class, and their norms."""
    scores = pictures @ weights
    scores = np.exp(scores - scores.max(1, keepdims=True))
    wrong = scores / scores.sum(1, keepdims=True)
    wrong[np.arange(len(labels)), labels] -= 1
    norms = np.linalg.norm(wrong, axis=1)  # pictures have norm 1
    wrong *= np.minimum(1, 1 / np.maximum(norms, 1e-12))[:, None]
    return wrong, np.minimum(norms, 1)


def train(rng, pictures, labels, steps, budgets=None):
    """Weights, and in how many steps each record was in; without budgets all are in all."""
    weights = np.zeros((pictures.shape[1], 10))
    taken = np.zeros(len(labels), int)
    for _ in range(steps):
        wrong, norms = gradients(weights, pictures, labels)
        takes = np.ones(len(labels), bool)
        if budgets is not None:
            # The smallest norm that is at least the record's, with room for what rounding made of its gradient.
            kinds = (np.array(NORMS) >= norms[:, None] * (1 + 1e-9)).sum(1) - 1
            takes = budgets.spend(np.maximum(kinds, 0))
        taken += takes
        batch = takes & (rng.random(len(labels)) < RATE)
        total = pictures[batch].T @ wrong[batch] + rng.normal(0, SIGMA, weights.shape)
        weights -= SPEED * total / (RATE * EXAMPLES)
    return weights, taken


def main():
    rng = np.random.default_rng(int(sys.argv[1]) if len(sys.argv) > 1 else secrets.randbits(128))
    pictures, labels, test, truth = digits.load()
    pictures, test = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (pictures.astype(float), test.astype(float)))
    accuracy = lambda weights: float(np.mean((test @ weights).argmax(1) == truth))
    priced = shared().filter(menu())
    budgets = priced.individual(len(labels))
    alone = priced.units // priced.costs[budgets.types[0]]
    print(f"{priced.units} units at ε ≤ {priced.epsilon(DELTA).upper:.4f}; costs {list(priced.costs.values())}")
    weights, _ = train(rng, pictures, labels, alone)
    print(f"one budget for all: {alone} steps, accuracy {accuracy(weights):.3f}")
    steps = int(LONGER * alone)
    weights, taken = train(rng, pictures, labels, steps, budgets)
    print(f"a budget for each: {steps} steps, accuracy {accuracy(weights):.3f}")
    low, middle, high = np.percentile(taken, [0, 50, 100]).astype(int)
    print(f"the median record is in {middle} steps, {middle / alone - 1:.0%} more; the least {low}, the most {high}")


if __name__ == "__main__":
    main()
