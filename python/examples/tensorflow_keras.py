"""TensorFlow: digits by DP-SGD in ``fit`` of Keras, which the callback of a budget stops.

    pip install tensorflow
    python python/examples/tensorflow_keras.py

``fit`` shuffles what it is given; the batches here are Poisson samples, drawn by a generator.
"""

import numpy as np
import tensorflow as tf

from digits import load
from dpaccountant.callbacks import TrainingBudget, keras_callback

NOISE, CLIP, RATE, DELTA, EPSILON = 4.0, 1.0, 1 / 8, 1e-5, 1.0
x, y, x_test, y_test = load()


class Softmax(tf.keras.Model):
    """A linear layer, trained by clipped gradients of single examples and noise."""

    def __init__(self):
        super().__init__()
        self.weights_of_labels = tf.Variable(tf.zeros((x.shape[1], 10)))

    def call(self, pictures):
        return tf.matmul(pictures, self.weights_of_labels)

    def train_step(self, data):
        pictures, labels = data
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=self(pictures))
        grads = tape.jacobian(losses, self.weights_of_labels)  # one for each example
        scale = tf.minimum(1.0, CLIP / tf.maximum(tf.norm(grads, axis=[1, 2]), 1e-12))
        total = tf.tensordot(scale, grads, 1)
        noisy = total + tf.random.normal(tf.shape(total), stddev=NOISE * CLIP)
        self.weights_of_labels.assign_sub(4.0 * noisy / (RATE * len(x)))  # the expected size, not the actual one
        return {}  # a loss of private data would be a release of its own


def poisson():
    """Poisson samples without end: each example is in a batch by itself."""
    random = np.random.default_rng()  # seeded by the operating system
    while True:
        batch = random.random(len(x)) < RATE
        yield x[batch], y[batch]


batches = tf.data.Dataset.from_generator(poisson, output_signature=(
    tf.TensorSpec((None, x.shape[1]), tf.float32), tf.TensorSpec((None,), tf.int32)))
budget = TrainingBudget(noise_multiplier=NOISE, sampling_rate=RATE, delta=DELTA, target_epsilon=EPSILON)
model = Softmax()
model.compile()
model.fit(
    batches, steps_per_epoch=8, epochs=budget.max_steps, verbose=0,
    callbacks=[
        keras_callback(budget),
        tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print(
            f"step {budget.steps:3}: ε ≤ {logs['epsilon']:.4f} at δ = {DELTA}")),
    ],
)

# These digits are public; of private ones an accuracy is a release of its own.
right = float(np.mean(np.argmax(x_test @ model.weights_of_labels.numpy(), axis=1) == y_test))
print(f"accuracy {right:.3f} after {budget.steps} of {budget.max_steps} steps, ε ≤ {budget.epsilon().upper:.6f}")
