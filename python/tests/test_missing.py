"""Missing entries: missing="ignore"."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import KNNImputer
from sklearn.preprocessing import StandardScaler

import scqm
from scqm import SCQM
from scqm.losses import Loss, check

ENTRYWISE = [
    {"loss": "squared_l2"},
    {"loss": "huber"},
    {"loss": "l1"},
    {"loss": "lp", "p": 1.5},
]


def sheet(n: int = 150, noise: float = 0.02) -> np.ndarray:
    rng = np.random.default_rng(3)
    t = rng.uniform(-1, 1, (n, 1))
    X = np.hstack([t, t**2, 2 * t, -2 * (t**2), t - 1])
    return X + noise * rng.normal(size=X.shape)


def hide(
    X: np.ndarray, seed: int = 0, part: float = 0.2
) -> tuple[np.ndarray, np.ndarray]:
    hidden = np.random.default_rng(seed).random(X.shape) < part
    hidden[hidden.all(axis=1)] = False
    return np.where(hidden, np.nan, X), hidden


def error(Z: np.ndarray, X: np.ndarray, hidden: np.ndarray) -> float:
    return float(np.sqrt(np.mean((Z - X)[hidden] ** 2)))


@pytest.mark.parametrize("loss", ENTRYWISE, ids=lambda p: p["loss"])
def test_hidden_entries_are_found(loss: dict[str, Any], tmp_path: Path) -> None:
    X = sheet()
    Y, hidden = hide(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SCQM(1, **loss, ridge=1e-3, missing="ignore").fit(Y)
    Z = model.project(Y)
    assert np.isfinite(Z).all()
    assert np.isfinite(model.embedding_).all()
    # Where only t**2 is there, the sign of t is anybody's guess.
    assert np.median(np.abs(Z - X)[hidden]) < 0.03
    # By transform and inverse_transform the same, alone and in a batch, stored or not.
    tau = model.transform(Y)
    assert (model.inverse_transform(tau) == Z).all()
    assert (model.transform(Y[7:8]) == tau[7:8]).all()
    model.save(tmp_path / "model.npz")
    again = scqm.load(tmp_path / "model.npz")
    assert again.missing == "ignore"
    assert (again.transform(Y) == tau).all()
    assert np.isfinite(model.score(Y))


def test_real_tables_beside_neighbours() -> None:
    for load, d in ((load_iris, 3), (load_wine, 8)):
        X = StandardScaler().fit_transform(load().data)
        ours, theirs = [], []
        for seed in range(3):
            Y, hidden = hide(X, seed)
            model = SCQM(
                d,
                loss="squared_l2",
                linear=True,
                missing="ignore",
                tol=1e-4,
                max_iter=300,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                ours.append(error(model.fit(Y).project(Y), X, hidden))
            theirs.append(error(KNNImputer().fit_transform(Y), X, hidden))
        assert np.mean(ours) < np.mean(theirs), load.__name__


def test_complete_rows_are_fitted_as_ever() -> None:
    X = sheet(60)
    plain = SCQM(1, loss="squared_l2").fit(X)
    ignoring = SCQM(1, loss="squared_l2", missing="ignore").fit(X)
    assert (plain.embedding_ == ignoring.embedding_).all()
    assert plain.objective_ == ignoring.objective_


def test_what_is_refused() -> None:
    Y, _ = hide(sheet(40))
    with pytest.raises(ValueError, match="NaN"):
        SCQM(1, loss="squared_l2").fit(Y)
    for loss in ("l2", "auto"):
        with pytest.raises(ValueError, match=r"squared_l2.*huber.*l1.*lp"):
            SCQM(1, loss=loss, missing="ignore").fit(Y)
    other: Any = "maybe"
    with pytest.raises(ValueError, match="missing is 'maybe'"):
        SCQM(1, missing=other).fit(Y)
    fit = SCQM(1, loss="squared_l2", missing="ignore").fit
    for place, text in (
        ((slice(7, 8), slice(None)), "row 7 has no entry"),
        ((slice(None), slice(2, 3)), "column 2 has no entry"),
    ):
        Z = Y.copy()
        Z[place] = np.nan
        with pytest.raises(ValueError, match=text):
            fit(Z)
    Z = Y.copy()
    Z[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinite"):
        fit(Z)
    model = fit(Y)
    with pytest.raises(ValueError, match="complete rows"):
        model.project(Y, return_report=True)
    with pytest.raises(ValueError, match="row 0 has no entry"):
        model.transform(np.full((1, 5), np.nan))
    with pytest.raises(ValueError, match="NaN"):
        SCQM(1, loss="squared_l2").fit(sheet(40)).transform(Y)


def test_conventions() -> None:
    model = clone(SCQM(1, loss="squared_l2", missing="ignore"))
    assert model.missing == "ignore"
    assert model.__sklearn_tags__().input_tags.allow_nan
    assert not SCQM().__sklearn_tags__().input_tags.allow_nan


class EntryWise(Loss):
    """The pseudo-Huber loss, of every entry by itself."""

    name = "entry_wise"
    separable = True

    def evaluate(self, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(over="ignore", invalid="ignore"):  # residuals may be huge
            root = np.hypot(1, R / 0.1)
            return (R * (R / (root + 1))).sum(axis=1), R / root


class Curved(EntryWise):
    """The same with what some solvers use."""

    name = "curved"

    def weights(self, R: np.ndarray) -> np.ndarray:
        return np.asarray(1 / np.hypot(1, R / 0.1))

    def hessian_product(self, R: np.ndarray, V: np.ndarray) -> np.ndarray:
        return np.asarray(V / np.hypot(1, R / 0.1) ** 3)


class OfRows(EntryWise):
    """One that says so and is none."""

    def evaluate(self, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        root = np.sqrt(1 + (R**2).sum(axis=1))
        return root - 1, R / root[:, None]


@pytest.mark.parametrize("loss", [EntryWise(), Curved()], ids=lambda p: p.name)
def test_own_losses_by_entry(loss: EntryWise) -> None:
    assert check(loss)
    X = sheet(60)
    Y, hidden = hide(X)
    model = SCQM(1, loss=loss, missing="ignore").fit(Y)
    assert model.status_ == "converged"
    Z = model.project(Y)
    assert np.isfinite(Z).all()
    assert np.median(np.abs(Z - X)[hidden]) < 0.03
    tau = model.transform(Y)
    assert (model.inverse_transform(tau) == Z).all()
    # Entries that are missing carry no weight: the score is that of the others.
    R = np.where(hidden, 0, Z - X)
    assert model.score(Y) <= -loss.evaluate(R)[0].mean() + 1e-12
    Y[7] = np.nan
    with pytest.raises(ValueError, match="row 7 has no entry"):
        model.fit(Y)
    Y[:, 2] = np.nan
    Y[7, 0] = 0
    with pytest.raises(ValueError, match="column 2 has no entry"):
        model.fit(Y)


def test_own_losses_are_checked() -> None:
    X = sheet(40)
    # Complete data are fitted the same whether the loss says what it is or not.
    plain = type("Plain", (EntryWise,), {"separable": False})()
    fits = [SCQM(1, loss=loss, tol=1e-8).fit(X) for loss in (EntryWise(), plain)]
    assert fits[0].objective_ == pytest.approx(fits[1].objective_, rel=1e-9)
    assert "separable form" in check(OfRows()).broken
    for loss in (plain, lambda R: ((R**2).sum(axis=1), 2 * R)):
        with pytest.raises(ValueError, match="separable = True"):
            SCQM(1, loss=loss, missing="ignore").fit(hide(X)[0])


def test_failures_of_own_losses_come_through() -> None:
    class Broken(EntryWise):
        def evaluate(self, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            if R.shape[1] == 1:
                raise KeyError("of one entry")
            return super().evaluate(R)

    with pytest.raises(KeyError, match="of one entry"):
        SCQM(1, loss=Broken(), missing="ignore").fit(hide(sheet(40))[0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_impute_fills_what_is_missing(dtype: type, tmp_path: Path) -> None:
    X: np.ndarray = sheet().astype(dtype)
    Y, hidden = hide(X)
    Y = Y.astype(dtype)
    model = SCQM(1, loss="squared_l2", ridge=1e-3, missing="ignore").fit(Y)
    filled, std = model.impute(Y, return_std=True)
    assert filled.dtype == dtype
    assert (filled[~hidden] == X[~hidden]).all()
    assert error(filled, X, hidden) < error(model.project(Y), X, hidden)
    assert (std[hidden] > 0.01).all()
    assert (std[~hidden] == 0).all()
    assert np.mean(((filled - X)[hidden] / std[hidden]) ** 2) < 2
    assert (model.impute(Y) == filled).all()
    model.save(tmp_path / "model.npz")
    assert (scqm.load(tmp_path / "model.npz").impute(Y) == filled).all()


def test_impute_refuses_rows_that_it_cannot_fill() -> None:
    X = sheet()
    Y, _ = hide(X)
    plain = SCQM(1, loss="squared_l2").fit(X)
    assert (plain.impute(X) == X).all()
    with pytest.raises(ValueError, match="NaN"):
        plain.impute(Y)
    model = SCQM(1, loss="squared_l2", missing="ignore").fit(Y)
    with pytest.raises(scqm.exceptions.InputError, match="no entry"):
        model.impute(np.full((1, X.shape[1]), np.nan))
