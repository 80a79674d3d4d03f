"""Compare scqm with what people denoise wide rows with: rows of many columns.

Sets are a Swiss roll turned into 100 columns, images of a bump at any place, the digits
and patches of the pictures that scikit-learn ships and, where a file in the format IDX
is given, its images (--idx). Normal noise is added; the figure is the mean squared
error, summed over the columns, over seeds, with standard errors.

scqm has its defaults (d = 2) and one setting for all: nothing is chosen with the truth.
The others have the best setting of a grid, chosen with the truth on a draw of its own
(seed 0), set by set and noise by noise: the number of axes for PCA, for kNN means
neighbours and the axes that they are looked up along, width, axes and ridge for kernel
PCA, and the bottleneck of an autoencoder trained to take noise away (MLPRegressor).
"PCA, shrunk" is scqm's method pca.

    OMP_NUM_THREADS=1 python python/benchmarks/wide_rows.py --seeds 3
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn.datasets import load_digits, load_sample_image
from sklearn.decomposition import PCA, KernelPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors
from sklearn.neural_network import MLPRegressor

import scqm
from scqm import ManifoldDenoiser

Array = npt.NDArray[np.float64]
# Takes rows and a setting, returns the rows denoised.
Denoise = Callable[[Array, Any], Array]


class Rows(NamedTuple):
    """Rows to draw, and the noise to add."""

    draw: Callable[[np.random.Generator, int], Array]
    rows: int
    noise: tuple[float, ...]


def swiss_roll(rng: np.random.Generator, n: int) -> Array:
    """Return rows of a Swiss roll of unit size, turned into 100 columns."""
    t = 1.5 * np.pi * (1 + 2 * rng.random(n))
    roll = np.c_[t * np.cos(t), rng.random(n) * 4.5 * np.pi, t * np.sin(t)]
    axes, _ = np.linalg.qr(rng.standard_normal((100, 3)))
    turned: Array = roll @ axes.T / (4.5 * np.pi)
    return turned


def bumps(rng: np.random.Generator, n: int) -> Array:
    """Return images of 16 x 16 with a round bump of width 2 somewhere."""
    at = 4 + 8 * rng.random((n, 2, 1))
    one = np.exp(-0.5 * ((np.arange(16) - at) / 2) ** 2)
    images: Array = (one[:, 0, :, None] * one[:, 1, None, :]).reshape(n, -1)
    return images


def digits(rng: np.random.Generator, n: int) -> Array:
    """Return the digits of 8 x 8, from 0 to 1."""
    images = load_digits().data / 16
    chosen: Array = images[rng.choice(len(images), n, replace=False)]
    return chosen


def patches(name: str) -> Callable[[np.random.Generator, int], Array]:
    """Return what draws patches of 8 x 8 of a picture in grey, from 0 to 1."""

    def draw(rng: np.random.Generator, n: int) -> Array:
        grey = load_sample_image(name).mean(axis=2) / 255
        rows, columns = (rng.integers(0, size - 8, n) for size in grey.shape)
        return np.stack(
            [
                grey[i : i + 8, j : j + 8].ravel()
                for i, j in zip(rows, columns, strict=True)
            ]
        )

    return draw


def idx(path: Path) -> Rows:
    """Return the images of an IDX file, from 0 to 1."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        content = file.read()
    count = int(np.frombuffer(content, ">i4", 1, 4)[0])
    images = np.frombuffer(content, np.uint8, offset=16).reshape(count, -1) / 255

    def draw(rng: np.random.Generator, n: int) -> Array:
        chosen: Array = images[rng.choice(len(images), n, replace=False)]
        return chosen

    return Rows(draw, 600, (0.1, 0.3))


SETS = {
    "Swiss roll in 100 columns": Rows(swiss_roll, 1000, (0.04, 0.08)),
    "bumps of 16 x 16": Rows(bumps, 600, (0.1, 0.3)),
    "digits of 8 x 8": Rows(digits, 1000, (0.1, 0.3)),
    "patches of china.jpg": Rows(patches("china.jpg"), 1000, (0.02, 0.1)),
    "patches of flower.jpg": Rows(patches("flower.jpg"), 1000, (0.02, 0.1)),
}


def principal(X: Array, axes: int) -> Array:
    """Return rows on so many principal axes."""
    model = PCA(axes, svd_solver="full").fit(X)
    on: Array = model.inverse_transform(model.transform(X))
    return on


def neighbour_mean(X: Array, setting: tuple[int, int]) -> Array:
    """Return means of neighbours, looked up along principal axes."""
    neighbors, axes = setting
    on = principal(X, axes)
    found = NearestNeighbors(n_neighbors=neighbors).fit(on).kneighbors(on)[1]
    mean: Array = on[found].mean(axis=1)
    return mean


def kernel(X: Array, setting: tuple[float, int, float]) -> Array:
    """Return images of kernel principal components, by ridge regression."""
    width, axes, ridge = setting
    far = np.median(((X - X[::-1]) ** 2).sum(axis=1))
    mean = X.mean(axis=0)
    model = KernelPCA(
        axes, kernel="rbf", gamma=width / far, alpha=ridge, fit_inverse_transform=True
    ).fit(X - mean)
    back: Array = mean + model.inverse_transform(model.transform(X - mean))
    return back


