"""The estimator that learns a sheet, and the door for models from files.

It checks parameters and rows, as scikit-learn does, and has the attributes of a fit.
The fit itself, and all that rows go through, is in the library: :mod:`scqm._model` has
the form that a fit has there, and :mod:`scqm._model_file` that of a file.
"""

from __future__ import annotations

import logging
import os
import warnings
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _model_file, _native, losses, solvers
from ._influence import Influence, ProjectionReport
from ._model import Model, fetched
from ._native import Array, Job
from ._options import check_parameter, documented
from ._parameters import RIDGE, RULES, FitParameters
from ._progress import Progress
from ._quality import Quality
from ._rows import (
    check_components,
    check_rows,
    check_weights,
    count_components,
    dtype_like,
    index_of,
    like,
)
from ._suggest import suggest
from ._validation import (
    check_bool,
    check_latent,
    check_real,
    check_seed,
    check_threads,
)
from .exceptions import InputError
from .losses._answer import answer, run
from .losses._native import NativeLoss, RegisteredLoss
from .losses._resolve import AUTO, as_fitted, by_name, from_report, resolve
from .losses._suspect import suspicion

__all__ = ["SCQM", "load"]

_log = logging.getLogger("scqm")

# Entries of a report that only fits of rows in memory have.
_WHERE_KEPT: dict[str, Any] = {
    "mean": np.array,
    "explained_variance_ratio": np.array,
    "r2": float,
    "r2_pca": tuple,
}

# Losses of rows as they come, which weigh a row by its distance alone.
_SEEN_ONCE = (losses.L2, losses.SquaredL2, losses.Huber, RegisteredLoss)


def _takes_parts(model: SCQM) -> bool:
    """Whether rows can come in parts, each of which is seen once."""
    loss = model.loss
    if (isinstance(loss, str) and loss == AUTO) or model.n_components == AUTO:
        raise AttributeError('"auto" looks at all rows; give a value to partial_fit')
    if isinstance(model.ridge, str) or model.missing != "error":
        raise AttributeError("partial_fit takes a number as ridge, and whole rows")
    kind = by_name(loss) if isinstance(loss, str) else type(loss)
    if not issubclass(kind, _SEEN_ONCE):
        raise AttributeError(
            "steps of this loss read a sample of rows again and again; partial_fit "
            "takes l2, huber and squared_l2"
        )
    return True


