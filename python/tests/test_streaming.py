"""Fits to rows that Python only maps over: fit_blocks, and what is asked of maps."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.exceptions import ConvergenceWarning

import scqm
from scqm import SCQM, _native, losses
from scqm._sums import BLOCK_ROWS, BlockSums
from scqm.exceptions import InputError
from scqm.large import fit_blocks

Array = npt.NDArray[np.float64]
Map = Callable[[BlockSums], Iterator[bytes]]
LEARNED = ("offset_", "components_", "curvature_components_", "theta_")


def sheet(n: int = 3 * BLOCK_ROWS + 500) -> Array:
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, (n, 2))
    bends = [t[:, 0] ** 2, t[:, 0] * t[:, 1], t[:, 1] ** 2]
    return np.column_stack([t, *bends]) + rng.normal(scale=0.05, size=(n, 5))


def cut(X: Any, step: int, weights: Array | None = None) -> Map:
    """Return a map over parts of an array, from the last one to the first."""

    def parts(function: BlockSums) -> Iterator[bytes]:
        for at in reversed(range(0, len(X), step)):
            own = None if weights is None else weights[at : at + step]
            # As another process would get it.
            yield pickle.loads(pickle.dumps(function))(X[at : at + step], at, own)

    return parts


def same(a: SCQM, b: SCQM) -> bool:
    return all(np.array_equal(getattr(a, k), getattr(b, k)) for k in LEARNED)


@pytest.mark.parametrize("loss", ["l2", "huber", "squared_l2", "l1"])
def test_parts_make_the_fit_of_all_rows(loss: str) -> None:
    X = sheet(5000)  # of which half are the sample that a fit starts from
    settings: Any = {"loss": loss, "max_iter": 1 if loss == "l1" else 4, "tol": 1e-9}
    with pytest.warns(ConvergenceWarning):
        whole = SCQM(2, solver="streaming", **settings).fit(X)
    for step in (BLOCK_ROWS, 2 * BLOCK_ROWS):
        with pytest.warns(ConvergenceWarning):
            parts = fit_blocks(cut(X, step), X.shape, 2, **settings)
        assert same(parts, whole)


def test_defaults_of_losses_are_those_in_memory() -> None:
    X = sheet(2500)
    X[::50, 2] += 3
    for loss in (losses.Huber, losses.HuberEntries):
        settings: Any = {"solver": "streaming", "max_iter": 1, "tol": 1}
        whole = SCQM(2, loss=loss(), **settings).fit(X).loss_
        parts = fit_blocks(cut(X, BLOCK_ROWS), X.shape, 2, loss=loss(), **settings)
        assert isinstance(whole, loss)
        assert isinstance(parts.loss_, loss)
        assert whole.delta == parts.loss_.delta
        exact = SCQM(2, loss=loss(), solver="lbfgs", tol=0.1).fit(X).loss_
        assert isinstance(exact, loss)
        assert whole.delta == pytest.approx(exact.delta, rel=0.01)


def test_rows_of_every_kind_make_the_same_sums(tmp_path: Path) -> None:
    X = sheet(2 * BLOCK_ROWS).astype(np.float32)
    np.save(tmp_path / "rows.npy", X)
    want = fit_blocks(cut(X.astype(float), BLOCK_ROWS), X.shape, 2, max_iter=3, tol=1)
    kinds = [
        X,
        np.load(tmp_path / "rows.npy", mmap_mode="r"),
        np.asfortranarray(X, np.float64),
        X.astype(">f8"),
    ]
    for rows in kinds:
        got = fit_blocks(cut(rows, BLOCK_ROWS), X.shape, 2, max_iter=3, tol=1)
        assert same(got, want)


def test_parts_of_several_types() -> None:
    X = sheet(5 * BLOCK_ROWS + 7).astype(np.float32)
    cuts = [(at, X[at : at + BLOCK_ROWS]) for at in range(0, len(X), BLOCK_ROWS)]
    kinds: list[Any] = [np.float32, float, ">f8", float, float, np.float32]

    def parts(function: BlockSums) -> list[bytes]:
        made = [
            function(rows.astype(kind), at)
            for (at, rows), kind in zip(cuts, kinds, strict=True)
        ]
        return [function.merge([made[1], made[0]]), function.merge(made[2:])]

    got = fit_blocks(parts, X.shape, 2, max_iter=2, tol=1)
    want = fit_blocks(cut(X.astype(float), len(X)), X.shape, 2, max_iter=2, tol=1)
    assert same(got, want)


def test_weights() -> None:
    X = sheet(2 * BLOCK_ROWS)
    w = np.random.default_rng(1).uniform(size=len(X))
    got = fit_blocks(cut(X, BLOCK_ROWS, w), X.shape, 2, tol=1e-3)
    whole = SCQM(2, solver="streaming", tol=1e-3).fit(X, sample_weight=w)
    assert same(got, whole)
    w[1500] = np.nan
    with pytest.raises(InputError, match="weight of row 1500 is NaN"):
        fit_blocks(cut(X, BLOCK_ROWS, w), X.shape, 2)


class Scaled(losses.Loss):
    def evaluate(self, R: Array) -> tuple[Array, Array]:
        return (R**2).sum(axis=1), 2 * R


def test_losses_of_ones_own_go_along() -> None:
    X = sheet(4 * BLOCK_ROWS + 100)
    with pytest.warns(ConvergenceWarning):
        got = fit_blocks(cut(X, BLOCK_ROWS), X.shape, 1, loss=Scaled(), max_iter=1)
    with pytest.warns(ConvergenceWarning):
        whole = SCQM(1, solver="streaming", loss=Scaled(), max_iter=1).fit(X)
    assert same(got, whole)


def test_a_loss_that_cannot_be_loaded_is_one_sentence() -> None:
    function = BlockSums(b"", losses.L2(), 1)
    state = function.__getstate__() | {"loss": b"cnowhere_at_all\nLoss\n."}
    there = BlockSums.__new__(BlockSums)
    there.__setstate__(state)
    with pytest.raises(
        InputError, match=r"loss of the fit cannot be loaded on .*nowhere_at_all"
    ):
        there(np.ones((4, 2)))
    with pytest.raises(
        InputError, match=r"a fit of scqm 0\.0 asks scqm .*install one version"
    ):
        there.__setstate__(state | {"version": "0.0"})


Sums = list[bytes]


@pytest.mark.parametrize(
    ("spoil", "match"),
    [
        (lambda parts: parts[1:], r"rows from 0 on are in no part"),
        (lambda parts: parts[:1], r"rows from 1024 on are in no part.*make up all 2048"),
        (lambda parts: [], "rows from 0 on are in no part"),
        (lambda parts: parts + parts[:1], "blocks 0 to 0 were summed twice"),
        (lambda parts: ["sums"], "map gave str 'sums'; want the bytes"),
        (lambda parts: [parts[0], parts[1][:-1]], "damaged"),
        (lambda parts: [b""], "0 bytes are no partial sum"),
    ],
)  # fmt: skip
def test_maps_that_lie(spoil: Callable[[Sums], list[Any]], match: str) -> None:
    X = sheet(2 * BLOCK_ROWS)

    def parts(function: BlockSums) -> list[Any]:
        return spoil([function(X[k : k + BLOCK_ROWS], k) for k in (0, BLOCK_ROWS)])

    with pytest.raises(InputError, match=match):
        fit_blocks(parts, X.shape, 2)
    assert not _native._jobs


@pytest.mark.parametrize(
    ("at", "rows", "match"),
    [
        (1, 1024, "cut inside of a block: parts must begin at multiples of 1024"),
        (0, 1000, "cut inside of a block"),
        (4096, 10, "rows 4096 to 4105 of 2048"),
        (0, 0, "want .n, D., n above 0"),
    ],
)
def test_parts_that_are_none(at: int, rows: int, match: str) -> None:
    X = sheet(2 * BLOCK_ROWS)
    with pytest.raises(InputError, match=match):
        fit_blocks(lambda function: [function(X[:rows], at)], X.shape, 2)


def test_rows_that_are_none() -> None:
    X = sheet(2 * BLOCK_ROWS)
    X[1500, 3] = np.nan
    with pytest.raises(InputError, match="row 1500, column 3 is NaN"):
        fit_blocks(cut(X, BLOCK_ROWS), X.shape, 2)
    with pytest.raises(InputError, match="rows of 4 columns, and a fit of 5"):
        fit_blocks(cut(X[:, :4].copy(), BLOCK_ROWS), X.shape, 2)
    text = np.full(X.shape, "a", object)
    with pytest.raises(InputError, match="rows from 1024 on are no numbers"):
        fit_blocks(cut(text, BLOCK_ROWS), X.shape, 2)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"loss": "auto"}, "loss='auto' looks at residuals in memory"),
        ({"ridge": "auto"}, "ridge is not chosen while streaming"),
        ({"solver": "newton"}, "solver newton needs all rows in memory"),
        ({"n_components": 9}, "n_components=9 exceeds n_features=5"),
        ({"shape": (1, 5)}, "at least two rows"),
        ({"shape": "ab"}, "want the numbers of rows and columns"),
        ({"map": 3}, "map is 3"),
        ({"checkpoint": "c", "n_init": 2}, "not of n_init=2"),
    ],
)
def test_settings_that_do_not_stream(settings: Any, match: str) -> None:
    X = sheet(2 * BLOCK_ROWS)
    given = {"map": cut(X, BLOCK_ROWS), "shape": X.shape} | settings
    with pytest.raises(InputError, match=match):
        fit_blocks(**given)


class Stop(Exception):
    pass


def stopping(parts: Map, read: int, error: BaseException) -> Map:
    """Return a map that fails in a read."""
    reads = iter(range(1, read + 1))

    def mapped(function: BlockSums) -> Iterator[bytes]:
        if next(reads) == read:
            raise error
        yield from parts(function)

    return mapped


def test_fits_go_on_from_a_checkpoint(tmp_path: Path) -> None:
    X = sheet(2 * BLOCK_ROWS)
    reads = []

    def parts(function: BlockSums) -> Iterator[bytes]:
        reads.append(function)
        return cut(X, BLOCK_ROWS)(function)

    whole = fit_blocks(parts, X.shape, 2, tol=1e-3)
    all_reads = len(reads)
    file = tmp_path / "fit.ckpt"
    for read in (2, all_reads // 2):  # in the start, and between two iterations
        failing = stopping(parts, read, Stop())
        with pytest.raises(Stop):
            fit_blocks(failing, X.shape, 2, tol=1e-3, checkpoint=file)
        assert not _native._jobs
        reads.clear()
    again = fit_blocks(parts, X.shape, 2, tol=1e-3, checkpoint=file)
    assert same(again, whole)
    assert again.n_iter_ == whole.n_iter_
    assert len(reads) < all_reads * 0.7
    with pytest.raises(InputError, match="is of other data or settings"):
        fit_blocks(parts, X.shape, 2, ridge=0.5, checkpoint=file)


def test_interrupts_leave_nothing() -> None:
    X = sheet(2 * BLOCK_ROWS)

    def parts(function: BlockSums) -> list[bytes]:
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(5)
        return [function(X, 0)]

    with pytest.raises(KeyboardInterrupt):
        fit_blocks(parts, X.shape, 2)
    assert not _native._jobs
    assert fit_blocks(lambda f: [f(X, 0)], X.shape, 2, tol=1e-2).status_ == "converged"


def test_a_budget_of_time() -> None:
    X = sheet(2 * BLOCK_ROWS)
    model = fit_blocks(cut(X, BLOCK_ROWS), X.shape, 2, time_limit=1e-3)
    assert model.status_ == "time_limit"


def test_models_are_as_any(tmp_path: Path) -> None:
    X = sheet(2 * BLOCK_ROWS)
    model = fit_blocks(cut(X, BLOCK_ROWS), X.shape, 2, tol=1e-2)
    assert model.embedding_.shape == (0, 2)
    assert model.n_features_in_ == 5
    model.save(tmp_path / "m.npz")
    again = scqm.load(tmp_path / "m.npz")
    assert np.array_equal(again.transform(X[:5]), model.transform(X[:5]))
