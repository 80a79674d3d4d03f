"""Fits to rows that are in files, on other machines, or wherever a map can reach.

The library runs the fit and asks for sums over all rows; Python hands each question
on and takes the answers back. The rows never come here.
"""

from __future__ import annotations

import operator
import os
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _native
from ._estimator import SCQM
from ._library import _core
from ._model import fetched
from ._native import Array, Job, call
from ._options import documented
from ._parameters import FitOptions
from ._progress import Progress
from ._rows import check_components
from ._sums import BlockSums
from .exceptions import InputError
from .losses import Loss
from .losses._answer import answer
from .losses._radial import WidthLoss
from .losses._resolve import AUTO, resolve

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Calls a function for parts of the rows that make up all of them, and returns what
#: comes out, in any order.
Map: TypeAlias = Callable[[BlockSums], Iterable[bytes]]


@documented
def fit_blocks(
    map: Map,  # noqa: A002 - what users of maps call it
    shape: tuple[int, int],
    n_components: int = 2,
    n_curvature: int | Literal["full"] | None = None,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    **options: Unpack[FitOptions],
) -> SCQM:
    """Fit an SCQM to rows that are anywhere a map can reach.

    The fit runs here. For every read of the rows it calls ``map`` with a function
    that sums over some of them; the rows stay where they are. The model has the same
    bits whatever the parts and wherever they are summed, on processors of one kind
    and with one version of scqm.

    It is that of ``solver="streaming"``: a sample of the rows decides what
    ``n_curvature`` leaves to them, and "auto" as loss or ridge and missing entries are
    refused. A loss of your own, or of a plugin, must be found wherever the function is
    called. By default each call of the function takes one thread. ``time_limit`` is
    looked at between two reads; those up to the first model, and those that judge it,
    are done in any case.

    Parameters
    ----------
    map : callable
        ``map(function)`` calls ``function(rows, first)`` for parts of the table that
        make up all of it, and returns an iterable of what comes out, in any order.
        ``rows`` are an array of shape (n_i, D), and ``first`` is the number of the
        first of them in the whole table, a multiple of 1024. C-contiguous float64
        and float32 are read without a copy, as a :class:`numpy.memmap` in
        its file; ``function(rows, first, sample_weight)`` weighs rows. The function
        can be pickled, and needs scqm where it is called. ``function.merge(results)``
        makes one of the results of adjoining parts, for engines that reduce.
    shape : tuple of int
        Number of all rows, and of columns.
    {n_components, n_curvature}
    checkpoint : str or PathLike, optional
        File in which the fit is stored after every iteration. Where it exists, the
        fit goes on from it; one of other rows or settings is refused.
    {...}

    Returns
    -------
    SCQM
        A fitted estimator. ``embedding_`` is empty: ``transform`` finds the
        coordinates of rows.

    Raises
    ------
    InputError
        Rows, parts or parameters that cannot be used; a ValueError.

    See Also
    --------
    scqm.dask.SCQM : The same for arrays and data frames of Dask.

    Examples
    --------
    A file that need not fit into memory, in parts of 4096 rows:

    >>> import numpy as np, pathlib, tempfile
    >>> import scqm
    >>> t = np.linspace(-1, 1, 10_000)
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "rows.npy")
    >>> np.save(path, np.column_stack([t, t**2, np.sin(40 * t) / 50]))
    >>> def parts(function):
    ...     rows = np.load(path, mmap_mode="r")
    ...     for first in range(0, len(rows), 4096):
    ...         yield function(rows[first : first + 4096], first)
    >>> model = scqm.large.fit_blocks(parts, (10_000, 3), 1, loss="squared_l2")
    >>> model.status_
    'converged'
    >>> folder.cleanup()
    """
    if not callable(map):
        raise InputError(f"map is {map!r}; want a function that calls one")
    options.setdefault("n_threads", 1)
    model = SCQM(n_components, n_curvature, **options)
    fit_parts(model, map, shape, checkpoint)
    model._warn(stacklevel=3)
    return model


