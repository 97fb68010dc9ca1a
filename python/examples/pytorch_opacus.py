"""PyTorch: digits by DP-SGD with Opacus, a budget that stops it, a checkpoint that it goes on from.

    pip install torch opacus
    python python/examples/pytorch_opacus.py [CHECKPOINT]

Opacus draws Poisson samples. The engine and the budget see its loader, and take no other.
"""

import os
import sys

import torch
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from digits import load
from dpaccountant.callbacks import TrainingBudget, attach
from dpaccountant.opacus import PrivacyEngine

NOISE, CLIP, BATCH, DELTA, EPSILON = 4.0, 1.0, 200, 1e-5, 1.0

x, y, x_test, y_test = (torch.from_numpy(part) for part in load())
y, y_test = y.long(), y_test.long()
model = torch.nn.Linear(x.shape[1], 10)
optimizer = torch.optim.SGD(model.parameters(), lr=4.0)
engine = PrivacyEngine()
model, optimizer, loader = engine.make_private(
    module=model,
    optimizer=optimizer,
    data_loader=DataLoader(TensorDataset(x, y), batch_size=BATCH),
    noise_multiplier=NOISE,
    max_grad_norm=CLIP,
)
budget = TrainingBudget(
    noise_multiplier=NOISE, sampling_rate=1 / len(loader), delta=DELTA, target_epsilon=EPSILON)
attach(optimizer, budget, loader=loader)  # counts a step before it changes the model, and refuses what does not fit

checkpoint = sys.argv[1] if len(sys.argv) > 1 else None
if checkpoint and os.path.exists(checkpoint):
    saved = torch.load(checkpoint)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    engine.accountant.load_state_dict(saved["accountant"])
    budget.load_state_dict(saved["budget"])
    print(f"resumed after {budget.steps} steps")

while not budget.exhausted:
    for pictures, labels in loader:
        if budget.exhausted:
            break
        optimizer.zero_grad()
        functional.cross_entropy(model(pictures), labels).backward()
        optimizer.step()
    if checkpoint:
        torch.save({
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "accountant": engine.accountant.state_dict(),
            "budget": budget.state_dict(),
        }, checkpoint + ".part")
        os.replace(checkpoint + ".part", checkpoint)  # whole or not at all
    print(f"step {budget.steps:3}: ε ≤ {engine.get_epsilon(DELTA):.4f} at δ = {DELTA}")

# These digits are public; of private ones an accuracy is a release of its own.
with torch.no_grad():
    right = (model(x_test).argmax(1) == y_test).float().mean().item()
print(f"accuracy {right:.3f} after {budget.steps} of {budget.max_steps} steps, ε ≤ {budget.epsilon().upper:.6f}")
