"""
Optimize on a manifold
======================

:func:`scqm.optimize.minimize` finds the least of a cost among points that obey a
constraint.
Here the point is a plane in the space of images, a point of the Grassmann manifold, and
the cost is the sum of the distances of images from it: a robust subspace. It is a cost
of one's own, of three lines.
"""

import matplotlib.pyplot as plt
import numpy as np

import scqm
from scqm.datasets import load_digits_sample
from scqm.manifolds import Grassmann

digits = load_digits_sample([2, 6, 8], 40)
rng = np.random.default_rng(0)
X = digits.data - np.median(digits.data, axis=0)
spoilt = rng.random(len(X)) < 0.15
X[spoilt] = rng.normal(size=(spoilt.sum(), X.shape[1]))
good = X[~spoilt]


def distances(U):
    """Return residuals from the subspace, and their lengths."""
    R = X - X @ U @ U.T
    return R, np.sqrt((R**2).sum(axis=1) + 1e-12)


def cost(U):
    """Return the sum of distances."""
    return distances(U)[1].sum()


def gradient(U):
    """Return its Euclidean gradient, that of the formula as it stands."""
    R, length = distances(U)
    W = R / length[:, None]
    return -(W.T @ (X @ U) + X.T @ (W @ U))


planes = Grassmann(X.shape[1], 3)
start = planes.random_point(0)
print(scqm.optimize.check_gradient(cost, start, manifold=planes, gradient=gradient).ok)

# %%
# The solvers are those of the library, and know nothing of this cost.

runs = {
    solver: scqm.optimize.minimize(
        cost, start, manifold=planes, gradient=gradient, solver=solver
    )
    for solver in ("lbfgs", "cg")
}
for solver, run in runs.items():
    print(f"{solver}: {run.status}, {run.fun:.6f} after {run.nit} iterations")

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for solver, run in runs.items():
    ax.semilogy(run.history["grad_norm"], label=solver)
ax.set(xlabel="iteration", ylabel="norm of the gradient")
ax.legend()

# %%
# The plane by distances keeps to the digits; that by squares (principal components) is
# drawn away.

squares = np.linalg.svd(X, full_matrices=False)[2][:3].T
planes_found = {"squares": squares, "distances": runs["lbfgs"].x}
for name, U in planes_found.items():
    left = np.linalg.norm(good - good @ U @ U.T, axis=1).mean()
    print(f"by {name}: digits are {left:.3f} away")

fig, axes = plt.subplots(2, 3, figsize=(6, 4), layout="constrained")
for line, (name, U) in zip(axes, planes_found.items(), strict=True):
    line[0].set_ylabel(name)
    for ax, u in zip(line, U.T, strict=True):
        ax.imshow(u.reshape(28, 28), cmap="coolwarm")
        ax.set(xticks=[], yticks=[])

# sphinx_gallery_thumbnail_number = 2
