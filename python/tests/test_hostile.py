"""Inputs of every kind: exact exceptions, or the bits of the plain case.

Other types, layouts and containers of the same rows give the same model; what cannot be
rows is refused in words.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import scipy.sparse

import scqm
from scqm import SCQM

Array = npt.NDArray[np.float64]


def grid() -> Array:
    """Make rows that single precision and small integers hold exactly."""
    rng = np.random.default_rng(0)
    t = rng.integers(-8, 9, size=(40, 2))
    noise = rng.integers(-1, 2, size=40)
    return np.column_stack([t, (t**2).sum(axis=1) // 4 + noise, t[:, 0]]).astype(float)


def packed(X: Array) -> Any:
    """Return rows that are not aligned."""
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view(np.float64).reshape(X.shape)
    view[:] = X
    assert not view.flags.aligned
    return view


def strided(X: Array) -> Any:
    wide = np.full((2 * len(X), 3 * X.shape[1]), np.nan)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def read_only(X: Array) -> Any:
    copy = X.copy()
    copy.flags.writeable = False
    return copy


def memmap(X: Array, folder: Path) -> Any:
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r")


class Rows:
    """Rows that are no array, and say how to become one."""

    def __init__(self, X: Array) -> None:
        self.X = X

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.X if dtype is None else self.X.astype(dtype)


class Sub(np.ndarray):
    """A subclass of ndarray."""


SAME: dict[str, Callable[[Array], Any]] = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "int8": lambda X: X.astype(np.int8),
    "int16": lambda X: X.astype(np.int16),
    "int32": lambda X: X.astype(np.int32),
    "int64": lambda X: X.astype(np.int64),
    "big-endian float64": lambda X: X.astype(">f8"),
    "big-endian int16": lambda X: X.astype(">i2"),
    "object of floats": lambda X: X.astype(object),
    "Fortran order": np.asfortranarray,
    "strided": strided,
    "negative strides": lambda X: X[::-1].copy()[::-1],
    "reversed columns": lambda X: X[:, ::-1].copy()[:, ::-1],
    "transposed": lambda X: X.T.copy().T,
    "read-only": read_only,
    "not aligned": packed,
    "subclass": lambda X: X.copy().view(Sub),
    "matrix-like": Rows,
    "list of lists": lambda X: X.tolist(),
    "list of arrays": list,
    "tuple of tuples": lambda X: tuple(map(tuple, X)),
    "data frame": lambda X: pd.DataFrame(X, columns=list("abcd")),
    "data frame of integers": lambda X: pd.DataFrame(X.astype(np.int64)),
    "data frame of mixed types": lambda X: pd.DataFrame(
        {"a": X[:, 0], "b": X[:, 1].astype(int), "c": X[:, 2], "d": X[:, 3]}
    ),
    "data frame of nullable floats": lambda X: pd.DataFrame(X).astype("Float64"),
    "mask without masked entries": lambda X: np.ma.masked_array(X),
    "record view": lambda X: X.copy().view([("a", "f8"), ("b", "f8"), ("c", "f8"), ("d", "f8")])
    .view("f8")
    .reshape(X.shape),
    "broken out of 3-D": lambda X: np.stack([X, X])[1],
}  # fmt: skip


@pytest.fixture(scope="module")
def reference() -> SCQM:
    return SCQM(2, loss="l1").fit(grid())


@pytest.mark.parametrize("kind", [*SAME, "memmap"])
def test_same_bits(kind: str, reference: SCQM, tmp_path: Path) -> None:
    X = grid()
    given = memmap(X, tmp_path) if kind == "memmap" else SAME[kind](X)
    before = np.array(given, dtype=float) if kind != "matrix-like" else X.copy()
    m = SCQM(2, loss="l1").fit(given)
    out = np.float32 if kind == "float32" else np.float64  # what comes in goes out
    for found, wanted in (
        (m.embedding_, reference.embedding_),
        (m.components_, reference.components_),
        (m.transform(given), reference.transform(X)),
        (m.project(given), reference.project(X)),
    ):
        np.testing.assert_array_equal(found, wanted.astype(found.dtype))
    assert m.transform(given).dtype == out
    assert m.score(given) == reference.score(X)
    after = np.array(given, dtype=float) if kind != "matrix-like" else given.X
    np.testing.assert_array_equal(before, after)


def test_bool_rows_are_zeros_and_ones() -> None:
    X = np.random.default_rng(1).integers(0, 2, size=(40, 5)).astype(bool)
    a, b = SCQM(2).fit(X), SCQM(2).fit(X.astype(float))
    np.testing.assert_array_equal(a.embedding_, b.embedding_)


def with_entry(value: float) -> Array:
    X = grid()
    X[17, 3] = value
    return X


def masked() -> Any:
    X = np.ma.masked_array(grid())
    X[17, 3] = np.ma.masked
    return X


REFUSED: dict[str, tuple[Callable[[], Any], Any, str]] = {
    "NaN": (lambda: with_entry(np.nan), ValueError, "NaN"),
    "Inf": (lambda: with_entry(np.inf), ValueError, "infinite"),
    "minus Inf": (lambda: with_entry(-np.inf), ValueError, "infinite"),
    "masked": (masked, ValueError, "row 17, column 3 is NaN"),
    "NaN in a data frame": (lambda: pd.DataFrame(with_entry(np.nan)), ValueError, "NaN"),
    "missing in a data frame": (
        lambda: pd.DataFrame(grid()).astype("Float64").mask(grid() == 3),
        ValueError,
        "NaN",
    ),
    "None": (lambda: None, ValueError, "Expected 2D array"),
    "None in a list": (lambda: [[1.0, None], [2.0, 3.0]], ValueError, "NaN"),
    "a number": (lambda: 3.0, ValueError, "Expected 2D array"),
    "a string": (lambda: "rows", ValueError, "could not convert|Expected 2D"),
    "strings": (lambda: np.full((4, 4), "x"), ValueError, "could not convert"),
    "a dictionary": (lambda: {"a": 1}, (TypeError, ValueError), "float|2D"),
    "1-D": (lambda: grid()[0], ValueError, "Expected 2D array"),
    "3-D": (lambda: grid()[None], ValueError, "Found array with dim 3"),
    "0-D": (lambda: np.array(1.0), ValueError, "Expected 2D array"),
    "no rows": (lambda: np.empty((0, 4)), ValueError, "0 sample"),
    "no columns": (lambda: np.empty((4, 0)), ValueError, "0 feature"),
    "nothing": (lambda: [], ValueError, "Expected 2D array"),
    "one row": (lambda: grid()[:1], ValueError, "1 sample"),
    "one column": (lambda: grid()[:, :1], ValueError, "n_features=1"),
    "complex": (lambda: grid() + 1j, ValueError, "Complex data not supported"),
    "sparse matrix": (lambda: scipy.sparse.csr_matrix(grid()), TypeError, "dense data is required"),
    "sparse array": (lambda: scipy.sparse.csr_array(grid()), TypeError, "dense data is required"),
    "ragged": (lambda: [[1.0, 2.0], [3.0]], ValueError, "inhomogeneous"),
    "dates": (lambda: np.full((4, 4), np.datetime64("2020-01-01")), ValueError, "X has dtype datetime64"),
    "structured": (lambda: np.zeros(4, dtype=[("a", "f8")]), ValueError, "2D array"),
    "objects": (lambda: np.full((4, 4), object()), TypeError, "float"),
    "too large": (lambda: grid() * 1e308, (ValueError, ArithmeticError), "inf|overflow|scale|large"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_refused(kind: str, reference: SCQM) -> None:
    make, error, message = REFUSED[kind]
    with pytest.raises(error, match=message):
        SCQM(2).fit(make())
    if kind in {"one row", "too large"}:
        return
    with pytest.raises((ValueError, TypeError)):
        reference.transform(make())


@pytest.mark.parametrize(
    ("X", "about"),
    [
        (np.zeros((10, 4)), "all rows zero"),
        (np.ones((10, 4)), "all rows equal"),
        (np.eye(4)[:3], "fewer rows than a sheet needs"),
        (np.outer(np.arange(10.0), np.ones(4)), "one direction only"),
        (np.repeat(grid()[:5], 4, axis=0), "repeated rows"),
        (np.column_stack([grid(), np.full(40, 7.0)]), "a constant column"),
        (grid() * 1e150, "huge"),
        (grid() * 1e-150, "tiny"),
        (grid() + 1e8, "far from the origin"),
        (grid() * np.array([1e-8, 1, 1e8, 1]), "columns of different scale"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_odd_data_give_finite_models(X: Array, about: str) -> None:
    refused: list[str] = []
    for loss in ("l2", "squared_l2", "l1"):
        try:
            m = SCQM(2, loss=loss, max_iter=200).fit(X)
        except scqm.exceptions.ScqmError as error:
            refused.append(str(error))
            continue
        for result in (m.embedding_, m.components_, m.theta_, m.project(X)):
            assert np.isfinite(result).all(), about
    assert not any("\n" in text for text in refused), "one clear error each"


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(40), "at least one non-zero number|all weights are 0"),
        (-np.ones(40), "Negative values|negative"),
        (np.full(40, np.nan), "NaN"),
        (np.ones(39), "shape"),
        (np.ones((40, 2)), "1D array|1d"),
        ("heavy", "could not convert|scalar|1D|Expected"),
    ],
)
def test_weights_that_cannot_be(weights: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        SCQM(2).fit(grid(), sample_weight=weights)


def test_coordinates_that_cannot_be(reference: SCQM) -> None:
    with pytest.raises(ValueError, match="T has 3 columns; the model has 2 components"):
        reference.inverse_transform(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="NaN"):
        reference.inverse_transform([[np.nan, 0]])
    with pytest.raises(ValueError, match="overflow"):
        reference.inverse_transform([[1e200, 0]])
    with pytest.raises(ValueError, match="2 features, but SCQM is expecting 4"):
        reference.transform(np.zeros((4, 2)))
