"""Write a loss of residual rows with NumPy, check it, and fit with it.

A subclass of Loss needs values and gradients of residual rows only. The check tries
whether they are those of a loss before a fit relies on them.
"""

import numpy as np

from scqm import SCQM
from scqm.datasets import make_sphere
from scqm.losses import Loss, check


class PseudoHuber(Loss):
    """The smooth loss sum_k delta^2 (sqrt(1 + (r_k / delta)^2) - 1)."""

    def __init__(self, delta: float = 0.1) -> None:
        self.delta = delta

    def evaluate(self, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return values and gradients of residual rows."""
        t = R / self.delta
        with np.errstate(invalid="ignore", over="ignore"):  # residuals may be huge
            root = np.hypot(1, t)
            # sqrt(1 + t^2) - 1 without cancellation.
            values = self.delta**2 * (t * (t / (root + 1))).sum(axis=1)
            return values, R / root


report = check(PseudoHuber())
print(report)
if not report:
    raise SystemExit("the loss breaks a law")

X, clean = make_sphere(150, noise=0.05, p=1.0, random_state=0)
upper = X[:, 2] > 0
model = SCQM(2, loss=PseudoHuber()).fit(X[upper])
error = np.linalg.norm(model.project(X[upper]) - clean[upper], axis=1).mean()
print(f"{model.loss_.name}: {model.status_}, mean distance from the sphere {error:.4f}")
