"""Numbers on fits: R2, outliers at a level, standard errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

import scqm
from scqm import SCQM
from scqm.exceptions import InputError

Array = npt.NDArray[np.float64]


def bowl(n: int, seed: int, noise: float = 0.1) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, (n, 2))
    frame = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0]
    columns = [t[:, 0], t[:, 1], 0.7 * t[:, 0] ** 2, 0.5 * t[:, 0] * t[:, 1]]
    clean: Array = np.column_stack(columns) @ frame[:4]
    return clean, clean + noise * rng.normal(size=clean.shape)


def test_r2_is_that_of_the_rows() -> None:
    X = StandardScaler().fit_transform(load_wine().data)
    model = SCQM(2, loss="squared_l2").fit(X)
    far = ((model.inverse_transform(model.embedding_) - X) ** 2).sum()
    assert model.r2_ == pytest.approx(1 - far / ((X - X.mean(axis=0)) ** 2).sum())
    share = PCA().fit(X).explained_variance_ratio_.cumsum()
    d = 2 + len(model.curvature_components_)
    assert model.r2_pca_ == pytest.approx((share[1], share[d - 1]))
    text = model.summary()
    for part in (
        f"{model.r2_:.4g}",
        f"{share[1]:.4g} with d = 2",
        "curvature",
        "converged",
    ):
        assert part in text
    assert repr(model).endswith(f"# R2 = {model.r2_:.3g}")
    assert repr(SCQM(2, loss="squared_l2")) == "SCQM(loss='squared_l2')"
    flat = SCQM(2, loss="squared_l2", linear=True).fit(X)
    assert flat.r2_ == pytest.approx(share[1])
    assert flat.r2_pca_[1] == flat.r2_pca_[0]
    blocks = SCQM(2, loss="squared_l2", solver="streaming").fit(X)
    assert not hasattr(blocks, "r2_")
    assert "R2" not in blocks.summary()


@pytest.mark.parametrize("level", [0.05, 0.01])
def test_outliers_come_at_their_level(level: float) -> None:
    model = SCQM(2, 2).fit(bowl(400, 1)[1])
    found = model.outliers(bowl(5000, 2)[1], level=level)
    assert 0.6 * level < found.mean() < 2 * level
    with_faults = bowl(400, 1)[1]
    # In all directions: a sheet can bend to faults that agree.
    with_faults[:40] += np.random.default_rng(3).normal(size=(40, 8))
    model = SCQM(2).fit(with_faults)
    again = model.outliers(with_faults, level=level)
    assert again[:40].mean() > 0.9
    assert again[40:].mean() < 2 * level


def test_outliers_with_gaps_of_blocks_and_of_exact_rows() -> None:
    X = bowl(400, 1)[1]
    X[5] += np.arange(8)
    blocks = SCQM(2, 2, solver="streaming").fit(X)
    assert blocks.outliers(X, level=1e-4)[5]
    gaps = X.copy()
    gaps[::3, 7] = np.nan
    model = SCQM(2, loss="huber", missing="ignore").fit(gaps)
    found = model.outliers(gaps)
    assert found[5]
    assert found.mean() < 0.05
    t = np.linspace(-1, 1, 100)
    exact = np.column_stack([t, t**2, 0 * t])
    assert not SCQM(1).fit(exact).outliers(exact).any()
    levels: list[Any] = [0, 1, "high"]
    for level in levels:
        with pytest.raises(InputError, match="level is"):
            model.outliers(gaps, level=level)


def test_scores_of_rows_are_losses() -> None:
    X = bowl(100, 3)[1]
    model = SCQM(2, loss="huber").fit(X)
    values = model.score_samples(X)
    assert values.mean() == pytest.approx(model.score(X))
    losses = np.asarray(model.loss_.evaluate(model.project(X) - X)[0])
    np.testing.assert_allclose(values, -losses, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_standard_errors_are_those_of_repeated_noise() -> None:
    clean = bowl(200, 4)[0]
    rng = np.random.default_rng(5)
    model = SCQM(2, 2, loss="squared_l2").fit(
        clean + 0.1 * rng.normal(size=clean.shape)
    )
    placed, told = [], []
    for _ in range(30):
        X = clean + 0.1 * rng.normal(size=clean.shape)
        placed.append(model.transform(X))
        told.append(model.standard_errors(X))
    seen = np.std(placed, axis=0)
    assert np.sqrt(np.mean(seen**2)) == pytest.approx(np.mean(told), rel=0.1)

    sheets, errors = [], []
    for _ in range(20):
        X = clean + 0.1 * rng.normal(size=clean.shape)
        again = SCQM(2, 2, loss="squared_l2").fit(X)
        sheets.append(again.project(clean))
        errors.append(again.influence(X).sheet_error)
    moved = np.sqrt(np.var(sheets, axis=0, ddof=1).sum(axis=1).mean())
    assert np.mean(errors) == pytest.approx(moved, rel=0.2)
    with pytest.raises(InputError, match="standard errors are for"):
        SCQM(2, 2, loss="l1").fit(clean).standard_errors(clean)


def test_files_keep_the_numbers(tmp_path: object) -> None:
    X = bowl(100, 6)[1]
    model = SCQM(2).fit(X)
    model.save(f"{tmp_path}/m.npz")
    again = scqm.load(f"{tmp_path}/m.npz")
    assert (again.r2_, again.r2_pca_) == (model.r2_, model.r2_pca_)
    np.testing.assert_array_equal(again.outliers(X), model.outliers(X))
