"""A fitted sheet in the form that the library takes and gives.

The estimator has attributes that users read and change; the library has five arrays,
a loss and a report in JSON. :class:`Model` hands the former to the latter whenever rows
are sent through the sheet, and :func:`fetch` takes over what a job has fitted or read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ._library import _core
from ._native import Array, Job, address, call, contiguous
from .losses import Loss
from .losses._answer import answer

# Numbers that go through a model at a time: 16 MiB.
SLAB = 1 << 21

_decoder = json.JSONDecoder()


@dataclass(eq=False)
class Model:
    """The arrays of a sheet, the loss that it is projected with, and what made it.

    Arrays are as the library lays them out: c (D,), U (D, d), V (D, s), Theta
    (d(d+1)/2, s) and tau (n, d).
    """

    c: Array
    U: Array
    V: Array
    Theta: Array
    tau: Array
    loss: Loss
    threads: int
    report: dict[str, Any]

    def settings(self) -> dict[str, Any]:
        """Return what the library must know to send rows through the sheet."""
        D, d = self.U.shape
        return {
            "D": D,
            "d": d,
            "s": self.V.shape[1],
            "loss": self.loss._choice(),
            "threads": self.threads,
            "missing": self.report.get("missing"),
        }

    def settings_of_fit(self) -> dict[str, Any]:
        """Return what it must know of the fit besides."""
        return self.settings() | {"meta": self.report, "rows": len(self.tau)}

    def parts(
        self, *, with_tau: bool = False
    ) -> tuple[npt.NDArray[np.uint64], tuple[Array | None, ...]]:
        """Return the addresses of the arrays, and the arrays, to be kept alive."""
        arrays = (
            contiguous(self.c),
            contiguous(self.U),
            contiguous(self.V),
            contiguous(self.Theta),
            contiguous(self.tau) if with_tau and len(self.tau) else None,
            self.loss._matrix(),
        )
        return np.array([address(a) for a in arrays], dtype=np.uint64), arrays

    def job(self, *keep: npt.NDArray[Any] | None) -> Job:
        """Return a job that asks the loss where it is written in Python."""
        return Job(*keep, answer=partial(answer, self.loss))

    def map(
        self,
        act: str,
        X: npt.NDArray[Any],
        columns: int,
        dtype: npt.DTypeLike = np.float64,
        *,
        fit: bool = False,
        more: dict[str, Any] | None = None,
    ) -> Array:
        """Send rows through the sheet; the act says what comes out.

        With fit the library also knows what the sheet was fitted to; more are settings
        of the act. Rows of other types than float64, or in another order, are converted
        slab by slab, and so are results.
        """
        out = np.empty((len(X), columns), dtype)
        step = max(SLAB // max(X.shape[1], columns), 1)
        for at in range(0, len(X), step):
            to = out[at : at + step]
            made = to if out.dtype == np.float64 else np.empty(to.shape)
            self._map(act, contiguous(X[at : at + step]), made, fit, more)
            if made is not to:
                to[:] = made
        return out

    def _map(
        self, act: str, X: Array, out: Array, fit: bool, more: dict[str, Any] | None
    ) -> None:
        parts, keep = self.parts(with_tau=fit)
        settings = self.settings_of_fit() if fit else self.settings()
        settings |= more or {}
        with self.job(X, out, parts, *keep) as job:
            job.start(
                _core.bindings_StartMap, act, settings, parts, X, len(X), out
            ).wait()


def fetch(job: Job) -> tuple[dict[str, Any], dict[str, Array]]:
    """Fetch the report and the arrays of what a job has fitted or read."""
    # The text is ours: raw_decode leaves out the search for blanks around it.
    report, _ = _decoder.raw_decode(call(_core.bindings_FitReport, job.number))
    D, d, s = report["D"], report["d"], report["s"]
    arrays = {
        "c": np.empty(D),
        "u": np.empty((D, d)),
        "v": np.empty((D, s)),
        "theta": np.empty((d * (d + 1) // 2, s)),
        "tau": np.empty((report.pop("rows"), d)),
        "history": np.empty((report.pop("records"), 4)),
    }
    del report["seconds"], report["has_loss"]
    call(_core.bindings_FitArrays, job.number, *map(address, arrays.values()))
    return report, arrays
