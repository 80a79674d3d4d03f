"""Which d, s and ridge to take.

Models of few dimensions are compared in the library by how well they predict entries
that were held out; the :class:`Suggestion` is their table, with the one to take.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import losses
from ._display import to_frame
from ._options import documented
from ._progress import Progress
from ._rows import check_complete
from ._validation import (
    check_bool,
    check_count,
    check_integer,
    check_seed,
    check_threads,
)
from .exceptions import InputError
from .losses._answer import run
from .losses._resolve import resolve

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Suggestion", "suggest"]

COLUMNS = {
    "d": "d",
    "s": "s",
    "predicted": "predicted",
    "worse": "above best",
    "worse_error": "±",
    "learned": "learned",
    "held_out": "held out",
    "s_effective": "s used",
    "ridge": "ridge",
}


@dataclass(frozen=True, repr=False)
class Suggestion:
    """A comparison of models, and the one to take.

    Attributes
    ----------
    n_components : int
        The d to take; 0 where no sheet is better than the centre of the rows.
    n_curvature : int
        The s to take; 0 for a flat sheet.
    ridge : float
        The ridge to take; 0 for a flat sheet.
    reason : str
        Why, in a sentence.
    table : list of dict
        The models compared, the simplest first: "d" and "s" (0: flat); "predicted",
        the mean distance of held-out rows from what is predicted of them, each
        part of their entries from the others; "worse", by how much that is above
        the best, with the standard error "worse_error"; "learned" and "held_out",
        mean distances from the sheet of rows it was fitted to and of others;
        "singular_values" of V Theta', by which the sheet of all rows bends, and
        "s_effective", how many are above a tenth of the largest; "ridge", the default,
        or a larger one that holds back a sheet that would fold;
        "curvature_extent", as in :class:`scqm.SCQM`; "warning", "" where there is
        none. A curved model is not taken where its curvature explodes, or where it
        predicts entries no better than a linear one.
    best : int
        The number of the model to take in the table.
    n_samples : int
        Number of rows that were looked at.
    """

    n_components: int
    n_curvature: int
    ridge: float
    reason: str
    table: list[dict[str, Any]]
    best: int
    n_samples: int

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of :class:`scqm.SCQM` that make this model.

        A flat sheet is linear. Where no sheet is better than a point there are none,
        and to ask for them is an :class:`InputError`.
        """
        if not self.n_components:
            raise InputError(f"there is no model to take: {self.reason}")
        if self.n_curvature:
            return {
                "n_components": self.n_components,
                "n_curvature": self.n_curvature,
                "ridge": self.ridge,
            }
        return {"n_components": self.n_components, "linear": True}

    def to_frame(self) -> DataFrame:
        """Return the table as a data frame of pandas."""
        names = dict.fromkeys(name for row in self.table for name in row)
        return to_frame({name: [row.get(name) for row in self.table] for name in names})

    def __repr__(self) -> str:
        return f"Suggestion({self.reason})"

    def __str__(self) -> str:
        lines = [["", *COLUMNS.values(), "warning"]]
        for k, row in enumerate(self.table):
            cells = [row[name] for name in COLUMNS]
            lines.append(
                [
                    "*" if k == self.best else "",
                    *(f"{v:.4g}" if isinstance(v, float) else str(v) for v in cells),
                    row["warning"],
                ]
            )
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = [
            "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join([*text, "", self.reason])


@documented
def suggest(
    X: npt.ArrayLike,
    *,
    max_components: int | None = None,
    loss: losses.LossLike = "l2",
    p: float | None = None,
    delta: float | None = None,
    precision: npt.ArrayLike | None = None,
    folds: int = 3,
    max_samples: int = 1000,
    missing: Literal["error", "ignore"] = "error",
    sample_weight: npt.ArrayLike | None = None,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
    n_threads: int | None = None,
    verbose: bool = False,
) -> Suggestion:
    """Compare models with few latent dimensions, and recommend d and s.

    Each model is fitted without a part of the rows, and predicts each part of
    their entries from the others, after a random rotation of the columns [1]_.
    The model to take is the simplest, that of the smallest d and then of the
    smallest s, whose error is above the lowest by no more than a standard error
    of the difference. The distance of new rows from a sheet would not do: it
    falls with every dimension more, of noise or not.

    Parameters
    ----------
    X : array-like of shape (n, D)
        One sample per row, of at least 2 columns. With 2, entries tell little
        about each other.
    max_components : int, optional
        Largest d to try; by default 4, or D - 1 if that is less.
    loss, p, delta, precision
        The loss of the fits, as for :class:`scqm.SCQM`, but not "auto".
    folds : int, default=3
        Number of parts of the rows, each of which is held out once.
    max_samples : int, default=1000
        Rows to look at, drawn at random if there are more. Equal rows count as
        one.
    missing : {"error", "ignore"}, default="error"
        Rows with missing entries (NaN, pandas.NA, masked): refuse them, or leave
        them out, and say so in ``reason``.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, at least 0.
    {random_state, n_threads, verbose}

    Returns
    -------
    Suggestion
        The table and the recommendation; its text shows both.

    Raises
    ------
    InputError
        Data or parameters that cannot be used; a ValueError.

    References
    ----------
    .. [1] A. B. Owen and P. O. Perry, Bi-cross-validation of the SVD and the
       nonnegative matrix factorization, Annals of Applied Statistics 3 (2009).

    Examples
    --------
    >>> import numpy as np
    >>> import scqm
    >>> rng = np.random.default_rng(0)
    >>> t = rng.uniform(-2, 2, 100)
    >>> X = np.zeros((100, 6))
    >>> X[:, 0], X[:, 1] = t, t**2 / 2
    >>> X += rng.normal(scale=0.1, size=X.shape)
    >>> s = scqm.suggest(X)
    >>> s.n_components, s.n_curvature
    (1, 1)
    >>> model = scqm.SCQM(**s.params).fit(X)
    """
    rows, weights, _, notes = check_complete(X, missing, sample_weight)
    resolved = resolve(loss, p, delta, precision)
    settings = {
        "max_components": check_count("max_components", max_components) or 0,
        "folds": check_integer("folds", folds, 2),
        "max_rows": check_integer("max_samples", max_samples, 1),
        "seed": check_seed(random_state),
        "threads": check_threads(n_threads),
    }
    with Progress("scqm: suggest", check_bool("verbose", verbose)) as progress:
        report, _ = run(
            resolved, "suggest", settings, progress, x=rows, weights=weights
        )
    table = [{"warning": "", **trial} for trial in report["trials"]]
    best = table[report["best"]]
    return Suggestion(
        n_components=best["d"],
        n_curvature=best["s"],
        ridge=best["ridge"],
        reason="; ".join([report["reason"], *notes]),
        table=table,
        best=report["best"],
        n_samples=report["rows"],
    )
