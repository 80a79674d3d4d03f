"""
A loss of one's own
===================

A loss is a function of residual rows. This one is written in NumPy, tried against the
laws of losses before a fit relies on it, and then used like those of the library.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from scqm import SCQM
from scqm.losses import Loss, check


class PseudoHuber(Loss):
    """The smooth loss sum_k delta^2 (sqrt(1 + (r_k / delta)^2) - 1)."""

    separable = True

    def __init__(self, delta=0.05):
        self.delta = delta

    def evaluate(self, R):
        """Return values and gradients of residual rows."""
        t = R / self.delta
        with np.errstate(invalid="ignore", over="ignore"):  # residuals may be huge
            root = np.hypot(1, t)
            # sqrt(1 + t^2) - 1 without cancellation.
            return self.delta**2 * (t * (t / (root + 1))).sum(axis=1), R / root

    def weights(self, R):
        """Return the weights of a quadratic upper bound."""
        return 1 / np.hypot(1, R / self.delta)


report = check(PseudoHuber())
print(report)

# %%
# A mistake in the gradient does not go unseen:

print(check(lambda R: ((R**2).sum(axis=1), R)).broken)

# %%
# Irises, some entries of which slipped by a digit:

flowers = load_iris()
X = flowers.data.copy()
rng = np.random.default_rng(0)
slipped = rng.random(X.shape) < 0.04
X[slipped] *= 10

models = {"squared_l2": SCQM(2, loss="squared_l2").fit(X)}
models["pseudo_huber"] = SCQM(2, loss=PseudoHuber()).fit(X)
rows = ~slipped.any(axis=1)
for name, model in models.items():
    residual = model.project(X[rows]) - X[rows]
    error = np.abs(residual).mean()
    print(f"{name:12} {model.status_}, {error:.3f} cm on rows that are right")

# %%
# Coordinates of the flowers, by both:

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    for kind, label in enumerate(flowers.target_names):
        ax.scatter(
            *model.transform(X)[rows & (flowers.target == kind)].T, s=14, label=label
        )
    ax.set(title=name, xlabel=r"$\tau_1$", ylabel=r"$\tau_2$")
axes[1].legend()
