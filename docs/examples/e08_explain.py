"""
Explain a fit
=============

What do the coordinates mean, does the sheet really bend, how sure are the coordinates,
and which rows drive the fit?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from scqm import SCQM

wine = load_wine()
X = StandardScaler().fit_transform(wine.data)
model = SCQM(1).fit(X)
print(model.summary())

# %%
# The coordinate: which columns change along it, and which of them turn back?

along = np.linspace(*np.quantile(model.embedding_, [0.02, 0.98]), 40)[:, None]
rows = model.inverse_transform(along)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for j in np.argsort(-np.ptp(rows, axis=0))[:6]:
    ax.plot(along, rows[:, j], label=wine.feature_names[j])
ax.set(xlabel="coordinate", ylabel="standard deviations")
ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)

# %%
# Standard errors: of coordinates by the noise around the sheet, of the sheet by leaving
# out rows.

influence = model.influence(X)
print(f"coordinates: {np.median(model.standard_errors(X)):.2f} in the median")
print(f"the sheet:   {influence.sheet_error:.2f}")

# %%
# The rows that drive the fit:

top = influence.top(3)
print(top, influence.influence[top].round(3))
