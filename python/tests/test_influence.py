"""Influence of rows, reports on projections, and means.

Influence is held against fits without the rows, the mean and its response against
differences, and reports against what they promise.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import scqm
from scqm import SCQM
from scqm.datasets import make_arc
from scqm.exceptions import InputError

Array = npt.NDArray[np.float64]


def squares(R: Array) -> tuple[Array, Array]:
    return (R**2).sum(axis=1), 2 * R


def arc() -> Array:
    X, _ = make_arc(100, noise=0.1, random_state=0)
    return X


def test_influence_agrees_with_fits_without_rows() -> None:
    X = arc()
    model = SCQM(1, loss="squared_l2", tol=1e-8).fit(X)
    found = model.influence(X)
    assert isinstance(found, scqm.Influence)
    assert found.notes == []
    assert found.rounding == 0
    assert found.remaining < found.influence.min() / 10
    moves = np.empty(100)
    for i in range(100):
        other = SCQM(1, loss="squared_l2", tol=1e-8).fit(np.delete(X, i, axis=0))
        gap = ((other.project(X) - model.project(X)) ** 2).sum(axis=1).mean()
        moves[i] = np.sqrt(gap)
    assert (found.leverage >= 0).all()
    assert found.leverage.max() < 0.95
    a, b = (np.argsort(np.argsort(v)) for v in (moves, found.influence))
    assert np.mean((a - a.mean()) * (b - b.mean())) / np.var(a) > 0.9
    np.testing.assert_allclose(
        found.residual, np.linalg.norm(X - model.project(X), axis=1), rtol=1e-6
    )
    assert (found.residual_without > found.residual).mean() > 0.9
    assert found.top(3).tolist() == np.argsort(-found.influence)[:3].tolist()
    assert len(found.top(1000)) == 100


@pytest.mark.parametrize("loss", ["l2", "l1"])
def test_influence_of_rows_of_every_kind(tmp_path: Path, loss: Any) -> None:
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, (1500 if loss == "l2" else 150, 2))
    X = np.column_stack([t, t**2, t[:, 0] * t[:, 1], 0 * t[:, 0]])
    X = (X + rng.normal(scale=0.1, size=X.shape)).astype(np.float32)
    np.save(tmp_path / "single.npy", X)
    np.save(tmp_path / "rows.npy", X.astype(float))
    model = SCQM(2, loss=loss).fit(X)
    want = model.influence(X.astype(float))
    kinds = [
        X,
        np.asfortranarray(X),
        np.load(tmp_path / "single.npy", mmap_mode="r"),
        np.load(tmp_path / "rows.npy", mmap_mode="r"),
    ]
    for rows in kinds:
        got = model.influence(rows)
        assert np.array_equal(got.influence, want.influence)
        assert (got.remaining, got.notes) == (want.remaining, want.notes)


def test_influence_of_own_losses_weights_and_files(tmp_path: Path) -> None:
    X = arc()
    weights = np.random.default_rng(0).uniform(0.5, 2, 100)
    library = SCQM(1, loss="squared_l2", tol=1e-9).fit(X, sample_weight=weights)
    want = library.influence(X, sample_weight=weights).influence
    mine = SCQM(1, loss=squares, tol=1e-9).fit(X, sample_weight=weights)
    got = mine.influence(X, sample_weight=weights).influence
    np.testing.assert_allclose(got, want, rtol=1e-3)
    library.save(tmp_path / "m.npz")
    for again in (
        scqm.load(tmp_path / "m.npz"),
        pickle.loads(pickle.dumps(library)),
    ):
        same = again.influence(X, sample_weight=weights).influence
        np.testing.assert_array_equal(same, want)
    with pytest.raises(InputError, match="same rows with the same weights"):
        library.influence(X)
    with pytest.raises(InputError, match="same rows with the same weights"):
        library.influence(X[:50], sample_weight=weights[:50])


def test_influence_says_what_was_rounded() -> None:
    X = arc()
    found = SCQM(1, loss="l1").fit(X).influence(X)
    assert found.rounding > 0
    assert "rounded" in found.notes[-1]


def test_projection_report() -> None:
    X = arc()
    model = SCQM(1).fit(X)
    Y = np.vstack([X, [[-3.0, -3.0]]])
    rows, report = model.project(Y, return_report=True)
    assert isinstance(report, scqm.ProjectionReport)
    np.testing.assert_array_equal(rows, model.project(Y))
    np.testing.assert_allclose(
        report.residual, np.linalg.norm(Y - rows, axis=1), atol=1e-14
    )  # some rows are on the sheet
    assert report.certified is not None
    assert report.certified[:100].mean() > 0.5
    assert not report.certified[100]
    assert (report.parts >= 1).all()
    np.testing.assert_array_equal(report.second > 0, report.parts > 1)
    assert (report.min_eigenvalue[report.certified] > 0).all()
    flat = SCQM(1, linear=True).fit(X).project(Y, return_report=True)[1]
    assert flat.certified is not None
    assert flat.certified.all()
    entrywise = SCQM(1, loss="l1").fit(X).project(Y, return_report=True)[1]
    assert entrywise.certified is None
    with pytest.raises(InputError, match="return_report"):
        model.project(X, return_report=1)  # type: ignore[call-overload]


def test_frechet_mean() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(51, 3)) + rng.exponential(size=(51, 3))
    w = rng.uniform(0.5, 2, 51)
    mean = scqm.frechet_mean(X, loss="squared_l2", sample_weight=w)
    np.testing.assert_allclose(mean.mean, np.average(X, axis=0, weights=w), rtol=1e-7)
    assert mean.status == "converged"
    assert mean.objective == pytest.approx(w @ ((X - mean.mean) ** 2).sum(axis=1))
    assert mean.influence is not None
    np.testing.assert_allclose(
        mean.influence, w[:, None] * (mean.mean - X) / w.sum(), atol=1e-7
    )
    median = scqm.frechet_mean(X, loss="l1")
    np.testing.assert_allclose(median.mean, np.median(X, axis=0), atol=1e-6)
    assert median.rounding > 0
    mine = scqm.frechet_mean(X, loss=squares, sample_weight=w)
    np.testing.assert_allclose(mine.mean, mean.mean, rtol=1e-6)
    assert "loss" in repr(mean)
    equal = scqm.frechet_mean(np.ones((3, 2)))
    np.testing.assert_array_equal(equal.mean, [1, 1])
    assert equal.influence is None
    assert "equal" in equal.notes[0]


@pytest.mark.parametrize(
    ("X", "settings", "match"),
    [
        (np.ones((3, 2)), {"loss": "l3"}, "l3"),
        (np.ones((3, 2)), {"loss": "mahalanobis", "precision": np.eye(3)}, "length 3"),
        (np.ones((3, 2)), {"loss": "lp", "p": 0.5}, "p"),
        (np.ones((3, 2)), {"n_threads": 0}, "n_threads"),
        (np.ones((3, 2)), {"sample_weight": [1.0, -1.0, 1.0]}, "[Nn]egative"),
        (np.array([[np.nan, 1.0]]), {}, "NaN"),
    ],
)
def test_frechet_mean_refusals(X: Array, settings: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        scqm.frechet_mean(X, **settings)
