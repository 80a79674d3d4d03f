"""Rows that tasks give back, judged before they are believed."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np

from .._native import Array
from ..exceptions import InputError

# What is told of a row: distance, noise, neighbours, ridge and flags.
TOLD = 6


class Tile(NamedTuple):
    """What became of rows, sealed."""

    fit: str  # the fit that asked
    task: str  # what it asked for
    rows: Array
    told: Array
    seal: bytes


def _seal(fit: str, task: str, rows: Array, told: Array) -> bytes:
    seal = hashlib.sha256(f"{fit} {task} {rows.shape} {told.shape}".encode())
    for part in (rows, told):
        seal.update(np.ascontiguousarray(part, np.float64).data)
    return seal.digest()


def sealed(fit: str, task: str, rows: Array, told: Array) -> Tile:
    """Return rows as the answer to a task of a fit."""
    return Tile(fit, task, rows, told, _seal(fit, task, rows, told))


def opened(
    tile: Any, fit: str, task: str, shape: tuple[int, int]
) -> tuple[Array, Array]:
    """Return rows, and what is told of them, if they are the answer to a task."""
    try:
        _fit, _task, rows, told, seal = tile
        if (_fit, _task) != (fit, task):
            raise InputError(f"{_task!r} of the fit {_fit!r} is no answer to {task!r}")
        whole = rows.dtype == told.dtype == np.float64 and rows.shape == shape
        if not (whole and told.shape == (shape[0], TOLD)):
            raise InputError(f"the answer to {task!r} has not {shape[0]} rows")
        if seal != _seal(fit, task, rows, told):
            raise InputError(f"the answer to {task!r} was changed on its way")
    except (AttributeError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the answer to {task!r} is damaged: {error}") from error
    return rows, told
