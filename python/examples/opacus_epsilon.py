"""Opacus: digits within ε ≤ 1 over eight epochs, by the least noise that is proved to meet it.

Imported and run: Opacus 1.5.4 with torch 1.13, where its source is at hand and empty modules stand for what only torch 2 has;
elsewhere stand-ins. Not run: torch 2.

    pip install torch opacus
    python python/examples/opacus_epsilon.py
"""

import torch
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from digits import load
from dpaccountant.opacus import PrivacyEngine

DELTA, EPSILON, EPOCHS = 1e-5, 1.0, 8
x, y = (torch.from_numpy(part) for part in load()[:2])
model = torch.nn.Linear(x.shape[1], 10)
engine = PrivacyEngine()
model, optimizer, loader = engine.make_private_with_epsilon(
    module=model, optimizer=torch.optim.SGD(model.parameters(), lr=4.0), data_loader=DataLoader(TensorDataset(x, y.long()), batch_size=200),
    target_epsilon=EPSILON, target_delta=DELTA, epochs=EPOCHS, max_grad_norm=1.0)
for _ in range(EPOCHS):
    for pictures, labels in loader:
        optimizer.zero_grad()
        functional.cross_entropy(model(pictures), labels).backward()
        optimizer.step()
print(f"noise {optimizer.noise_multiplier:.6f}: ε ≤ {engine.get_epsilon(DELTA):.6f} after {len(engine.accountant)} steps")
