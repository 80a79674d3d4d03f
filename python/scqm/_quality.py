"""How good a fit is, in numbers: R2, scores and outliers of rows, standard errors."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ._native import Array
from ._validation import check_real
from .exceptions import InputError

# Losses whose nearest point is that of the distance.
RADIAL = ("l2", "squared_l2", "huber")
# The standard deviation of a normal variable over its median absolute deviation.
NORMAL = 1.4826


class Quality:
    """What a fitted SCQM says about its fit and about rows."""

    def score_samples(self: Any, X: npt.ArrayLike) -> Array:
        """Return minus the loss of each row against its projection.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            At most 0; the higher, the nearer the row is to the sheet. Its mean is
            :meth:`score`.
        """
        check_is_fitted(self)
        losses: Array = self._model().map("losses", self._seen(X), 1)[:, 0]
        return -losses

    def outliers(
        self: Any, X: npt.ArrayLike, *, level: float = 0.01
    ) -> npt.NDArray[np.bool_]:
        """Say which rows are farther from the sheet than rows of the fit are.

        The distances r of the rows of the fit, to the power 2/3, are about normal; the
        threshold has their median and, from the median of absolute deviations, their
        standard deviation [3]_. A fit of blocks or by ``partial_fit`` keeps none, and
        the rows X are compared with each other.

        A curved sheet can bend to an outlier of the fit, whose distance is small then:
        :meth:`influence` shows it, and ``loss="l2"`` bends less than "squared_l2".

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows.
        level : float, default=0.01
            Part of the rows without fault that is above the threshold, in (0, 1).

        Returns
        -------
        ndarray of bool, shape (n,)
            True for outliers.

        References
        ----------
        .. [3] M. Hubert, P. Rousseeuw and K. Vanden Branden, ROBPCA: a new approach
           to robust principal component analysis, Technometrics 47 (2005).

        Examples
        --------
        >>> import numpy as np
        >>> from scqm import SCQM
        >>> rng = np.random.default_rng(0)
        >>> t = np.linspace(-1, 1, 100)
        >>> X = np.column_stack([t, t**2, 0 * t]) + rng.normal(0, 0.02, (100, 3))
        >>> X[40, 2] += 0.3
        >>> np.flatnonzero(SCQM(1).fit(X).outliers(X))
        array([40])
        """
        check_is_fitted(self)
        far = distances(self, X)
        rounding = 1e-12 * float(np.abs(self.offset_).max(initial=far.max(initial=0)))
        return far > max(threshold(self, level, far), rounding)

    def standard_errors(self: Any, X: npt.ArrayLike) -> Array:
        """Return standard errors of the coordinates of rows, for the sheet as it is.

        That of tau is sigma (H^-1 J'J H^-1)^(1/2), with J the Jacobian of f, H the
        second derivatives of half the squared distance, and sigma the noise of an entry
        from the median distance of rows, whose noise must be about normal and equal in
        all directions. The error of the sheet itself is ``sheet_error`` of
        :meth:`influence`.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows, of which no entry is missing.

        Returns
        -------
        ndarray of shape (n, d)
            Standard errors; infinite where a small step of the row moves its place on
            the sheet far.

        Raises
        ------
        InputError
            The loss does not depend on the distance alone, an entry is missing, or
            D = d; a ValueError.
        """
        check_is_fitted(self)
        d, D = self.components_.shape
        rows = np.asarray(self._seen(X), dtype=np.float64)
        if self.loss_.name not in RADIAL or d == D or np.isnan(rows).any():
            raise InputError(
                f"standard errors are for the losses {', '.join(RADIAL)}, for whole "
                f"rows and D > d; the loss is {self.loss_.name}, D = {D}, d = {d}"
            )
        forms = np.zeros((len(self.curvature_components_), d, d))
        upper = np.triu_indices(d)
        forms[:, upper[0], upper[1]] = self.theta_.T
        forms += forms.transpose(0, 2, 1)
        fitted = self._model()
        tau = fitted.map("transform", rows, d)
        bent = (fitted.map("reconstruct", tau, D) - rows) @ self.curvature_components_.T
        slopes = np.einsum("kij,nj->nki", forms, tau)
        metric = np.eye(d) + np.einsum("nki,nkj->nij", slopes, slopes)
        values, axes = np.linalg.eigh(metric + np.einsum("nk,kij->nij", bent, forms))
        with np.errstate(divide="ignore"):
            inverse = np.where(values > 0, 1 / values, np.inf)
        sure = np.isfinite(inverse).all(axis=1)
        inverse[~sure] = 0
        half = np.einsum("nij,nj,nkj->nik", axes, inverse, axes)
        variance = np.einsum("nij,njk,nki->ni", half, metric, half)
        variance[~sure] = np.inf
        middle = _spread(self, distances(self, X))[0]
        # The cube root of a chi-squared variable of k over k is about normal around
        # 1 - 2 / (9 k).
        sigma = (middle / (1 - 2 / (9 * (D - d)))) ** 1.5 / np.sqrt(D - d)
        errors: Array = sigma * np.sqrt(variance)
        return errors

    def summary(self: Any) -> str:
        """Return a text of some lines about the fit.

        Returns
        -------
        str
            Sizes and how the fit ended; R2, beside that of principal components with d
            and with d + s coordinates; what speaks for curvature; the distance that
            one in a hundred rows exceeds; warnings.

        Examples
        --------
        >>> import numpy as np
        >>> from scqm import SCQM
        >>> t = np.linspace(-1, 1, 100)
        >>> model = SCQM(1).fit(np.column_stack([t, t**2, 0 * t]))
        >>> print(model.summary().splitlines()[4])
        R2 of PCA             0.7862 with d = 1, 1 with d + s = 2
        """
        check_is_fitted(self)
        return "\n".join(f"{name:21} {text}" for name, text in facts(self))

    def __repr__(self: Any, N_CHAR_MAX: int = 700) -> str:
        text = str(BaseEstimator.__repr__(self, N_CHAR_MAX))
        r2 = getattr(self, "r2_", None)
        return text if r2 is None else f"{text}  # R2 = {r2:.3g}"


def facts(model: Any) -> list[tuple[str, str]]:
    """Return what is to be known of a fit, as names and texts."""
    d, D = model.components_.shape
    s = 0 if model._report["linear"] else len(model.curvature_components_)
    ridge = f", ridge {model.ridge_:.3g}" if s else ""
    lines = [
        ("model", f"d = {d}, s = {s}, loss {model.loss_.name}{ridge}"),
        ("data", f"{model.n_samples_seen_} rows of {D} columns"),
        ("ended", f"{model.status_}: {model.message_}"),
    ]
    if hasattr(model, "r2_"):
        lines.append(("R2", f"{model.r2_:.4g}"))
    if hasattr(model, "r2_pca_"):
        few, more = model.r2_pca_
        text = f"{few:.4g} with d = {d}"
        if s:
            text += f", {more:.4g} with d + s = {min(d + s, D)}"
        lines.append(("R2 of PCA", text))
    if model.curvature_ is not None:
        sentence = model.curvature_["sentence"].removeprefix("curvature: ")
        lines.append(("curvature", sentence))
    if found := model._report.get("distances"):
        middle, high = found[0] ** 1.5, threshold(model)
        text = f"{middle:.4g} in the median, above {high:.4g} for 1 %"
        lines.append(("distance of a row", text))
    return lines + [("warning", text) for text in model.warnings_]


def distances(model: Any, X: npt.ArrayLike) -> Array:
    """Return distances of rows from the sheet.

    Where entries are missing it is the root of D times the mean square of the others.
    """
    rows = np.asarray(model._seen(X), dtype=np.float64)
    square = (model._model().map("project", rows, rows.shape[1]) - rows) ** 2
    far: Array = np.sqrt(np.nanmean(square, axis=1) * rows.shape[1])
    return far


def threshold(model: Any, level: float = 0.01, far: Array | None = None) -> float:
    """Return the distance that such a part of the rows without fault exceeds."""
    if not 0 < check_real("level", level, 0, True) < 1:
        raise InputError(f"level is {level!r}; want a number above 0 and below 1")
    middle, deviation = _spread(model, far)
    power = middle + NormalDist().inv_cdf(1 - level) * deviation
    return float(max(power, 0.0) ** 1.5)


def _spread(model: Any, far: Array | None) -> tuple[float, float]:
    """Return middle and deviation of distances to the power 2/3."""
    known: Any = model._report.get("distances")
    if known is None:
        assert far is not None  # rows to compare with each other
        power = np.cbrt(far**2)
        middle = float(np.median(power))
        return middle, NORMAL * float(np.median(np.abs(power - middle)))
    return float(known[0]), float(known[1])
