"""Denoising in tiles: parts of a cloud that any engine which can map works on.

The library runs the fit and asks for tasks; :class:`TileWork` does one where the tile
is. Tiles, queries, tasks and replies are bytes of the library's.
"""

from __future__ import annotations

import json
import pickle
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native
from ._library import _core
from ._native import Array, Job, address, call
from ._progress import PartProgress
from ._version import __version__
from .exceptions import InputError
from .losses import Loss
from .losses._answer import answer

try:  # which pickles functions of scripts and notebooks, where plain pickles cannot
    from cloudpickle import dumps as _dumps
except ImportError:
    _dumps = pickle.dumps


@dataclass(frozen=True)
class Task:
    """Work on a tile, or on a part of the queries, with parts of other tiles."""

    tile: int
    queries: bool
    sources: tuple[int, ...]
    content: bytes


# Does tasks, and returns a reply to each.
Run = Callable[[Sequence[Task]], Sequence[bytes]]


class Cells:
    """Boxes that cut space so that each has about as many rows of a sample.

    Parameters
    ----------
    sample : ndarray of shape (n, D)
        Rows.
    number : int
        Number of cells. Some stay empty where many rows are equal.
    """

    def __init__(self, sample: Array, number: int) -> None:
        self.number = 0
        # axis, plane, and what is left and right of it; -1 and the number of a cell
        self.nodes: list[tuple[int, float, int, int]] = []
        self._divide(sample, number)

    def _divide(self, rows: Array, number: int) -> int:
        at = len(self.nodes)
        self.nodes.append((-1, 0.0, self.number, 0))
        widths = np.ptp(rows, axis=0) if len(rows) else np.zeros(1)
        if number == 1 or not widths.max() > 0:
            self.number += number
            return at
        axis = int(widths.argmax())
        values = np.sort(rows[:, axis])
        plane = float(values[len(values) * (number // 2) // number])
        below = rows[:, axis] < plane
        left = self._divide(rows[below], number // 2)
        right = self._divide(rows[~below], number - number // 2)
        self.nodes[at] = (axis, plane, left, right)
        return at

    def of(self, rows: Array) -> npt.NDArray[np.int64]:
        """Return the number of the cell of every row."""
        cell = np.zeros(len(rows), np.int64)
        todo = [(0, np.arange(len(rows)))]
        while todo:
            at, members = todo.pop()
            axis, plane, left, right = self.nodes[at]
            if axis < 0:
                cell[members] = left
                continue
            below = rows[members, axis] < plane
            todo += [(left, members[below]), (right, members[~below])]
        return cell


def make_tile(X: Array, weights: Array | None, numbers: Array, queries: bool) -> bytes:
    """Return a tile, or a part of the queries, of rows with their numbers."""
    X, numbers = _native.contiguous(X), _native.contiguous(numbers)
    weights = None if weights is None else _native.contiguous(weights)
    with Job(X, weights, numbers) as job:
        job.start(
            _core.bindings_StartTile,
            address(X),
            len(X),
            X.shape[1],
            address(weights),
            address(numbers),
            int(queries),
        ).wait()
        return _results(job)[0]


def cut(task: bytes, tile: bytes) -> bytes:
    """Return the part of a tile that a task takes."""
    order, whole = _array(task), _array(tile)
    with Job(order, whole) as job:
        job.start(
            _core.bindings_StartCut,
            address(order),
            len(order),
            address(whole),
            len(whole),
        ).wait()
        return _results(job)[0]


def query_rows(queries: bytes, D: int) -> tuple[Array, Array, Array]:
    """Return the numbers of queries, what became of them, and a report on them."""
    held = _array(queries)
    where, length = address(held), len(held)
    n = call(_core.bindings_QueryRows, where, length, 0, 0, 0)
    numbers, out, about = np.empty(n), np.empty((n, D)), np.empty((n, 6))
    if n:
        call(
            _core.bindings_QueryRows,
            where,
            length,
            address(numbers),
            address(out),
            address(about),
        )
    return numbers, out, about


class TileWork:
    """Does tasks of one fit; it can be pickled.

    Parameters
    ----------
    settings : dict
        What the library is told of the method.
    loss : Loss or None
        The loss, where the method has one.
    """

    def __init__(self, settings: dict[str, Any], loss: Loss | None) -> None:
        self.settings = settings
        self._loss = loss
        self._pickled: bytes | None = None

    def __call__(
        self, task: bytes, tile: bytes, parts: Sequence[bytes]
    ) -> tuple[bytes, bytes]:
        """Return the reply, and the tile or the queries as they are then."""
        loss = self._load()
        matrix = None if loss is None else loss._matrix()
        held = [_array(part) for part in parts]
        places = np.array([address(a) for a in held], dtype=np.uint64)
        lengths = np.array([len(a) for a in held], dtype=np.uint64)
        order, own = _array(task), _array(tile)
        settings = self.settings | {"loss": None if loss is None else loss._choice()}

        def reply(job: Job, state: Array) -> None:
            if loss is not None:
                answer(loss, job, state)

        with Job(order, own, places, lengths, matrix, *held, answer=reply) as job:
            job.start(
                _core.bindings_StartTask,
                json.dumps(settings),
                address(matrix),
                address(order),
                len(order),
                address(own),
                len(own),
                address(places),
                address(lengths),
                len(held),
            ).wait()
            said, changed = _results(job)
            return said, changed

    def run(
        self, run: Run, counts: dict[str, Any], fitted: bytes, verbose: bool
    ) -> tuple[dict[str, Any], bytes]:
        """Fit, or denoise with what was fitted, and return a report and the fit."""
        loss = self._load()
        matrix = None if loss is None else loss._matrix()
        settings = self.settings | counts
        settings["loss"] = None if loss is None else loss._choice()
        held = _array(fitted)

        def reply(job: Job, state: Array) -> None:
            if state[_native.QUESTION] == _native.QUESTION_TASKS:
                _do(run, job, int(state[_native.ROWS]))
            elif loss is not None:
                answer(loss, job, state)

        act = "denoise" if counts["queries"] else "fit"
        with (
            PartProgress(act, verbose) as progress,
            Job(held, matrix, answer=reply) as job,
        ):
            job.start(
                _core.bindings_StartTiling,
                json.dumps(settings),
                address(held),
                len(held),
                address(matrix),
            ).wait(progress=progress)
            report = json.loads(call(_core.bindings_TilingReport, job.number))
            return report, _results(job)[0]

    def _load(self) -> Loss | None:
        """Return the loss, which a pickle holds until it is needed."""
        if self._pickled is not None:
            try:
                self._loss, self._pickled = pickle.loads(self._pickled), None
            except Exception as error:
                raise InputError(
                    f"the loss of the fit cannot be loaded on {socket.gethostname()}: "
                    f"{type(error).__name__}: {error}; install what it is made of there"
                ) from error
        return self._loss

    def __getstate__(self) -> dict[str, Any]:
        pickled = self._pickled or _dumps(self._loss)
        return {"version": __version__, "settings": self.settings, "loss": pickled}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state["version"] != __version__:
            raise InputError(
                f"a fit of scqm {state['version']} asks scqm {__version__} on "
                f"{socket.gethostname()}; install one version everywhere"
            )
        self.settings = state["settings"]
        self._loss, self._pickled = None, state["loss"]


def _do(run: Run, job: Job, length: int) -> None:
    """Answer a question about tasks."""
    content = np.empty(length, np.uint8)
    call(_core.bindings_FetchTasks, job.number, address(content))
    tasks, at = [], 0
    for task in json.loads(call(_core.bindings_TaskList, job.number)):
        own = content[at : at + task["bytes"]].tobytes()
        sources = tuple(task["sources"])
        tasks.append(Task(task["tile"], task["queries"], sources, own))
        at += task["bytes"]
    for k, reply in enumerate(run(tasks)):
        said = _array(reply)
        call(_core.bindings_AnswerTask, job.number, k, address(said), len(said))
    call(_core.bindings_AnswerTasks, job.number)


def _array(part: bytes) -> npt.NDArray[np.uint8]:
    """Return bytes as an array, without a copy."""
    return np.frombuffer(part, np.uint8)


def _results(job: Job) -> list[bytes]:
    """Return the results of a job, each after its length."""
    made = np.empty(call(_core.bindings_TileBytes, job.number, 0), np.uint8)
    call(_core.bindings_TileBytes, job.number, address(made))
    found, at = [], 0
    while at < len(made):
        length = int(made[at : at + 8].view("<u8")[0])
        found.append(made[at + 8 : at + 8 + length].tobytes())
        at += 8 + length
    return found
