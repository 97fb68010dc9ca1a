"""What Opacus 1.4.0 (PyPI, Apache-2.0) can be called by, as far as the adapters stand in its place: names of parameters alone.

A star is in front of those that are taken by name alone, two in front of whatever else is taken; one with = has a default.
test_stubs.py holds this to the source, and the adapters to this.
"""

ACCOUNTANT = {  # opacus/accountants/accountant.py
    "step": "self * noise_multiplier sample_rate",
    "get_epsilon": "self delta *args **kwargs",
    "__len__": "self",
    "mechanism": "cls",
    "get_optimizer_hook_fn": "self sample_rate",
    "state_dict": "self destination=",
    "load_state_dict": "self state_dict",
}
UTILS = {  # opacus/accountants/utils.py
    "get_noise_multiplier": "* target_epsilon target_delta sample_rate epochs= steps= accountant= epsilon_tolerance= **kwargs",
}
ENGINE = {  # opacus/privacy_engine.py
    "__init__": "self * accountant= secure_mode=",
    "make_private": "self * module optimizer data_loader noise_multiplier max_grad_norm batch_first= loss_reduction= "
    "poisson_sampling= clipping= noise_generator= grad_sample_mode=",
    "make_private_with_epsilon": "self * module optimizer data_loader target_epsilon target_delta epochs max_grad_norm "
    "batch_first= loss_reduction= poisson_sampling= clipping= noise_generator= grad_sample_mode= **kwargs",
    "get_epsilon": "self delta",
}
