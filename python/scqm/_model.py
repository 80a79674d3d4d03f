"""A fitted sheet in the form that the library takes and gives.

The estimator has attributes that users read and change; the library has five arrays,
a loss and a report in JSON. :class:`Model` hands the former to the latter whenever rows
are sent through the sheet, and :func:`fetched` takes over what a job has made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._native import Array, contiguous
from .losses import Loss
from .losses._answer import run

# Numbers that go through a model at a time: 16 MiB.
SLAB = 1 << 21


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
        return {"threads": self.threads, "missing": self.report.get("missing")}

    def arrays(self) -> dict[str, Array]:
        """Return the arrays of the sheet as the library reads them, without tau."""
        arrays = {"c": self.c, "u": self.U, "v": self.V, "theta": self.Theta}
        return {name: contiguous(array) for name, array in arrays.items()}

    def run(
        self, act: str, more: dict[str, Any], /, **arrays: npt.NDArray[Any] | None
    ) -> tuple[Any, dict[str, npt.NDArray[Any]]]:
        """Run a job that needs to know what the sheet was fitted to, too."""
        settings = self.settings() | {"meta": self.report} | more
        tau = contiguous(self.tau) if len(self.tau) else None
        return run(self.loss, act, settings, tau=tau, **self.arrays(), **arrays)

    def map(
        self,
        act: str,
        X: npt.NDArray[Any],
        columns: int,
        dtype: npt.DTypeLike = np.float64,
        *,
        more: dict[str, Any] | None = None,
    ) -> Array:
        """Send rows through the sheet; the act says what comes out.

        With more settings of the act, which may be none, the library also knows what
        the sheet was fitted to. Rows of other types than float64, or in another order,
        are converted slab by slab, and so are results.
        """
        out = np.empty((len(X), columns), dtype)
        step = max(SLAB // max(X.shape[1], columns), 1)
        for at in range(0, len(X), step):
            rows = contiguous(X[at : at + step])
            if more is None:
                found = run(self.loss, act, self.settings(), x=rows, **self.arrays())
            else:
                found = self.run(act, more, x=rows)
            out[at : at + step] = found[1]["out"].reshape(-1, columns)
        return out


def fetched(
    report: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return what a job has fitted or read, with its arrays in their shapes."""
    D, d, s = report["D"], report["d"], report["s"]
    q = d * (d + 1) // 2
    shapes = {"u": (D, d), "v": (D, s), "theta": (q, s), "tau": (-1, d)}
    for name, shape in (shapes | {"history": (-1, 4)}).items():
        arrays[name] = arrays[name].reshape(shape)
    return report, arrays
