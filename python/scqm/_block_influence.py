"""Influence of rows that are in files, on other machines, or wherever a map can reach.

One read sums how the fit answers to single rows that are left out; the answer, some
P^2 numbers, then goes to the rows, as :class:`BlockInfluence`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ._estimator import SCQM
from ._influence import Influence
from ._library import _core
from ._model import Model
from ._native import Array, call
from ._streaming import Driver, Map, check_shape
from ._sums import Chunk, result_bytes
from .exceptions import InputError


def influence_blocks(
    model: SCQM,
    map: Map,  # noqa: A002 - it is one, and fit_blocks calls it so
    shape: tuple[int, int],
) -> BlockInfluence:
    """Say how much each row drives a fit to rows that are anywhere a map can reach.

    The influences are those of :meth:`SCQM.influence` with all rows in memory and a
    model without ``embedding_``, to the last bit, on processors of one kind.

    Parameters
    ----------
    model : SCQM
        A fit, as by :func:`fit_blocks`.
    map : callable
        As for :func:`fit_blocks`: ``map(function)`` calls ``function(rows, first)``
        for parts that make up all rows. It is called once.
    shape : tuple of int
        Number of all rows, and of columns.

    Returns
    -------
    BlockInfluence
        A function of some of the rows, which can be pickled.

    Raises
    ------
    InputError
        Rows that the model was not fitted to, a model that is not at a minimum or too
        large for second derivatives, or a loss whose kinks must be rounded, which
        takes all rows in memory: "l1", "lp" below 2, and "l2" with up to three
        directions off the sheet or residuals near 0. A ValueError.

    Examples
    --------
    >>> import numpy as np
    >>> import scqm
    >>> rng = np.random.default_rng(0)
    >>> t = np.linspace(-1, 1, 2500)
    >>> X = np.column_stack([t, t**2]) + rng.normal(scale=0.02, size=(2500, 2))
    >>> X[17, 1] += 0.5
    >>> def parts(function):
    ...     for first in range(0, len(X), 1024):
    ...         yield function(X[first : first + 1024], first)
    >>> model = scqm.large.fit_blocks(parts, X.shape, 1, loss="squared_l2")
    >>> found = scqm.large.influence_blocks(model, parts, X.shape)
    >>> int(found(X[:1024]).top(1)[0])
    17
    """
    if not callable(map):
        raise InputError(f"map is {map!r}; want a function that calls one")
    check_is_fitted(model)
    of = _without_tau(model._model())
    n, D = check_shape(shape)
    parts, keep = of.parts()
    driver = Driver(
        map, (n, D), {"parameters": {"n_threads": max(of.threads, 1)}}, None
    )
    with driver.job(of.loss, parts, *keep) as job:
        job.start(
            _core.bindings_StartResponse, of.settings_of_fit(), parts, n, D
        ).wait()
        return BlockInfluence(of, result_bytes(job))


class BlockInfluence:
    """The influence of rows of a fit, wherever it is called.

    Attributes
    ----------
    remaining : float
        As of :class:`Influence`.
    """

    def __init__(self, model: Model, response: bytes) -> None:
        self._model = model
        self._response = response
        held = np.frombuffer(response, np.uint8)
        self.remaining: float = call(_core.bindings_ResponseRemaining, held, len(held))

    def __call__(
        self,
        rows: npt.ArrayLike,
        first: int = 0,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Influence:
        """Return the influence of some rows.

        Parameters
        ----------
        rows : array-like of shape (n_i, D)
            Rows of the fit.
        first : int, default=0
            The number of the first one.
        sample_weight : array-like of shape (n_i,), optional
            Their weights, if they had some.

        Returns
        -------
        Influence
            Arrays have an entry for each of these rows, and there are no notes.
        """
        numbers = self._numbers(rows, first, sample_weight)
        move, residual, without, leverage = numbers.T.copy()
        return Influence(move, residual, without, leverage, self.remaining, 0.0)

    def _numbers(
        self, rows: npt.ArrayLike, first: int, sample_weight: npt.ArrayLike | None
    ) -> Array:
        """Return the columns of an Influence, (n_i, 4)."""
        chunk = Chunk.of(rows, first, sample_weight)
        out = np.empty((len(chunk.rows), 4))
        for slab in chunk.readable():
            self._find(slab, out[slab.first - chunk.first :])
        return out

    def _find(self, chunk: Chunk, out: Array) -> None:
        X, D = chunk.rows, self._model.U.shape[0]
        if X.shape[1] != D:
            raise InputError(f"rows have {X.shape[1]} columns; the model wants {D}")
        parts, keep = self._model.parts()
        held = np.frombuffer(self._response, np.uint8)
        settings = self._model.settings_of_fit() | {
            "first": chunk.first,
            "single": X.dtype == np.float32,
        }
        with self._model.job(X, chunk.weights, out, parts, held, *keep) as job:
            job.start(
                _core.bindings_StartResponses,
                settings,
                parts,
                held,
                len(held),
                X,
                len(X),
                chunk.weights,
                out,
            ).wait()


def _without_tau(model: Model) -> Model:
    """Return a model that finds the coordinates of rows anew."""
    tau = np.empty((0, model.U.shape[1]))
    return Model(
        model.c,
        model.U,
        model.V,
        model.Theta,
        tau,
        model.loss,
        model.threads,
        model.report,
    )


__all__ = ["BlockInfluence", "influence_blocks"]
