"""What other libraries can be called by, as far as the adapters stand in their place: names of parameters alone, in our own words.

A star is in front of those that are taken by name alone, two in front of whatever else is taken; one with = has a default.
test_stubs.py holds this to the sources, and the adapters to this.
"""

# Library: its repository, the commit, and for a file and a class ("" for none) its functions.
PEERS = {
    "Opacus 1.5.4": ("pytorch/opacus", "4d0ebc84613d214fbfd37fbfd1390e3747a625ce", {
        ("opacus/accountants/accountant.py", "IAccountant"): {
            "step": "self * noise_multiplier sample_rate",
            "get_epsilon": "self delta *args **kwargs",
            "__len__": "self",
            "mechanism": "cls",
            "get_optimizer_hook_fn": "self sample_rate",
            "state_dict": "self destination=",
            "load_state_dict": "self state_dict",
        },
        ("opacus/accountants/utils.py", ""): {
            "get_noise_multiplier": "* target_epsilon target_delta sample_rate epochs= steps= accountant= epsilon_tolerance= **kwargs",
        },
        ("opacus/privacy_engine.py", "PrivacyEngine"): {
            "__init__": "self * accountant= secure_mode=",
            "make_private": "self * module optimizer criterion= data_loader noise_multiplier max_grad_norm batch_first= loss_reduction= "
            "poisson_sampling= clipping= noise_generator= grad_sample_mode= **kwargs",
            "make_private_with_epsilon": "self * module optimizer criterion= data_loader target_epsilon target_delta epochs max_grad_norm "
            "batch_first= loss_reduction= poisson_sampling= clipping= noise_generator= grad_sample_mode= **kwargs",
        },
    }),
    "dp_accounting": ("google/differential-privacy", "b5b0286e313b64a692abfc8c528d54ef47d960a0", {
        ("python/dp_accounting/dp_accounting/privacy_accountant.py", "PrivacyAccountant"): {
            "__init__": "self neighboring_relation",
            "supports": "self event",
            "_maybe_compose": "self event count do_compose",
            "compose": "self event count=",
            "get_epsilon": "self target_delta",
            "get_delta": "self target_epsilon",
        },
        ("python/dp_accounting/dp_accounting/mechanism_calibration.py", ""): {
            "calibrate_dp_mechanism": "make_fresh_accountant make_event_from_param target_epsilon target_delta bracket_interval= discrete= tol=",
        },
    }),
    "jax_privacy": ("google-deepmind/jax_privacy", "8967688c26d46f3b74bfdfe61ef1f984b887abab", {
        ("jax_privacy/execution_plan.py", "BandMFConfig"): {"calibrate": "self * epsilon delta tol= accountant_fn="},
        ("jax_privacy/accounting.py", ""): {"dpsgd_event": "noise_multiplier iterations * sampling_prob use_zcdp="},
    }),
    "TensorFlow Privacy": ("tensorflow/privacy", "03035d5d4a271ac795dab80f5bc1cef82fc3d462", {
        ("tensorflow_privacy/privacy/analysis/compute_dp_sgd_privacy_lib.py", ""): {
            "compute_dp_sgd_privacy_statement": "number_of_examples batch_size num_epochs noise_multiplier delta used_microbatching= "
            "max_examples_per_user= accountant_type=",
            "compute_dp_sgd_privacy": "n batch_size noise_multiplier epochs delta",
        },
        ("tensorflow_privacy/privacy/analysis/compute_noise_from_budget_lib.py", ""): {
            "compute_noise": "n batch_size target_epsilon epochs delta noise_lbd",
        },
    }),
    "transformers": ("huggingface/transformers", "55093b758b338fdc7903e778509523d755ae080d", {
        ("src/transformers/trainer_callback.py", "TrainerCallback"): {
            "on_train_begin": "self args state control **kwargs",
            "on_pre_optimizer_step": "self args state control **kwargs",
            "on_step_end": "self args state control **kwargs",
            "on_log": "self args state control **kwargs",
        },
    }),
    "Lightning": ("Lightning-AI/pytorch-lightning", "7f0c3436cd3f6ad3753125672024fc415cbcb414", {
        ("src/lightning/pytorch/callbacks/callback.py", "Callback"): {
            "on_train_start": "self trainer pl_module",
            "on_before_optimizer_step": "self trainer pl_module optimizer",
            "on_train_batch_end": "self trainer pl_module outputs batch batch_idx",
            "on_train_epoch_end": "self trainer pl_module",
            "state_dict": "self",
            "load_state_dict": "self state_dict",
        },
    }),
    "Flower": ("tandede/flower", "3de848d15af90b44f1f7dcb963eed5b45d07e92e", {  # a fork of main as of August 2026
        ("framework/py/flwr/supercore/privacy_accounting.py", "PrivacyAccountant"): {
            "config": "self",
            "num_releases": "self",
            "compose": "self event count=",
            "get_epsilon": "self delta",
            "get_delta": "self epsilon",
            "get_privacy_spent": "self delta=",
            "would_exceed": "self event max_epsilon= count=",
            "state_dict": "self",
            "load_state_dict": "self state",
        },
    }),
    "PipelineDP": ("OpenMined/PipelineDP", "ec6e56edbf2ce8e2b2297df3e4992d91609d1d94", {
        ("pipeline_dp/budget_accounting.py", "PLDBudgetAccountant"): {
            "__init__": "self total_epsilon total_delta pld_discretization= num_aggregations= aggregation_weights=",
            "request_budget": "self mechanism_type sensitivity= weight= count= noise_standard_deviation= name=",
            "compute_budgets": "self",
        },
        ("pipeline_dp/budget_accounting.py", "MechanismSpec"): {
            "set_eps_delta": "self eps delta",
            "set_noise_standard_deviation": "self stddev",
            "set_thresholding_delta": "self delta",
        },
        ("pipeline_dp/budget_accounting.py", "BudgetAccountant"): {
            "_check_aggregation_restrictions": "self",
            "_register_mechanism": "self mechanism",
            "_finalize": "self",
        },
    }),
}
