"""Denoising rows of Dask: the bits of one machine, as a whole and in cells.

A client in this process does for what Dask adds; the cells themselves are in the tests of
models/denoise.
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
from scqm import losses
from scqm.exceptions import InputError

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
from scqm.dask import ManifoldDenoiser, _denoiser  # noqa: E402 - needs Dask

Array = npt.NDArray[np.float64]
ABOUT = ("residual", "noise", "n_neighbors", "ridge", "extrapolated", "unchanged")


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


@pytest.fixture
def small_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut clouds of more than 1600 rows."""
    monkeypatch.setattr(_denoiser, "CELL_ROWS", 400)
    monkeypatch.setattr(scqm.ManifoldDenoiser, "_cell_rows", 400)


@pytest.mark.parametrize(
    "parameters",
    [
        {"method": "lpca"},
        {"method": "auto"},
        {"method": "scqm", "loss": "huber", "passes": 1, "n_neighbors": 6},
        {"method": "kde", "average": 2},
    ],
)
def test_rows_have_the_bits_of_one_machine(
    client: Any, parameters: dict[str, Any]
) -> None:
    alone = scqm.ManifoldDenoiser(**parameters).fit(X, sample_weight=WEIGHTS)
    want, told = alone.denoise(X[::-1])
    denoiser = ManifoldDenoiser(**parameters)
    denoiser.fit(da.from_array(X, chunks=(50, 3)), sample_weight=WEIGHTS)
    rows, report = denoiser.denoise(da.from_array(X[::-1], chunks=(50, 3)))
    assert rows.chunks == ((50, 30), (3,))
    assert np.array_equal(rows.compute(), want)
    for name in ABOUT:
        found = getattr(report, name).compute()
        assert np.array_equal(found, getattr(told, name)), name
    assert denoiser.n_cells_ == 1
    assert denoiser.method_ == alone.method_
    assert repr(denoiser.loss_) == repr(alone.loss_)


@pytest.mark.usefixtures("small_cells")
@pytest.mark.parametrize(
    "parameters", [{"method": "lpca"}, {"method": "auto"}, {"n_components": "auto"}]
)
def test_cells_have_the_bits_of_one_machine(
    client: Any, parameters: dict[str, Any]
) -> None:
    large = cloud(2700)
    weights = np.arange(len(large)) % 3 + 0.0
    alone = scqm.ManifoldDenoiser(**parameters).fit(large, sample_weight=weights)
    want, told = alone.denoise(large[::-1])
    denoiser = ManifoldDenoiser(**parameters)
    denoiser.fit(da.from_array(large, chunks=(1400, 3)), sample_weight=weights)
    rows, report = denoiser.denoise(da.from_array(large[::-1], chunks=(1100, 3)))
    assert np.array_equal(rows.compute(), want)
    for name in ABOUT:
        found = getattr(report, name).compute()
        assert np.array_equal(found, getattr(told, name)), name
    assert denoiser.n_cells_ > 1
    assert denoiser.n_components_ == alone.n_components_ == 2
    few = denoiser.transform(da.from_array(large[:9], chunks=(5, 3)))
    assert np.array_equal(few.compute(), want[::-1][:9])


@pytest.mark.usefixtures("small_cells")
def test_what_looks_at_all_rows_is_not_cut(client: Any) -> None:
    large = cloud(1700)
    denoiser = ManifoldDenoiser(method="pca").fit(da.from_array(large, chunks=900))
    assert denoiser.n_cells_ == 1
    alone = scqm.ManifoldDenoiser(method="pca").fit_transform(large)
    moved = denoiser.transform(da.from_array(large, chunks=900)).compute()
    assert np.array_equal(moved, alone)


def test_wide_rows_are_denoised_along_the_axes_of_one_machine(client: Any) -> None:
    rng = np.random.default_rng(1)
    wide = X @ rng.normal(size=(3, 12)) + rng.normal(scale=0.02, size=(len(X), 12))
    rows = da.from_array(wide, chunks=(50, 12))
    alone = scqm.ManifoldDenoiser(method="lpca").fit(wide)
    denoiser = ManifoldDenoiser(method="lpca").fit(rows)
    assert denoiser.n_axes_ == alone.n_axes_ > 0
    assert np.array_equal(denoiser.transform(rows).compute(), alone.transform(wide))


def test_what_was_done_differently_is_a_warning(client: Any) -> None:
    rows = da.from_array(X[:5], chunks=(3, 3))
    with pytest.warns(UserWarning, match="too few"):
        denoiser = ManifoldDenoiser().fit(rows)
    assert len(denoiser.notes_) == 1


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
    denoiser = ManifoldDenoiser(client=client, **settings)
    got = denoiser.fit_transform(frame)
    alone = scqm.ManifoldDenoiser(**settings)
    assert np.array_equal(got.compute(), alone.fit_transform(X))
    assert isinstance(denoiser.loss_, losses.Mahalanobis)
    assert list(denoiser.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        denoiser.transform(frame.rename(columns={"a": "z"}))


def test_errors_name_the_place_and_the_remedy(client: Any) -> None:
    rows = da.from_array(X, chunks=(50, 3))
    spoilt = X.copy()
    spoilt[61, 1] = np.nan
    with pytest.raises(InputError, match="row 61, column 1 is NaN"):
        ManifoldDenoiser(method="lpca").fit(da.from_array(spoilt, chunks=(50, 3)))
    with pytest.raises(InputError, match="weight of row 2 is -1"):
        ManifoldDenoiser().fit(rows, sample_weight=np.r_[1, 1, -1, np.ones(77)])
    with pytest.raises(InputError, match="want an array or a data frame of Dask"):
        ManifoldDenoiser().fit(X)
    fitted = ManifoldDenoiser(method="lpca").fit(rows)
    with pytest.raises(ValueError, match="expecting 3 features"):
        fitted.transform(rows[:, :2])
    with pytest.raises(TypeError, match="has no pickle"):
        pickle.dumps(fitted)
    assert clone(fitted).get_params() == fitted.get_params()
