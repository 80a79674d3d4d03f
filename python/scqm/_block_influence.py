"""Influence of rows that are in files, on other machines, or wherever a map can reach.

One read sums how the fit answers to single rows that are left out; the answer, some
P^2 numbers, then goes to the rows, as :class:`BlockInfluence`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ._estimator import SCQM
from ._influence import Influence
from ._model import Model
from ._native import Array
from ._streaming import Driver, Map, check_shape
from ._sums import Chunk
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
    of = replace(model._model(), tau=np.empty((0, len(model.components_))))
    n, D = check_shape(shape)
    settings: dict[str, Any] = {"parameters": {"n_threads": max(of.threads, 1)}}
    driver = Driver(map, (n, D), settings, None)
    known = of.settings() | {"meta": of.report}
    remaining, made = driver.run("response", known, of.loss, **of.arrays())
    return BlockInfluence(of, made["bytes"].tobytes(), remaining)


class BlockInfluence:
    """The influence of rows of a fit, wherever it is called.

    Attributes
    ----------
    remaining : float
        As of :class:`Influence`.
    """

    def __init__(self, model: Model, response: bytes, remaining: float) -> None:
        self._model = model
        self._response = response
        self.remaining = remaining

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
        return np.concatenate([self._find(slab) for slab in chunk.readable()])

    def _find(self, chunk: Chunk) -> Array:
        X, D = chunk.rows, self._model.U.shape[0]
        if X.shape[1] != D:
            raise InputError(f"rows have {X.shape[1]} columns; the model wants {D}")
        held = np.frombuffer(self._response, np.uint8)
        arrays = {"x": X, "weights": chunk.weights, "response": held}
        _, made = self._model.run("responses", {"first": chunk.first}, **arrays)
        return made["out"].reshape(-1, 4)


__all__ = ["BlockInfluence", "influence_blocks"]
