"""Estimators on Dask, with one cluster of two processes.

Every number of workers and chunks, workers and schedulers killed at any time, and data
frames have the drill internal/soak/cluster_fits.py.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import scqm
from scqm import losses
from scqm._sums import BLOCK_ROWS
from scqm.exceptions import InputError

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
from scqm.dask import SCQM, _client, _estimator  # noqa: E402 - needs Dask

Array = npt.NDArray[np.float64]
LEARNED = ("offset_", "components_", "curvature_components_", "theta_")


def sheet(n: int = 5 * BLOCK_ROWS + 300) -> Array:
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, (n, 2))
    bends = [t[:, 0] ** 2, t[:, 0] * t[:, 1], t[:, 1] ** 2]
    return np.column_stack([t, *bends]) + rng.normal(scale=0.05, size=(n, 5))


X = sheet()
SETTINGS: dict[str, Any] = {"loss": "squared_l2", "tol": 1e-3}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    # Workers of the same process would share its library, and its death.
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def whole() -> scqm.SCQM:
    return scqm.SCQM(2, solver="streaming", **SETTINGS).fit(X)


@pytest.fixture(scope="module")
def rows(client: Any) -> Any:
    return da.from_array(X, chunks=(2 * BLOCK_ROWS, 5))


@pytest.fixture(scope="module")
def model(rows: Any) -> SCQM:
    return SCQM(2, **SETTINGS).fit(rows)


def same(a: scqm.SCQM, b: scqm.SCQM) -> bool:
    return all(np.array_equal(getattr(a, k), getattr(b, k)) for k in LEARNED)


def test_the_model_has_the_bits_of_one_process(
    model: SCQM, whole: scqm.SCQM, client: Any
) -> None:
    assert same(model, whole)
    assert model.status_ == "converged"
    assert model.objective_ == whole.objective_
    assert model.n_reads_ > model.n_iter_
    with pytest.warns(UserWarning, match="no multiples of 1024 rows, such as 2000"):
        other = SCQM(2, **SETTINGS, persist=False).fit(
            da.from_array(X, chunks=(2000, 2)).rechunk({1: -1})
        )
    assert same(other, whole)


def test_what_comes_to_the_client(rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    class Counting(_estimator.Parts):
        def __call__(self, function: Any) -> Iterator[bytes]:
            for sums in super().__call__(function):
                lengths.append(len(sums))
                yield sums

    monkeypatch.setattr(_estimator, "Parts", Counting)
    with pytest.warns(ConvergenceWarning):
        model = SCQM(2, **SETTINGS | {"max_iter": 2}).fit(rows)
    assert len(lengths) == model.n_reads_
    # Whatever n: see docs/guide/large.md.
    assert sorted(lengths)[len(lengths) // 2] < 3000


def test_maps_are_lazy(model: SCQM, whole: scqm.SCQM, rows: Any) -> None:
    T = model.transform(rows)
    assert isinstance(T, da.Array)
    assert T.chunks == (rows.chunks[0], (2,))
    want = whole.transform(X)
    assert np.array_equal(T.compute(), want)
    assert np.array_equal(model.project(rows).compute(), whole.project(X))
    back = model.inverse_transform(T).compute()
    assert np.array_equal(back, whole.inverse_transform(want))
    score = model.score(rows)
    assert isinstance(score, da.Array)
    assert float(score) == pytest.approx(whole.score(X), rel=1e-12)
    w = np.arange(1.0, len(X) + 1)
    weighted = float(model.score(rows, sample_weight=da.from_array(w)))
    assert weighted == pytest.approx(whole.score(X, sample_weight=w), rel=1e-12)
    # In memory they compute at once.
    assert np.array_equal(model.transform(X[:5]), want[:5])
    _, report = model.project(X[:5], return_report=True)
    assert len(report.residual) == 5
    with pytest.raises(InputError, match="return_report goes with rows in memory"):
        model.project(rows, return_report=True)
    with pytest.raises(ValueError, match="expecting 5 features"):
        model.transform(rows[:, :4])
    with pytest.raises(NotFittedError):
        SCQM().transform(rows)


def test_influence_is_lazy(rows: Any, client: Any) -> None:
    settings = SETTINGS | {"tol": 1e-6}
    model = SCQM(2, **settings).fit(rows)
    want = model.influence(X)
    assert isinstance(want, scqm.Influence)
    for chunks in (2 * BLOCK_ROWS, 3 * BLOCK_ROWS, len(X)):
        found = model.influence(da.from_array(X, chunks=(chunks, 5)))
        assert isinstance(found.influence, da.Array)
        got = found.compute()
        for name in ("influence", "residual", "residual_without", "leverage"):
            assert np.array_equal(getattr(got, name), getattr(want, name))
        assert (got.remaining, got.notes) == (want.remaining, want.notes)
        assert np.array_equal(found.top(7), want.top(7))
    w = np.random.default_rng(1).uniform(1, 2, len(X)).astype(np.float32)
    lazy = da.from_array(w, chunks=999)
    single = rows.astype(np.float32)
    weighted = SCQM(2, **settings).fit(single, sample_weight=lazy)
    got = weighted.influence(single, lazy).compute()
    want = weighted.influence(X.astype(np.float32), w)
    assert np.array_equal(got.influence, want.influence)
    with pytest.raises(InputError, match="same rows with the same weights"):
        weighted.influence(single)
    with pytest.raises(InputError, match="this takes all rows in memory"):
        SCQM(2, loss="l1", max_iter=1, tol=1).fit(rows).influence(rows)
    with pytest.raises(NotFittedError):
        SCQM().influence(rows)


def test_weights_and_single_numbers(rows: Any) -> None:
    w = np.random.default_rng(1).uniform(size=len(X))
    single = X.astype(np.float32)
    settings = SETTINGS | {"max_iter": 2}
    with pytest.warns(ConvergenceWarning):
        want = scqm.SCQM(2, solver="streaming", **settings).fit(single, sample_weight=w)
    lazy = da.from_array(single, chunks=(2 * BLOCK_ROWS, 5))
    with pytest.warns(ConvergenceWarning):
        got = SCQM(2, **settings).fit(lazy, sample_weight=da.from_array(w, chunks=999))
    assert same(got, want)
    with pytest.raises(InputError, match="sample_weight has 3 entries; X has 5420"):
        SCQM(2).fit(lazy, sample_weight=da.ones(3))


class Doubled(losses.Loss):
    def evaluate(self, R: Array) -> tuple[Array, Array]:
        return (R**2).sum(axis=1), 2 * R


def test_losses_of_ones_own(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    few = da.from_array(X[: BLOCK_ROWS + 10], chunks=(BLOCK_ROWS, 5))
    name = "a_module_of_the_client"
    home = type(sys)(name)
    home.Doubled = Doubled  # type: ignore[attr-defined] # a module made here
    monkeypatch.setitem(sys.modules, name, home)
    monkeypatch.setattr(Doubled, "__module__", name)
    with pytest.raises(
        InputError, match=f"loss of the fit cannot be loaded on .*{name}"
    ):
        SCQM(1, loss=Doubled()).fit(few)


def test_a_plugin_that_workers_do_not_have(
    client: Any,
) -> None:
    few = da.from_array(X[: BLOCK_ROWS + 10], chunks=(BLOCK_ROWS, 5))
    with pytest.raises(InputError, match="nobody_has_it"):
        SCQM(1, loss=losses.Plugin("nobody_has_it")).fit(few)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (X, "X is ndarray; want an array or a data frame of Dask"),
        (da.ones(5), "X has 1 dimensions"),
        (da.ones((5, 2), dtype=complex), "X has dtype complex128"),
    ],
)
def test_what_is_no_table(client: Any, given: Any, match: str) -> None:
    with pytest.raises(InputError, match=match):
        SCQM(1).fit(given)


def test_rows_that_are_not_finite(rows: Any) -> None:
    spoilt = rows.map_blocks(lambda x: np.where(x == X[3000, 2], np.inf, x))
    with pytest.raises(InputError, match=r"row 3000, column 2 is \+Inf"):
        SCQM(1).fit(spoilt)


def test_clones_and_pickles(model: SCQM, client: Any, whole: scqm.SCQM) -> None:
    copy = clone(SCQM(3, client=client, tol=0.1))
    assert copy.client is client
    assert (copy.n_components, copy.tol) == (3, 0.1)
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    assert np.array_equal(again.transform(X[:3]), whole.transform(X[:3]))


def test_chunks_keep_their_rows() -> None:
    assert _client._rounded([2000, 2000, 1420], 1024) == (2048, 2048, 1324)
    assert _client._rounded([10, 10, 10], 1024) == (30,)
    assert _client._rounded([1024, 0, 500], 1024) == (1024, 500)
    fits = da.ones((2058, 2), chunks=((1024, 1024, 10), 2))
    assert _client.whole_blocks(fits) is fits


def test_without_a_client(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise ValueError

    monkeypatch.setattr(_client, "get_client", none)
    with pytest.raises(InputError, match="there is no client of Dask; start one"):
        SCQM(1).fit(da.ones((5, 2)))
