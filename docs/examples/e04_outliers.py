"""
Find outliers
=============

Some rows of a table of wines are replaced by rubbish. Which rows are too far from the
sheet, at a level of one in a hundred? And what if the sheet has bent to them?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from scqm import SCQM

X = StandardScaler().fit_transform(load_wine().data)
rng = np.random.default_rng(0)
bad = rng.random(len(X)) < 0.1
X[bad] = rng.normal(scale=3, size=(bad.sum(), X.shape[1]))

# %%
# The loss decides how much of the rubbish a fit takes over. ``outliers`` compares
# distances with those of the rows of the fit, of which it takes a robust mean. Wines
# scatter more widely than Gaussian noise, so more than one in a hundred are found.

for loss in ("squared_l2", "l2"):
    model = SCQM(2, loss=loss).fit(X)
    found = model.outliers(X, level=0.01)
    right, false = (found & bad).sum(), (found & ~bad).sum()
    print(f"{loss:10} {right} of {bad.sum()} found, {false} false")

# %%
# An outlier that a sheet has bent to is near it. Its influence is large all the same:

squares = SCQM(2, loss="squared_l2").fit(X)
influence = squares.influence(X)
top = influence.top(10)
print(f"of the ten rows that drive the fit {bad[top].sum()} are rubbish")

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.scatter(influence.residual[~bad], influence.influence[~bad], s=14, label="wines")
ax.scatter(influence.residual[bad], influence.influence[bad], s=14, label="rubbish")
ax.set(xlabel="distance from the sheet", ylabel="influence on it", yscale="log")
ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
