"""Lightning: digits by its Trainer with Opacus; a callback counts each step, stops it at ε ≤ 1 and is in checkpoints.

Not imported and run: Lightning, which is not on the project's machines. Opacus 1.5.4 and torch 1.13 are, with a
stand-in that calls back as its Trainer does; the methods of the callback are compared with its source where that is at hand.

    pip install torch opacus lightning
    python python/examples/lightning_digits.py
"""

import torch
from lightning.pytorch import LightningModule, Trainer
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from digits import load
from dpaccountant.callbacks import TrainingBudget, lightning_callback
from dpaccountant.opacus import PrivacyEngine

x, y = (torch.from_numpy(part) for part in load()[:2])
linear = torch.nn.Linear(x.shape[1], 10)
linear, optimizer, loader = PrivacyEngine().make_private(
    module=linear, optimizer=torch.optim.SGD(linear.parameters(), lr=4.0), data_loader=DataLoader(TensorDataset(x, y.long()), batch_size=200),
    noise_multiplier=4.0, max_grad_norm=1.0)
budget = TrainingBudget(noise_multiplier=4.0, sampling_rate=1 / len(loader), delta=1e-5, target_epsilon=1.0)


class Digits(LightningModule):
    def __init__(self):
        super().__init__()
        self.linear = linear

    def training_step(self, batch, index):
        return functional.cross_entropy(self.linear(batch[0]), batch[1])

    def configure_optimizers(self):
        return optimizer


Trainer(max_epochs=100, callbacks=[lightning_callback(budget)], logger=False, enable_checkpointing=False).fit(Digits(), loader)
print(f"{budget.steps} of {budget.max_steps} steps, ε ≤ {budget.epsilon().upper:.6f}")
