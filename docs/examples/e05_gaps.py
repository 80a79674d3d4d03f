"""
Fill gaps
=========

Ten measurements of 442 people, of which 15 of 100 are missing. The imputer fills them
by their means given the others, says how sure it is, and whether curvature helps.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.impute import KNNImputer, SimpleImputer

from scqm import ManifoldImputer

frame = load_diabetes(as_frame=True).data
table = frame.to_numpy() / frame.to_numpy().std()
hidden = np.random.default_rng(0).random(table.shape) < 0.15
gaps = np.where(hidden, np.nan, table)

imputer = ManifoldImputer("auto")
completed = {
    "column means": SimpleImputer().fit_transform(gaps),
    "5 nearest rows": KNNImputer().fit_transform(gaps),
    "sheet": imputer.fit_transform(gaps),
}
print(imputer.notes_[0])

# %%
# Root mean square errors of the hidden entries, in standard deviations:

for name, Z in completed.items():
    print(f"{name:15} {np.sqrt(np.mean((Z - table)[hidden] ** 2)):.3f}")

# %%
# Two thirds of the entries should be within their standard errors:

error = imputer.standard_errors(gaps)[hidden]
off = np.abs(completed["sheet"] - table)[hidden]
print(f"{(off < error).mean():.2f} of the entries")

fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.errorbar(table[hidden], completed["sheet"][hidden], error, fmt=".", alpha=0.3)
ax.axline((0, 0), slope=1, color="grey")
ax.set(xlabel="hidden entry", ylabel="what the sheet says", aspect="equal")
