"""
A curve of turned images
========================

One handwritten digit, turned step by step: the images lie on a curve in the space of
784 pixels. A sheet of one dimension follows it for a part of a turn, finds the angle
without being told, and draws the images in between.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import rotate

from scqm import SCQM
from scqm.datasets import load_digits_sample

image = load_digits_sample([4], 1).data[0].reshape(28, 28)
angles = np.linspace(-25, 25, 60)
rng = np.random.default_rng(0)
clean = np.array([rotate(image, a, reshape=False, order=1).ravel() for a in angles])
X = clean + rng.normal(scale=0.15, size=clean.shape)

sheet = SCQM(1, loss="squared_l2").fit(X)
line = SCQM(1, loss="squared_l2", linear=True).fit(X)
for name, model in {"line": line, "curve": sheet}.items():
    error = np.sqrt(np.mean((model.project(X) - clean) ** 2))
    print(f"{name:5}: {model.status_}, {error:.4f} from the images without noise")

# %%
# The coordinate is the angle, up to its unit and its sign:

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot(angles, sheet.embedding_[:, 0], ".")
ax.set(xlabel="angle in degrees", ylabel=r"$\tau$")
print(f"correlation {abs(np.corrcoef(angles, sheet.embedding_[:, 0])[0, 1]):.4f}")

# %%
# Noisy images, and what the line and the curve make of them:

chosen = np.linspace(0, len(X) - 1, 8).astype(int)
rows = {"noisy": X, "line": line.project(X), "curve": sheet.project(X), "truth": clean}
fig, axes = plt.subplots(4, len(chosen), figsize=(8, 4.2), layout="constrained")
for axis, (name, images) in zip(axes, rows.items(), strict=True):
    axis[0].set_ylabel(name)
    for ax, k in zip(axis, chosen, strict=True):
        ax.imshow(images[k].reshape(28, 28), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])

# %%
# The curve in the plane of its first two principal components, with the line that is
# the best flat model:

center, _, axes2 = X.mean(axis=0), *np.linalg.svd(X - X.mean(axis=0))[1:]
along = np.linspace(sheet.embedding_.min(), sheet.embedding_.max(), 100)[:, None]
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.scatter(*((X - center) @ axes2[:2].T).T, s=12, c=angles, cmap="coolwarm")
ax.plot(*((sheet.inverse_transform(along) - center) @ axes2[:2].T).T, label="curve")
along = np.linspace(line.embedding_.min(), line.embedding_.max(), 2)[:, None]
ax.plot(*((line.inverse_transform(along) - center) @ axes2[:2].T).T, label="line")
ax.set(xlabel="first component", ylabel="second component", aspect="equal")
ax.legend()

# sphinx_gallery_thumbnail_number = 2
