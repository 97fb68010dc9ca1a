"""TensorFlow Privacy: its statement about a training run, and the certified one with the same arguments.

Imported and run: its compute_dp_sgd_privacy_lib and dp_accounting, where their sources are at hand: both statements have the same ε. Its
package needs TensorFlow, which is not on the project's machines; a stand-in says a line.

    pip install tensorflow-privacy
    python python/examples/tensorflow_privacy_statement.py
"""

from tensorflow_privacy import compute_dp_sgd_privacy_statement

from dpaccountant import dpsgd

run = dict(number_of_examples=60000, batch_size=256, num_epochs=60, noise_multiplier=1.1, delta=1e-5, used_microbatching=False)
print(compute_dp_sgd_privacy_statement(**run))
print(dpsgd.compute_dp_sgd_privacy_statement(**run))
print(f"noise for ε = 2: {dpsgd.compute_noise(n=60000, batch_size=256, target_epsilon=2.0, epochs=60, delta=1e-5):.4f}")
