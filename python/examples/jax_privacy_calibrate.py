"""jax_privacy: the noise of a training run for ε = 1, calibrated by its own search with a certified accountant.

Imported and run: dp_accounting's search, jax_privacy's events and its method ``calibrate``, where their sources are at hand
(0.3 s, of which 0.04 s are the accountant's). Its class BandMFConfig needs jax and optax, which are not on the project's machines, and is a stand-in.

    pip install jax-privacy
    python python/examples/jax_privacy_calibrate.py
"""

from jax_privacy.execution_plan import BandMFConfig

from dpaccountant import Gaussian, Plan, shared
from dpaccountant.dp_accounting import CertifiedAccountant

config = BandMFConfig.default(num_bands=1, iterations=1000, expected_participations=10)
noise = config.calibrate(epsilon=1.0, delta=1e-6, accountant_fn=CertifiedAccountant).noise_multiplier
answer = shared().epsilon(Plan(Gaussian(noise).poisson(0.01) * 1000), 1e-6)
print(f"noise {noise:.5f}: ε in {answer}")
