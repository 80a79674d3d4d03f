"""Missing entries of tables, filled by a sheet: :class:`ManifoldImputer`."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import MissingIndicator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from ._estimator import SCQM
from ._native import Array
from ._options import documented
from ._parameters import RIDGE
from ._rows import check_rows
from ._validation import check_bool
from .exceptions import InputError
from .losses import LossLike

__all__ = ["ManifoldImputer"]

# Part of the entries that is hidden to compare sheets, and the d that "auto" compares.
HIDDEN = 0.1
DIMENSIONS = (1, 2, 3, 5, 8)
# Tolerance and iterations of fits that are compared.
TRIAL, MOST = 1e-3, 200


@documented
class ManifoldImputer(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Fill missing entries by their means given the other entries of their rows.

    A sheet is fitted to the entries that are there, of standardised columns; see
    :meth:`SCQM.impute`. A tenth of these entries is hidden first, and tells whether a
    curved sheet predicts them better than a flat one, which is taken otherwise.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Latent dimension d. "auto" takes the one of 1, 2, 3, 5 and 8 that predicts
        hidden entries best.
    n_curvature : int, "full" or None, default=None
        Number of directions of curvature. With None the rows decide, and the flat sheet
        is taken where it predicts hidden entries better; 0 takes the flat sheet.
    loss : str or Loss, default="squared_l2"
        A loss that is a sum over entries, as for ``SCQM(missing="ignore")``.
    {ridge}
    missing_values : float, default=nan
        What stands for an entry that is missing.
    add_indicator : bool, default=False
        Append a column that is 1 where an entry was missing, for each column that
        missed some in the fit.
    {max_iter}
    tol : float, default=1e-4
        First-order residual at which a fit counts as converged.
    random_state : int, RandomState or None, default=None
        Seed of what is hidden, and of the fits. None stands for 0.
    {n_threads}

    Attributes
    ----------
    model_ : SCQM
        The sheet of the standardised columns.
    errors_ : dict of float
        Root mean squared errors at hidden entries, in standard deviations of their
        columns, of "curved", "flat" and "mean"; empty where nothing could be hidden.
    notes_ : list of str
        What was taken, and whether a simpler model predicts better.
    n_iter_ : int
        Iterations of the fit, at least 1.
    indicator_ : MissingIndicator or None
        It makes the columns of ``add_indicator``.
    n_features_in_ : int
        Number D of columns.
    feature_names_in_ : ndarray of shape (D,)
        Names of the columns, where all of them are strings.

    See Also
    --------
    sklearn.impute.KNNImputer : Means of near rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scqm import ManifoldImputer
    >>> t = np.linspace(-1, 1, 100)
    >>> X = np.column_stack([t, t**2, t + t**2])
    >>> X[::9, 1] = np.nan
    >>> filled = ManifoldImputer(1).fit_transform(X)
    >>> bool(np.abs(filled[:, 1] - t**2).max() < 0.01)
    True
    """

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        n_curvature: int | Literal["full"] | None = None,
        *,
        loss: LossLike = "squared_l2",
        ridge: float | Literal["auto"] = RIDGE,
        missing_values: float = np.nan,
        add_indicator: bool = False,
        max_iter: int | None = None,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_curvature = n_curvature
        self.loss = loss
        self.ridge = ridge
        self.missing_values = missing_values
        self.add_indicator = add_indicator
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(self, X: npt.ArrayLike, y: None = None) -> ManifoldImputer:
        """Fit the sheet to the entries that are there.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows with missing entries. Columns without any are left out.
        y : None
            Ignored.

        Returns
        -------
        ManifoldImputer
            The imputer itself.
        """
        rows = self._rows(X, reset=True)
        there = ~np.isnan(rows)
        if not there.any():
            raise InputError("X has no entry that is not missing")
        self.indicator_ = None
        if check_bool("add_indicator", self.add_indicator):
            self.indicator_ = MissingIndicator(error_on_new=False).fit(rows)
        self._kept = np.flatnonzero(there.any(axis=0))
        rows = rows[there.any(axis=1)][:, self._kept]
        self._mean = np.nanmean(rows, axis=0)
        scale = np.nanstd(rows, axis=0)
        self._scale = np.where(scale > 0, scale, 1.0)
        table = (rows - self._mean) / self._scale
        d, flat = self._choose(table)
        self.model_ = self._sheet(d, flat).fit(table)
        self.n_iter_ = self.model_.n_iter_
        return self

    def transform(self, X: npt.ArrayLike) -> Array:
        """Fill the missing entries of rows.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows. A row without any entry gets the means of the columns.

        Returns
        -------
        ndarray of shape (n, D or more)
            The rows, without the columns that the fit left out, and with those of
            ``add_indicator``; entries that were there are the same, to the bit.
        """
        rows, filled, _ = self._fill(X)
        if self.indicator_ is None:
            return filled
        return np.hstack([filled, self.indicator_.transform(rows)])

    def standard_errors(self, X: npt.ArrayLike) -> Array:
        """Say how uncertain the filled entries are.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows.

        Returns
        -------
        ndarray of shape (n, D)
            Standard deviations of entries that are missing, 0 for the others, of the
            columns that :meth:`transform` fills.
        """
        return self._fill(X)[2]

    def get_feature_names_out(
        self, input_features: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.object_]:
        """Return the names of the columns of :meth:`transform`.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of the rows, where the fit had none.

        Returns
        -------
        ndarray of str
            The names.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        kept: npt.NDArray[np.object_] = names[self._kept]
        if self.indicator_ is None:
            return kept
        return np.concatenate([kept, self.indicator_.get_feature_names_out(names)])

    def _rows(self, X: npt.ArrayLike, *, reset: bool) -> Array:
        """Return rows with NaN where entries are missing."""
        marked = not np.isnan(self.missing_values)
        rows = check_rows(
            self,
            X,
            reset=reset,
            missing=not marked,
            empty=True,
            ensure_min_samples=2 if reset else 1,
        )
        return np.where(rows == self.missing_values, np.nan, rows) if marked else rows

    def _fill(self, X: npt.ArrayLike) -> tuple[Array, Array, Array]:
        """Return rows, filled ones, and standard deviations."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        filled = rows[:, self._kept]
        gaps = np.isnan(filled)
        made = np.broadcast_to(self._mean, filled.shape).copy()
        std = np.broadcast_to(self._scale, filled.shape).copy()
        some = ~gaps.all(axis=1)
        if some.any():
            table = (filled[some] - self._mean) / self._scale
            found, errors = self.model_.impute(table, return_std=True)
            made[some] += found * self._scale
            std[some] *= errors
        return rows, np.where(gaps, made, filled), std

    def _sheet(self, d: int, flat: bool) -> SCQM:
        return SCQM(
            d,
            None if flat else self.n_curvature,
            loss=self.loss,
            linear=flat,
            ridge=self.ridge,
            missing="ignore",
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self.random_state,
            n_threads=self.n_threads,
        )

    def _choose(self, table: Array) -> tuple[int, bool]:
        """Return d and whether the sheet is flat, by entries that are hidden."""
        n, D = table.shape
        tried = [d for d in DIMENSIONS if d == 1 or d < min(n, D)]
        if self.n_components != "auto":
            tried = [self.n_components]
        hidden = self._hide(table)
        self.errors_, self.notes_ = {}, []
        if not hidden.any():
            return tried[0], self.n_curvature == 0
        seen = np.where(hidden, np.nan, table)

        def error(d: int, flat: bool) -> float:
            sheet = self._sheet(d, flat).set_params(tol=TRIAL, max_iter=MOST)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                off = (sheet.fit(seen).impute(seen) - table)[hidden]
            return float(np.sqrt(np.mean(off**2)))

        flats = {d: error(d, True) for d in tried}
        d = min(flats, key=lambda d: flats[d])
        curved, straight = error(d, False), flats[d]
        flat = self.n_curvature == 0 or (
            self.n_curvature is None and straight <= curved
        )
        mean = float(np.sqrt(np.mean(table[hidden] ** 2)))
        self.errors_ = {"curved": curved, "flat": straight, "mean": mean}
        self.notes_.append(
            f"d = {d}, {'flat' if flat else 'curved'}; errors at hidden entries: "
            f"{curved:.3g} by a curved sheet, {straight:.3g} by a flat one, {mean:.3g} "
            "by the means of columns"
        )
        if mean < min(curved, straight):
            self.notes_.append("the means of columns predict hidden entries better")
        elif straight < curved and not flat:
            self.notes_.append("a flat sheet predicts hidden entries better")
        return d, flat

    def _hide(self, table: Array) -> npt.NDArray[np.bool_]:
        """Draw entries to hide, so that rows and columns keep two at least."""
        random = check_random_state(self.random_state or 0)
        there = ~np.isnan(table)
        hidden: npt.NDArray[np.bool_] = there & (random.random(table.shape) < HIDDEN)
        hidden[(there & ~hidden).sum(axis=1) < 2] = False
        hidden[:, (there & ~hidden).sum(axis=0) < 2] = False
        return hidden

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn may send."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = bool(np.isnan(self.missing_values))
        tags.transformer_tags.preserves_dtype = []
        return tags
