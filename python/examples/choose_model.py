"""Let the data choose the dimensions and the loss, and look at the noise.

The dimensions come from held-out entries, the loss from the residuals, and the power of
the noise with its standard error.
"""

from __future__ import annotations

import numpy as np

import scqm
from scqm.datasets import generalized_gaussian_noise
from scqm.losses import estimate_power

# A bowl in ten dimensions, with Laplace noise in each entry.
t = np.random.default_rng(0).uniform(-2, 2, size=(150, 2))
X = np.zeros((150, 10))
X[:, :2], X[:, 2] = t, (t**2).sum(axis=1) / 3
X += generalized_gaussian_noise(X.shape, p=1.0, scale=0.1, random_state=1)

suggestion = scqm.suggest(X, max_components=3)
print(suggestion)

model = scqm.SCQM(**suggestion.params, loss="auto").fit(X)
print(f"\n{model.loss_}: {model.loss_reason_}")

residuals = model.inverse_transform(model.embedding_) - X
power = estimate_power(residuals, model.residual_parts())
print(f"the noise has the power {power.p:.2f} ± {power.p_error:.2f}")
