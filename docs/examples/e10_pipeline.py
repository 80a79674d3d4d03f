"""
Pipeline and grid search
========================

Nothing here is special to scqm: the estimator is a step of a pipeline of scikit-learn,
before a classifier, and a search chooses its parameters by what the classifier gets
right.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from scqm import SCQM, plot

X, y = load_digits(n_class=5, return_X_y=True)
X, y = X[:400] / 16, y[:400]

search = GridSearchCV(
    make_pipeline(SCQM(loss="squared_l2", tol=1e-4), KNeighborsClassifier()),
    {"scqm__n_components": [1, 2, 3], "scqm__ridge": [0.001, 0.1]},
    cv=4,
).fit(X, y)
print(search.best_params_, f"{search.best_score_:.3f} right")

# %%
# Principal components of as many dimensions:

dimensions = [1, 2, 3]
flat = [
    cross_val_score(make_pipeline(PCA(d), KNeighborsClassifier()), X, y, cv=4).mean()
    for d in dimensions
]
results = search.cv_results_
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(dimensions, flat, "s--", label="principal components")
for ridge in (0.001, 0.1):
    here = np.array(results["param_scqm__ridge"]) == ridge
    ax.plot(dimensions, results["mean_test_score"][here], "o-", label=f"ridge {ridge}")
ax.set(xlabel="d", ylabel="part of digits right", xticks=dimensions)
ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1))

# %%
# The steps before the classifier make a pipeline of their own, which is drawn as one:

plot.embedding(search.best_estimator_[:-1], X, y)
