"""Pictures of models, with Matplotlib.

Every function draws into ``ax`` or a new figure and returns what it drew into.
Matplotlib is needed: ``pip install scqm[plot]``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from ._native import Array
from ._pipeline import last_step
from .exceptions import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Rows near a place, and how much farther they may be than near a row.
NEAR, SPARSE = 5, 1.5
# Integers up to so many different ones are labels.
FEW = 20

__all__ = [
    "compare_pca",
    "embedding",
    "interpolation_grid",
    "reconstruction_grid",
]


def embedding(
    model: Any,
    X: npt.ArrayLike | None = None,
    y: npt.ArrayLike | None = None,
    *,
    components: tuple[int, int] = (0, 1),
    ax: Axes | None = None,
    **style: Any,
) -> Axes:
    """Draw the coordinates of rows, by default of those that a model was fitted to.

    Parameters
    ----------
    model : SCQM or Pipeline
        A fitted model, or a pipeline or search that ends in one.
    X : array-like of shape (n, D), optional
        Rows.
    y : array-like of shape (n,), optional
        Labels of the rows: texts and up to 20 integers are named in a legend beside
        the axes, other numbers get a color bar.
    components : tuple of int, default=(0, 1)
        The components on the two axes. A model with one component is drawn as
        points along a line.
    ax : Axes, optional
        Where to draw.
    **style
        Passed on to ``Axes.scatter``.

    Returns
    -------
    Axes
        What was drawn into.
    """
    if X is not None and np.ndim(X) == 1:
        raise InputError("X has one dimension; colors of rows are y: embedding(m, y=y)")
    sheet, X, _ = last_step(model, X)
    tau = sheet.embedding_ if X is None else np.asarray(sheet.transform(X))
    ax = _axes(ax)
    if tau.shape[1] == 1:
        tau = np.column_stack([tau[:, 0], np.zeros(len(tau))])
        ax.set_yticks([])
    else:
        _check_components(components, tau.shape[1])
        tau = tau[:, list(components)]
        ax.set_ylabel(f"component {components[1]}")
    ax.set_xlabel(f"component {components[0]}")
    return _scatter(ax, tau, y, style)


def compare_pca(
    model: Any, X: npt.ArrayLike, y: npt.ArrayLike | None = None, **style: Any
) -> Figure:
    """Draw rows on the sheet, and beside it by principal components.

    Parameters
    ----------
    model : SCQM or Pipeline
        A fitted model, or a pipeline or search that ends in one.
    X : array-like of shape (n, D)
        Rows without missing entries.
    y : array-like of shape (n,), optional
        Labels of the rows, as for :func:`embedding`.
    **style
        Passed on to ``Axes.scatter``.

    Returns
    -------
    Figure
        Two axes; their titles give R2, where the model has it.
    """
    sheet, inner, _ = last_step(model, X)
    figure: Figure
    figure, axes = _pyplot().subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    embedding(sheet, inner, y, ax=axes[0], **style)
    if legend := axes[0].get_legend():
        legend.remove()  # that of the other axes is enough
    scores = PCA(min(2, np.shape(inner)[1])).fit_transform(inner)
    flat = np.column_stack([scores, np.zeros(len(scores))])[:, :2]
    _scatter(axes[1], flat, y, style)
    axes[1].set(xlabel="principal component 0", ylabel="principal component 1")
    d = len(sheet.components_)
    if hasattr(sheet, "r2_pca_"):
        axes[0].set_title(f"sheet, R2 = {sheet.r2_:.3g} with d = {d}")
        axes[1].set_title(f"PCA, R2 = {sheet.r2_pca_[0]:.3g} with d = {d}")
    return figure


def _scatter(
    ax: Axes, at: Array, y: npt.ArrayLike | None, style: dict[str, Any]
) -> Axes:
    """Draw rows, with their labels named beside the axes."""
    style = {"s": 12} | style
    if y is None:
        ax.scatter(*at.T, **style)
        return ax
    labels = np.asarray(y)
    if len(labels) != len(at):
        raise InputError(f"y is for {len(labels)} rows; there are {len(at)}")
    kinds, numbers = np.unique(labels, return_inverse=True)
    few = labels.dtype.kind in "iu" and len(kinds) <= FEW
    if few or labels.dtype.kind in "OUSTb":
        palette = _pyplot().get_cmap("tab10" if len(kinds) <= 10 else "tab20")
        style.setdefault("c", palette(numbers))
        ax.scatter(*at.T, **style)
        for k, kind in enumerate(kinds):
            ax.scatter([], [], color=palette(k), label=str(kind))
        # Beside the axes, where it covers nothing.
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
    else:
        style.setdefault("c", labels)
        drawn = ax.scatter(*at.T, **style)
        if labels.ndim == 1:
            ax.figure.colorbar(drawn, ax=ax)
    return ax


def reconstruction_grid(
    model: Any,
    X: npt.ArrayLike,
    *,
    shape: tuple[int, int] | None = None,
    n_columns: int = 10,
    cmap: str = "gray_r",
) -> Figure:
    """Draw rows as images above their projections.

    Parameters
    ----------
    model : SCQM
        A fitted model.
    X : array-like of shape (n, D)
        Rows; the first ``n_columns`` are drawn.
    shape : tuple of int, optional
        Shape of an image; by default a square.
    n_columns : int, default=10
        Most images in a line.
    cmap : str, default="gray_r"
        Color map.

    Returns
    -------
    Figure
        Two lines of images.
    """
    sheet, inner, _ = last_step(model, X)
    rows = np.asarray(inner, dtype=np.float64)[:n_columns]
    return _images([rows, sheet.project(rows)], shape, cmap)


def interpolation_grid(
    model: Any,
    *,
    n: int = 8,
    components: tuple[int, int] = (0, 1),
    quantiles: tuple[float, float] = (0.05, 0.95),
    shape: tuple[int, int] | None = None,
    cmap: str = "gray_r",
) -> Figure:
    """Draw the images of a grid of latent coordinates.

    Images where no rows are near are pale: the sheet is a guess there. A place is near
    rows where its 5 nearest ones are within 1.5 times the distance that they are at for
    95 % of the rows.

    Parameters
    ----------
    model : SCQM or Pipeline
        A fitted model, or a pipeline or search that ends in one.
    n : int, default=8
        Images per line and column.
    components : tuple of int, default=(0, 1)
        The components that vary, the first one from left to right, the second
        one from bottom to top; the others are at their means among the nearest
        quarter of the rows.
    quantiles : tuple of float, default=(0.05, 0.95)
        The range of the grid, in quantiles of the embedding.
    shape : tuple of int, optional
        Shape of an image; by default a square.
    cmap : str, default="gray_r"
        Color map.

    Returns
    -------
    Figure
        Lines of n images, n of them; one line for a model with one component.
    """
    sheet = last_step(model)[0]
    tau = sheet.embedding_
    low, high = np.quantile(tau, quantiles, axis=0)
    grid = np.tile(np.median(tau, axis=0), (n, n, 1))
    if tau.shape[1] == 1:
        grid = grid[:1]
        grid[..., 0] = np.linspace(low[0], high[0], n)
    else:
        _check_components(components, tau.shape[1])
        across, up = components
        grid[..., across] = np.linspace(low[across], high[across], n)
        grid[..., up] = np.linspace(high[up], low[up], n)[:, None]
    places = grid.reshape(-1, tau.shape[1])
    moved = list(components)[: tau.shape[1]]
    there = NearestNeighbors(n_neighbors=max(1, len(tau) // 4)).fit(tau[:, moved])
    means = tau[there.kneighbors(places[:, moved], return_distance=False)].mean(axis=1)
    means[:, moved] = places[:, moved]
    near = NearestNeighbors(n_neighbors=min(NEAR, len(tau) - 1)).fit(tau)
    reach = SPARSE * np.quantile(near.kneighbors()[0][:, -1], 0.95)
    pale = near.kneighbors(means)[0][:, -1] > reach
    images = sheet.inverse_transform(means)
    return _images(list(images.reshape(len(grid), n, -1)), shape, cmap, pale)


def _axes(ax: Axes | None) -> Axes:
    return _pyplot().subplots(layout="constrained")[1] if ax is None else ax


def _pyplot() -> Any:
    try:
        return importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        raise ImportError(
            "scqm.plot needs Matplotlib: pip install scqm[plot]"
        ) from error


def _check_components(chosen: tuple[int, int], available: int) -> None:
    if len(chosen) != 2 or not all(-available <= c < available for c in chosen):
        raise InputError(f"components {chosen}: want two of 0 to {available - 1}")


def _images(
    lines: list[Array],
    shape: tuple[int, int] | None,
    cmap: str,
    pale: npt.NDArray[np.bool_] | None = None,
) -> Figure:
    D = lines[0].shape[1]
    if shape is None:
        side = int(np.sqrt(D))
        shape = (side, side)
    if shape[0] * shape[1] != D:
        raise InputError(
            f"rows of length {D} are no images of shape {shape}; give shape"
        )
    columns = max(len(line) for line in lines)
    figure: Figure
    figure, axes = _pyplot().subplots(
        len(lines), columns, squeeze=False, figsize=(columns * 0.8, len(lines) * 0.8)
    )
    low, high = min(line.min() for line in lines), max(line.max() for line in lines)
    for k, (line, places) in enumerate(zip(lines, axes, strict=True)):
        for place in places:
            place.set_axis_off()
        for j, (image, place) in enumerate(zip(line, places, strict=False)):
            alpha = 0.3 if pale is not None and pale[k * columns + j] else 1.0
            place.imshow(
                image.reshape(shape), cmap=cmap, vmin=low, vmax=high, alpha=alpha
            )
    figure.subplots_adjust(0, 0, 1, 1, 0.05, 0.05)
    return figure
