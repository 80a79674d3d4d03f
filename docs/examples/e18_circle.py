"""
When one sheet does not do
==========================

A quadratic sheet cannot close: it turns by less than half a circle. Around a whole
circle no curvature is seen, and the sheet stays a line. :class:`~scqm.ManifoldDenoiser`
fits many small sheets instead, follows shapes that close, and gives no coordinates.
"""

import matplotlib.pyplot as plt
import numpy as np

from scqm import SCQM, ManifoldDenoiser

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 300)
circle = np.column_stack([np.cos(angle), np.sin(angle)])
X = circle + rng.normal(scale=0.08, size=circle.shape)

sheet = SCQM(1, loss="l2").fit(X)
moved = {
    "one sheet": sheet.project(X),
    "many small ones": ManifoldDenoiser(n_components=1).fit_transform(X),
}

# %%
fig, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for ax, (name, points) in zip(axes, moved.items(), strict=True):
    error = np.abs(np.linalg.norm(points, axis=1) - 1).mean()
    print(f"{name}: {error:.3f} from the circle")
    ax.plot(*np.stack([X, points]).transpose(2, 0, 1), color="lightgrey", lw=0.8)
    ax.scatter(*X.T, s=6, color="grey")
    ax.scatter(*points.T, s=8)
    ax.set(title=name, aspect="equal")