@documented
class SCQM(
    FitParameters,
    Quality,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]  # scikit-learn has no types
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Robust subspace-constrained quadratic model.

    Learns a curved sheet f(tau) = c + U tau + V Theta' phi(tau), where phi(tau)
    holds the products tau_i tau_j with i <= j and [U V] has orthonormal columns,
    and a coordinate tau_i for each row x_i, so that the sum of
    loss(f(tau_i) - x_i) is least [1]_. It is principal component analysis with
    curvature, for losses that shrug off outliers.

    Parameters
    ----------
    {...}

    Attributes
    ----------
    components_ : ndarray of shape (d, D)
        The axes U along which the sheet spreads, one per row.
    curvature_components_ : ndarray of shape (s, D)
        The axes V into which it bends, one per row.
    theta_ : ndarray of shape (d(d+1)/2, s)
        The curvature Theta. Column k holds the symmetric matrix A_k, row by row
        of its upper triangle, with entries off the diagonal doubled.
    offset_ : ndarray of shape (D,)
        The point c.
    embedding_ : ndarray of shape (n, d)
        The coordinates tau_i found by the fit.
    mean_ : ndarray of shape (D,)
        Weighted mean of the rows of the fit. It is there where they were in memory,
        not streamed or given to ``partial_fit``.
    explained_variance_ratio_ : ndarray of shape (d,)
        The variance of each coordinate over that of the rows, as by principal
        components; what the sheet gains by bending counts in ``r2_`` only. Likewise.
    r2_ : float
        ``1 - sum w |f(tau) - x|^2 / sum w |x - mean_|^2``, over entries that are not
        missing. It counts squares whatever the loss, and rises with d and s, noise or
        not. Likewise.
    r2_pca_ : tuple of float
        That of principal components with d and with d + s coordinates, of at most
        2,000 rows, evenly spread. Likewise, and where no entries are missing.
    n_components_ : int
        The latent dimension d, where ``n_components`` left it open.
    objective_ : float
        Sum of the losses, weighted, without penalty.
    penalty_ : float
        The penalty on curvature.
    ridge_ : float
        The ridge used, chosen where ridge="auto"; 0 for a flat sheet.
    curvature_ : dict or None
        What speaks for the curvature: "p", the probability of rows bending as much by
        chance; "s", the directions in which the sheet bends; "slope", how much of the
        curvature that it draws rows show, 1 for all, about 0 where it folds; "share",
        the part of the variance in these directions that it draws; "ridge"; and the
        "verdict", "curved", "held" (back by the ridge), "flat" or "given", and the
        "sentence" that says so. None after
        ``partial_fit``, for ``linear=True`` and ``solver="rgd"``, and of many fits.
    curvature_extent_ : float
        Curvature times extent: the root of the largest eigenvalue of
        sum_k A_k^2, times the 0.95 quantile of the distances of the coordinates
        from their geometric median. Above 8 rows near each other may have
        coordinates far apart, which ``notes_`` says; above 100 the sheet is
        folded and follows single rows, which is a warning.
    n_iter_ : int
        Iterations of the solver, at least 1.
    status_ : str
        Why the fit ended: "converged", "stalled", "max_iter" or "time_limit".
        "converged" is verified at the point returned.
    message_ : str
        The same in a sentence.
    notes_ : list of str
        What was done differently from what was asked, and why.
    warnings_ : list of str
        What is wrong with the fit. ``fit`` warns of each: of a status "stalled"
        or "max_iter" by a ConvergenceWarning, of the curvature by a UserWarning.
    history_ : dict of ndarray
        "iteration", "cost", "passes" (over the data) and "seconds", with an
        entry for the start and every iteration.
    kkt_ : dict of float, or None
        Norms of the gradients with respect to c, Q, Theta and tau, per row.
    loss_ : Loss
        The loss, with the parameters used.
    loss_reason_ : str or None
        Why it was chosen, where loss="auto".
    solver_ : str
        The name of the solver used.
    n_features_in_ : int
        Number D of columns.
    n_samples_seen_ : int
        Number of rows that the model was learned from, by ``fit`` and
        ``partial_fit``.
    feature_names_in_ : ndarray of shape (D,)
        Names of the columns, where all of them are strings.

    See Also
    --------
    sklearn.decomposition.PCA : Flat sheets by least squares.

    References
    ----------
    .. [1] Z. Zhai and L. Li, Robust Subspace-Constrained Quadratic Models for
       Low-Dimensional Structure Learning, arXiv 2605.20300.

    Examples
    --------
    >>> import numpy as np
    >>> from scqm import SCQM
    >>> t = np.linspace(-1, 1, 100)
    >>> X = np.column_stack([t, t**2])
    >>> X[::10, 1] += 1.0
    >>> model = SCQM(n_components=1).fit(X)
    >>> bool(np.median(np.abs(model.project(X) - X)) < 1e-3)
    True
    """

    mean_: Array
    explained_variance_ratio_: Array
    curvature_: Any  # a dict, whose entries are of several types, or None
    r2_: float
    r2_pca_: tuple[float, float]
    notes_: list[str]
    loss_reason_: str | None

    # What partial_fit has learned, in the library's words.
    _learned: npt.NDArray[np.uint8] | None

    def fit(
        self,
        X: npt.ArrayLike,
        y: None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> SCQM:
        """Learn a sheet from rows.

        Parameters
        ----------
        X : array-like of shape (n, D)
            One sample per row. C-contiguous float64 is used without a copy.
        y : None
            Ignored.
        sample_weight : array-like of shape (n,), optional
            Factors of the losses of the rows, at least 0.

        Returns
        -------
        SCQM
            The estimator itself.

        Raises
        ------
        InputError
            Data or parameters that cannot be used; a ValueError.
        NonFiniteError
            The loss gave NaN or infinite values.
        """
        settings = self._settings(open_d=True)
        _log.debug("fit with %s", settings)
        automatic = isinstance(self.loss, str) and self.loss == AUTO
        # The first fit is with l2, which takes no parameters either.
        first = "l2" if automatic else self.loss
        loss = resolve(first, self.p, self.delta, self.precision, shown=self.loss)
        ignoring = self.missing == "ignore"
        if ignoring and automatic:
            raise InputError(
                "loss='auto' looks at the residuals of whole rows; name a loss beside "
                "missing='ignore': squared_l2, huber, l1 or lp"
            )
        rows = check_rows(self, X, reset=True, missing=ignoring, ensure_min_samples=2)
        weights = check_weights(sample_weight, rows)
        parameters = settings["parameters"]
        chosen = self._choose(parameters, loss, rows, weights)
        check_components(parameters["n_components"], rows.shape[1])
        settings["loss"] = {"name": AUTO} if automatic else loss._choice()
        report, arrays = fetched(*self._run(settings, loss, rows, weights))
        if automatic:
            loss = from_report(report["loss"], None) or loss
        self._take(report, arrays, loss)
        if automatic:
            self.loss_reason_ = self.notes_[-1]
        self.notes_ = chosen + self.notes_
        self._suspect(rows)
        self._warn(stacklevel=3)
        _log.info(
            "fit of %d x %d rows: %s after %d iterations, objective %.6g",
            *rows.shape,
            self.status_,
            self.n_iter_,
            self.objective_,
        )
        return self

    def _suspect(self, rows: Array) -> None:
        """Look at the gradient of a loss written in Python, and warn if it is wrong."""
        if (
            isinstance(self.loss_, NativeLoss)
            or np.isnan(rows).any()
            or not len(self.embedding_)
        ):
            return
        some = np.linspace(0, len(rows) - 1, min(len(rows), 64)).astype(int)
        found = self._model().map(
            "reconstruct", _native.contiguous(self.embedding_[some]), rows.shape[1]
        )
        if text := suspicion(self.loss_, found - rows[some]):
            self.warnings_.append(text)

    def _choose(
        self,
        parameters: dict[str, Any],
        loss: losses.Loss,
        rows: Array,
        weights: Array | None,
    ) -> list[str]:
        """Settle a latent dimension that was left open, and say why."""
        if parameters["n_components"]:
            return []
        if parameters["missing"] == "ignore":
            raise InputError(
                f"n_components is {self.n_components!r}; want an integer beside "
                "missing='ignore'"
            )
        if isinstance(self.n_components, float):
            d = count_components(rows, weights, self.n_components)
            parameters["n_components"] = d
            part = f"{self.n_components:.4g} of the variance"
            return [f"{d} principal components have {part}"]
        found = suggest(
            rows,
            loss=loss,
            sample_weight=weights,
            random_state=parameters["random_state"],
            n_threads=self.n_threads,
        )
        if not found.n_components:
            parameters["n_components"], parameters["linear"] = 1, True
            return [f"{found.reason}; a line is fitted all the same"]
        parameters["n_components"] = found.n_components
        if self.n_curvature is None and not self.linear:
            params = found.params
            if self.ridge != RIDGE:
                params.pop("ridge", None)
            parameters |= params
        return [found.reason]

    @available_if(_takes_parts)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def partial_fit(
        self,
        X: npt.ArrayLike,
        y: None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> SCQM:
        """Learn from more rows, each of which is seen once.

        Rows are gathered to blocks of 1024, and an average is kept of what the
        blocks say of the sheet, in which later ones count more [2]_: the model does not
        depend on how rows are cut into calls, but it follows what came last, so that
        rows should come in a random order. The first call begins, with the unit of
        the ridge and, for "huber", delta; after :meth:`fit` the model goes on from
        there, with the rows of the fit remembered by their coordinates, and from a
        model file from its sheet alone. Pickled and copied estimators go on as if
        nothing had happened.

        No pass over all rows follows: ``status_`` is "max_iter", ``kkt_`` is None,
        and ``objective_`` is an estimate. :meth:`fit` on all rows, with
        ``solver="streaming"`` where they are many, gives a certificate.

        Parameters
        ----------
        X : array-like of shape (n, D)
            One sample per row; two at least in the first call.
        y : None
            Ignored.
        sample_weight : array-like of shape (n,), optional
            Factors of the losses of the rows, at least 0.

        Returns
        -------
        SCQM
            The estimator itself.

        Raises
        ------
        InputError
            Rows or parameters that cannot be used, or parameters that are not those
            of the calls before; a ValueError. The model is then as it was before.

        References
        ----------
        .. [2] J. Mairal, Stochastic majorization-minimization algorithms for
           large-scale optimization, NIPS 26 (2013).

        Examples
        --------
        >>> import numpy as np
        >>> from scqm import SCQM
        >>> X = np.random.default_rng(0).normal(size=(500, 4))
        >>> model = SCQM(n_components=1)
        >>> for rows in np.split(X, 5):
        ...     model = model.partial_fit(rows)
        >>> model.n_samples_seen_
        500
        """
        settings = self._settings()
        first = not hasattr(self, "offset_")
        loss = resolve(self.loss, self.p, self.delta, self.precision, shown=self.loss)
        before = None if first else self._model()
        if before is not None and type(loss) is type(before.loss):
            loss = before.loss  # with the parameters that were found at first
        rows = check_rows(self, X, reset=first, ensure_min_samples=2 if first else 1)
        check_components(settings["parameters"]["n_components"], rows.shape[1])
        weights = check_weights(sample_weight, rows)
        state = None if first else self._learned
        arrays: dict[str, Any] = {"x": rows, "weights": weights, "state": state}
        if before is not None and state is None:
            arrays |= before.arrays()
            if len(before.tau):
                arrays["tau"] = _native.contiguous(before.tau)
            known = {name: before.report[name] for name in ("n", "penalty")}
            settings["prior"] = before.settings() | known
        report, arrays = fetched(*run(loss, "online", settings, **arrays))
        self._take(report, arrays, loss)
        self._learned = arrays["bytes"]
        return self

    def transform(self, X: npt.ArrayLike) -> Array:
        """Return the coordinates of the points of the sheet nearest to rows.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows. The result for one does not depend on the others.

        Returns
        -------
        ndarray of shape (n, d)
            For each row the tau for which loss(f(tau) - x) is least; where
            entries of it are missing, the loss of the others with the prior of
            the fit (see the parameter ``missing``). Computed in float64, and
            float32 where the rows are.
        """
        check_is_fitted(self)
        rows, d = self._seen(X), self.components_.shape[0]
        return self._model().map("transform", rows, d, dtype_like(X))

    def inverse_transform(self, T: npt.ArrayLike) -> Array:
        """Return the points of the sheet with the coordinates given.

        Parameters
        ----------
        T : array-like of shape (n, d)
            Coordinates.

        Returns
        -------
        ndarray of shape (n, D)
            The rows f(tau).
        """
        check_is_fitted(self)
        tau = check_rows(None, T, name="T")
        d, D = self.components_.shape
        if tau.shape[1] != d:
            raise InputError(
                f"T has {tau.shape[1]} columns; the model has {d} components"
            )
        return self._model().map("reconstruct", tau, D, dtype_like(T))

    @overload
    def project(
        self, X: npt.ArrayLike, *, return_report: Literal[False] = False
    ) -> Array: ...

    @overload
    def project(
        self, X: npt.ArrayLike, *, return_report: Literal[True]
    ) -> tuple[Array, ProjectionReport]: ...

    def project(
        self, X: npt.ArrayLike, *, return_report: bool = False
    ) -> Array | tuple[Array, ProjectionReport]:
        """Return the points of the sheet nearest to rows.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows.
        return_report : bool, default=False
            Say how far each projection can be trusted.

        Returns
        -------
        rows : ndarray of shape (n, D)
            The rows f(tau) with tau as of :meth:`transform`.
        report : ProjectionReport
            Distances, curvature, certificates and the second best places; only
            if return_report is True.
        """
        check_is_fitted(self)
        D = self.components_.shape[1]
        wanted = check_bool("return_report", return_report)
        rows = self._seen(X)
        if not wanted:
            return self._model().map("project", rows, D, dtype_like(X))
        both = self._model().map("report", rows, D + 5)
        residual, min_eigenvalue, certified, parts, second = both[:, D:].T.copy()
        known = not len(certified) or certified[0] >= 0
        report = ProjectionReport(
            residual=residual,
            min_eigenvalue=min_eigenvalue,
            certified=certified > 0 if known else None,
            parts=parts.astype(np.int64),
            second=second,
            _index=index_of(X),
        )
        return like(X, both[:, :D].copy()), report

    @overload
    def impute(
        self, X: npt.ArrayLike, *, return_std: Literal[False] = False
    ) -> Array: ...

    @overload
    def impute(
        self, X: npt.ArrayLike, *, return_std: Literal[True]
    ) -> tuple[Array, Array]: ...

    def impute(
        self, X: npt.ArrayLike, *, return_std: bool = False
    ) -> Array | tuple[Array, Array]:
        """Fill missing entries by their means given the other entries of their rows.

        Where the entries of a row leave its place on the sheet open, the mean is over
        all places that they allow, by how many learned rows are there;
        :meth:`project` gives the likeliest place.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows, with NaN where entries are missing; the model must have been fitted
            with ``missing="ignore"``. A row needs at least one entry.
        return_std : bool, default=False
            Say how uncertain the filled entries are.

        Returns
        -------
        filled : ndarray of shape (n, D)
            The rows; entries that were there are the same, to the bit.
        std : ndarray of shape (n, D)
            Standard deviations of the entries that were missing, of the place on the
            sheet and of the noise together, and 0 for the others; only if return_std
            is True.

        Examples
        --------
        >>> import numpy as np
        >>> from scqm import SCQM
        >>> t = np.linspace(-1, 1, 100)
        >>> X = np.column_stack([t, t**2])
        >>> model = SCQM(1, loss="squared_l2", missing="ignore").fit(X)
        >>> model.impute([[0.5, np.nan]]).round(2)
        array([[0.5 , 0.25]])
        """
        check_is_fitted(self)
        D = self.components_.shape[1]
        wanted = check_bool("return_std", return_std)
        rows = self._seen(X)
        both = self._model().map("impute", rows, 2 * D, dtype_like(X), more={})
        filled, std = both[:, :D].copy(), both[:, D:].copy()
        return (filled, std) if wanted else filled

    def influence(
        self, X: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> Influence:
        """Say how much each row drives the fit.

        The influence of a row is how far the sheet moves when it is left out, from
        derivatives at the fit: the infinitesimal jackknife, divided by one minus
        the leverage of the row. Nothing is fitted anew, but for losses with kinks
        that many residuals sit on, such as "l1": those are rounded first, and the
        influence is that on the rounded fit.

        Parameters
        ----------
        X : array-like of shape (n, D)
            The rows that the model was fitted to.
        sample_weight : array-like of shape (n,), optional
            Their weights, if they had some.

        Returns
        -------
        Influence
            Influence and residuals of every row; ``top()`` lists the rows that
            drive the fit.

        Raises
        ------
        InputError
            Rows that the model was not fitted to, a model that is not at a
            minimum, or one too large for second derivatives; a ValueError.

        Examples
        --------
        >>> import numpy as np
        >>> from scqm import SCQM
        >>> rng = np.random.default_rng(0)
        >>> t = np.linspace(-1, 1, 50)
        >>> X = np.column_stack([t, t**2]) + rng.normal(scale=0.02, size=(50, 2))
        >>> X[17, 1] += 0.5
        >>> model = SCQM(1, loss="squared_l2").fit(X)
        >>> int(model.influence(X).top(1)[0])
        17
        """
        check_is_fitted(self)
        rows = check_rows(self, X)
        weights = check_weights(sample_weight, rows)
        more = {"x": rows, "weights": weights}
        report, arrays = self._model().run("influence", {}, **more)
        columns = arrays["out"].reshape(-1, 4).T.copy()
        return Influence(*columns, **(report | {"_index": index_of(X)}))

    def score(
        self,
        X: npt.ArrayLike,
        y: None = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        hidden: float | None = None,
    ) -> float:
        """Return minus the mean loss of rows against their projections.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n,), optional
            Weights of the mean.
        hidden : float, optional
            Part of the columns, above 0 and below 1, that is hidden at a time and
            predicted from the others. The score then is minus the root mean squared
            error of the entries, in their unit, which does not improve with directions
            that follow noise only: use it to compare sheets of several dimensions, on
            rows that were not learned from. It tells little where D - d is below 3.

        Returns
        -------
        float
            At most 0; the higher, the better the sheet fits.
        """
        check_is_fitted(self)
        rows = self._seen(X)
        weights = check_weights(sample_weight, rows)
        if hidden is None:
            values = self._model().map("losses", rows, 1)[:, 0]
            return -float(np.average(values, weights=weights))
        if not 0 < (part := check_real("hidden", hidden, 0, True)) < 1:
            raise InputError(f"hidden is {hidden!r}; want a number above 0 and below 1")
        more = {"hidden": part, "seed": check_seed(self.random_state)}
        errors = self._model().map("hidden", rows, 1, more=more)[:, 0]
        return -float(np.sqrt(np.average(errors, weights=weights) / rows.shape[1]))

    def residual_parts(self) -> Array:
        """Return which part of the noise the fit has left in each residual.

        A fit takes from every row what is along the sheet, so that residuals have
        less variance than the noise, and other tails.
        :func:`scqm.losses.estimate_power` and :func:`scqm.losses.choose` allow for
        that.

        Returns
        -------
        ndarray of shape (n, D)
            For the residuals ``inverse_transform(embedding_) - X`` the variance
            that is left, as a part of that of the noise.

        Examples
        --------
        >>> import numpy as np
        >>> from scqm import SCQM
        >>> from scqm.losses import estimate_power
        >>> t = np.random.default_rng(0).uniform(-1, 1, (300, 1))
        >>> noise = np.random.default_rng(1).laplace(scale=0.1, size=(300, 10))
        >>> X = t + noise
        >>> model = SCQM(1, linear=True).fit(X)
        >>> residuals = model.inverse_transform(model.embedding_) - X
        >>> power = estimate_power(residuals, model.residual_parts())
        >>> abs(power.p - 1) < 2 * power.p_error
        True
        """
        check_is_fitted(self)
        tau = _native.contiguous(self.embedding_)
        return self._model().map("parts", tau, self.components_.shape[1])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, the same as the program scqm writes.

        The file takes the place of an older one only when it is complete.
        :func:`numpy.load` reads it: the arrays ``c`` (D,), ``U`` (D, d), ``V``
        (D, s), ``Theta`` (q, s) and ``tau`` (n, d), and ``meta.json``. Of a loss
        written in Python it holds the name only. The file ends in the SHA-256 of
        all before, so that :func:`load` refuses it once a single bit has changed;
        to change a model, change the arrays here and save it again.

        Parameters
        ----------
        path : str or PathLike
            The file, usually ending in ``.npz``.

        Raises
        ------
        FileError
            The file cannot be written; an OSError.
        """
        check_is_fitted(self)
        model = self._model()
        names = getattr(self, "feature_names_in_", None)
        model.report = model.report | {
            "feature_names": None if names is None else [str(name) for name in names]
        }
        _model_file.write(model, path)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def _seen(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return rows for a fitted model, as they are where that is float."""
        missing = self._report.get("missing") is not None
        return check_rows(self, X, missing=missing, in_place=True)

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn may send."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "ignore"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _settings(self, open_d: bool = False) -> dict[str, Any]:
        """Return the parameters as the library takes them; d is 0 where it is open."""
        solver = self.solver
        if isinstance(solver, type) or not isinstance(solver, str | solvers.Solver):
            raise InputError(
                f"solver is {solver!r}; want a name ({', '.join(solvers.names())}) "
                "or a Solver"
            )
        parameters = {
            name: check_parameter(name, getattr(self, name))
            for name in RULES.keys() - {"n_components", "n_threads"}
        }
        parameters["n_components"] = check_latent(self.n_components, open_d)
        parameters["random_state"] = check_seed(self.random_state)
        parameters["n_threads"] = check_threads(self.n_threads) or None
        return {
            "parameters": parameters,
            "solver": solver if isinstance(solver, str) else solver.name,
            "python_solver": isinstance(solver, solvers.Solver),
        }

    def _run(
        self,
        settings: dict[str, Any],
        loss: losses.Loss,
        X: Array,
        weights: Array | None,
    ) -> tuple[dict[str, Any], dict[str, Array]]:
        """Fit, and return the report and the flat arrays."""
        d = settings["parameters"]["n_components"]
        # The rows of the matrices among the blocks of the problem.
        counts = {"Q": X.shape[1], "Theta": d * (d + 1) // 2}

        solver = self.solver

        def reply(job: Job, state: Array) -> None:
            if state[_native.QUESTION] == _native.QUESTION_MINIMUM and isinstance(
                solver, solvers.Solver
            ):
                solvers.answer(solver, job, counts, self.max_iter, self.tol)
            else:
                answer(loss, job, state)

        arrays = {"x": X, "weights": weights, "precision": loss._matrix()}
        with Progress("SCQM", self.verbose, "it", self.max_iter) as progress:
            return _native.run("fit", settings, reply, progress, **arrays)

    def _take(
        self, report: dict[str, Any], arrays: dict[str, Array], loss: losses.Loss
    ) -> None:
        """Set the attributes from a fit or a file."""
        self._report = report
        self._learned = None
        self.n_samples_seen_ = report["n"]
        self.components_ = arrays["u"].T
        self.curvature_components_ = arrays["v"].T
        self.theta_ = arrays["theta"]
        self.offset_ = arrays["c"]
        self.embedding_ = arrays["tau"]
        self.objective_ = report["objective"]
        self.penalty_ = report["penalty"]
        self.n_iter_ = max(report["iterations"], 1)
        self.status_ = report["status"]
        self.message_ = report["message"]
        self.notes_ = report["notes"] or []
        self.warnings_ = report["warnings"] or []
        self.ridge_ = report["ridge"]
        self.curvature_ = report.get("curvature")
        self.curvature_extent_ = report["curvature_extent"]
        history = arrays["history"]
        self.history_ = {
            "iteration": history[:, 0].astype(np.int64),
            "cost": history[:, 1].copy(),
            "passes": history[:, 2].copy(),
            "seconds": history[:, 3].copy(),
        }
        self.kkt_ = report["kkt"]
        self.solver_ = report["solver"]
        found = report["loss"]
        self.loss_ = as_fitted(loss, found.get("params") or {}, found.get("plugin"))
        self.loss_reason_ = None
        self.n_components_ = report["d"]
        for entry, convert in _WHERE_KEPT.items():
            self.__dict__.pop(f"{entry}_", None)
            if entry in report:
                setattr(self, f"{entry}_", convert(report[entry]))

    def _name(self) -> None:
        """Set number and names of columns as the report has them."""
        self.n_features_in_ = self._report["D"]
        if names := self._report.get("feature_names"):
            self.feature_names_in_ = np.array(names, dtype=object)

    def _warn(self, stacklevel: int) -> None:
        """Warn of what is wrong with the fit."""
        for text in self.warnings_:
            unfinished = text == self.message_
            category = ConvergenceWarning if unfinished else UserWarning
            warnings.warn(f"SCQM: {text}", category, stacklevel=stacklevel)

    def _model(self) -> Model:
        """Return the model that the attributes make, which users may have changed."""
        return Model(
            c=self.offset_,
            U=self.components_.T,
            V=self.curvature_components_.T,
            Theta=self.theta_,
            tau=self.embedding_,
            loss=self.loss_,
            threads=check_threads(self.n_threads),
            report=self._report,
        )


def load(
    path: str | os.PathLike[str],
    *,
    loss: losses.LossLike | None = None,
    plugin_sha256: str | None = None,
) -> SCQM:
    """Read a model file of :meth:`SCQM.save` or of the program scqm.

    Parameters
    ----------
    path : str or PathLike
        The file.
    loss : str, Loss or callable, optional
        The loss to project with; needed for a model that was fitted with a loss
        written in Python.
    plugin_sha256 : str, optional
        For a model whose loss is computed by a plugin: the checksum that the file
        of the plugin must have, or "any". By default the one that the model
        records. The model says what the plugin is called, never where it is: it
        is looked for in the plugin folders, or is the one of ``loss``.

    Returns
    -------
    SCQM
        A fitted estimator, whose parameters are those of the file.

    Raises
    ------
    FileError
        The file cannot be read; an OSError.
    InputError
        It holds no model, one that was damaged or changed after it was written,
        or one with a loss unknown here; a ValueError.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> import scqm
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> model = scqm.SCQM(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(pathlib.Path(folder, "model.npz"))
    ...     again = scqm.load(pathlib.Path(folder, "model.npz"))
    >>> bool((again.transform(X) == model.transform(X)).all())
    True
    """
    stored = _model_file.read(path, loss, plugin_sha256)
    report = stored.report
    model = SCQM(
        report["d"],
        report["s"] or None,
        loss=stored.loss,
        solver=report["solver"] if report["solver"] in solvers.names() else "auto",
        linear=report["linear"],
        ridge=report["ridge"],
        missing="error" if report.get("missing") is None else "ignore",
        random_state=report["seed"],
    )
    model._take(report, stored.arrays, stored.loss)
    model._name()
    return model
