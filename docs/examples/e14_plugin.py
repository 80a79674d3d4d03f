"""
A loss as a plugin
==================

A plugin is a program of its own that computes a loss, in any language. This one comes
with the repository, 40 lines of Python, and can be used from Python, Go and the command
line alike: the negative log-likelihood of Student's t distribution.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from scqm import SCQM
from scqm.losses import Plugin

program = Path(
    os.environ.get("SCQM_ROOT", "."),
    "plugins/examples/student_t/scqm-loss-student_t",
)
print(program.read_text().partition("class")[2])

# %%
# Ten measurements of 442 people, standardised, with slips in 3 of 100 entries:

table = load_diabetes()
X = table.data / table.data.std(axis=0)
X = np.delete(X, 1, axis=1)  # sex is no measurement
clean = X.copy()
rng = np.random.default_rng(0)
slipped = rng.random(X.shape) < 0.03
X[slipped] += rng.choice([-8, 8], size=slipped.sum())

student = Plugin(str(program), nu=3.0, sigma=0.3)
models = {
    "squared_l2": SCQM(2, loss="squared_l2").fit(X),
    "student_t": SCQM(2, loss=student).fit(X),
}

# %%
# The t distribution expects slips. How much of them do the sheets take over?

right = ~slipped.any(axis=1)
for name, model in models.items():
    error = np.abs(model.project(clean[right]) - clean[right]).mean()
    print(f"{name:10} {model.status_}, {error:.3f} on rows that are right")

# %%
# Residuals of all entries: a slip stands out if the sheet did not follow it.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    residual = np.abs(X - model.project(X))
    bins = np.linspace(0, 8, 50)
    ax.hist([residual[~slipped], residual[slipped]], bins, stacked=True,
            label=["right", "slipped"], log=True)  # fmt: skip
    ax.set(title=name, xlabel="size of the residual")
axes[0].set_ylabel("entries")
axes[1].legend()