def autoencoder(X: Array, bottleneck: int) -> Array:
    """Return the rows that a small network finds for noisier ones."""
    rng = np.random.default_rng(0)
    off = X - principal(X, min(bottleneck, X.shape[1]))
    noisier = np.concatenate([X + off.std() * rng.standard_normal(X.shape), X])
    network = MLPRegressor(
        hidden_layer_sizes=(128, bottleneck, 128),
        alpha=1e-2,
        max_iter=100,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(noisier, np.concatenate([X, X]))
    out: Array = network.predict(X)
    return out


def peers(columns: int) -> dict[str, tuple[Denoise, list[Any]]]:
    """Return the others with their settings for rows of so many columns."""
    axes = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 56, 60]
    axes += [80, 120, 160, 200]
    near = itertools.product((3, 6, 12, 25, 50, 100), (2, 3, 4, 8, 16, 24, 40))
    kernels = itertools.product(
        (0.1, 0.3, 1.0, 3.0, 10.0), (3, 10, 30, 100), (1e-4, 1e-3, 1e-2, 0.1, 1.0)
    )
    return {
        "PCA": (principal, [k for k in axes if k < columns]),
        "kNN mean": (neighbour_mean, list(near)),
        "kernel PCA": (kernel, list(kernels)),
        "autoencoder": (autoencoder, [2, 4, 8, 16, 32]),
    }


def error(rows: Array, clean: Array) -> float:
    """Return the mean squared error of rows."""
    return float(((rows - clean) ** 2).sum(axis=1).mean())


def draw(rows: Rows, noise: float, seed: int) -> tuple[Array, Array]:
    """Return noisy and clean rows."""
    rng = np.random.default_rng(seed)
    clean = rows.draw(rng, rows.rows)
    return clean + noise * rng.standard_normal(clean.shape), clean


def best(denoise: Denoise, settings: Iterable[Any], rows: Rows, noise: float) -> Any:
    """Return the setting that does best on the draw of seed 0."""
    X, clean = draw(rows, noise, 0)
    return min(settings, key=lambda setting: error(denoise(X, setting), clean))


def own(method: str) -> tuple[Denoise, list[str]]:
    """Return a method of scqm, and what it has said."""
    said: list[str] = []

    def denoise(X: Array, _: Any) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = ManifoldDenoiser(2, method=method)
            rows: Array = model.fit_transform(X)
        said.append("linear" if method == "auto" and model.method_ == "pca" else "")
        return rows

    return denoise, said


def compare(name: str, rows: Rows, options: argparse.Namespace) -> None:
    """Print the lines of a set."""
    columns = draw(rows, 1, 0)[0].shape[1]
    for noise in rows.noise:
        todo: dict[str, tuple[Denoise, Any, list[str]]] = {}
        for label, method in (
            ("auto", "auto"),
            ("mls", "mls"),
            ("lpca", "lpca"),
            ("PCA, shrunk", "pca"),
        ):
            if label not in options.without:
                denoise, said = own(method)
                todo[label] = denoise, None, said
        for label, (denoise, settings) in peers(columns).items():
            if label not in options.without:
                todo[label] = denoise, best(denoise, settings, rows, noise), []
        raw = []
        errors: dict[str, list[float]] = {label: [] for label in todo}
        seconds = dict.fromkeys(todo, 0.0)
        for seed in range(options.seed, options.seed + options.seeds):
            X, clean = draw(rows, noise, seed)
            raw.append(error(X, clean))
            for label, (denoise, setting, _) in todo.items():
                began = time.process_time()
                errors[label].append(error(denoise(X, setting), clean))
                seconds[label] += (time.process_time() - began) / options.seeds
        print(f"| {name}, {noise:g} | raw | {np.mean(raw):.4g} | | | |")
        for label, (_, setting, said) in todo.items():
            e = np.array(errors[label])
            spread = e.std(ddof=1) / len(e) ** 0.5 if len(e) > 1 else np.nan
            note = f"{sum(map(bool, said))} of {len(said)}" if any(said) else ""
            print(
                f"| | {label} | {e.mean():.4g} ± {spread:.2g} | {seconds[label]:.2g} "
                f"| {'' if setting is None else setting} | {note} |",
                flush=True,
            )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=3, help="data sets a row")
    parser.add_argument("--seed", type=int, default=1, help="of the first of them")
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument(
        "--idx", type=Path, help="a file of images, perhaps .gz, in place of the sets"
    )
    parser.add_argument("--without", action="append", default=[], metavar="METHOD")
    options = parser.parse_args()
    print(f"scqm {scqm.__version__}, scikit-learn {sklearn.__version__}")
    print("\n| rows, noise | method | error | CPU s | setting | said linear |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in options.set or ([] if options.idx else SETS):
        compare(name, SETS[name], options)
    if options.idx:
        compare(options.idx.name.split("-")[0], idx(options.idx), options)


if __name__ == "__main__":
    main()
