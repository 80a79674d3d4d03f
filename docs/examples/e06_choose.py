"""
Choose d, and whether to bend
=============================

:func:`scqm.suggest` compares flat and curved sheets by how well they predict entries of
rows that they have not seen. On noise it says that there is no sheet.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import scqm

X = StandardScaler().fit_transform(load_wine().data)
suggestion = scqm.suggest(X)
print(suggestion)
model = scqm.SCQM(**suggestion.params).fit(X)
print(model.curvature_["sentence"])

# %%
# The same for noise with the columns of the table shuffled:

rng = np.random.default_rng(0)
noise = rng.permuted(X, axis=0)
print(scqm.suggest(noise).reason)

# %%
# Distances of new rows fall with every dimension, of noise or not; errors of predicted
# entries do not.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for ax, name, rows in zip(axes, ("wines", "noise"), (X, noise), strict=True):
    table = [row for row in scqm.suggest(rows).table if row["s"] == 0]
    d = [row["d"] for row in table]
    ax.plot(d, [row["predicted"] for row in table], "o-", label="predicted entries")
    ax.plot(d, [row["held_out"] for row in table], "s--", label="distance of new rows")
    ax.set(xlabel="d", title=name, xticks=d)
axes[1].legend(loc="upper left", bbox_to_anchor=(1.01, 1))
