"""
A table with missing entries
============================

A fifth of the entries of a table are hidden. With ``missing="ignore"`` they have no
weight in the fit, and the point of the sheet nearest to what is left of a row completes
it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.preprocessing import StandardScaler

from scqm import SCQM

table = StandardScaler().fit_transform(load_wine().data)
hidden = np.random.default_rng(0).random(table.shape) < 0.2
gaps = np.where(hidden, np.nan, table)

model = SCQM(
    8, loss="squared_l2", linear=True, missing="ignore", tol=1e-4, max_iter=300
).fit(gaps)
completed = {
    "column means": SimpleImputer().fit_transform(gaps),
    "5 nearest rows": KNNImputer().fit_transform(gaps),
    "sheet": model.project(gaps),
}

# %%
# Root mean square errors of the hidden entries, in standard deviations of their
# columns:

errors = {
    name: np.sqrt(np.mean((Z - table)[hidden] ** 2)) for name, Z in completed.items()
}
for name, error in errors.items():
    print(f"{name:15} {error:.3f}")

# %%
# Column by column, and entry by entry:

fig, axes = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
names = load_wine().feature_names
for k, (name, Z) in enumerate(completed.items()):
    column = np.sqrt(np.nanmean(np.where(hidden, Z - table, np.nan) ** 2, axis=0))
    axes[0].barh(np.arange(len(names)) + 0.25 * (k - 1), column, 0.25, label=name)
axes[0].set_yticks(range(len(names)), names)
axes[0].set_xlabel("error")
axes[0].legend()
axes[1].scatter(table[hidden], completed["sheet"][hidden], s=8)
axes[1].axline((0, 0), slope=1, color="grey")
axes[1].set(xlabel="hidden entry", ylabel="what the sheet has there", aspect="equal")
