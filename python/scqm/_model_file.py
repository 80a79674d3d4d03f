"""Model files: the same that the program scqm writes and reads.

The library writes and reads them; here is what Python has to say to it, and which loss
a file means. The estimator that a file becomes is made by :func:`scqm.load`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from . import _native
from ._model import Model, fetched
from ._native import Array
from .exceptions import InputError
from .losses import Loss, LossLike, Plugin
from .losses._plugin import checksum
from .losses._resolve import from_report, resolve


@dataclass(eq=False)
class Stored:
    """What a file holds: the report and the arrays of a fit, and its loss."""

    report: dict[str, Any]
    arrays: dict[str, Array]
    loss: Loss


def write(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, which appears whole or not at all."""
    model.run("save", {"path": os.fspath(path)})


def read(
    path: str | os.PathLike[str], loss: LossLike | None, plugin_sha256: str | None
) -> Stored:
    """Read a file, with the loss that is given or the one that it names."""
    report, arrays = fetched(*_native.run("load", {"path": os.fspath(path)}))
    matrix = arrays.pop("precision", None)
    if matrix is not None:
        matrix = matrix.reshape(report["D"], report["D"])
    program = report["loss"].get("plugin")
    if plugin_sha256 is not None:
        plugin_sha256 = checksum("plugin_sha256", plugin_sha256)
        if program is None:
            raise InputError(
                "plugin_sha256 does nothing beside a model whose loss is built in; "
                "leave it out"
            )
    if loss is not None:
        resolved = resolve(loss)
    else:
        known = from_report(report["loss"], matrix)
        if known is None:
            raise InputError(
                f"{os.fspath(path)}: the loss {report['loss']['name']!r} of the model "
                "is not known here; give it: load(path, loss=...)"
            )
        resolved = known
    if isinstance(resolved, Plugin) and program is not None:
        # That of the model itself bears its checksum already.
        resolved = resolved._learn(program, plugin_sha256)
    return Stored(report, arrays, resolved)
