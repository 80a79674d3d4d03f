"""Answers to the questions that a job has about a loss written in Python.

The library asks for values and gradients, weights, or products with the Hessian, of
all rows at a time. What a loss returns is checked here, so that an error names it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _native
from .._library import _core
from .._native import Array, Job, call, contiguous
from ..exceptions import LossError
from ._loss import Loss


def run(
    loss: Loss,
    act: str,
    settings: dict[str, Any],
    progress: Callable[[Array], None] | None = None,
    /,
    **arrays: npt.NDArray[Any] | None,
) -> tuple[Any, dict[str, npt.NDArray[Any]]]:
    """Run a job with a loss to its end, and return its report and arrays."""
    return _native.run(
        act,
        settings | {"loss": loss._choice()},
        partial(answer, loss),
        progress,
        precision=loss._matrix(),
        **arrays,
    )


def answer(loss: Loss, job: Job, state: Array) -> None:
    """Answer a question of a job about rows with a loss written in Python."""
    rows, columns = int(state[_native.ROWS]), int(state[_native.COLUMNS])
    question = int(state[_native.QUESTION])
    R = np.empty((rows, columns))
    V = np.empty((rows, columns)) if question == _native.QUESTION_HESSIAN else None
    call(_core.bindings_FetchRows, job.number, R, V)
    values = gradients = None
    if question == _native.QUESTION_LOSS:
        values, gradients = _evaluate(loss, R, rows, columns)
    elif question == _native.QUESTION_WEIGHTS:
        gradients = _rows(loss, "weights", loss.weights(R), (rows, columns))  # type: ignore[attr-defined]
    else:
        product = loss.hessian_product(R, V)  # type: ignore[attr-defined]
        gradients = _rows(loss, "hessian_product", product, (rows, columns))
    call(_core.bindings_AnswerRows, job.number, values, gradients)


def _evaluate(loss: Loss, R: Array, rows: int, columns: int) -> tuple[Array, Array]:
    result = loss.evaluate(R)
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise LossError(
            f"loss {loss.name}: returned {type(result).__name__}; want a pair of "
            "values and gradients"
        )
    values = _rows(loss, "values", result[0], (rows,))
    return values, _rows(loss, "gradients", result[1], (rows, columns))


def _rows(loss: Loss, what: str, value: Any, shape: tuple[int, ...]) -> Array:
    array = np.asarray(value)
    if array.shape != shape:
        raise LossError(
            f"loss {loss.name}: {what} has shape {array.shape}; want {shape}"
        )
    if not np.can_cast(array.dtype, np.float64, "same_kind"):
        raise LossError(
            f"loss {loss.name}: {what} has dtype {array.dtype}; want real numbers"
        )
    return contiguous(array)
