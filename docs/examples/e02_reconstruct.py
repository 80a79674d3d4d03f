"""
Reconstruct: images from a few numbers
======================================

Handwritten digits of 64 pixels are stored as five numbers each, and drawn again from
these.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from scqm import SCQM, plot

digits = load_digits()
X = digits.data[digits.target == 3]
model = SCQM(n_components=5, loss="squared_l2").fit(X)
codes = model.transform(X)
images = model.inverse_transform(codes)
print(f"{X.shape[1]} pixels as {codes.shape[1]} numbers, R2 {model.r2_:.3f}")

# %%
# How far are images from their reconstructions, and how far by principal components?

flat = PCA(5).fit(X)
by_pca = flat.inverse_transform(flat.transform(X))
for name, drawn in {"sheet": images, "PCA": by_pca}.items():
    error = np.sqrt(np.mean((drawn - X) ** 2))
    print(f"{name:5} {error:.3f} gray levels of 16")

# %%
# Images above their reconstructions:

plot.reconstruction_grid(model, X)

# %%
# And what the sheet holds on a grid of its first two coordinates, pale where there are
# no images near by:

plot.interpolation_grid(model)
plt.show()
