"""transformers: digits by its Trainer with Opacus; a callback counts each step, stops it at ε ≤ 1 and logs ε.

Not imported and run: transformers, which is not on the project's machines. Opacus 1.5.4 and torch 1.13 are, with a
stand-in that calls back as the Trainer does; the methods of the callback are compared with its source where that is at hand.

    pip install torch opacus transformers accelerate
    python python/examples/transformers_trainer.py
"""

import torch
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset
from transformers import Trainer, TrainingArguments

from digits import load
from dpaccountant.callbacks import TrainingBudget, transformers_callback
from dpaccountant.opacus import PrivacyEngine

x, y = (torch.from_numpy(part) for part in load()[:2])
model = torch.nn.Linear(x.shape[1], 10)
model, optimizer, loader = PrivacyEngine().make_private(
    module=model, optimizer=torch.optim.SGD(model.parameters(), lr=4.0), data_loader=DataLoader(TensorDataset(x, y.long()), batch_size=200),
    noise_multiplier=4.0, max_grad_norm=1.0)
budget = TrainingBudget(noise_multiplier=4.0, sampling_rate=1 / len(loader), delta=1e-5, target_epsilon=1.0)


class PrivateTrainer(Trainer):
    def get_train_dataloader(self):
        return loader  # Poisson samples: the Trainer's own loader shuffles

    def compute_loss(self, model, inputs, return_outputs=False, **_):
        return functional.cross_entropy(model(inputs[0]), inputs[1])


PrivateTrainer(
    model=model, args=TrainingArguments(output_dir="trainer", num_train_epochs=100, logging_steps=8, max_grad_norm=0.0),
    optimizers=(optimizer, None), callbacks=[transformers_callback(budget)]).train()
print(f"{budget.steps} of {budget.max_steps} steps, ε ≤ {budget.epsilon().upper:.6f}")
