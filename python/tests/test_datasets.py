"""Data sets and pictures.

Rows lie on the surfaces they are made from, noise has the moments of its distribution,
and every picture can be drawn.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.figure
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scqm
from scqm import SCQM, datasets, plot

ROOT = Path(__file__).resolve().parents[2]

MAKERS: list[tuple[Callable[..., Any], int, Callable[[Any], Any]]] = [
    (datasets.make_arc, 2, lambda x: np.hypot(*x.T) - 1),
    (datasets.make_sphere, 3, lambda x: np.linalg.norm(x, axis=1) - 1),
    (
        datasets.make_torus,
        3,
        lambda x: np.hypot(np.hypot(x[:, 0], x[:, 1]) - 2, x[:, 2]) - 1,
    ),
]


@pytest.mark.parametrize(("make", "dim", "violation"), MAKERS)
def test_surfaces(make: Any, dim: int, violation: Any) -> None:
    X, clean = make(200, noise=0.1, random_state=0)
    assert X.shape == clean.shape == (200, dim)
    assert np.abs(violation(clean)).max() < 1e-12
    again, _ = make(200, noise=0.1, random_state=0)
    np.testing.assert_array_equal(X, again)
    other, _ = make(200, noise=0.1, random_state=1)
    assert not np.array_equal(X, other)
    exact, same = make(50, noise=0.0, random_state=0)
    np.testing.assert_array_equal(exact, same)
    with pytest.raises(scqm.exceptions.InputError, match="scale is -1; want"):
        make(10, noise=-1)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0])
def test_generalized_gaussian(p: float) -> None:
    e = datasets.generalized_gaussian_noise((200000,), p, 0.5, random_state=0)
    # E |e/scale|^p = 1/p, and the distribution is symmetric.
    assert (np.abs(e / 0.5) ** p).mean() == pytest.approx(1 / p, rel=0.02)
    assert abs(e.mean()) < 0.005
    with pytest.raises(scqm.exceptions.InputError, match="p is 0"):
        datasets.generalized_gaussian_noise((2,), 0)


def test_radial_laplace() -> None:
    e = datasets.radial_laplace_noise(50000, 3, 0.5, random_state=0)
    assert np.linalg.norm(e, axis=1).mean() == pytest.approx(3 * 0.5, rel=0.02)
    np.testing.assert_allclose(np.cov(e.T), np.eye(3) * 0.25 * 4, atol=0.03)


def test_torus_is_uniform() -> None:
    _, clean = datasets.make_torus(50000, noise=0.0, random_state=0)
    outer = np.hypot(clean[:, 0], clean[:, 1]) > 2
    # The outer half has (pi R + 2 r) / (2 pi R) of the surface.
    assert outer.mean() == pytest.approx((2 * np.pi + 2) / (4 * np.pi), abs=0.01)


def test_digits_are_those_of_the_repository() -> None:
    digits = datasets.load_digits_sample()
    with gzip.open(ROOT / "testdata" / "mnist" / "images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(ROOT / "testdata" / "mnist" / "labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    np.testing.assert_array_equal(digits.data * 255, images)
    np.testing.assert_array_equal(digits.target, labels)
    some = datasets.load_digits_sample([9, 4], 3)
    assert sorted(some.target.tolist()) == [4, 4, 4, 9, 9, 9]
    assert datasets.load_digits_sample(4).data.shape == (100, 784)
    with pytest.raises(
        scqm.exceptions.InputError, match=r"no digit 3; there are \[2, 4, 6, 8, 9\]"
    ):
        datasets.load_digits_sample([3])


@pytest.fixture(scope="module")
def digits() -> tuple[SCQM, datasets.Digits]:
    sample = datasets.load_digits_sample([4, 9], 15)
    return SCQM(2, max_iter=20, tol=1.0).fit(sample.data), sample


def test_pictures(digits: tuple[SCQM, datasets.Digits]) -> None:
    m, sample = digits
    ax = plot.embedding(m, y=sample.target)
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), m.embedding_)
    figure = plot.reconstruction_grid(m, sample.data, n_columns=5)
    assert isinstance(figure, matplotlib.figure.Figure)
    assert len(figure.axes) == 10
    shown = figure.axes[5].images[0].get_array()
    np.testing.assert_array_equal(
        np.asarray(shown).ravel(), m.project(sample.data[:1])[0]
    )
    assert len(plot.interpolation_grid(m, n=4).axes) == 16
    plt.close("all")


def test_images_are_pale_where_no_rows_are() -> None:
    angle = np.linspace(0, 6.2, 200)
    ring = np.column_stack([np.cos(angle), np.sin(angle), 0.01 * np.sin(9 * angle)])
    figure = plot.interpolation_grid(SCQM(2).fit(ring), n=5, shape=(1, 3))
    pale = np.array([place.images[0].get_alpha() != 1 for place in figure.axes])
    assert pale.reshape(5, 5)[2, 2]
    assert not pale.reshape(5, 5)[[0, 2, 2, 4], [2, 0, 4, 2]].any()
    plt.close("all")


def test_labels_are_named_outside_of_the_axes() -> None:
    wine = load_wine(as_frame=True)
    pipe = make_pipeline(StandardScaler(), SCQM(2)).fit(wine.data)
    growers = np.array(["a", "b", "c"])[wine.target]
    for y in growers, wine.target.to_numpy():
        ax = plot.embedding(pipe, wine.data, y)
        ax.figure.canvas.draw()
        legend = ax.get_legend()
        assert legend is not None
        names = [text.get_text() for text in legend.get_texts()]
        assert names == sorted({str(v) for v in y})
        assert legend.get_window_extent().x0 >= ax.get_window_extent().x1
    figure = plot.compare_pca(pipe, wine.data, growers)
    titles = [ax.get_title() for ax in figure.axes]
    sheet = pipe[-1]
    assert titles[0] == f"sheet, R2 = {sheet.r2_:.3g} with d = 2"
    assert titles[1].startswith(f"PCA, R2 = {sheet.r2_pca_[0]:.3g}")
    drawn = plot.embedding(pipe, wine.data, wine.data["alcohol"])
    assert drawn.get_legend() is None
    assert len(drawn.figure.axes) == 2  # a color bar
    plt.close("all")


def test_pictures_of_one_component() -> None:
    X, _ = datasets.make_arc(40, random_state=0)
    m = SCQM(1).fit(X)
    assert plot.embedding(m).get_xlabel() == "component 0"
    assert len(plot.interpolation_grid(m, n=3, shape=(1, 2)).axes) == 3
    with pytest.raises(scqm.exceptions.InputError, match="no images of shape"):
        plot.reconstruction_grid(m, X)
    m2 = SCQM(2).fit(datasets.make_sphere(40, random_state=0)[0])
    with pytest.raises(scqm.exceptions.InputError, match="want two of 0 to 1"):
        plot.embedding(m2, components=(0, 2))
    plt.close("all")


def test_plot_is_found_without_an_import() -> None:
    assert scqm.plot is plot
    with pytest.raises(AttributeError, match="no attribute 'pictures'"):
        _ = scqm.pictures
