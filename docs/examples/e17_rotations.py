"""
A robust average of rotations
=============================

Cameras see each other: for some pairs the rotation from one to the other was measured,
and a quarter of these are plainly wrong. In the fit by squares of the residuals the
wrong ones decide; in the fit by lengths of the residuals they do not.
"""

import matplotlib.pyplot as plt
import numpy as np

import scqm
from scqm.manifolds import Rotations

n = 24
rng = np.random.default_rng(0)
cameras = Rotations(3, copies=n)
truth = cameras.random_point(1)
i, j = np.array([(i, j) for i in range(n) for j in range(i) if rng.random() < 0.5]).T
H = truth[i] @ truth[j].transpose(0, 2, 1)
noise = Rotations(3, copies=len(i))
H = noise.exp(H, noise.projection(H, 0.02 * rng.normal(size=H.shape)))
wrong = rng.random(len(i)) < 0.2
H[wrong] = noise.random_point(2)[wrong]
print(f"{n} cameras, {len(i)} measured pairs, {wrong.sum()} of them wrong")

# %%
# The cost is the sum of ``|R_i - H_ij R_j|``, squared or not, over pairs. Lengths are
# rounded near 0, where they have a kink.


def average(start, power):
    """Return the orientations of least cost."""

    def parts(R):
        E = R[i] - H @ R[j]
        return E, np.sum(E**2, axis=(1, 2)) + (power == 1) * 1e-6

    def cost(R):
        return np.sum(parts(R)[1] ** (power / 2)) / power

    def gradient(R):
        E, squares = parts(R)
        E = E * (squares ** (power / 2 - 1))[:, None, None]
        G = np.zeros_like(R)
        np.add.at(G, i, E)
        np.add.at(G, j, -H.transpose(0, 2, 1) @ E)
        return G

    return scqm.optimize.minimize(cost, start, manifold=cameras, gradient=gradient)


squares = average(cameras.random_point(5), power=2)
lengths = average(squares.x, power=1)

# %%
# Errors in degrees, after the rotation that all cameras share:


def degrees(R):
    """Return the error of each camera."""
    shared = Rotations(3).nearest_point(np.sum(R.transpose(0, 2, 1) @ truth, axis=0))
    angles = [Rotations(3).dist(A @ shared, B) for A, B in zip(R, truth, strict=True)]
    return np.degrees(angles) / np.sqrt(2)


for name, run in {"squares": squares, "lengths": lengths}.items():
    print(f"{name}: {run.status}, mean error {degrees(run.x).mean():.2f} degrees")

fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
axes[0].bar(np.arange(n) - 0.2, degrees(squares.x), 0.4, label="squares")
axes[0].bar(np.arange(n) + 0.2, degrees(lengths.x), 0.4, label="lengths")
axes[0].set(xlabel="camera", ylabel="error in degrees")
axes[0].legend()
left = np.linalg.norm(lengths.x[i] - H @ lengths.x[j], axis=(1, 2))
axes[1].hist([left[~wrong], left[wrong]], 40, stacked=True, label=["right", "wrong"])
axes[1].set(xlabel="residual of a pair, by lengths", ylabel="pairs")
axes[1].legend()