def fit_parts(
    model: SCQM,
    ask: Map,
    shape: tuple[int, int],
    checkpoint: str | os.PathLike[str] | None,
) -> int:
    """Fit an estimator to the rows that a map reaches, and return the reads."""
    n, D = check_shape(shape)
    settings = model._settings()
    check_components(settings["parameters"]["n_components"], D)
    if isinstance(model.loss, str) and model.loss == AUTO:
        raise InputError(
            "loss='auto' looks at residuals in memory; fit some of the rows with it, "
            "and name the loss that it finds"
        )
    loss = resolve(model.loss, model.p, model.delta, model.precision)
    settings["checkpoint"] = "" if checkpoint is None else os.fspath(checkpoint)
    with Progress("SCQM", model.verbose, "it", model.max_iter) as progress:
        driver = Driver(ask, (n, D), settings, progress)
        if isinstance(loss, WidthLoss) and loss.delta is None:
            loss = driver.with_delta(loss)
        report, arrays = fetched(*driver.run("stream", settings, loss))
    model._take(report, arrays, loss)
    model.n_features_in_ = D
    return driver.reads


class Driver:
    """Runs fits in the library, and hands their questions on to the map ``ask``."""

    def __init__(
        self,
        ask: Map,
        shape: tuple[int, int],
        settings: dict[str, Any],
        progress: Callable[[Array], None] | None,
    ) -> None:
        self.ask = ask
        self.shape = shape
        self.settings = settings
        self.progress = progress
        self.reads = 0

    def with_delta(self, loss: WidthLoss) -> WidthLoss:
        """Return the loss with the delta that the rows suggest."""
        begin = time.monotonic()

        more = {"only_delta": True, "checkpoint": ""}
        found, _ = self.run("stream", self.settings | more, loss)
        parameters = self.settings["parameters"]
        if limit := parameters["time_limit"]:
            left = limit - (time.monotonic() - begin)
            parameters["time_limit"] = max(left, 1e-9)
        return type(loss)(found)

    def run(
        self, act: str, settings: dict[str, Any], loss: Loss, **arrays: Array | None
    ) -> tuple[Any, dict[str, npt.NDArray[Any]]]:
        """Run a job whose questions go to the rows, or to the loss."""

        def reply(job: Job, state: Array) -> None:
            if state[_native.QUESTION] == _native.QUESTION_SUM:
                self._sum(loss, job, int(state[_native.ROWS]))
            else:
                answer(loss, job, state)

        n, D = self.shape
        settings = settings | {"loss": loss._choice(), "rows": n, "columns": D}
        arrays |= {"precision": loss._matrix()}
        return _native.run(act, settings, reply, self.progress, **arrays)

    def _sum(self, loss: Loss, job: Job, length: int) -> None:
        """Answer a question about all rows."""
        self.reads += 1
        request = np.empty(length, np.uint8)
        call(_core.bindings_FetchRequest, job.number, request)
        threads = self.settings["parameters"]["n_threads"] or 0
        for part in self.ask(BlockSums(request.tobytes(), loss, threads)):
            if not isinstance(part, bytes):
                raise InputError(
                    f"map gave {type(part).__name__} {part!r:.60}; want the bytes that "
                    "its function returns"
                )
            sums = np.frombuffer(part, np.uint8)
            call(_core.bindings_AnswerPart, job.number, sums, len(sums))
        call(_core.bindings_AnswerSum, job.number)


def check_shape(shape: tuple[int, int]) -> tuple[int, int]:
    """Return the shape of a table, whose rows may be more than 2**31."""
    try:
        n, D = (operator.index(length) for length in shape)
    except (TypeError, ValueError):
        raise InputError(
            f"shape is {shape!r}; want the numbers of rows and columns"
        ) from None
    if n < 2 or D < 1:
        raise InputError(f"shape is ({n}, {D}); want at least two rows and a column")
    return n, D
