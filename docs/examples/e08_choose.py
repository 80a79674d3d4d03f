"""
Choosing d and s
================

How many dimensions, and in how many directions should the sheet bend?
:func:`scqm.suggest` compares models by how well they predict entries of rows that they
have not seen.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import rotate

import scqm
from scqm.datasets import load_digits_sample

# A handwritten nine, turned, and looked at through 25 windows of 5 x 5 pixels.
image = load_digits_sample([9], 1).data[0].reshape(28, 28)
angles = np.linspace(-40, 40, 150)
turned = np.array([rotate(image, a, reshape=False, order=1) for a in angles])
X = turned[:, 1:26, 1:26].reshape(-1, 5, 5, 5, 5).mean(axis=(2, 4)).reshape(-1, 25)
X += np.random.default_rng(0).normal(scale=0.02, size=X.shape)

suggestion = scqm.suggest(X, max_components=3)
print(suggestion)

# %%
# The recommendation is in the form of parameters:

print(suggestion.params)
model = scqm.SCQM(**suggestion.params).fit(X)
print(model.status_)

# %%
# The table as a picture, without curvature first in each dimension. A curved sheet
# predicts better than a flat one of a dimension more.

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
table = suggestion.table
labels = [f"d={row['d']}, s={row['s']}" for row in table]
values = [row["predicted"] for row in table]
colors = ["#1558b0" if k == suggestion.best else "#9aa5b1" for k in range(len(table))]
ax.bar(labels, values, color=colors)
ax.set_ylabel("distance of predicted entries")
ax.tick_params(axis="x", rotation=90)
