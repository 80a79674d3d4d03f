"""
Which rows drive a fit
======================

The influence of a row is how far the sheet moves when the row is left out. It is
computed from derivatives at the fit, for all rows at once, and checked by fitting anew
without a row.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from scqm import SCQM

# Sizes of cell nuclei, in standard deviations of the logarithms.
table = load_breast_cancer()
X = np.log(table.data[:, [0, 1, 2, 3, 4, 5, 8]])
X = (X - X.mean(axis=0)) / X.std(axis=0)

models = {loss: SCQM(2, loss=loss).fit(X) for loss in ("squared_l2", "l2")}
influence = {loss: model.influence(X) for loss, model in models.items()}

# %%
# The rows that least squares rests on, and what the fit without them says:

top = influence["squared_l2"].top(5)
again = models["squared_l2"].leave_out(X, top)
for row, said, done in zip(
    top, influence["squared_l2"].influence[top], again.influence, strict=True
):
    print(f"row {row:3}: moves the sheet by {said:.4f}, fitted anew by {done:.4f}")

# %%
# With the loss ``l2`` no row has such a hold:

fig, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
for loss, found in influence.items():
    ax.plot(np.sort(found.influence)[::-1][:60], ".-", label=loss)
ax.set(
    xlabel="rows, the most influential first", ylabel="moves the sheet by", yscale="log"
)
ax.legend()

# %%
# Where those rows are, on the sheet of least squares:

fig, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
tau, size = models["squared_l2"].embedding_, influence["squared_l2"].influence
drawn = ax.scatter(*tau.T, c=size, s=8 + 120 * size / size.max(), cmap="viridis")
for row in top:
    ax.annotate(str(row), tau[row], xytext=(6, 4), textcoords="offset points")
ax.set(xlabel=r"$\tau_1$", ylabel=r"$\tau_2$")
fig.colorbar(drawn, label="moves the sheet by")

# sphinx_gallery_thumbnail_number = 2
