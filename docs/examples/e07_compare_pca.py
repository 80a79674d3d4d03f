"""
Compare with principal components
=================================

When does curvature pay? R2 always rises when a sheet may bend. The error at entries
that are hidden from rows left out does not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from scqm import SCQM

digits = load_digits()
tables = {
    "wine": load_wine().data,
    "breast cancer": load_breast_cancer().data,
    "diabetes": load_diabetes().data,
    "fours": digits.data[digits.target == 4],
}

# %%
# Hidden: the root mean square error of a third of the columns, predicted from the
# others, over that of the flat sheet of as many dimensions. Below 1 curvature helps.

ratios = {}
for name, table in tables.items():
    X = StandardScaler().fit_transform(table)
    learned, held = train_test_split(X, random_state=0)
    curved = SCQM(2, loss="squared_l2").fit(learned)
    flat = SCQM(2, loss="squared_l2", linear=True).fit(learned)
    ratios[name] = curved.score(held, hidden=0.3) / flat.score(held, hidden=0.3)
    print(
        f"{name:14} R2 {curved.r2_:.3f}, PCA {curved.r2_pca_[0]:.3f}; "
        f"hidden {ratios[name]:.3f}; {curved.curvature_['verdict']}"
    )

# %%
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.barh(list(ratios), np.array(list(ratios.values())) - 1, left=1)
ax.axvline(1, color="black", lw=1)
ax.set(xlabel="error at hidden entries, over that of PCA")
