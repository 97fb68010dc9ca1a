"""DP-SGD in one call, with the names and arguments of TensorFlow Privacy and of Opacus.

Every number is a proved upper bound for Poisson-sampled batches, under adding or removing
one example. For other batches, and for the lower ends, ask ``Accountant.dpsgd``.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

from ._shared import shared

__all__ = [
    "compute_dp_sgd_privacy",
    "compute_dp_sgd_privacy_statement",
    "compute_noise",
    "get_noise_multiplier",
]


def compute_dp_sgd_privacy(
    n: int, batch_size: int, noise_multiplier: float, epochs: float, delta: float
) -> Tuple[float, None]:
    """ε, and None where TensorFlow Privacy has a Rényi order: there is none here.

        dpsgd.compute_dp_sgd_privacy(60000, 256, 1.1, 5, 1e-5)
    """
    run = shared().dpsgd(
        examples=n, batch_size=batch_size, noise_multiplier=noise_multiplier, epochs=epochs, delta=delta
    )
    return run.epsilons[0].upper, None


def compute_dp_sgd_privacy_statement(
    number_of_examples: int,
    batch_size: int,
    num_epochs: float,
    noise_multiplier: float,
    delta: float,
    used_microbatching: bool = True,
    max_examples_per_user: Optional[int] = None,
    accountant_type: Any = None,
) -> str:
    """What the training promises, in plain words.

    ``accountant_type`` is taken as TensorFlow Privacy has it, and changes nothing: the answer is the certified one.

    A mean over a microbatch of several examples changes by up to twice the norm to which it
    is clipped: with ``used_microbatching`` the noise counts half. With
    ``max_examples_per_user`` the statement is about persons with so many examples.

        dpsgd.compute_dp_sgd_privacy_statement(60000, 256, 5, 1.1, 1e-5)
    """
    run = shared().dpsgd(
        examples=number_of_examples,
        batch_size=batch_size,
        epochs=num_epochs,
        noise_multiplier=noise_multiplier / 2 if used_microbatching else noise_multiplier,
        delta=delta,
        records_per_person=max_examples_per_user,
    )
    if not used_microbatching:
        return run.statement
    return (
        run.statement
        + f"\nMicrobatches: the noise multiplier {noise_multiplier} is counted as {noise_multiplier / 2}, because a\n"
        "gradient that is clipped as the mean of several examples changes by up to 2·C when\n"
        "one of them is added or removed.\n"
    )


def compute_noise(
    n: int, batch_size: int, target_epsilon: float, epochs: float, delta: float, noise_lbd: float = 0.0
) -> float:
    """The least noise multiplier that is proved to meet the target, and at least ``noise_lbd``.

        dpsgd.compute_noise(60000, 256, 2.0, 5, 1e-5)
    """
    run = shared().dpsgd(
        examples=n, batch_size=batch_size, epochs=epochs, target_epsilon=target_epsilon, delta=delta
    )
    return max(run.noise_multiplier, noise_lbd)


def get_noise_multiplier(
    *,
    target_epsilon: float,
    target_delta: float,
    sample_rate: float,
    epochs: Optional[float] = None,
    steps: Optional[int] = None,
    accountant: str = "certified",
    epsilon_tolerance: float = 0.01,
    **kwargs: Any,
) -> float:
    """The least noise multiplier that is proved to meet the target. A begun step counts whole.

    ``accountant``, ``epsilon_tolerance`` and the orders of an accountant are taken as Opacus has them, and change nothing:
    the noise is the certified one, and its last digits are searched.

        dpsgd.get_noise_multiplier(target_epsilon=2.0, target_delta=1e-5, sample_rate=0.01, steps=1000)
    """
    if (steps is None) == (epochs is None):
        raise ValueError("one of epochs and steps must be given, and only one")
    run = shared().dpsgd(
        sampling_rate=sample_rate, epochs=epochs, steps=steps, target_epsilon=target_epsilon, delta=target_delta
    )
    return run.noise_multiplier
