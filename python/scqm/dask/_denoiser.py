"""The estimator that denoises rows that Dask holds, in tiles.

Tiles are boxes of space with about as many rows each. A task on one takes parts of
the tiles around it, and the library checks for every lookup of neighbours that no row
beyond what the task knew could be among them: see docs/adr/0051.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt
from distributed import Client
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .. import losses
from .._denoiser import LOSS, NEIGHBORS, DenoiseReport
from .._denoiser import ManifoldDenoiser as InMemory
from .._native import Array, contiguous
from .._rows import check_components
from .._tiles import Cells, Task, TileWork, cut, make_tile, query_rows
from .._validation import check_integer, check_real
from ..exceptions import InputError
from ..losses._resolve import as_fitted
from ._client import array_of, find_client, is_frame, with_sizes

# Rows that the cells of tiles are made for, and the least rows of a tile by default.
SAMPLE = 65536
LEAST = 2000


@dataclass(frozen=True)
class TilingReport:
    """What denoising in tiles has cost: the fit, and the last call since.

    Attributes
    ----------
    tiles : int
        Number of tiles.
    passes : int
        Passes over all rows or some of them.
    rounds : int
        Rounds of these: more than passes where halos were too small.
    rows_read : int
        Rows that tasks knew, in sum.
    rows_again : int
        Rows that were left to a further round, in sum.
    bytes_between : int
        Bytes that tiles gave to tasks on other tiles.
    bytes_driver : int
        Bytes of the tasks that the driver gave out, and of the replies it got.
    """

    tiles: int
    passes: int
    rounds: int
    rows_read: int
    rows_again: int
    bytes_between: int
    bytes_driver: int


# scikit-learn has no types, which is what mypy minds.
class ManifoldDenoiser(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Move rows that Dask holds onto the curved surface they scatter about.

    The result is that of :class:`scqm.ManifoldDenoiser` with all rows in memory, to
    the last bit on processors of one kind, whatever the chunks, tiles and halos. The
    rows stay on the workers; :meth:`fit` and :meth:`transform` compute when they are
    called, as each round of tasks depends on the one before.

    Parameters
    ----------
    n_components : int, default=2
        Dimension d of the surface.
    n_neighbors : int, default=30
        Number of nearest rows to look at. The method "auto" chooses it by itself if
        this is the default 30. "auto" is refused for other methods.
    method : str, default="auto"
        "auto", "scqm", "linear", "sqmf", "lpca", "mls", "sph", "qmf" or "pca". "mfit",
        "kde" and "logkde" look at all rows and are refused. Where rows are too few for
        "auto" there is an error, and no other method.
    loss : str, Loss or callable, default="l2"
        As of :class:`scqm.ManifoldDenoiser`.
    p : float, optional
        Power of the loss "lp".
    delta : float, optional
        Norm at which the loss "huber" turns linear; by default found in the rows.
    precision : array-like of shape (D, D), optional
        Matrix of the loss "mahalanobis".
    ridge : float, optional
        Penalty on curvature.
    passes : int, optional
        Passes of the alternating solver, for "scqm", "sqmf" and "linear".
    degree : int, optional
        Degree of the polynomial of "mls".
    flat_weights : bool, default=False
        Give all neighbours the same weight, for "mls".
    n_axes : int, "auto" or "all", default="auto"
        As of :class:`scqm.ManifoldDenoiser`. The axes are found by up to 65,536 rows,
        which come to this process, and so is the linear model that the method "auto"
        compares its charts with where rows have ten columns or more.
    average : int, optional
        Average over the surfaces of so many neighbours.
    n_tiles : int, optional
        Number of tiles. By default as many as chunks or threads of workers, whichever
        are more, but none of less than some 2000 rows.
    halo : float, optional
        Distance around a tile in which a task knows all rows at first, in the unit of
        the rows. By default estimated. Rows for which that was too little are done
        again with a wider one, so that only time depends on it.
    n_threads : int, optional
        Threads of each task; by default 1.
    client : distributed.Client, optional
        By default the client that is there.
    verbose : bool, default=False
        Show progress.

    Attributes
    ----------
    method_ : str
        The method used.
    loss_ : Loss or None
        The loss, with its parameters; None where it is that of the method.
    n_axes_ : int
        Number of principal axes in whose coordinates rows are denoised; 0 where they
        are in their columns.
    notes_ : list of str
        What was done differently from what was asked, and why.
    tiling_ : TilingReport
        What the fit, and the last call since, have cost.
    n_features_in_ : int
        Number D of columns.
    feature_names_in_ : ndarray of shape (D,)
        Names of the columns of a data frame.

    See Also
    --------
    scqm.ManifoldDenoiser : The same in memory, with every method.

    Notes
    -----
    The workers hold the tiles as long as the estimator lives, which has no pickle.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from scqm.dask import ManifoldDenoiser
    >>> from scqm.datasets import make_sphere
    >>> X, clean = make_sphere(200, noise=0.1, random_state=0)
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     rows = da.from_array(X, chunks=(100, 3))
    ...     denoiser = ManifoldDenoiser(method="lpca", n_tiles=2, client=client)
    ...     moved = denoiser.fit_transform(rows).compute()
    >>> import scqm
    >>> alone = scqm.ManifoldDenoiser(method="lpca").fit_transform(X)
    >>> bool((moved == alone).all())
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        n_neighbors: int | str = NEIGHBORS,
        method: str = "auto",
        loss: losses.LossLike = LOSS,
        *,
        p: float | None = None,
        delta: float | None = None,
        precision: npt.ArrayLike | None = None,
        ridge: float | None = None,
        passes: int | None = None,
        degree: int | None = None,
        flat_weights: bool = False,
        n_axes: int | str = "auto",
        average: int | None = None,
        n_tiles: int | None = None,
        halo: float | None = None,
        n_threads: int | None = None,
        client: Client | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.method = method
        self.loss = loss
        self.p = p
        self.delta = delta
        self.precision = precision
        self.ridge = ridge
        self.passes = passes
        self.degree = degree
        self.flat_weights = flat_weights
        self.n_axes = n_axes
        self.average = average
        self.n_tiles = n_tiles
        self.halo = halo
        self.n_threads = n_threads
        self.client = client
        self.verbose = verbose

    def fit(
        self, X: Any, y: None = None, sample_weight: Any = None
    ) -> ManifoldDenoiser:
        """Prepare to denoise rows by those of X.

        Parameters
        ----------
        X : dask array or data frame of shape (n, D)
            One sample per row.
        y : None
            Ignored.
        sample_weight : dask array or array-like of shape (n,), optional
            Weights of the rows, as of :meth:`scqm.ManifoldDenoiser.fit`.

        Returns
        -------
        ManifoldDenoiser
            The estimator itself.

        Raises
        ------
        InputError
            Data or parameters that cannot be used; a ValueError.
        """
        client = find_client(self.client)
        work, counts = self._work()
        names = _names(X)
        X = with_sizes(client, array_of(X))
        n, D = X.shape
        if n < 2:
            raise InputError(f"X has {n} rows; want at least 2")
        check_components(work.settings["d"], np.empty((0, D)))
        work.settings["columns"] = D
        sizes = tuple(int(size) for size in X.chunks[0])
        tiles = self._tiles(client, n, len(sizes))
        step = max(n // SAMPLE, 1)
        sample = client.gather(
            client.compute([_delay(_sample)(c, step) for c in _chunks(X)])
        )
        cells = Cells(np.concatenate(sample), tiles)
        weights = _weights(sample_weight, sizes)
        engine = _Engine(client, work, cells)
        engine.tiles = engine.scatter(X, weights, queries=False)
        report, fitted = work.run(
            engine.run, counts | {"tiles": tiles, "queries": 0}, b"", self.verbose
        )
        self._engine, self._fitted = engine, fitted
        self.n_features_in_ = D
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = names
        self.method_ = report["method"]
        self.n_axes_ = report["axes"]
        self.notes_ = [report["note"]] if report["note"] else []
        loss = work._load()
        self.loss_ = loss
        if loss is not None:
            self.loss_ = as_fitted(loss, report.get("loss_params", {}), None)
        self._report(report, engine)
        for note in self.notes_:
            warnings.warn(f"ManifoldDenoiser: {note}", UserWarning, stacklevel=2)
        return self

    def fit_transform(self, X: Any, y: None = None, sample_weight: Any = None) -> Any:
        """Fit to the rows of X and denoise them.

        Parameters
        ----------
        X : dask array or data frame of shape (n, D)
            One sample per row.
        y : None
            Ignored.
        sample_weight : dask array or array-like of shape (n,), optional
            As for :meth:`fit`.

        Returns
        -------
        dask array of shape (n, D)
            The rows as :meth:`transform` gives them.
        """
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def transform(self, X: Any) -> Any:
        """Denoise rows, those fitted or others.

        Parameters
        ----------
        X : dask array or data frame of shape (n, D)
            Rows. The result for one does not depend on the others.

        Returns
        -------
        dask array of shape (n, D)
            For each row the point of the surface that belongs to it, in the chunks of
            X. A row without one is as it came. The workers hold it.
        """
        return self._denoise(X)[0]

    def denoise(self, X: Any) -> tuple[Any, DenoiseReport]:
        """Denoise rows and say how far the result can be trusted.

        Parameters
        ----------
        X : dask array or data frame of shape (n, D)
            Rows.

        Returns
        -------
        rows : dask array of shape (n, D)
            The rows as :meth:`transform` gives them.
        report : DenoiseReport
            Distances moved, noise, neighbours, ridge and flags, each a dask array.
        """
        rows, about = self._denoise(X)
        report = DenoiseReport(
            residual=about[:, 0],
            noise=about[:, 1],
            n_neighbors=about[:, 2].astype(np.int64),
            ridge=about[:, 3],
            extrapolated=about[:, 4] > 0,
            unchanged=about[:, 5] > 0,
            share_error=0.0,
        )
        return rows, report

    def __sklearn_is_fitted__(self) -> bool:
        return "_engine" in self.__dict__

    def __getstate__(self) -> dict[str, Any]:
        if "_engine" in self.__dict__:
            raise TypeError(
                "a fitted scqm.dask.ManifoldDenoiser has no pickle: its tiles are on "
                "the workers; fit again, or keep what transform returns"
            )
        state: dict[str, Any] = super().__getstate__()
        return state

    def _work(self) -> tuple[TileWork, dict[str, Any]]:
        """Return what does tasks, and what the driver is told beside its settings."""
        given = self.get_params(deep=False)
        for name in ("n_tiles", "halo", "client"):
            del given[name]
        alone = InMemory(**given)
        settings, loss = alone._settings()
        settings["threads"] = 1 if self.n_threads is None else settings["threads"]
        counts: dict[str, Any] = {"average": alone._options()["average"]}
        if self.halo is not None:
            counts["halo"] = check_real("halo", self.halo, 0, False)
        return TileWork(settings, loss), counts

    def _tiles(self, client: Client, n: int, chunks: int) -> int:
        if self.n_tiles is not None:
            return check_integer("n_tiles", self.n_tiles, 1)
        threads = sum(client.nthreads().values())
        return int(max(min(max(chunks, threads), n // LEAST), 1))

    def _denoise(self, X: Any) -> tuple[Any, Any]:
        """Return the rows and what became of them, six columns."""
        check_is_fitted(self)
        fitted: _Engine = self._engine
        client = find_client(self.client)
        names = _names(X)
        known = getattr(self, "feature_names_in_", None)
        if names is not None and known is not None and list(names) != list(known):
            raise InputError(
                f"X has the columns {list(names)}; those fitted are {list(known)}"
            )
        X = with_sizes(client, array_of(X))
        D = X.shape[1]
        if self.n_features_in_ != D:
            raise InputError(
                f"X has {D} features, but ManifoldDenoiser is expecting "
                f"{self.n_features_in_} features as input"
            )
        _, counts = self._work()
        tiles = fitted.cells.number
        engine = _Engine(client, fitted.work, fitted.cells)
        engine.tiles = fitted.tiles
        engine.queries = engine.scatter(X, None, queries=True)
        report, _ = fitted.work.run(
            engine.run,
            counts | {"tiles": tiles, "queries": tiles},
            self._fitted,
            self.verbose,
        )
        engine.between += fitted.between
        engine.driver += fitted.driver
        self._report(report, engine)
        return _assembled(client, engine.queries, X)

    def _report(self, report: dict[str, Any], engine: _Engine) -> None:
        """Keep what the fit and the last call have cost."""
        self.tiling_ = TilingReport(
            tiles=engine.cells.number,
            passes=report["passes"],
            rounds=report["rounds"],
            rows_read=report["read"],
            rows_again=report["again"],
            bytes_between=engine.between,
            bytes_driver=engine.driver,
        )


class _Engine:
    """Keeps tiles and queries on the workers of a client, and has tasks done there."""

    def __init__(self, client: Client, work: TileWork, cells: Cells) -> None:
        self.client = client
        self.work = work
        self.cells = cells
        self.tiles: list[Any] = []
        self.queries: list[Any] = []
        self.between = 0
        self.driver = 0

    def scatter(self, X: da.Array, weights: list[Any] | None, queries: bool) -> Any:
        """Return the tiles, or the parts of queries, of rows in chunks."""
        number = self.cells.number
        pieces, first = [], 0
        for k, chunk in enumerate(_chunks(X)):
            own = None if weights is None else weights[k]
            pieces.append(_delay(_split, nout=number)(chunk, own, first, self.cells))
            first += int(X.chunks[0][k])
        made = [
            _delay(_gathered)([split[t] for split in pieces], X.shape[1], queries)
            for t in range(number)
        ]
        return self.client.compute(made)

    def run(self, tasks: Sequence[Task]) -> list[bytes]:
        """Do tasks, and return a reply to each."""
        done = []
        for task in tasks:
            parts = [
                self.client.submit(_cut, task.content, self.tiles[s], pure=False)
                for s in task.sources
            ]
            foreign = [task.queries or s != task.tile for s in task.sources]
            held = self.queries if task.queries else self.tiles
            done.append(
                self.client.submit(
                    _done,
                    self.work,
                    task.content,
                    held[task.tile],
                    parts,
                    foreign,
                    pure=False,
                )
            )
        said = self.client.gather(
            [self.client.submit(operator.itemgetter(1), d, pure=False) for d in done]
        )
        for task, future in zip(tasks, done, strict=True):
            held = self.queries if task.queries else self.tiles
            held[task.tile] = future
        self.between += sum(moved for _, moved in said)
        self.driver += sum(len(reply) for reply, _ in said)
        self.driver += sum(
            len(task.content) * (1 + len(task.sources)) for task in tasks
        )
        return [reply for reply, _ in said]


# A tile, or a part of the queries, and what the last task on it has said: its reply,
# and the bytes that others gave for it.
Held = tuple[bytes, tuple[bytes, int]]


def _done(
    work: TileWork, task: bytes, held: Held, parts: list[bytes], foreign: list[bool]
) -> Held:
    """Return what is there after a task."""
    reply, changed = work(task, held[0], parts)
    moved = sum(len(p) for p, other in zip(parts, foreign, strict=True) if other)
    return changed, (reply, moved)


def _cut(task: bytes, held: Held) -> bytes:
    """Return the part of a tile that a task takes."""
    return cut(task, held[0])


def _rows(held: Held, D: int) -> tuple[Array, Array, Array]:
    """Return the numbers of queries, what became of them, and a report on them."""
    return query_rows(held[0], D)


def _delay(function: Any, **options: Any) -> Any:
    return dask.delayed(function, pure=False, **options)


def _chunks(X: da.Array) -> list[Any]:
    """Return the chunks of rows, as delayed arrays."""
    return list(X.to_delayed()[:, 0])


def _sample(chunk: Any, step: int) -> Array:
    """Return some rows of a chunk, without those that are not finite."""
    rows = contiguous(np.asarray(chunk)[::step])
    return rows[np.isfinite(rows).all(axis=1)]


def _split(
    chunk: Any, weights: Any, first: int, cells: Cells
) -> list[tuple[Array, Array, Array | None]]:
    """Return the rows of every cell with their numbers and weights."""
    rows = contiguous(np.asarray(chunk))
    if not np.isfinite(rows).all():
        i, j = np.argwhere(~np.isfinite(rows))[0]
        raise InputError(
            f"row {first + i}, column {j} of X is {rows[i, j]}; remove or impute it"
        )
    own = None
    if weights is not None:
        own = contiguous(np.asarray(weights))
        if own.shape != (len(rows),):
            raise InputError(
                f"weights of rows from {first} on have shape {own.shape}; "
                f"want ({len(rows)},)"
            )
        bad = np.flatnonzero(~(own >= 0) | np.isinf(own))
        if len(bad):
            raise InputError(
                f"weight of row {first + bad[0]} is {own[bad[0]]}; want a finite "
                "number of at least 0"
            )
    cell = cells.of(rows)
    parts = []
    for t in range(cells.number):
        at = np.flatnonzero(cell == t)
        numbers = (at + first).astype(np.float64)
        parts.append((rows[at], numbers, None if own is None else own[at]))
    return parts


def _gathered(
    parts: list[tuple[Array, Array, Array | None]], D: int, queries: bool
) -> Held:
    """Return a tile, or a part of the queries, of pieces in the order of the rows."""
    rows = np.concatenate([np.empty((0, D)), *(part[0] for part in parts)])
    numbers = np.concatenate([np.empty(0), *(part[1] for part in parts)])
    own = [part[2] for part in parts if part[2] is not None]
    weights = np.concatenate(own) if own else None
    return make_tile(rows, weights, numbers, queries), (b"", 0)


def _assembled(client: Client, queries: list[Any], X: da.Array) -> tuple[Any, Any]:
    """Return what became of queries, in the chunks of the rows."""
    D = X.shape[1]
    rows, about, first = [], [], 0
    held = [client.submit(_rows, q, D, pure=False) for q in queries]
    for size in (int(size) for size in X.chunks[0]):
        both = _delay(_chunk)(held, first, size, D)
        rows.append(da.from_delayed(both[0], (size, D), np.float64))
        about.append(da.from_delayed(both[1], (size, 6), np.float64))
        first += size
    moved, told = client.persist([da.concatenate(rows), da.concatenate(about)])
    return moved, told


def _chunk(
    held: list[tuple[Array, Array, Array]], first: int, size: int, D: int
) -> tuple[Array, Array]:
    """Return the rows from a number on, and what became of them."""
    rows, about = np.empty((size, D)), np.empty((size, 6))
    for numbers, moved, told in held:
        lo, hi = np.searchsorted(numbers, [first, first + size])
        at = numbers[lo:hi].astype(np.int64) - first
        rows[at], about[at] = moved[lo:hi], told[lo:hi]
    return rows, about


def _weights(weights: Any, sizes: tuple[int, ...]) -> list[Any] | None:
    """Return the weights of every chunk."""
    if weights is None:
        return None
    if dask.is_dask_collection(weights):
        if hasattr(weights, "to_dask_array"):
            weights = weights.to_dask_array(lengths=True)
    else:
        weights = da.from_array(np.asarray(weights, np.float64))
    if weights.shape != (sum(sizes),):
        raise InputError(
            f"sample_weight has shape {weights.shape}; want ({sum(sizes)},)"
        )
    return list(weights.rechunk((sizes,)).to_delayed())


def _names(X: Any) -> npt.NDArray[Any] | None:
    """Return the names of the columns of a data frame, where all are strings."""
    if not is_frame(X) or not all(isinstance(name, str) for name in X.columns):
        return None
    return np.asarray(X.columns, dtype=object)
