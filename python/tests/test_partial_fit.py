"""partial_fit has scikit-learn's habits, and what it learns does not depend on calls."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import scqm
from scqm import SCQM
from scqm.exceptions import InputError

ARRAYS = ("offset_", "components_", "curvature_components_", "theta_")


def rows(n: int, seed: int = 0) -> npt.NDArray[np.float64]:
    """Rows of a bent sheet in six columns."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, (n, 2))
    X = 0.05 * rng.normal(size=(n, 6))
    X[:, :2] += t
    X[:, 2] += t[:, 0] ** 2
    X[:, 3] += t[:, 0] * t[:, 1]
    return X


def test_cuts_and_copies() -> None:
    """Equal bits however rows are cut, through pickles and clones of parameters."""
    X = rows(2500)
    whole = SCQM().partial_fit(X)
    cut = SCQM()
    for part in np.split(X, [2, 700, 1024, 1500]):
        cut = pickle.loads(pickle.dumps(cut.partial_fit(part)))
    for name in ARRAYS:
        assert_array_equal(getattr(whole, name), getattr(cut, name))
    assert whole.n_samples_seen_ == 2500
    assert whole.status_ == "max_iter"
    assert whole.kkt_ is None
    assert whole.embedding_.shape == (0, 2)
    again = clone(cut).partial_fit(X)
    assert_array_equal(again.theta_, whole.theta_)
    fitted = SCQM().fit(X)
    assert whole.score(X) == pytest.approx(fitted.score(X), rel=1e-2)


def test_goes_on_from_a_fit(tmp_path: Path) -> None:
    """A fit is gone on with, not forgotten; a new fit forgets."""
    X = rows(1500)
    model = SCQM().fit(X)
    score = model.score(X)
    model.partial_fit(rows(30, 1))
    assert model.n_samples_seen_ == 1530
    assert model.score(X) == pytest.approx(score, rel=2e-2)
    model.save(tmp_path / "model.npz")
    loaded = scqm.load(tmp_path / "model.npz").partial_fit(rows(40, 2))
    assert loaded.n_samples_seen_ == 1570
    assert_array_equal(model.fit(X).theta_, SCQM().fit(X).theta_)


def test_refusals_change_nothing() -> None:
    """Errors name what is wrong, and the model stays."""
    model = SCQM(n_components=1).partial_fit(rows(100))
    before = model.theta_.copy()
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(rows(10)[:, :4])
    spoilt = rows(10)
    spoilt[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(spoilt)
    with pytest.raises(InputError, match="d = 1"):
        model.set_params(n_components=2).partial_fit(rows(10))
    model.set_params(n_components=1)
    assert model._learned is not None
    model._learned = model._learned[:-1]
    with pytest.raises(InputError):
        model.partial_fit(rows(10))
    assert_array_equal(model.theta_, before)


@pytest.mark.parametrize(
    "model",
    [
        SCQM(loss="auto"),
        SCQM("auto"),
        SCQM(loss="l1"),
        SCQM(loss=scqm.losses.Lp(1.5)),
        SCQM(loss=lambda R: ((R**4).sum(axis=1), 4 * R**3)),
        SCQM(ridge="auto"),
        SCQM(missing="ignore"),
    ],
)
def test_what_rows_seen_once_do_not_tell(model: SCQM) -> None:
    assert not hasattr(model, "partial_fit")


@pytest.mark.parametrize("loss", ["l2", "huber", scqm.losses.SquaredL2()])
def test_losses_of_rows_seen_once(loss: scqm.losses.LossLike) -> None:
    assert SCQM(1, loss=loss).partial_fit(rows(50)).n_samples_seen_ == 50
