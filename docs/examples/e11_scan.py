"""
A scan of a mountain
====================

The points are elevations of the ground near Jacksboro, measured by the U.S. Geological
Survey, a file that comes with Matplotlib. We add the errors of a worse instrument;
:class:`~scqm.ManifoldDenoiser` moves every point onto the surface near which its
neighbours scatter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import cbook

from scqm import ManifoldDenoiser

dem = cbook.get_sample_data("jacksboro_fault_dem.npz")
z = dem["elevation"][100:145, 150:205].astype(float)
# Metres; the grid has 3 arc seconds.
north, east = (
    np.mgrid[: z.shape[0], : z.shape[1]] * np.array([92.6, 74.3])[:, None, None]
)
ground = np.column_stack([east.ravel(), north.ravel(), z.ravel()])
print(f"{len(ground)} points, {np.ptp(z):.0f} m between valley and ridge")

rng = np.random.default_rng(1)
scan = ground + rng.normal(scale=[0, 0, 25], size=ground.shape)

# %%
# No parameter but the dimension: neighbours and smoothing are chosen by what they do
# to the error, estimated without the truth.

denoiser = ManifoldDenoiser(n_components=2)
clean = denoiser.fit_transform(scan)
report = denoiser.report_
size, noise = np.median(report.n_neighbors), np.median(report.noise)
print(f"{size:.0f} neighbours, noise of {noise:.0f} m")


def error(points):
    """Return the root mean square error of heights, in metres."""
    return np.sqrt(np.mean((points - ground)[:, 2] ** 2))


print(f"{error(scan):.1f} m before, {error(clean):.1f} m after")

# %%
# Seen from above, colours are heights:

fig, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
for ax, points, title in zip(
    axes, (ground, scan, clean), ("ground", "scan", "denoised"), strict=True
):
    drawn = ax.scatter(*points[:, :2].T, c=points[:, 2], s=6, marker="s",
                       vmin=z.min(), vmax=z.max(), cmap="terrain")  # fmt: skip
    ax.set(title=title, aspect="equal", xticks=[], yticks=[])
fig.colorbar(drawn, ax=axes, label="metres")

# %%
# A line across it:

row = 20 * z.shape[1] + np.arange(z.shape[1])
fig, ax = plt.subplots(figsize=(8, 3), layout="constrained")
ax.plot(scan[row, 0], scan[row, 2], ".", color="grey", label="scan")
ax.plot(ground[row, 0], ground[row, 2], color="black", label="ground")
ax.plot(clean[row, 0], clean[row, 2], label="denoised")
ax.set(xlabel="metres to the east", ylabel="metres", ylim=(z.min() - 80, z.max() + 80))
ax.legend()
