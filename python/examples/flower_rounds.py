"""Flower: as many rounds of federated averaging with noise as a budget allows, by its protocol of accountants.

Not imported and run: Flower's main branch of August 2026, which has the protocol (releases up to 1.29 do not). The program
runs with a stand-in of its two types; the protocol is compared with its source where that is at hand.

    pip install "flwr @ git+https://github.com/flwrlabs/flower#subdirectory=framework"
    python python/examples/flower_rounds.py
"""

from flwr.supercore.privacy_accounting import GaussianPrivacyEvent, NeighboringRelation, PrivacyConfig, SamplingMethod

from dpaccountant.flower import CertifiedAccountant

config = PrivacyConfig(
    target_delta=1e-5, population_size=10_000, neighboring_relation=NeighboringRelation.ADD_OR_REMOVE_ONE,
    sampling_method=SamplingMethod.POISSON, max_epsilon=1.0)
release = GaussianPrivacyEvent(noise_multiplier=0.8, sample_size=50, population_size=10_000)
accountant = CertifiedAccountant(config)
while not accountant.would_exceed(release, count=50):
    accountant.compose(release, count=50)  # here fifty rounds of the strategy run
spent = accountant.get_privacy_spent()
print(f"{spent.num_releases} rounds, ε ≤ {spent.epsilon:.6f} at δ = {spent.delta}, {spent.accounting_method}")
resumed = CertifiedAccountant(config)
resumed.load_state_dict(accountant.state_dict())
print(f"resumed after {resumed.num_releases} rounds")
