"""
Rows on a cluster: Dask
=======================

The estimators of :mod:`scqm.dask` take arrays of Dask, whose rows stay where the
workers hold them. The cluster here is one of threads within this process; with the
address of another one nothing else changes. The rows are the pixels of a photograph.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client
from sklearn.datasets import load_sample_image

import scqm
from scqm.dask import SCQM

photo = load_sample_image("flower.jpg")[::4, ::4] / 255.0
pixels = photo.reshape(-1, 3)
client = Client(
    processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None
)
X = da.from_array(pixels, chunks=(8192, 3))
print(X)

# %%
# Colours of the photograph lie near a curve: one number for each pixel instead of
# three.

model = SCQM(1, loss="l2").fit(X)
print(model.status_, "after", model.n_iter_, "iterations")
curve = model.project(X).compute()  # lazy until here

# %%
# The same rows in memory make the same model, to the last bit:

local = scqm.SCQM(1, loss="l2", solver="streaming").fit(pixels)
print(np.array_equal(model.offset_, local.offset_))
client.close()

# %%
fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for ax, image, title in zip(
    axes, (pixels, curve), ("three numbers a pixel", "one number a pixel"), strict=True
):
    ax.imshow(image.reshape(photo.shape).clip(0, 1))
    ax.set(title=title, xticks=[], yticks=[])

fig = plt.figure(figsize=(5.5, 4.5), layout="constrained")
ax = fig.add_subplot(projection="3d")
some = np.random.default_rng(0).choice(len(pixels), 2000, replace=False)
ax.scatter(*pixels[some].T, s=3, c=pixels[some])
tau = model.transform(X).compute()
along = np.linspace(*np.quantile(tau, [0.01, 0.99]), 100)[:, None]
ax.plot(*local.inverse_transform(along).T, color="black")
ax.set(xlabel="red", ylabel="green", zlabel="blue")
