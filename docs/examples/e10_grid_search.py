"""
GridSearchCV
============

Nothing here is special to scqm: the estimator is a step of a pipeline of scikit-learn,
and its score, minus the mean loss of rows left out, is what the search compares.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scqm import SCQM

wine = load_wine()

# %%
# One loss at a time: scores are mean losses, and those of different losses cannot be
# compared.

search = GridSearchCV(
    make_pipeline(StandardScaler(), SCQM(loss="squared_l2", tol=1e-5)),
    {
        "scqm__n_components": [1, 2, 3],
        "scqm__n_curvature": [1, 3],
        "scqm__ridge": [0.001, 0.1, 1.0],
    },
    cv=4,
).fit(wine.data)
print(search.best_params_)

# %%
# What rows left out say of the ridge, for each pair of dimensions:

results = search.cv_results_
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
ridges = np.array(results["param_scqm__ridge"], dtype=float)
for d in (1, 2, 3):
    for s in (1, 3):
        here = (results["param_scqm__n_components"] == d) & (
            results["param_scqm__n_curvature"] == s
        )
        loss = -results["mean_test_score"][here]
        ax.plot(
            ridges[here],
            loss,
            "o-" if s == 1 else "s--",
            color=f"C{d}",
            label=f"d={d}, s={s}",
        )
ax.set(xscale="log", xlabel="ridge", ylabel="mean loss of rows left out")
ax.legend()

# %%
# The best pipeline is fitted to all rows, and is used as one:

tau = search.transform(wine.data)
fig, ax = plt.subplots(figsize=(5.5, 4), layout="constrained")
drawn = ax.scatter(tau[:, 0], tau[:, min(1, tau.shape[1] - 1)], c=wine.target, s=18)
ax.set(xlabel=r"$\tau_1$", ylabel=r"$\tau_2$")
ax.legend(*drawn.legend_elements(), title="grower")
