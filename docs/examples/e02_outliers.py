"""
A table with outliers
=====================

Chemical measurements of 178 wines from three growers, of which every tenth row is
replaced by rubbish. The loss decides how much of that a fit takes over.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from scqm import SCQM

wine = load_wine()
clean = StandardScaler().fit_transform(wine.data)
rng = np.random.default_rng(0)
bad = rng.random(len(clean)) < 0.1
X = clean.copy()
X[bad] = rng.normal(scale=6, size=(bad.sum(), X.shape[1]))

# %%
# The reference is the sheet of the table before it was spoilt. How far do fits to
# the spoilt table put the good rows from where that sheet has them?

reference = SCQM(2, loss="squared_l2", ridge=0.1).fit(clean[~bad])
wanted = reference.project(clean[~bad])
models = {}
for loss in ("squared_l2", "huber", "l2"):
    models[loss] = SCQM(2, loss=loss, ridge=0.1).fit(X)
    off = np.linalg.norm(models[loss].project(clean[~bad]) - wanted, axis=1)
    print(f"{loss:10} {models[loss].status_}, off by {off.mean():.2f}")

# %%
# The growers, in the coordinates of both sheets. The robust sheet keeps them apart;
# that of least squares has turned to the rubbish.

fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, loss in zip(axes, ("squared_l2", "l2"), strict=True):
    tau = models[loss].transform(X)
    for grower in range(3):
        here = ~bad & (wine.target == grower)
        ax.scatter(*tau[here].T, s=16, label=f"grower {grower}")
    ax.set(title=loss, xlabel=r"$\tau_1$", ylabel=r"$\tau_2$")
axes[1].legend()

# %%
# The distance of each row from the robust sheet tells which rows they are.

distance = np.linalg.norm(models["l2"].project(X) - X, axis=1)
fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
bins = np.linspace(0, distance.max(), 40)
ax.hist([distance[~bad], distance[bad]], bins, stacked=True, label=["wines", "rubbish"])
ax.set(xlabel="distance from the sheet", ylabel="rows")
ax.legend()
