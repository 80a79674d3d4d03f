"""Calls into the Go library: errors, arrays and jobs.

A job runs in Go while Python waits for it in short steps, so that signals are
handled. What Go reads and writes is kept alive until the job has ended.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from . import _core
from .exceptions import (
    BudgetError,
    FileError,
    ForkError,
    InputError,
    InternalError,
    NonFiniteError,
    ScqmError,
)

Array = npt.NDArray[np.float64]
P = ParamSpec("P")
T = TypeVar("T")

# What Wait returns, and the entries of its state; see bindings/job.go.
RUNNING, DONE, ASKED, EVALUATED = range(4)
ITERATION, COST, SECONDS, QUESTION, ROWS, COLUMNS, VALUES, GRADIENTS = range(8)
QUESTION_LOSS, QUESTION_WEIGHTS, QUESTION_HESSIAN, QUESTION_MINIMUM = range(1, 5)

# Milliseconds between two looks at signals and progress.
PATIENCE = 40
# Seconds to wait for the end of a job that was cancelled. Its arrays are kept
# longer where that is not enough.
GRACE = 0.1

KINDS: dict[str, type[ScqmError]] = {
    "input": InputError,
    "file": FileError,
    "nonfinite": NonFiniteError,
    "stopped": BudgetError,
}

_process = os.getpid()


def call(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call an exported function, and turn its error into an exception."""
    if os.getpid() != _process:
        raise ForkError(
            "this process was forked after scqm was imported, which the library "
            "does not survive; use the start method 'spawn' or 'forkserver', or "
            "import scqm in the child only"
        )
    try:
        return function(*args, **kwargs)
    except RuntimeError as error:
        raise exception(str(error)) from None


def exception(text: str) -> ScqmError:
    """Return the exception for the text of an error."""
    kind, _, message = text.partition(": ")
    return KINDS.get(kind, InternalError)(message)


def address(array: npt.NDArray[Any] | None) -> int:
    """Return where the numbers of a C-contiguous array are; 0 for none."""
    if array is None:
        return 0
    number: int = array.__array_interface__["data"][0]
    return number


def contiguous(array: npt.ArrayLike) -> Array:
    """Return an array as aligned, C-contiguous float64, without a copy if it can."""
    return np.require(array, np.float64, ("C", "A"))


# Jobs that were given up before they ended, with the arrays they use.
_orphans: list[Job] = []


class Job:
    """A job in Go.

    Parameters
    ----------
    number : int
        What a Start function returned.
    keep : tuple
        The arrays that the job reads and writes.
    answer : callable, optional
        Answers a question of the job, given the state.
    """

    def __init__(
        self,
        number: int,
        keep: tuple[Any, ...] = (),
        answer: Callable[[Job, Array], None] | None = None,
    ) -> None:
        self.number = number
        self.keep = keep
        self.answer = answer
        self.state = np.zeros(8)
        self._address = address(self.state)

    def wait(
        self, until: int = DONE, progress: Callable[[Array], None] | None = None
    ) -> None:
        """Wait for the end of the job, or of an evaluation."""
        while True:
            news = call(_core.bindings_Wait, self.number, PATIENCE, self._address)
            if progress is not None:
                progress(self.state)
            if news == until:
                return
            if news == ASKED:
                if self.answer is None:
                    raise InternalError("the job has a question for nobody")
                self.answer(self, self.state)

    def __enter__(self) -> Job:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        deadline = time.monotonic() + GRACE
        while not self._release():
            if time.monotonic() > deadline:
                _orphans.append(self)
                return
            time.sleep(0.001)
        if _orphans:
            _orphans[:] = [job for job in _orphans if not job._release()]

    def _release(self) -> bool:
        return _core.bindings_Release(self.number) == 1


def run(number: int, *keep: Any) -> None:
    """Wait for a job that has no questions and no result of its own."""
    with Job(number, keep) as job:
        job.wait()


@atexit.register
def _end() -> None:
    """Let no job read what the interpreter frees."""
    deadline = time.monotonic() + 1
    while _orphans and os.getpid() == _process and time.monotonic() < deadline:
        _orphans[:] = [job for job in _orphans if not job._release()]
        time.sleep(0.001)
