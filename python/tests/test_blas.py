"""The matrix products borrowed from SciPy.

The borrowed product must be that of the library up to rounding, depend on no number of
threads, and give way at any doubt.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import pytest
from scipy.linalg import cython_blas
from threadpoolctl import threadpool_info, threadpool_limits

import scqm
from scqm import SCQM, _blas, _core
from scqm._native import Job, address

Array = npt.NDArray[np.float64]

OPENBLAS = any(p["internal_api"] == "openblas" for p in threadpool_info())
# Without OpenBLAS gonum computes, and the other tests of this file say how.
borrowed = pytest.mark.skipif(
    not OPENBLAS or os.environ.get(_blas.VARIABLE) == "gonum",
    reason="there is no OpenBLAS to borrow from",
)

# m, n, k: thin, odd, around the limits, large.
SHAPES = [
    (5, 784, 41), (41, 5, 784), (41, 784, 5), (33, 31, 47), (64, 64, 64),
    (65, 64, 64), (6, 784, 192), (130, 70, 67), (3, 2000, 101), (2000, 101, 3),
    (300, 400, 500), (1, 300, 300), (4, 4, 4),
]  # fmt: skip


def product(
    A: Array, B: Array, ta: int, tb: int, alpha: float, beta: float, C: Array
) -> Array:
    """Let the library compute alpha op(A) op(B) + beta C in place of C."""
    k = A.shape[0] if ta else A.shape[1]
    strides = [x.strides[0] // 8 for x in (A, B, C)]
    with Job(A, B, C) as job:
        job.start(
            _core.bindings_StartProduct, ta, tb, C.shape[0], C.shape[1], k,
            alpha, address(A), strides[0], address(B), strides[1],
            beta, address(C), strides[2],
        ).wait()  # fmt: skip
    return C


def matrix(rng: np.random.Generator, rows: int, columns: int, pad: int) -> Array:
    return rng.normal(size=(rows, columns + pad))[:, :columns]


@borrowed
def test_scipy_is_used() -> None:
    assert scqm.blas() == "scipy"
    assert _blas.borrow() == "scipy", "as when the module is imported again"


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products(shape: tuple[int, int, int]) -> None:
    """All transposes, strides and factors, whatever C held where beta is 0."""
    m, n, k = shape
    rng = np.random.default_rng(0)
    for case in range(12):
        ta, tb, pad = case & 1, case >> 1 & 1, case >> 2
        alpha, beta = [(1, 0), (1, 1), (-0.5, 2)][pad]
        A = matrix(rng, *((k, m) if ta else (m, k)), pad)
        B = matrix(rng, *((n, k) if tb else (k, n)), 2 * pad)
        around = rng.normal(size=(m, n + pad))
        C = around[:, :n]
        want = alpha * (A.T if ta else A) @ (B.T if tb else B) + beta * C
        if beta == 0:
            C[0, 0], C[-1, -1] = np.nan, np.inf
        margin = around[:, n:].copy()
        product(A, B, ta, tb, alpha, beta, C)
        np.testing.assert_allclose(C, want, rtol=0, atol=1e-13 * k)
        np.testing.assert_array_equal(around[:, n:], margin)


@borrowed
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_bits_depend_on_no_threads() -> None:
    """Neither on those of OpenBLAS, nor on those of the caller."""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(300, 257)), rng.normal(size=(300, 411))
    X = rng.normal(size=(300, 6)) ** 2 @ rng.normal(size=(6, 250))
    X += 0.1 * rng.normal(size=X.shape)

    def results(threads: int) -> list[Array]:
        C = np.empty((257, 411))
        m = SCQM(2, max_iter=8, tol=1e-12, n_threads=threads)
        return [product(A, B, 1, 0, 1, 0, C), m.fit(X).embedding_, m.components_]

    with threadpool_limits(1, "blas"):
        want = results(1)
    for threads in (1, 2, 3):
        with (
            threadpool_limits(threads, "blas"),
            ThreadPoolExecutor(4) as pool,
        ):
            for got in pool.map(results, [1, 2, 3] * 2):
                for x, y in zip(got, want, strict=True):
                    np.testing.assert_array_equal(x, y)


def test_doubt_leaves_the_products_of_the_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert (_blas.dgemm() != 0) == OPENBLAS
    known = cython_blas.__pyx_capi__
    for other in ({}, known | {"dgemm": known["sgemm"]}, {"dgemm": known["dgemv"]}):
        monkeypatch.setattr(cython_blas, "__pyx_capi__", other)
        assert _blas.dgemm() == 0
    monkeypatch.setattr(cython_blas, "__pyx_capi__", known)
    monkeypatch.setattr(_blas, "OPENBLAS", ("mkl_get_version",))
    assert _blas.dgemm() == 0


@pytest.mark.parametrize(
    ("setting", "printed"),
    [("gonum", "gonum True"), ("mkl", "SCQM_BLAS is 'mkl'; want scipy or gonum")],
)
def test_switch(setting: str, printed: str) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            """
import numpy as np, scqm
try:
    X = np.random.default_rng(0).normal(size=(300, 200))
    print(scqm.blas(), scqm.SCQM(2, max_iter=1, tol=1.0).fit(X).objective_ > 0)
except ValueError as error:
    print(error)
""",
        ],
        env=os.environ | {_blas.VARIABLE: setting},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == printed, done.stderr
