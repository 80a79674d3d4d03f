"""
Reduce: thirty columns to two
=============================

Thirty measurements of cells from 569 tumours become two coordinates, as by principal
components, but on a sheet that may bend.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from scqm import SCQM, plot

cancer = load_breast_cancer()
X = StandardScaler().fit_transform(cancer.data)
model = SCQM(n_components=2, loss="squared_l2").fit(X)
print(model.summary())

# %%
# Two numbers for each tumour. New rows are reduced by the same sheet.

tau = model.transform(X)
print(tau.shape, tau[0].round(2))

# %%
# The coordinates know nothing of the diagnosis, and set it apart:

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
plot.embedding(model, X, cancer.target_names[cancer.target], ax=ax)
