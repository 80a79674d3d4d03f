"""Denoising in tiles on Dask: the bits of one machine.

A client in this process does for what Dask adds; all kinds of rows, halos and numbers
of tiles, and the method "auto", are in the drill of models/denoise.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import clone

import scqm
from scqm import InputError, losses
from scqm._tiles import Cells

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
from scqm.dask import ManifoldDenoiser  # noqa: E402 - needs Dask

Array = npt.NDArray[np.float64]


def cloud(n: int = 80) -> Array:
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, (n, 2))
    X = np.column_stack([t, t[:, 0] ** 2]) + rng.normal(scale=0.02, size=(n, 3))
    X[7] = X[70] = X[3]
    X[11] = 5.0
    return X


X = cloud()
WEIGHTS = np.arange(len(X)) % 3 + 0.0


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None
    ) as client:
        yield client


@pytest.mark.parametrize(
    ("parameters", "tiles", "halo"),
    [
        ({"method": "lpca"}, 3, 0.0),
        ({"method": "scqm", "loss": "huber", "passes": 1, "n_neighbors": 6}, 2, None),
    ],
)
def test_tiles_have_the_bits_of_one_machine(
    client: Any, parameters: dict[str, Any], tiles: int, halo: float | None
) -> None:
    alone = scqm.ManifoldDenoiser(**parameters).fit(X, sample_weight=WEIGHTS)
    want, told = alone.denoise(X[::-1])
    denoiser = ManifoldDenoiser(**parameters, n_tiles=tiles, halo=halo)
    denoiser.fit(da.from_array(X, chunks=(50, 3)), sample_weight=WEIGHTS)
    rows, report = denoiser.denoise(da.from_array(X[::-1], chunks=(50, 3)))
    assert rows.chunks == ((50, 30), (3,))
    assert np.array_equal(rows.compute(), want)
    for name in ("residual", "noise", "n_neighbors", "ridge", "extrapolated"):
        found = getattr(report, name).compute()
        assert np.array_equal(found, getattr(told, name)), name
    cost = denoiser.tiling_
    assert cost.tiles == tiles
    assert cost.bytes_between > 0
    assert cost.bytes_driver > 0
    if halo == 0:
        assert cost.rows_again > 0
    assert denoiser.method_ == alone.method_
    assert repr(denoiser.loss_) == repr(alone.loss_)


def test_wide_rows_are_denoised_along_the_axes_of_one_machine(client: Any) -> None:
    rng = np.random.default_rng(1)
    wide = X @ rng.normal(size=(3, 12)) + rng.normal(scale=0.02, size=(len(X), 12))
    rows = da.from_array(wide, chunks=(50, 12))
    for method in ("lpca", "pca"):
        alone = scqm.ManifoldDenoiser(method=method).fit(wide)
        denoiser = ManifoldDenoiser(method=method, n_tiles=3, halo=0.0).fit(rows)
        assert denoiser.n_axes_ == alone.n_axes_ > 0
        want, told = alone.denoise(wide)
        moved, report = denoiser.denoise(rows)
        assert np.array_equal(moved.compute(), want), method
        assert np.array_equal(np.asarray(report.residual), told.residual), method


def sphere(n: int, noise: float) -> Array:
    """Return rows near a sphere in three of twelve dimensions."""
    rng = np.random.default_rng(2)
    on = rng.normal(size=(n, 3))
    on /= np.linalg.norm(on, axis=1)[:, None]
    axes, _ = np.linalg.qr(rng.normal(size=(12, 3)))
    return np.asarray(on @ axes.T + rng.normal(scale=noise, size=(n, 12)))


def bundles() -> Array:
    """Return rows about two planes of three axes."""
    rng = np.random.default_rng(3)
    along = [3 * rng.normal(size=(110, 3)) @ rng.normal(size=(3, 12)) for _ in "ab"]
    centres = 4 * rng.normal(size=(2, 1, 12))
    return np.concatenate(along + centres) + rng.normal(size=(220, 12))


@pytest.mark.filterwarnings("ignore:ManifoldDenoiser")
@pytest.mark.parametrize(
    ("wide", "tiles", "halo"),
    [(sphere(140, 0.05), 3, None), (bundles(), 2, 0.0), (bundles(), 7, None)],
)
def test_wide_rows_by_default_have_the_bits_of_one_machine(
    client: Any, wide: Array, tiles: int, halo: float | None
) -> None:
    alone = scqm.ManifoldDenoiser().fit(wide)
    want, told = alone.denoise(wide[::-1])
    denoiser = ManifoldDenoiser(n_tiles=tiles, halo=halo)
    denoiser.fit(da.from_array(wide, chunks=(60, 12)))
    rows, report = denoiser.denoise(da.from_array(wide[::-1], chunks=(90, 12)))
    assert np.array_equal(rows.compute(), want)
    for name in ("residual", "noise", "n_neighbors", "ridge", "extrapolated"):
        found = getattr(report, name).compute()
        assert np.array_equal(found, getattr(told, name)), name
    assert denoiser.method_ == alone.method_
    assert denoiser.n_axes_ == alone.n_axes_ > 0
    assert denoiser.notes_ == alone.notes_


def test_what_was_done_differently_is_a_warning(client: Any) -> None:
    rows = da.from_array(bundles(), chunks=(110, 12))
    with pytest.warns(UserWarning, match="a linear model is better here"):
        assert ManifoldDenoiser(n_tiles=1).fit(rows).method_ == "pca"


def test_frames_and_matrices(client: Any) -> None:
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=2)
    settings: dict[str, Any] = {
        "method": "linear",
        "loss": "mahalanobis",
        "precision": np.diag([1.0, 2.0, 3.0]),
        "passes": 1,
    }
    denoiser = ManifoldDenoiser(n_tiles=2, halo=9.0, client=client, **settings)
    got = denoiser.fit_transform(frame)
    alone = scqm.ManifoldDenoiser(**settings)
    assert np.array_equal(got.compute(), alone.fit_transform(X))
    assert isinstance(denoiser.loss_, losses.Mahalanobis)
    assert list(denoiser.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(InputError, match="those fitted are"):
        denoiser.transform(frame.rename(columns={"a": "z"}))


def test_errors_name_the_place_and_the_remedy(client: Any) -> None:
    rows = da.from_array(X, chunks=(50, 3))
    spoilt = X.copy()
    spoilt[61, 1] = np.nan
    with pytest.raises(InputError, match="row 61, column 1 of X is nan"):
        ManifoldDenoiser(method="lpca").fit(da.from_array(spoilt, chunks=(50, 3)))
    for method, why in (("kde", "every kernel"), ("mfit", "tangent planes")):
        with pytest.raises(InputError, match=why):
            ManifoldDenoiser(method=method).fit(rows)
    with pytest.raises(InputError, match="give a number"):
        ManifoldDenoiser(method="mls", n_neighbors="auto").fit(rows)
    with pytest.raises(InputError, match="halo"):
        ManifoldDenoiser(halo=-1.0).fit(rows)
    with pytest.raises(InputError, match="weight of row 2 is -1"):
        ManifoldDenoiser().fit(rows, sample_weight=np.r_[1, 1, -1, np.ones(77)])
    with pytest.raises(InputError, match="want an array or a data frame of Dask"):
        ManifoldDenoiser().fit(X)
    fitted = ManifoldDenoiser(method="lpca", n_tiles=1).fit(rows)
    with pytest.raises(InputError, match="expecting 3 features"):
        fitted.transform(rows[:, :2])
    with pytest.raises(TypeError, match="has no pickle"):
        pickle.dumps(fitted)
    assert clone(fitted).get_params() == fitted.get_params()


def test_cells_hold_all_rows_and_as_many_each() -> None:
    cells = Cells(X, 5)
    number = cells.of(X)
    assert cells.number == 5
    assert np.bincount(number, minlength=5).min() > len(X) // 10
    equal = Cells(np.ones((9, 2)), 4)
    assert set(equal.of(np.ones((9, 2)))) == {0}
