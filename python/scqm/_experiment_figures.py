"""The pictures of experiments.

They are drawn from the table and the arrays of an experiment alone: this module knows
no experiments, and Matplotlib is imported when the first picture is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ._native import Array
from .plot import _require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Table: TypeAlias = list[dict[str, Any]]
Arrays: TypeAlias = dict[str, Array]

BLUE, ORANGE, SKY, GREY = "#0072B2", "#D55E00", "#56B4E9", "#707070"
GRID = 20  # tiles on the side of a latent plane
IMAGES = 14  # images in a line
SIDE = 28  # pixels


def draw(name: str, table: Table, arrays: Arrays) -> dict[str, Figure]:
    """Draw the pictures of an experiment, by the names of their files."""
    _require_matplotlib()
    if name == "toy":
        return _toy(table, arrays)
    if name == "sphere":
        return _sphere(table, arrays)
    if name == "mnist":
        return {"mnist": _reconstructions(table, arrays)}
    return {
        f"interpolation-{row['model'].split()[-1]}": _plane(row["model"], arrays, k)
        for k, row in enumerate(table)
    }


def _figure(width: float, height: float, **layout: Any) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", **layout)


def _toy(table: Table, arrays: Arrays) -> dict[str, Figure]:
    """Draw a figure of each arc, with a panel for each noise."""
    files = {
        "quarter circle, noise 0.1": "toy-quarter",
        "4 rad, noise 0.1": "toy-long",
        "4 rad, noise 1": "toy-noisy",
    }
    figures = {}
    for arc, name in files.items():
        cases = [k for k, row in enumerate(table) if row["arc"] == arc]
        figure = _figure(11, 7)
        panels = figure.subplots(2, (len(cases) + 1) // 2, squeeze=False).ravel()
        for ax, k in zip(panels, cases, strict=False):
            x, feet = arrays[f"x/{k}"], arrays[f"feet/{k}"]
            ax.quiver(
                *x.T, *(feet - x).T, angles="xy", scale_units="xy", scale=1,
                width=0.003, color="#B0B0B0",
            )  # fmt: skip
            ax.plot(*x.T, ".", color=GREY, markersize=3)
            ax.plot(*arrays[f"truth/{k}"].T, "k--", lw=1, label="truth")
            for curve, color in (("linear", BLUE), ("quadratic", ORANGE)):
                ax.plot(*arrays[f"{curve}/{k}"].T, color=color, label=curve)
            ax.set_title(f"{arc}, {table[k]['noise']}", fontsize=9)
            ax.set_aspect("equal", adjustable="datalim")
        panels[0].legend(fontsize=8)
        figures[name] = figure
    return figures


def _sphere(table: Table, arrays: Arrays) -> dict[str, Figure]:
    """Draw box plots over repetitions, and over the points of the first one."""
    methods = [
        row["method"] for row in table if not row["method"].startswith("paper: ")
    ]
    sigmas, errors = arrays["sigmas"], arrays["errors"]
    rows = arrays["rows"] / sigmas[:, None] ** 2
    return {
        "sphere": _boxes(
            errors / errors[1], methods, sigmas,
            "mean squared error, in units of the oracle's",
        ),
        "sphere-points": _boxes(
            np.maximum(rows, 1e-3), methods, sigmas,
            "squared error of a point, in units of the noise variance",
        ),
    }  # fmt: skip


def _boxes(values: Array, methods: list[str], sigmas: Array, label: str) -> Figure:
    import matplotlib

    # Matplotlib 3.10 has a new name for it, and 3.13 forgets the old one.
    recent = tuple(map(int, matplotlib.__version__.split(".")[:2])) >= (3, 10)
    lying: dict[str, Any] = {"orientation": "horizontal"} if recent else {"vert": False}
    columns = min(len(sigmas), 2)
    lines = -(-len(sigmas) // columns)
    figure = _figure(6 * columns, 4.5 * lines)
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    places = np.arange(len(methods))[::-1]
    for k, (ax, sigma) in enumerate(zip(panels, sigmas, strict=False)):
        style = {"facecolor": SKY}
        ax.boxplot(
            list(values[:, k]), positions=places, widths=0.6, **lying,
            patch_artist=True, boxprops=style, medianprops={"color": "black"},
            flierprops={"markersize": 2},
        )  # fmt: skip
        ax.set_yticks(places, methods, fontsize=7)
        ax.set_xscale("log")
        ax.set_xlabel(label, fontsize=8)
        ax.set_title(f"noise {sigma:g}", fontsize=9)
        ax.grid(axis="x", alpha=0.3)
    for ax in panels[len(sigmas) :]:
        ax.set_axis_off()
    return figure


def _reconstructions(table: Table, arrays: Arrays) -> Figure:
    """Draw images above what every model of the library makes of them."""
    learned = arrays["learned"]
    n = len(learned)
    half = min(IMAGES, n) // 2
    shown = [*range(half), *range(n // 2, n // 2 + half)]
    lines = [("Original", learned[shown])]
    for k, row in enumerate(table):
        if f"reconstruction/{k}" in arrays:
            images = arrays[f"reconstruction/{k}"][shown]
            lines.append((row["model"], images))
    figure = _figure(0.6 * len(shown), 0.78 * len(lines))
    for ax, (name, images) in zip(
        figure.subplots(len(lines), 1, squeeze=False).ravel(), lines, strict=True
    ):
        strip = images.reshape(-1, SIDE, SIDE).transpose(1, 0, 2).reshape(SIDE, -1)
        ax.imshow(strip, cmap="gray_r", vmin=0, vmax=1)
        ax.set_title(name, fontsize=8, loc="left", pad=2)
        ax.set_axis_off()
    return figure


def _plane(model: str, arrays: Arrays, k: int) -> Figure:
    """Draw what a model makes of its latent plane, inside of the hull of codes."""
    from scipy.spatial import Delaunay

    codes = arrays[f"codes/{k}"]
    c, U, V, Theta = (arrays[f"{a}/{k}"] for a in ("c", "U", "V", "Theta"))
    low, high = codes.min(axis=0), codes.max(axis=0)
    middle = (np.arange(GRID) + 0.5) / GRID
    first, second = np.meshgrid(
        low[0] + (high[0] - low[0]) * middle, high[1] - (high[1] - low[1]) * middle
    )
    tau = np.column_stack([first.ravel(), second.ravel()])
    phi = np.column_stack([tau[:, 0] ** 2, tau[:, 0] * tau[:, 1], tau[:, 1] ** 2])
    images = c + tau @ U.T + phi @ Theta @ V.T
    images[Delaunay(codes).find_simplex(tau) < 0] = 0
    sheet = images.reshape(GRID, GRID, SIDE, SIDE).transpose(0, 2, 1, 3)
    figure = _figure(9, 9.3)
    ax = figure.subplots()
    ax.imshow(
        sheet.reshape(GRID * SIDE, GRID * SIDE), cmap="gray_r", vmin=0, vmax=1,
        interpolation="nearest",
    )  # fmt: skip
    ax.set_title(f"Latent plane, {model}, as far as the codes reach", loc="left")
    ax.set_axis_off()
    return figure
