"""Fit a curved sheet to noisy rows, and use it.

It goes once through fit, coordinates, projection, saving and loading, on an arc of
which the truth is known.
"""

import numpy as np

from scqm import SCQM, load
from scqm.datasets import make_arc

X, clean = make_arc(300, noise=0.1, p=1.0, random_state=0)

model = SCQM(n_components=1, loss="l1").fit(X)
print(f"{model.status_}: {model.message_}")

tau = model.transform(X)  # rows to coordinates along the arc
arc = model.inverse_transform(tau)  # coordinates to points of the arc


def error(rows: np.ndarray) -> float:
    """Return the root mean square distance from the rows without noise."""
    return float(np.sqrt(((rows - clean) ** 2).sum(axis=1).mean()))


print(f"distance from the truth: rows {error(X):.4f}, projections {error(arc):.4f}")

model.save("arc.npz")  # the program scqm reads it too, and so does numpy.load
print("the same after loading:", np.array_equal(load("arc.npz").transform(X), tau))
