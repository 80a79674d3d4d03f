"""Calls into the Go library: errors, arrays and jobs.

A job runs in Go while Python waits for it in short steps, so that signals are
handled. What Go reads and writes is kept alive until the job has ended.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import itertools
import json
import logging
import os
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from ._library import _core
from .exceptions import (
    BudgetError,
    FileError,
    ForkError,
    InputError,
    InternalError,
    MemoryLimitError,
    NonFiniteError,
    PluginError,
    ScqmError,
)

Array = npt.NDArray[np.float64]
P = ParamSpec("P")
T = TypeVar("T")

# What Wait returns, and the entries of its state; see bindings/job.go.
RUNNING, DONE, ASKED, EVALUATED = range(4)
ITERATION, COST, SECONDS, QUESTION, ROWS, COLUMNS, VALUES, GRADIENTS, LOGGED = range(9)
QUESTION_LOSS, QUESTION_WEIGHTS, QUESTION_HESSIAN = 1, 2, 3
QUESTION_MINIMUM, QUESTION_SUM = 4, 5

# Milliseconds between two looks at signals and progress.
PATIENCE = 20
# Seconds to wait for the end of a job that was cancelled. Its arrays are kept
# longer where that is not enough.
GRACE = 0.03

# What plugins log goes here; its levels are those of log/slog.
_log = logging.getLogger("scqm.plugin")
_LEVELS = {"DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40}

KINDS: dict[str, type[ScqmError]] = {
    "input": InputError,
    "file": FileError,
    "memory": MemoryLimitError,
    "nonfinite": NonFiniteError,
    "plugin": PluginError,
    "stopped": BudgetError,
    "cancelled": ScqmError,
}

_decoder = json.JSONDecoder()
_process = os.getpid()
_byte = ctypes.c_char

# Ends plugins with everything that they have started; Linux only.
_GUARD = Path(__file__).with_name("_guard")
if _GUARD.is_file():
    _core.bindings_SetGuard(os.fspath(_GUARD))


def call(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call an exported function, and turn its error into an exception.

    Arrays go as the address of their numbers, None as 0, and a dict as JSON.
    """
    if os.getpid() != _process:
        raise ForkError(
            "this process was forked after scqm was imported, which the library "
            "does not survive; use the start method 'spawn' or 'forkserver', or "
            "import scqm in the child only"
        )
    try:
        # mypy loses the types of P.args in map; _plain keeps their number and order.
        return function(*map(_plain, args), **kwargs)  # type: ignore[arg-type]
    except RuntimeError as error:
        raise exception(str(error)) from None


def _plain(value: object) -> object:
    """Return an argument as the library takes it."""
    if value is None or isinstance(value, np.ndarray):
        return address(value)
    return json.dumps(value) if isinstance(value, dict) else value


def exception(text: str) -> ScqmError:
    """Return the exception for the text of an error."""
    kind, _, message = text.partition(": ")
    return KINDS.get(kind, InternalError)(message)


def address(array: npt.NDArray[Any] | None) -> int:
    """Return where the numbers of a C-contiguous array are; 0 for none."""
    if array is None:
        return 0
    try:  # three times as fast as what follows
        return ctypes.addressof(_byte.from_buffer(array.data))
    except (TypeError, ValueError):  # read-only or empty
        number: int = array.__array_interface__["data"][0]
        return number


def place(array: npt.NDArray[Any]) -> list[int]:
    """Return where an array is, as the library reads it."""
    return [address(array), array.itemsize, *array.shape]


def places(arrays: dict[str, npt.NDArray[Any]]) -> dict[str, list[int]]:
    """Return where arrays are, by name."""
    return {name: place(array) for name, array in arrays.items()}


def contiguous(array: npt.ArrayLike) -> Array:
    """Return an array as aligned, C-contiguous float64, without a copy if it can."""
    return np.require(array, np.float64, ("C", "A"))


@functools.cache
def library() -> dict[str, Any]:
    """Return what the library is and has: losses, solvers, methods of denoising."""
    described: dict[str, Any] = json.loads(call(_core.bindings_Library))
    return described


# The functions of the interpreter that the library calls; see
# bindings/internal/python.
_API = (
    "PyErr_Clear", "PyErr_Fetch", "PyErr_NormalizeException", "PyErr_Occurred",
    "PyException_SetTraceback", "PyFloat_AsDouble", "PyGILState_Ensure",
    "PyGILState_Release", "PyList_Append", "PyObject_CallObject", "Py_DecRef",
)  # fmt: skip


@functools.cache
def use_python() -> None:
    """Tell the library where the functions of the interpreter are that it calls."""
    places = {
        name: ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        for name in _API
    }
    call(_core.bindings_UsePython, json.dumps(places))


if "SCQM_MEMORY" in os.environ:
    call(_core.bindings_SetMemory, os.environ["SCQM_MEMORY"])

