"""Normals, curvatures, errors and outlier scores of ManifoldDenoiser.

What they are on a sphere, on which side normals are, that they belong to the row, and
that the program writes the same.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from scqm import ManifoldDenoiser
from scqm.datasets import make_sphere
from scqm.exceptions import InputError

Array = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def denoiser() -> ManifoldDenoiser:
    X, _ = make_sphere(400, noise=0.02, random_state=1)
    return ManifoldDenoiser(method="mls").fit(X)


def test_sphere(denoiser: ManifoldDenoiser) -> None:
    rows = denoiser.transform(denoiser._fitted.X)
    outward = rows / np.linalg.norm(rows, axis=1)[:, None]
    assert denoiser.geometry_.normals is not None
    assert denoiser.geometry_.principal_curvatures is not None
    np.testing.assert_allclose(np.linalg.norm(denoiser.geometry_.normals, axis=1), 1)
    assert (denoiser.geometry_.normals * outward).sum(axis=1).min() > 0.95
    assert abs(denoiser.geometry_.curvature.mean() - 1) < 0.1
    np.testing.assert_allclose(
        denoiser.geometry_.principal_curvatures.mean(axis=1),
        denoiser.geometry_.curvature,
        atol=1e-12,
    )
    off = np.linalg.norm(rows, axis=1) - 1
    assert 0.8 < np.sqrt((off**2).mean() / (denoiser.geometry_.error**2).mean()) < 1.2
    assert denoiser.geometry_.outlier_score.max() < 6
    _, geometry = denoiser.describe([[0.0, 0.0, 1.5]])
    assert geometry.outlier_score[0] > 10


def test_sides(denoiser: ManifoldDenoiser) -> None:
    X = denoiser._fitted.X
    _, inward = denoiser.describe(X, normals=-X)
    assert inward.normals is not None
    np.testing.assert_array_equal(
        inward.normals, -np.asarray(denoiser.geometry_.normals)
    )
    np.testing.assert_array_equal(inward.curvature, -denoiser.geometry_.curvature)
    _, seen = denoiser.describe(X[:9], viewpoint=[0, 0, 0])
    np.testing.assert_array_equal(seen.normals, inward.normals[:9])
    _, one = denoiser.describe(X[7:8])
    np.testing.assert_array_equal(one.normals, -inward.normals[7:8])
    wrong: list[dict[str, Any]] = [
        {"normals": X[:3]},
        {"viewpoint": [1.0]},
        {"viewpoint": [1.0, np.nan, 0]},
        {"viewpoint": "abc"},
        {"viewpoint": [0.0, 0.0, 0.0], "normals": X},
    ]
    for arguments in wrong:
        with pytest.raises(InputError):
            denoiser.describe(X, **arguments)


def test_pickles(denoiser: ManifoldDenoiser) -> None:
    again = pickle.loads(pickle.dumps(denoiser))
    np.testing.assert_array_equal(
        again.geometry_.curvature, denoiser.geometry_.curvature
    )


def test_curve() -> None:
    a = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    X = np.stack([2 * np.cos(a), 2 * np.sin(a), 0 * a], axis=1)
    noise = 0.01 * np.random.default_rng(0).standard_normal(X.shape)
    curve = ManifoldDenoiser(1, method="mls").fit(X + noise)
    assert curve.geometry_.normals is None
    assert curve.geometry_.principal_curvatures is None
    assert abs(np.median(curve.geometry_.curvature) - 0.5) < 0.05


def test_dimension_is_chosen() -> None:
    a = np.random.default_rng(0).uniform(0, 2 * np.pi, 150)
    X = np.stack([np.cos(a), np.sin(a), a / 4], axis=1)
    noisy = X + 0.03 * np.random.default_rng(1).standard_normal(X.shape)
    curve = ManifoldDenoiser("auto", method="mls").fit(noisy)
    assert curve.n_components_ == 1
    given = ManifoldDenoiser(1, method="mls").fit(noisy)
    np.testing.assert_array_equal(curve.transform(noisy), given.transform(noisy))
    again = pickle.loads(pickle.dumps(curve))
    np.testing.assert_array_equal(again.geometry_.curvature, given.geometry_.curvature)
    with pytest.raises(InputError):
        ManifoldDenoiser("two").fit(noisy)


def test_end_of_the_grid_is_said() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 3)) * [1, 1, 0] + 0.1 * rng.normal(size=(200, 3))
    assert ManifoldDenoiser().fit(X).grid_end_ == "largest"
    assert ManifoldDenoiser(n_neighbors=40).fit(X).grid_end_ == ""
