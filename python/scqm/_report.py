"""A fit on one page: :func:`report`.

The page is made in the library, which the program scqm shares. It holds all it needs,
data and a script, so that it can be sent and opened anywhere, without a network.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _native
from ._atomic import replacing
from ._estimator import SCQM
from ._native import Array
from ._pipeline import last_step
from ._validation import check_integer
from ._version import __version__
from .exceptions import InputError

__all__ = ["report"]

# The least number of entries of a row that is taken for an image unasked.
LEAST_IMAGE = 64


def report(
    model: Any,
    X: npt.ArrayLike,
    path: str | os.PathLike[str],
    *,
    labels: npt.ArrayLike | None = None,
    image_shape: tuple[int, int] | Literal["auto"] | None = "auto",
    title: str | None = None,
    max_rows: int = 2000,
) -> Path:
    """Write a page about a fit: one file that needs no network.

    It shows R2 and the error at hidden entries beside those of flat sheets, and says
    where rows look like noise; the latent plane beside principal components (rows
    tell their number, label, distance and image under the pointer, and a click marks
    them in all charts); what the sheet does along each axis, and where no rows are;
    residuals by row and column; the rows that drive the fit; convergence; settings to
    repeat the fit. It follows the width and the colors of the reader's screen.

    Parameters
    ----------
    model : SCQM or Pipeline
        A fitted model, or a fitted pipeline or search of scikit-learn that ends in
        one: the page is about the rows as they reach it.
    X : array-like of shape (n, D)
        Rows, mostly those of the fit, without which influence cannot be told.
    path : str or PathLike
        The file; it takes the place of an older one only when it is complete.
    labels : array-like of shape (n,), optional
        What rows are called, texts or numbers; colors are those of up to ten different
        labels, or of the size of more numbers.
    image_shape : tuple of int, "auto" or None, default="auto"
        Shape of the images that rows are. "auto" takes rows for square images where
        they have no names of columns and a square number of entries, 64 or more.
    title : str, optional
        Head of the page.
    max_rows : int, default=2000
        Most rows to draw, evenly spread over all; tables and means are of all rows.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        Rows that do not fit the model, or labels that do not fit the rows; a
        ValueError.

    Examples
    --------
    >>> import scqm
    >>> digits = scqm.datasets.load_digits_sample(digits=[4, 9])
    >>> model = scqm.SCQM(2).fit(digits.data)
    >>> page = scqm.report(model, digits.data, "report.html")  # doctest: +SKIP
    """
    sheet, inner, columns = last_step(model, X)
    rows = _native.contiguous(sheet._seen(inner))
    names = None if labels is None else [str(v) for v in np.asarray(labels).ravel()]
    if names is not None and len(names) != len(rows):
        raise InputError(f"labels are for {len(names)} rows; X has {len(rows)}")
    height, width = _image_shape(columns, image_shape, rows.shape[1])
    way = np.column_stack([sheet.history_[name] for name in ("iteration", "cost")])
    settings = {
        "title": title or "An SCQM fit",
        "settings": _settings(sheet, rows),
        "labels": names,
        "names": columns,
        "height": height,
        "width": width,
        "max_rows": check_integer("max_rows", max_rows, 1),
        "history": way.ravel().tolist(),
    }
    page, _ = sheet._model().run("page", {"page": settings}, x=rows)
    with replacing(Path(path)) as file:
        file.write_text(page, encoding="utf-8")
    return Path(path)


def _image_shape(columns: list[str] | None, wanted: Any, D: int) -> tuple[int, int]:
    """Return the shape of the images that rows are, 0 where they are none."""
    if wanted is None:
        return 0, 0
    if wanted == "auto":
        side = int(np.sqrt(D))
        square = columns is None and D >= LEAST_IMAGE and side**2 == D
        return (side, side) if square else (0, 0)
    height, width = (check_integer("image_shape", v, 1) for v in wanted)
    if height * width != D:
        raise InputError(f"image_shape {wanted!r} is not that of rows of length {D}")
    return height, width


def _settings(model: SCQM, rows: Array) -> str:
    """Return a program that repeats the fit."""
    defaults = SCQM().get_params()
    params = {k: v for k, v in sorted(model.get_params().items()) if v != defaults[k]}
    settings = ", ".join(f"{k}={v!r}" for k, v in params.items())
    digest = hashlib.sha256(np.ascontiguousarray(rows).tobytes()).hexdigest()
    n, D = rows.shape
    return (
        f"import scqm  # {__version__}\n\n"
        f"# X: {n} x {D} float64 with the SHA-256 {digest}\n"
        f"model = scqm.SCQM({settings}).fit(X)\n"
    )
