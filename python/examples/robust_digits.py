"""Learn handwritten digits some of which are spoilt, with two losses.

Writes digits.png where Matplotlib is installed.
"""

import numpy as np

from scqm import SCQM
from scqm.datasets import load_digits_sample

digits = load_digits_sample([4, 9], 40)
rng = np.random.default_rng(0)
spoilt = rng.random(len(digits.data)) < 0.15
X = digits.data.copy()
X[spoilt] = 0.5 * rng.normal(size=(int(spoilt.sum()), X.shape[1]))  # not even images

models = {loss: SCQM(2, loss=loss).fit(X) for loss in ("squared_l2", "l2")}
for loss, model in models.items():
    good = digits.data[~spoilt]
    error = np.linalg.norm(model.project(good) - good, axis=1).mean()
    print(
        f"{loss:10}: {model.status_}, mean error on the digits that are not spoilt "
        f"{error:.3f}"
    )

try:
    from scqm import plot

    plot.reconstruction_grid(models["l2"], X).savefig("digits.png")
    print("wrote digits.png")
except ImportError as error:
    print(error)
