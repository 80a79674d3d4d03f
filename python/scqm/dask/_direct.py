"""Reads that workers are asked for directly, beside the scheduler.

A task costs some 8 ms from the client to a worker and back, and a read has three that
wait for each other: as long as 200,000 rows take. A function that is run on workers
outside of tasks costs one or two. The first worker asks the others, along a tree, and
merges what they say, so that as little comes to the client as from tasks.

Nothing depends on it. Where a worker lacks rows, or dies, there is no answer, and the
read is done by tasks.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from threading import Event
from typing import Any, NamedTuple, TypeAlias

from distributed import secede

from .._sums import Part, pack
from ._tasks import merge

# The workers that one asks, each of which asks as many more.
FAN = 16

# Seconds without a question after which a fit is taken to be gone.
GONE = 60.0

#: Sums over the rows of chunks.
Add: TypeAlias = Callable[..., list[Part]]


class Share(NamedTuple):
    """Chunks that are summed by one call: keys, first rows, and keys of weights."""

    keys: list[str]
    first: list[int]
    weights: list[str] | None = None


class Member(NamedTuple):
    """A worker, and what it is to sum."""

    address: str
    shares: list[Share]


class Question(NamedTuple):
    """What workers are asked in a read."""

    fit: str
    add: Add
    packed: bytes


class Visit:
    """What a worker knows of a fit that asks it."""

    def __init__(self) -> None:
        self.last = time.monotonic()  # when it has last asked; inf while sums go on
        self.over = Event()


# Fits that ask this worker, by their names.
_visits: dict[str, Visit] = {}


async def answer(
    question: Question, crew: list[Member], dask_worker: Any = None
) -> list[Part] | None:
    """Sum the rows of this worker, the first of a crew, and of those behind it.

    Returns
    -------
    list of Part or None
        Merged as far as rows follow each other. None where a chunk is not there.
    """
    own, *others = crew
    visit = _visits.setdefault(question.fit, Visit())
    visit.last = math.inf
    try:
        room = asyncio.Semaphore(dask_worker.state.nthreads)
        crews = [others[k::FAN] for k in range(min(FAN, len(others)))]
        found = await asyncio.gather(
            *(_forward(question, behind, dask_worker) for behind in crews),
            *(_sum(question, share, room, dask_worker) for share in own.shares),
        )
        parts = [part for part in found if part is not None]
        if len(parts) < len(found):
            return None
        if len(parts) == 1:
            return parts[0]
        return await _threaded(dask_worker, merge, question.packed, parts)
    finally:
        visit.last = time.monotonic()


async def _forward(
    question: Question, crew: list[Member], worker: Any
) -> list[Part] | None:
    """Ask the first of a crew."""
    reply = await worker.rpc(crew[0].address).run(
        function=pack(answer), args=pack((question, crew)), kwargs=None, wait=True
    )
    # What has gone wrong there is said by the tasks that follow.
    parts: list[Part] | None = reply["result"] if reply["status"] == "OK" else None
    return parts


async def _sum(
    question: Question, share: Share, room: asyncio.Semaphore, worker: Any
) -> list[Part] | None:
    """Sum over a share in a thread of the worker, as its tasks do."""
    async with room:
        try:
            rows = [worker.data[key] for key in share.keys]
            weights = [None] * len(rows)
            if share.weights is not None:
                weights = [worker.data[key] for key in share.weights]
        except KeyError:
            return None
        return await _threaded(
            worker, question.add, question.packed, rows, share.first, weights
        )


async def _threaded(worker: Any, add: Add, *given: Any) -> list[Part]:
    """Call a function in a thread of the worker that is for tasks."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(worker.executors["default"], add, *given)


def stay(fit: str) -> None:
    """Be a task for as long as a fit asks this worker, and take no thread of it.

    A scheduler would otherwise count the worker as idle, and might close it.
    """
    secede()
    visit = _visits.setdefault(fit, Visit())
    while not visit.over.wait(1) and time.monotonic() - visit.last < GONE:
        pass
    _visits.pop(fit, None)


def leave(fit: str) -> None:
    """Say that a fit has ended."""
    if visit := _visits.pop(fit, None):
        visit.over.set()
