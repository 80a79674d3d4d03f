"""Results as data frames."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

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
