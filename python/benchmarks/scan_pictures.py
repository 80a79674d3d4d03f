"""Draw point clouds before and after denoising, coloured by their error.

The pictures of the page on scans: a torus, a lens with a crease and a thin slab, each
cut open, as drawn with noise and as two methods leave it; and normals and outliers of
a torus. They want matplotlib:

    python python/benchmarks/scan_pictures.py docs/images
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import shapes
from clouds import spoil
from matplotlib.figure import Figure

from scqm import ManifoldDenoiser

Array = npt.NDArray[np.float64]

TORUS = shapes.torus(0.4)
# Surface, noise in per cent of the diagonal, and the half that is seen: those with
# this coordinate above the middle. The slab is 2.5 % of its diagonal thick.
SCENES = [
    ("torus", TORUS, 1.0, 1),
    ("lens", shapes.lens(0.5), 1.0, 1),
    ("slab", shapes.boxes([[[0, 0, 0], [1, 1, 0.035]]]), 0.9, 1),
]


def draw(axes: Any, X: Array, error: Array, most: float, hidden: int) -> Any:
    """Draw the half of a cloud that is behind, with its cut in front."""
    seen = X[:, hidden] > np.median(X[:, hidden])
    drawn = axes.scatter(
        *X[seen].T, c=error[seen], s=1.5, vmin=0, vmax=most, cmap="viridis", lw=0
    )
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.view_init(elev=25, azim=-90)
    return drawn


def errors(path: Path, points: int) -> None:
    """Draw the scenes, one a row, and what methods make of them."""
    figure = Figure(figsize=(9, 7), dpi=100)
    for row, (name, surface, noise, hidden) in enumerate(SCENES):
        noisy = spoil(surface, points, "even", noise / 100, np.random.default_rng(1))
        shown = {"with noise": noisy.points}
        for method in ("auto", "apss"):
            shown[method] = ManifoldDenoiser(method=method).fit_transform(noisy.points)
        for column, (title, X) in enumerate(shown.items()):
            far = surface.distance(X) * 100 / noisy.diagonal
            axes = figure.add_subplot(
                len(SCENES), 3, 3 * row + column + 1, projection="3d"
            )
            drawn = draw(axes, X, far, 2 * noise, hidden)
            rms = np.sqrt((far**2).mean())
            axes.set_title(f"{name}, {title}: {rms:.2f} %", fontsize=9)
            print(f"{name} {title} {rms:.3f} {np.quantile(far, 0.99):.3f}", flush=True)
        figure.colorbar(drawn, ax=figure.axes[-3:], shrink=0.7).ax.tick_params(
            labelsize=7
        )
    figure.savefig(path)


def geometries(path: Path, points: int) -> None:
    """Draw mean curvature and outlier scores of a torus with outliers."""
    noisy = spoil(TORUS, points, "20 % outliers", 0.005, np.random.default_rng(1))
    X = noisy.points
    rows, geometry = ManifoldDenoiser().fit(X).describe(X)
    kept = geometry.outlier_score < 4.7
    print(f"outliers found {np.mean(~kept[~noisy.inliers]):.3f}")
    print(f"inliers dropped {np.mean(~kept[noisy.inliers]):.4f}")
    figure = Figure(figsize=(9, 3.2), dpi=100)
    axes = figure.add_subplot(1, 3, 1, projection="3d")
    score = np.minimum(geometry.outlier_score, 10)
    drawn = draw(axes, X, score, 10, 1)
    axes.set_title("outlier score", fontsize=9)
    figure.colorbar(drawn, ax=axes, shrink=0.6).ax.tick_params(labelsize=7)
    axes = figure.add_subplot(1, 3, 2, projection="3d")
    drawn = draw(axes, rows[kept], geometry.curvature[kept], 2.5, 1)
    axes.set_title("mean curvature, outliers dropped", fontsize=9)
    figure.colorbar(drawn, ax=axes, shrink=0.6).ax.tick_params(labelsize=7)
    axes = figure.add_subplot(1, 3, 3, projection="3d")
    drawn = draw(axes, rows[kept], geometry.error[kept] * 100 / noisy.diagonal, 0.3, 1)
    axes.set_title("standard error, % of the diagonal", fontsize=9)
    figure.colorbar(drawn, ax=axes, shrink=0.6).ax.tick_params(labelsize=7)
    figure.savefig(path)


def main() -> None:
    """Draw the pictures into a folder."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--points", type=int, default=4000)
    options = parser.parse_args()
    geometries(options.folder / "scan-shapes.png", options.points)
    errors(options.folder / "scan-errors.png", options.points)


if __name__ == "__main__":
    main()
