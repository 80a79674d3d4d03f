"""A wrong gradient of a loss written in Python, noticed at the residuals of a fit.

A fit that follows wrong slopes may well call its end stationary. So a few residual
rows are moved back and forth in a random direction, and the change of the values is
compared with what the gradient says of it.
"""

from __future__ import annotations

import numpy as np

from .._native import Array
from ._loss import Loss

# Rows to look at, steps relative to the size of the residuals, and how far gradient and
# values may differ, relative to the larger one of the slopes.
ROWS = 16
STEPS = (1e-3, 1e-4, 1e-5)
TOLERANCE = 0.02


def suspicion(loss: Loss, residuals: Array) -> str | None:
    """Return what is wrong with the gradient, None where nothing seems to be.

    Kinks near some of the rows are no fault: half of them must differ, at every step.
    """
    rng = np.random.default_rng(0)
    R = residuals[np.linspace(0, len(residuals) - 1, ROWS).astype(int)]
    size = float(np.abs(residuals).max())
    if not size > 0:
        return None
    # Where all residuals vanish nearly, away from the kink.
    R = R + size * 0.1 * rng.normal(size=R.shape)
    V = rng.normal(size=R.shape)
    said = np.sum(np.asarray(loss.evaluate(R.copy())[1], float) * V, axis=1)
    wrong, found = np.ones(len(R), dtype=bool), said
    for step in STEPS:
        h = step * size
        up = np.asarray(loss.evaluate(R + h * V)[0], float)
        down = np.asarray(loss.evaluate(R - h * V)[0], float)
        found = (up - down) / (2 * h)
        near = np.abs(found - said) <= TOLERANCE * np.maximum(abs(found), abs(said))
        rounding = np.abs(up - down) <= 1e-9 * np.abs(up)
        wrong &= ~(near | rounding)
    if not np.isfinite(found).all() or 2 * wrong.sum() < len(R):
        return None
    k = int(np.argmax(wrong))
    return (
        f"the gradient of the loss {loss.name!r} is not that of its values: along a "
        f"direction in which these change by {found[k]:.4g} it says {said[k]:.4g}; "
        "scqm.losses.check tries all laws of losses"
    )