# Jobs that have not ended, with the arrays they use.
_jobs: set[Job] = set()
_numbers = itertools.count(1)


class Job:
    """A job in Go, to be started inside of a with statement.

    Whenever an exception comes, KeyboardInterrupt between any two lines
    included, the job is told to end, and its arrays live until it has.

    Parameters
    ----------
    *keep : object
        What must live as long as the job, beside the arrays that it is started with.
    answer : callable, optional
        Answers a question of the job, given the job and its state.
    """

    def __init__(
        self, *keep: Any, answer: Callable[[Job, Array], None] | None = None
    ) -> None:
        self.number = next(_numbers)
        self.keep = list(keep)
        self.answer = answer
        self.state = np.zeros(9)
        self._address = address(self.state)

    def start(
        self,
        act: str,
        settings: dict[str, Any],
        /,
        **arrays: npt.NDArray[Any] | None,
    ) -> Job:
        """Start with settings, and arrays that are kept; None is no array."""
        _jobs.add(self)
        given = {name: a for name, a in arrays.items() if a is not None}
        self.keep += given.values()
        call(_core.bindings_Start, self.number, act, settings, places(given))
        return self

    def result(self) -> tuple[Any, dict[str, npt.NDArray[Any]]]:
        """Return the report of what the job has made, and the flat arrays of it."""
        # The text is ours: raw_decode leaves out the search for blanks around it.
        made, _ = _decoder.raw_decode(call(_core.bindings_Report, self.number))
        arrays = {
            name: np.empty(length, np.uint8 if name == "bytes" else np.float64)
            for name, length in made["lengths"].items()
        }
        if arrays:
            call(_core.bindings_Fetch, self.number, places(arrays))
        return made["report"], arrays

    def wait(
        self, until: int = DONE, progress: Callable[[Array], None] | None = None
    ) -> None:
        """Wait for the end of the job, or of an evaluation."""
        while True:
            try:
                news = call(_core.bindings_Wait, self.number, PATIENCE, self._address)
            finally:
                if self.state[LOGGED]:
                    self._hand_on_log()
            if progress is not None:
                progress(self.state)
            if news == until:
                return
            if news == ASKED:
                if self.answer is None:
                    raise InternalError("the job has a question for nobody")
                self.answer(self, self.state)

    def _hand_on_log(self) -> None:
        """Give what plugins have logged to the logger of this module."""
        for record in json.loads(call(_core.bindings_Logged, self.number)):
            level = _LEVELS.get(record.pop("level"), 5)
            message = record.pop("msg")
            del record["time"]
            values = "".join(f" {name}={value}" for name, value in record.items())
            _log.log(level, "%s%s", message, values)

    def kept(self) -> Kept:
        """Keep the result of the job, which is done, in the library."""
        kept = Kept(self.number, self.keep)
        self.detached = True
        _jobs.discard(self)
        return kept

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        if self.detached:
            return
        self.abandoned = True
        deadline = time.monotonic() + GRACE
        while not self._release() and time.monotonic() < deadline:
            time.sleep(0.001)
        if len(_jobs) > 1:
            for job in tuple(_jobs):
                if job.abandoned:
                    job._release()

    # Set when nobody waits for the job any more.
    abandoned = False
    # What functions of the user have raised that the library has called.
    raised: list[BaseException] | tuple[()] = ()
    # The iterations of a solver written in Python.
    iterations: Iterator[tuple[Array | None, int]] = iter(())
    # Set when its result has been kept.
    detached = False

    def _release(self) -> bool:
        """Tell the job to end, and forget it if it has."""
        if os.getpid() == _process and _core.bindings_Release(self.number) != 1:
            return False
        _jobs.discard(self)
        return True


def run(
    act: str,
    settings: dict[str, Any],
    answer: Callable[[Job, Array], None] | None = None,
    progress: Callable[[Array], None] | None = None,
    /,
    **arrays: npt.NDArray[Any] | None,
) -> tuple[Any, dict[str, npt.NDArray[Any]]]:
    """Run a job to its end, and return its report and arrays."""
    with Job(answer=answer) as job:
        job.start(act, settings, **arrays).wait(progress=progress)
        return job.result()


class Kept:
    """The result of a job, and arrays it reads, in Go as long as this object lives."""

    def __init__(self, number: int, keep: list[Any]) -> None:
        self.number = number
        self.keep = keep
        self._end = weakref.finalize(self, _forget, number)
        self._end.atexit = False

    def alive(self) -> bool:
        """Whether the result is in this process."""
        return self._end.alive


def _forget(number: int) -> None:
    """Release a job that is done."""
    if os.getpid() == _process:
        _core.bindings_Release(number)


@atexit.register
def _end() -> None:
    """Let no job read what the interpreter frees."""
    deadline = time.monotonic() + 1
    while _jobs and os.getpid() == _process and time.monotonic() < deadline:
        for job in tuple(_jobs):
            job._release()
        time.sleep(0.001)
