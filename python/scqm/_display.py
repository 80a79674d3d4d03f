"""Results as data frames."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy.typing as npt

if TYPE_CHECKING:
    from pandas import DataFrame


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


class Rows:
    """A result whose arrays have an entry for every row."""

    _columns: ClassVar[tuple[str, ...]]
    _index: Any

    def to_frame(self) -> DataFrame:
        """Return a data frame of pandas with a line for every row.

        Its index is that of the data frame that the rows came in.
        """
        found = {name: getattr(self, name) for name in self._columns}
        known = {name: array for name, array in found.items() if array is not None}
        return to_frame(known, self._index)
