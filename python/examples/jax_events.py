"""JAX: digits by DP-SGD, accounted for by events, as JAX-Privacy and dp_accounting do it.

    pip install jax
    python python/examples/jax_events.py

With dp_accounting installed, ``dpaccountant.dp_accounting.CertifiedAccountant`` takes its own
event objects, and goes wherever JAX-Privacy takes an accountant.
"""

import secrets

import jax
import jax.numpy as jnp

from digits import load
from dpaccountant.events import PrivacyAccountant

NOISE, CLIP, RATE, DELTA, EPSILON = 4.0, 1.0, 1 / 8, 1e-5, 1.0
STEPS_PER_EPOCH = 8
STEP = {
    "class_name": "PoissonSampledDpEvent",
    "sampling_probability": RATE,
    "event": {"class_name": "GaussianDpEvent", "noise_multiplier": NOISE},
}


def epsilon(steps):
    """What so many steps cost, at most."""
    return PrivacyAccountant().compose(STEP, steps).get_epsilon(DELTA)


def loss(weights, picture, label):
    return -jax.nn.log_softmax(picture @ weights)[label]


@jax.jit
def update(weights, key, x, y):
    """One step. Which examples take part is a mask: their number is secret, and shapes are not."""
    for_batch, for_noise = jax.random.split(key)
    batch = jax.random.bernoulli(for_batch, RATE, (x.shape[0],))  # each by itself: a Poisson sample
    grads = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(weights, x, y)  # one for each example
    norms = jnp.sqrt(jnp.sum(grads**2, axis=(1, 2)))
    scale = batch * jnp.minimum(1.0, CLIP / jnp.maximum(norms, 1e-12))
    total = jnp.tensordot(scale, grads, 1)
    noisy = total + NOISE * CLIP * jax.random.normal(for_noise, total.shape)
    return weights - 4.0 * noisy / (RATE * x.shape[0])  # the expected size, not the actual one


x, y, x_test, y_test = (jnp.asarray(part) for part in load())
weights = jnp.zeros((x.shape[1], 10))
# Secret, and 64 bits of it: the generator of JAX has no more.
key = jax.random.fold_in(jax.random.PRNGKey(secrets.randbits(31)), secrets.randbits(31))
steps = 0
while epsilon(steps + STEPS_PER_EPOCH) <= EPSILON:
    for _ in range(STEPS_PER_EPOCH):
        key, now = jax.random.split(key)
        weights = update(weights, now, x, y)
    steps += STEPS_PER_EPOCH
    print(f"step {steps:3}: ε ≤ {epsilon(steps):.4f} at δ = {DELTA}")

# These digits are public; of private ones an accuracy is a release of its own.
right = float(jnp.mean(jnp.argmax(x_test @ weights, axis=1) == y_test))
print(f"accuracy {right:.3f} after {steps} steps, ε ≤ {epsilon(steps):.6f}; another epoch has {epsilon(steps + STEPS_PER_EPOCH):.4f}")
