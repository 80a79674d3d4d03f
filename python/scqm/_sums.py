"""Sums over blocks of rows: what a streamed fit asks, wherever the rows are.

:class:`BlockSums` is one question. It goes to where rows are, by a pickle, and turns
them into bytes, which merge to the same bits in any grouping: see docs/adr/0005.
"""

from __future__ import annotations

import pickle
import socket
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _native
from ._native import Array, library, place
from ._rows import plain
from .exceptions import InputError, ScqmError
from .losses import Loss
from .losses._answer import run

#: The number of rows of a block. Parts of a table are cut at its multiples.
BLOCK_ROWS = 1024

# The version of the library, which goes with every question.
VERSION: str = library()["version"]

# Rows that are converted at a time where the library cannot read them as they are.
SLAB = 64 * BLOCK_ROWS

try:  # which pickles functions of scripts and notebooks, where plain pickles cannot
    from cloudpickle import dumps as _dumps
except ImportError:
    _dumps = pickle.dumps


class Chunk(NamedTuple):
    """Rows from number ``first`` on, with their weights."""

    rows: npt.NDArray[Any]
    first: int
    weights: Array | None

    @classmethod
    def of(
        cls, rows: npt.ArrayLike, first: int, sample_weight: npt.ArrayLike | None
    ) -> Chunk:
        """Return what was given as arrays."""
        if hasattr(rows, "columns"):
            raise InputError(
                f"rows from {first} on are a data frame, whose columns may come in any "
                "order; give rows[names].to_numpy()"
            )
        X = np.asanyarray(plain(rows))  # a view of an array in a file is not copied
        if X.ndim != 2 or len(X) == 0:
            raise InputError(
                f"rows from {first} on have shape {X.shape}; want (n, D), n above 0"
            )
        if first < 0:
            raise InputError(f"rows begin at number {first}; want 0 or more")
        weights = None
        if sample_weight is not None:
            weights = _native.contiguous(plain(sample_weight, "sample_weight"))
            if weights.shape != (len(X),):
                raise InputError(
                    f"weights of rows from {first} on have shape {weights.shape}; "
                    f"want ({len(X)},)"
                )
        return cls(X, int(first), weights)

    def readable(self) -> Iterator[Chunk]:
        """Yield the rows as they are or, where the library cannot read them, slabs."""
        if readable(self.rows):
            yield self
            return
        for at in range(0, len(self.rows), SLAB):
            slab = _converted(self.rows[at : at + SLAB], self.first + at)
            own = None if self.weights is None else self.weights[at : at + SLAB]
            yield Chunk(slab, self.first + at, own)


class BlockSums:
    """What a fit asks of all rows, in a request: a function that sums over some."""

    def __init__(self, request: bytes, loss: Loss, threads: int) -> None:
        self._request = request
        self._loss: Loss | None = loss
        self._pickled = b""
        self._threads = threads

    def __call__(
        self,
        rows: npt.ArrayLike,
        first: int = 0,
        sample_weight: npt.ArrayLike | None = None,
    ) -> bytes:
        """Return what the rows from row number ``first`` on say."""
        chunk = Chunk.of(rows, first, sample_weight)
        return self.merge(self._sum(slab) for slab in chunk.readable())

    def merge(self, parts: Iterable[bytes]) -> bytes:
        """Return what adjoining parts say together, to the same bits in any order."""
        found = list(parts)
        if len(found) == 1:
            return found[0]
        arrays = [_bytes_of(part) for part in found]
        settings = {"parts": [place(a) for a in arrays]}
        _, made = _native.run("merge", settings, request=_bytes_of(self._request))
        return made["bytes"].tobytes()

    def _sum(self, chunk: Chunk) -> bytes:
        """Sum over rows that the library can read."""
        settings = {"threads": self._threads, "first": chunk.first}
        arrays = {"x": chunk.rows, "weights": chunk.weights}
        request = _bytes_of(self._request)
        _, made = run(self._load(), "sum", settings, request=request, **arrays)
        return made["bytes"].tobytes()

    def _load(self) -> Loss:
        """Return the loss, which a pickle holds until it is needed."""
        if self._loss is None:
            loss: Loss = unpack(self._pickled, "the loss of the fit")
            self._loss = loss
        return self._loss

    def __getstate__(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "request": self._request,
            "loss": self._pickled or pack(self._loss),
            "threads": self._threads,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state["version"] != VERSION:
            raise InputError(
                f"a fit of scqm {state['version']} asks scqm {VERSION} on "
                f"{socket.gethostname()}; install one version everywhere"
            )
        self._request = state["request"]
        self._pickled = state["loss"]
        self._threads = state["threads"]
        self._loss = None


def pack(thing: object) -> bytes:
    """Return a pickle, with functions of scripts where cloudpickle is installed."""
    packed: bytes = _dumps(thing)
    return packed


def unpack(packed: bytes, what: str) -> Any:
    """Return what a pickle holds, or say where it cannot be loaded, and why."""
    try:
        return pickle.loads(packed)
    except ScqmError:
        raise
    except Exception as error:
        raise InputError(
            f"{what} cannot be loaded on {socket.gethostname()}: "
            f"{type(error).__name__}: {error}; install what it is made of there"
        ) from error


def readable(X: npt.NDArray[Any]) -> bool:
    """Whether the library reads an array as it is."""
    flags = X.flags
    return (
        X.dtype in (np.float64, np.float32)
        and X.dtype.isnative
        and flags.c_contiguous
        and flags.aligned
    )


def _converted(X: npt.NDArray[Any], first: int) -> Array:
    """Return rows as the library reads them."""
    if X.dtype.kind in "mMcSU":
        raise InputError(
            f"rows from {first} on have dtype {X.dtype}; convert them to real numbers"
        )
    try:
        return _native.contiguous(X)
    except (TypeError, ValueError) as error:
        raise InputError(f"rows from {first} on are no numbers: {error}") from None


def _bytes_of(part: bytes) -> npt.NDArray[np.uint8]:
    """Return bytes as an array, without a copy."""
    return np.frombuffer(part, np.uint8)
