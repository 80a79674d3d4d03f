"""How results look: a short text, a table in a notebook, and a data frame.

A result with an entry for every row says how many there are and what stands out, and
never prints them all.
"""

from __future__ import annotations

import html
import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from pandas import DataFrame

# Rows of a table in a notebook.
SHOWN = 10


def to_frame(
    columns: Mapping[str, Any], index: npt.ArrayLike | None = None
) -> DataFrame:
    """Return columns as a data frame of pandas."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError("to_frame() needs pandas: pip install pandas") from error
    frame: DataFrame = pandas.DataFrame(dict(columns), index=index)
    return frame


def table(
    caption: str,
    columns: Mapping[str, Sequence[Any] | npt.NDArray[Any]],
    notes: Sequence[str] = (),
    marked: int | None = None,
) -> str:
    """Return the first rows of columns as HTML, in which everything is escaped."""
    count = max((len(c) for c in columns.values()), default=0)
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in columns)
    body = []
    for i in range(min(count, SHOWN)):
        cells = "".join(f"<td>{html.escape(cell(c[i]))}</td>" for c in columns.values())
        style = ' style="font-weight: bold"' if i == marked else ""
        body.append(f"<tr{style}>{cells}</tr>")
    if count > SHOWN:
        body.append(
            f'<tr><td colspan="{len(columns)}">and {count - SHOWN} more</td></tr>'
        )
    below = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table>{below}"
    )


def cell(value: Any) -> str:
    """Return a value as a short text."""
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    return str(value)
