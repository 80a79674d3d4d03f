"""The estimator that denoises rows that Dask holds.

Up to four times as many rows as a cell has go to one worker. More are cut into cells,
as the library cuts them in memory: each cell with a halo of rows around it is a cloud
of its own, and one task denoises the rows in it.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt
from distributed import Client, wait
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .. import losses
from .._denoiser import LOSS, NEIGHBORS, DenoiseReport, _Fitted, report_of
from .._denoiser import ManifoldDenoiser as InMemory
from .._native import Array, contiguous, run
from .._rows import check_components
from ..exceptions import InputError
from ._client import (
    array_of,
    check_lazy,
    chunk_of,
    find_client,
    weights_of,
    with_sizes,
)

# Rows that cells are made for, rows of a cell, and what no cell has.
SAMPLE, CELL_ROWS, WHOLE = 65536, 65536, 1 << 40

# What is told of a row: distance, noise, neighbours, ridge and flags.
TOLD = 6

# Rows with their weights.
Piece = tuple[Array, Array | None]


class ManifoldDenoiser(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Move rows that Dask holds onto the curved surface they scatter about.

    The result is that of :class:`scqm.ManifoldDenoiser` with all rows in memory, to
    the last bit on processors of one kind, whatever the chunks. The rows stay on the
    workers; :meth:`fit` and :meth:`transform` compute when they are called.

    Parameters
    ----------
    n_components, n_neighbors, method, loss, p, delta, precision, ridge, passes : object
        As of :class:`scqm.ManifoldDenoiser`.
    degree, flat_weights, width, n_axes, average, missing : object
        As of :class:`scqm.ManifoldDenoiser`.
    n_threads : int, optional
        Threads of each task; by default all of the worker for up to 2^18 rows, else 1.
    client : distributed.Client, optional
        By default the client that is there.

    Attributes
    ----------
    method_ : str
        The method used.
    n_components_ : int
        Dimension of the surface, given or chosen.
    loss_ : Loss or None
        The loss, with its parameters; None where it is that of the method.
    n_axes_ : int
        Number of principal axes in whose coordinates rows are denoised; 0 where they
        are in their columns.
    notes_ : list of str
        What was done differently from what was asked, and why.
    n_cells_ : int
        Number of cells; 1 where all rows are fitted together.
    n_features_in_ : int
        Number D of columns.
    feature_names_in_ : ndarray of shape (D,)
        Names of the columns of a data frame.

    See Also
    --------
    scqm.ManifoldDenoiser : The same in memory.

    Notes
    -----
    The workers hold the rows fitted as long as the estimator lives; it has no pickle.
    Cells are fitted where rows in them are denoised; the attributes are those of the
    cell in the middle. Methods that look at all rows ("kde" with a fixed width, "mfit",
    "pca") and rows of 30 columns or more are not cut: one worker has all rows.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from scqm.dask import ManifoldDenoiser
    >>> from scqm.datasets import make_sphere
    >>> X, clean = make_sphere(200, noise=0.1, random_state=0)
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     rows = da.from_array(X, chunks=(100, 3))
    ...     denoiser = ManifoldDenoiser(method="lpca", client=client)
    ...     moved = denoiser.fit_transform(rows).compute()
    >>> import scqm
    >>> alone = scqm.ManifoldDenoiser(method="lpca").fit_transform(X)
    >>> bool((moved == alone).all())
    True
    """

    def __init__(
        self,
        n_components: int | str = 2,
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
        width: float | str | None = None,
        n_axes: int | str = "auto",
        average: int | None = None,
        missing: str = "error",
        n_threads: int | None = None,
        client: Client | None = None,
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
        self.width = width
        self.n_axes = n_axes
        self.average = average
        self.missing = missing
        self.n_threads = n_threads
        self.client = client

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
        given = self.get_params(deep=False)
        del given["client"]
        alone = InMemory(**given)
        settings, _ = alone._settings()
        alone._options()
        named, rows = X, array_of(X)
        X = with_sizes(client, rows)
        n, D = X.shape
        if n < 2:
            raise InputError(f"X has {n} rows; want at least 2")
        check_components(settings["d"], D)
        pieces = client.compute(_checked_chunks(X, sample_weight, alone.missing))
        large = n > 4 * CELL_ROWS
        cells: list[dict[str, Any]] = []
        if large:
            alone.n_threads = self.n_threads or 1
            samples = [client.submit(_smallest, piece, pure=False) for piece in pieces]
            made = client.submit(_partition, alone, samples, pure=False).result()
            cells = made["cells"]
            alone._cell_rows = WHOLE
            if made["d"] > 0:
                alone.n_components = made["d"]
        self.n_cells_ = max(len(cells), 1)
        fitted = _Cells(client, alone, cells)
        fitted.take(pieces)
        for name, value in fitted.attributes().items():
            setattr(self, name, value)
        self._cells = fitted
        check_lazy(self, named, rows, reset=True)
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
        return self.denoise(X)[0]

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
        check_is_fitted(self)
        client = find_client(self.client)
        rows = array_of(X)
        check_lazy(self, X, rows)
        X = with_sizes(client, rows)
        D = X.shape[1]
        done = self._cells.denoise(
            client.compute(_checked_chunks(X, None, self.missing))
        )
        wait(done)
        sizes = [int(size) for size in X.chunks[0]]
        rows, about = (
            da.concatenate(
                [
                    da.from_delayed(
                        dask.delayed(_part)(moved, part), (size, width), np.float64
                    )
                    for moved, size in zip(done, sizes, strict=True)
                ]
            )
            for part, width in ((0, D), (1, TOLD))
        )
        return rows, report_of(about, 0.0)

    def __sklearn_is_fitted__(self) -> bool:
        return "_cells" in self.__dict__

    def __getstate__(self) -> dict[str, Any]:
        if "_cells" in self.__dict__:
            raise TypeError(
                "a fitted scqm.dask.ManifoldDenoiser has no pickle: its rows are on "
                "the workers; fit again, or keep what transform returns"
            )
        state: dict[str, Any] = super().__getstate__()
        return state


class _Cells:
    """The rows of cells on the workers of a client; no cells are one of all rows."""

    def __init__(
        self, client: Client, alone: InMemory, cells: list[dict[str, Any]]
    ) -> None:
        self.client = client
        self.alone = client.scatter(alone, broadcast=True, hash=False)
        self.cells = cells
        self.rows: list[Any] = []
        self.model: Any = None  # of all rows

    def submit(self, function: Any, *args: Any, **options: Any) -> Any:
        return self.client.submit(function, *args, pure=False, **options)

    def cut(self, pieces: Sequence[Any], halo: bool) -> list[list[Any]]:
        """Return, for every cell, the parts of the pieces that are in it."""
        parts = [self.submit(_split, piece, self.cells, halo) for piece in pieces]
        return [
            [self.submit(_part, part, k) for part in parts]
            for k in range(len(self.cells))
        ]

    def take(self, pieces: Sequence[Any]) -> None:
        """Send rows to their cells."""
        if not self.cells:
            self.model = self.submit(_fitted, self.alone, list(pieces))
            return
        self.rows = [self.submit(_joined, part) for part in self.cut(pieces, True)]
        wait(self.rows)

    def attributes(self) -> dict[str, Any]:
        """Return what a fit has found, in the middle where there are cells."""
        model = self.model
        if self.cells:
            middle = self.rows[len(self.rows) // 2]
            model = self.submit(_fitted, self.alone, [middle])
        found: dict[str, Any] = self.submit(_attributes, model).result()
        return found

    def denoise(self, pieces: Sequence[Any]) -> list[Any]:
        """Return what becomes of pieces."""
        if not self.cells:
            wait(self.model)
            # Where the fit is: elsewhere it would be done again.
            there = next(iter(self.client.who_has(self.model).values()))
            where: dict[str, Any] = {"workers": there, "allow_other_workers": True}
            return [self.submit(_denoised, self.model, p, **where) for p in pieces]
        cut = self.cut(pieces, False)
        moved = [
            self.submit(_denoised_cell, self.alone, rows, part)
            for rows, part in zip(self.rows, cut, strict=True)
        ]
        return [
            self.submit(
                _put_together, p, self.cells, [self.submit(_part, m, k) for m in moved]
            )
            for k, p in enumerate(pieces)
        ]


def _within(rows: Array, cell: dict[str, Any], halo: float) -> npt.NDArray[np.int64]:
    """Return which rows are within a distance of a cell, in every column."""
    low, high = np.array(cell["lo"]) - halo, np.array(cell["hi"]) + halo
    return np.flatnonzero(((rows >= low) & (rows < high)).all(axis=1))


def _split(piece: Piece, cells: list[dict[str, Any]], halo: bool) -> list[Piece]:
    """Return the rows of every cell, of positive weight with those around it."""
    rows, weights = piece
    parts: list[Piece] = []
    for cell in cells:
        at = _within(rows, cell, cell["halo"] if halo else 0.0)
        if weights is None:
            parts.append((rows[at], None))
        else:
            at = at[weights[at] > 0]
            parts.append((rows[at], weights[at]))
    return parts


def _part(parts: Sequence[Any], k: int) -> Any:
    return parts[k]


def _joined(pieces: Sequence[Piece]) -> Piece:
    """Return pieces as one."""
    weights = [own for _, own in pieces if own is not None]
    rows = np.concatenate([rows for rows, _ in pieces])
    return rows, np.concatenate(weights) if weights else None


def _smallest(piece: Piece) -> tuple[int, npt.NDArray[np.uint64], Array]:
    """Return the number of rows of positive weight, and those of the least hashes."""
    rows, weights = piece
    kept = ~np.isnan(rows).any(axis=1)
    if weights is not None:
        kept &= weights > 0
    rows = contiguous(rows[kept])
    hashes = run("hashes", {}, x=rows)[1]["bytes"].view(np.uint64)
    hashes, first = np.unique(hashes, return_index=True)
    return len(rows), hashes[:SAMPLE], rows[first[:SAMPLE]]


def _partition(
    alone: InMemory, samples: Sequence[tuple[int, npt.NDArray[np.uint64], Array]]
) -> dict[str, Any]:
    """Cut space into cells by the samples of chunks."""
    hashes = np.concatenate([hashes for _, hashes, _ in samples])
    _, first = np.unique(hashes, return_index=True)
    rows = np.concatenate([rows for _, _, rows in samples])[first[:SAMPLE]]
    settings, loss = alone._settings()
    total = sum(n for n, _, _ in samples)
    return _Fitted(settings, loss, contiguous(rows), None).partition(total)


def _fitted(alone: InMemory, pieces: Sequence[Piece]) -> InMemory:
    """Fit in memory."""
    rows, weights = _joined(pieces)
    model = copy.copy(alone)
    with warnings.catch_warnings():  # notes are attributes
        warnings.simplefilter("ignore")
        model.fit(rows, sample_weight=weights)
    return model


def _attributes(model: InMemory) -> dict[str, Any]:
    names = ("method_", "n_components_", "n_axes_", "notes_", "loss_")
    return {name: getattr(model, name) for name in names}


def _denoised(model: InMemory, piece: Piece) -> tuple[Array, Array]:
    """Denoise the rows of a piece, and return what is told of them, too."""
    if len(piece[0]) == 0:
        return piece[0], np.empty((0, TOLD))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows, told = model.denoise(piece[0])
    columns = (told.residual, told.noise, told.n_neighbors, told.ridge)
    return rows, np.column_stack([*columns, told.extrapolated, told.unchanged])


def _denoised_cell(
    alone: InMemory, around: Piece, pieces: Sequence[Piece]
) -> list[tuple[Array, Array]]:
    """Fit to the rows of a cell and denoise pieces."""
    sizes = [len(rows) for rows, _ in pieces]
    if any(sizes):
        rows, about = _denoised(_fitted(alone, [around]), _joined(pieces))
    else:
        rows, about = _joined(pieces)[0], np.empty((0, TOLD))
    ends = np.cumsum(sizes)[:-1]
    return list(zip(np.split(rows, ends), np.split(about, ends), strict=True))


def _put_together(
    piece: Piece, cells: list[dict[str, Any]], moved: Sequence[tuple[Array, Array]]
) -> tuple[Array, Array]:
    """Return what became of a piece whose rows were in cells."""
    out, about = piece[0].copy(), np.zeros((len(piece[0]), TOLD))
    about[:, 5] = 1  # rows with missing entries are in no cell
    seen = np.isnan(out).any(axis=1).astype(int)
    for cell, (rows, told) in zip(cells, moved, strict=True):
        at = _within(piece[0], cell, 0.0)
        out[at], about[at] = rows, told
        seen[at] += 1
    if (seen != 1).any():
        raise InputError("cells have not each row of X once")
    return out, about


def _checked_chunks(X: da.Array, sample_weight: Any, missing: str) -> list[Any]:
    """Return the chunks of rows with their weights, checked, as delayed pieces."""
    chunks = list(X.to_delayed()[:, 0])
    sizes = [int(size) for size in X.chunks[0]]
    given = weights_of(sample_weight, X)
    weights = [None] * len(sizes) if given is None else list(given.to_delayed())
    firsts = np.cumsum([0, *sizes[:-1]]).tolist()
    piece = dask.delayed(_piece, pure=False)
    checked = zip(chunks, weights, firsts, sizes, strict=True)
    return [piece(*c, missing == "ignore") for c in checked]


def _piece(chunk: Any, weights: Any, first: int, length: int, missing: bool) -> Piece:
    """Return the rows of a chunk and their weights."""
    rows = contiguous(chunk_of(chunk, first, length, missing=missing, empty=missing))
    return rows, None if weights is None else contiguous(weights)
