"""Scalable Private Learning with PATE (Papernot et al., 2018): Confident-GNMax labels a student's data."""

import random

from dpaccountant import shared

random.seed(1)  # of the example's teachers, not of the noise
accountant = shared()
# 250 teachers vote on 40 queries of 10 classes: on most they agree, on some they do not.
votes = []
for query in range(40):
    agree = 240 if query % 4 else 90
    row = [agree if c == query % 10 else 0 for c in range(10)]
    for _ in range(250 - agree):
        row[random.randrange(10)] += 1
    votes.append(row)
mechanism = dict(mechanism="confident", threshold=200, sigma1=60, sigma2=20)
labels = accountant.pate_answer(votes, **mechanism)
right = sum(label == query % 10 for query, label in enumerate(labels.labels) if labels.answered[query])
cost = accountant.pate(votes, **mechanism, delta=1e-5)
print(f"{sum(labels.answered)} of {len(votes)} queries answered, {right} of them right; ε ≤ {cost.epsilon:.3f} at this data set")
