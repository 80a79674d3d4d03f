"""
Digits, some of which are spoilt
================================

Handwritten fours and nines of MNIST, 784 pixels each, and among them images that are
nothing but noise. A curved sheet of two dimensions is fitted twice: by least squares,
which the spoilt images draw towards themselves, and by the loss ``l2``, which they
hardly move.
"""

import matplotlib.pyplot as plt
import numpy as np

from scqm import SCQM, plot
from scqm.datasets import load_digits_sample

digits = load_digits_sample([4, 9], 40)
rng = np.random.default_rng(0)
spoilt = rng.random(len(digits.data)) < 0.15
X = digits.data.copy()
X[spoilt] = 0.5 * rng.normal(size=(spoilt.sum(), X.shape[1]))  # not even images

models = {loss: SCQM(2, loss=loss).fit(X) for loss in ("squared_l2", "l2")}

# %%
# How far are the images that are not spoilt from the sheet?

good = digits.data[~spoilt]
for loss, model in models.items():
    error = np.linalg.norm(model.project(good) - good, axis=1).mean()
    print(f"{loss:10}: {model.status_}, mean distance {error:.3f}")

# %%
# Images above their reconstructions from two numbers, by the robust sheet:

plot.reconstruction_grid(models["l2"], good)

# %%
# The two numbers of each image, on the robust sheet. Spoilt images are crosses.

tau = models["l2"].embedding_
fig, ax = plt.subplots(figsize=(6, 4))
for label in (4, 9):
    here = ~spoilt & (digits.target == label)
    ax.scatter(*tau[here].T, label=str(label))
ax.scatter(*tau[spoilt].T, marker="x", color="grey", label="spoilt")
ax.set(xlabel=r"$\tau_1$", ylabel=r"$\tau_2$")
ax.legend()

# %%
# And the images that the sheet has on a grid of the latent plane:

plot.interpolation_grid(models["l2"])

# sphinx_gallery_thumbnail_number = 3
