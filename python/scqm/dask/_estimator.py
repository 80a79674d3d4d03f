"""The estimator that learns a sheet from rows that Dask holds.

The fit runs in the library on the client. For every read it sends the question, which
holds the model, to the partitions, each of which sums over its rows; the sums merge on
the workers, and a few kilobytes come back. Nothing is kept on workers but the rows, so
that a worker that dies costs what it was summing and no more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import dask
import dask.array as da
import numpy as np
from distributed import Client
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .. import _estimator
from .._block_influence import influence_blocks
from .._options import documented
from .._parameters import FitOptions
from .._streaming import fit_parts
from .._sums import BlockSums, pack
from ..exceptions import InputError
from ._client import (
    array_of,
    check_lazy,
    find_client,
    is_lazy,
    weights_of,
    whole_blocks,
    with_sizes,
)
from ._influence import influence_of
from ._tasks import add_up, merge, same, through

if TYPE_CHECKING:
    from typing_extensions import Unpack

# The results that one task merges.
FAN = 16


@documented
class SCQM(_estimator.SCQM):
    """Robust subspace-constrained quadratic model of rows that Dask holds.

    The model is the one that :class:`scqm.SCQM` with ``solver="streaming"`` learns of
    the same rows in memory, to the last bit: whatever the chunks and the workers,
    also where some of them die, on processors of one kind and with one version of
    scqm and its libraries. The rows stay on the workers.

    ``transform``, ``inverse_transform``, ``project`` and ``score`` give arrays of Dask
    that are not yet computed where rows are arrays or data frames of Dask, and are
    those of :class:`scqm.SCQM` where they are not. ``return_report`` and ``hidden``
    take rows in memory only.

    A sample of the rows decides what ``n_curvature`` leaves to them; "auto" as loss or
    ridge, missing entries and other solvers are refused. A loss of your own goes to
    the workers by cloudpickle, which must find what it imports there; the file of a
    plugin must be in the plugin folders of every worker. By default each task takes
    one thread, as Dask runs a task on every thread of a worker, and ``time_limit`` is
    looked at between two reads.

    Parameters
    ----------
    {n_components, n_curvature}
    {...}
    client : distributed.Client, optional
        By default the one that there is.
    persist : bool, default=True
        Keep the rows in the memory of the cluster while the fit lasts. False computes
        them for every read, 20 to 60 times, for rows that do not fit there.
    checkpoint : str or PathLike, optional
        File of the client in which the fit is stored after every iteration. Where it
        exists, the fit goes on from it; one of other rows or settings is refused.

    Attributes
    ----------
    n_reads_ : int
        How often all rows were read.

    See Also
    --------
    scqm.SCQM : Rows in memory, with all attributes of a fit, which are the same here
        but for ``embedding_``: that is empty, and ``transform`` finds coordinates.
    scqm.large.fit_blocks : Other engines than Dask.

    Examples
    --------
    >>> import dask.array as da, numpy as np
    >>> from distributed import Client, futures_of, wait
    >>> from scqm.dask import SCQM
    >>> t = np.linspace(-1, 1, 4096)
    >>> X = da.from_array(np.column_stack([t, t**2]), chunks=(1024, 2))
    >>> with Client(processes=False, n_workers=1, dashboard_address=None) as client:
    ...     model = SCQM(n_components=1, client=client).fit(X)
    ...     T = model.transform(X).compute()
    >>> T.shape
    (4096, 1)
    """

    def __init__(
        self,
        n_components: int = 2,
        n_curvature: int | Literal["full"] | None = None,
        *,
        client: Client | None = None,
        persist: bool = True,
        checkpoint: str | os.PathLike[str] | None = None,
        **options: Unpack[FitOptions],
    ) -> None:
        super().__init__(n_components, n_curvature, **options)
        self.client = client
        self.persist = persist
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: None = None, sample_weight: Any = None) -> SCQM:
        """Learn a sheet from rows.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n, D)
            Rows, in chunks of multiples of 1024 of them but for the last one; others
            are rechunked, with a warning. float32 is converted block by block.
        y : None
            Ignored.
        sample_weight : dask.array.Array of shape (n,), optional
            Factors of the losses of the rows, at least 0.

        Returns
        -------
        SCQM
            The estimator itself.

        Raises
        ------
        InputError
            Rows, losses or parameters that cannot be used, on the client or on a
            worker; a ValueError.
        """
        client = find_client(self.client)
        rows = array_of(X)
        if self.persist:
            rows = client.persist(rows)
        rows = whole_blocks(with_sizes(client, rows))
        if self.persist:
            rows = client.persist(rows)
        weights = weights_of(sample_weight, rows)
        if self.persist and weights is not None:
            weights = client.persist(weights)
        parts = Parts(client, rows, weights)
        self.n_reads_ = fit_parts(self, parts, rows.shape, self.checkpoint)
        check_lazy(self, X, rows, reset=True)
        self._warn(stacklevel=3)
        return self

    def transform(self, X: Any) -> Any:
        return self._map("transform", X, len(self._fitted().components_))

    def inverse_transform(self, T: Any) -> Any:
        return self._map("inverse_transform", T, self._fitted().n_features_in_)

    def project(self, X: Any, *, return_report: bool = False) -> Any:
        if return_report:
            if is_lazy(X):
                raise InputError(
                    "return_report goes with rows in memory; give project a chunk of "
                    "the rows"
                )
            return super().project(X, return_report=True)
        return self._map("project", X, self._fitted().n_features_in_)

    def influence(self, X: Any, sample_weight: Any = None) -> Any:
        """Say how much each row drives the fit.

        How the fit answers to rows that are left out is summed at once, by one read;
        influences follow from it, row by row, when they are computed, by another.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame or array-like of shape (n, D)
            The rows that the model was fitted to.
        sample_weight : dask.array.Array of shape (n,), optional
            Their weights, if they had some.

        Returns
        -------
        scqm.dask.Influence
            Arrays that are not yet computed, with the bits of
            :meth:`scqm.SCQM.influence`; that of :class:`scqm.Influence` where X is
            not of Dask.

        Raises
        ------
        InputError
            As of :func:`scqm.large.influence_blocks`; a ValueError.
        """
        check_is_fitted(self)
        if not is_lazy(X):
            return super().influence(X, sample_weight)
        client = find_client(self.client)
        rows = array_of(X)
        check_lazy(self, X, rows)
        rows = whole_blocks(with_sizes(client, rows))
        weights = weights_of(sample_weight, rows)
        parts = Parts(client, rows, weights)
        return influence_of(influence_blocks(self._local(), parts, rows.shape), parts)

    def score(
        self,
        X: Any,
        y: None = None,
        sample_weight: Any = None,
        *,
        hidden: float | None = None,
    ) -> Any:
        if not is_lazy(X):
            return super().score(X, sample_weight=sample_weight, hidden=hidden)
        if hidden is not None:
            raise InputError(
                "score(hidden=...) takes rows in memory; compute some of the rows first"
            )
        values = self._map("losses", X, 1)
        weights = weights_of(sample_weight, values)
        if weights is None:
            return -values.mean()
        return -(values[:, 0] * weights).sum() / weights.sum()

    def _fitted(self) -> SCQM:
        check_is_fitted(self)
        return self

    def _map(self, method: str, X: Any, columns: int) -> Any:
        """Send rows through the sheet, chunk by chunk where Dask holds them."""
        if not is_lazy(X):
            return getattr(_estimator.SCQM, method)(self, X)
        rows = array_of(X)
        kept = rows.dtype == np.float32 and method != "losses"
        dtype = np.float32 if kept else np.float64
        if method != "inverse_transform":
            check_lazy(self, X, rows)
        elif rows.shape[1] != (d := len(self.components_)):
            raise InputError(f"T has {rows.shape[1]} columns; the model has {d}")
        # The model is part of the graph, once: what is scattered dies with its worker.
        model = dask.delayed(same, pure=False)(pack(self._local()))
        return rows.map_blocks(
            through,
            model,
            method,
            dtype=dtype,
            chunks=(rows.chunks[0], (columns,)),
            meta=np.empty((0, 0), dtype),
        )

    def _local(self) -> _estimator.SCQM:
        """Return the model without what belongs to the client."""
        names = _estimator.SCQM._get_param_names()
        params = {name: getattr(self, name) for name in names}
        # The loss to map with is loss_.
        params |= {"n_threads": self.n_threads or 1, "loss": "l2"}
        model = _estimator.SCQM(**params)
        for name, value in vars(self).items():
            # Chunks are arrays, without names.
            if name.endswith("_") and name != "feature_names_in_":
                setattr(model, name, value)
        model._report = self._report
        return model

    def _settings(self, open_d: bool = False) -> dict[str, Any]:
        settings = super()._settings()
        settings["parameters"]["n_threads"] = self.n_threads or 1
        return settings

    def __sklearn_clone__(self) -> SCQM:
        params = self.get_params(deep=False)
        client = params.pop("client")  # which nothing can copy
        copies = {name: clone(value, safe=False) for name, value in params.items()}
        return type(self)(client=client, **copies)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return state | {"client": None}


class Parts:
    """The map of a fit: sums over chunks of whole blocks, merged on the workers."""

    def __init__(self, client: Client, rows: da.Array, weights: da.Array | None):
        self.client = client
        self.rows = rows.to_delayed()[:, 0]
        self.weights: list[Any] = [None] * len(self.rows)
        if weights is not None:
            self.weights = list(weights.to_delayed())
        self.lengths = rows.chunks[0]
        self.first = np.cumsum([0, *self.lengths[:-1]]).tolist()

    def __call__(self, function: BlockSums) -> Iterator[bytes]:
        """Yield the sums of all rows."""
        ask = pack(function)
        add = dask.delayed(add_up, pure=False)
        join = dask.delayed(merge, pure=False)
        chunks = zip(self.rows, self.first, self.weights, strict=True)
        parts = [add(ask, *chunk) for chunk in chunks]
        while len(parts) > 1:
            parts = [join(ask, parts[k : k + FAN]) for k in range(0, len(parts), FAN)]
        future = self.client.compute(parts[0], optimize_graph=False)
        try:
            yield future.result()
        finally:
            future.cancel()

    def chunks(self) -> Iterator[tuple[Any, int, Any, int]]:
        """Yield the rows of all chunks, their first number, weights and length."""
        return zip(self.rows, self.first, self.weights, self.lengths, strict=True)
