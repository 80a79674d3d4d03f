"""Many fits at once: :func:`fit_many` and what it returns.

All sets of rows cross into the library as one array with a list of lengths, and all
models come back as a few arrays, from which estimators are made when asked for.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from . import losses
from ._estimator import SCQM
from ._native import Array, contiguous
from ._options import documented
from ._parameters import FitOptions
from ._progress import Progress
from ._rows import check_components, check_rows, check_weights
from ._validation import check_bool
from .exceptions import InputError
from .losses._answer import run
from .losses._resolve import AUTO, as_fitted, resolve

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Fits", "fit_many"]


class Fits(Sequence[SCQM]):
    """Many fitted sheets: arrays of all of them, and a sequence of estimators.

    ``fits[i]`` is the fitted :class:`SCQM` of set i, made when it is asked for, and
    ``fits[a:b]`` the fits of some of the sets. B is the number of sets.

    Attributes
    ----------
    components : ndarray of shape (B, d, D)
        The axes along which the sheets spread.
    curvature_components : ndarray of shape (B, s, D)
        The axes into which they bend. Where the rows of a set decide on fewer than s
        (see ``n_curvature``), zeros follow, as in ``theta``.
    theta : ndarray of shape (B, d(d+1)/2, s)
        Their curvatures.
    offset : ndarray of shape (B, D)
        The points c.
    embeddings : list of ndarray of shape (n_i, d)
        The coordinates of the rows of each set.
    mean : ndarray of shape (B, D)
        Weighted means of the rows of each set.
    explained_variance_ratio : ndarray of shape (B, d)
        Which part of the variance of the rows each coordinate has.
    objective, penalty, ridge, curvature_extent : ndarray of shape (B,)
        As ``objective_``, ``penalty_``, ``ridge_`` and ``curvature_extent_`` of
        :class:`SCQM`.
    stationarity : ndarray of shape (B,)
        First-order residuals, free of scale, which ``tol`` is compared with.
    n_iter : ndarray of int, shape (B,)
        Iterations.
    status : ndarray of str, shape (B,)
        "converged", "stalled", "max_iter" or "time_limit".
    warnings : dict of int
        Numbers of fits by what is wrong with them: a status other than "converged",
        and "curvature", of sheets that are folded and follow single rows.
    """

    components: Array
    curvature_components: Array
    theta: Array
    offset: Array
    embeddings: list[Array]
    mean: Array
    explained_variance_ratio: Array
    objective: Array
    penalty: Array
    ridge: Array
    curvature_extent: Array
    stationarity: Array
    n_iter: npt.NDArray[np.int64]
    status: npt.NDArray[np.str_]
    warnings: dict[str, int]

    def __init__(
        self,
        params: dict[str, Any],
        loss: losses.Loss,
        reports: list[dict[str, Any]],
        arrays: dict[str, Array],
        embeddings: list[Array],
    ) -> None:
        self._params, self._loss = params, loss
        self._reports, self._arrays = reports, arrays
        self.offset = arrays["c"]
        self.components = arrays["u"].transpose(0, 2, 1)
        self.curvature_components = arrays["v"].transpose(0, 2, 1)
        self.theta, self.embeddings = arrays["theta"], embeddings
        _, D, d = arrays["u"].shape
        self.mean = self._rows("mean", D)
        self.explained_variance_ratio = self._rows("explained_variance_ratio", d)
        for name in "objective", "penalty", "ridge", "curvature_extent":
            setattr(self, name, np.array([r[name] for r in reports], dtype=float))
        self.stationarity = np.array([max(r["stationarity"]) for r in reports])
        self.n_iter = np.array([r["iterations"] for r in reports], dtype=np.int64)
        self.status = np.array([r["status"] for r in reports], dtype=np.str_)
        self._which = self._warned()
        self.warnings = {name: len(which) for name, (_, which) in self._which.items()}

    def _rows(self, name: str, width: int) -> Array:
        """Return an entry of all reports, NaN where one has none."""
        none = [np.nan] * width
        rows = [r.get(name, none) for r in self._reports]
        return np.array(rows, dtype=float).reshape(len(rows), width)

    def __len__(self) -> int:
        return len(self._reports)

    @overload
    def __getitem__(self, index: int) -> SCQM: ...
    @overload
    def __getitem__(self, index: slice) -> Fits: ...
    def __getitem__(self, index: int | slice) -> SCQM | Fits:
        if isinstance(index, slice):
            arrays = {name: a[index] for name, a in self._arrays.items()}
            some = self._reports[index], arrays, self.embeddings[index]
            return Fits(self._params, self._loss, *some)
        try:
            report = self._reports[index]
        except IndexError:
            raise IndexError(f"fit {index} of {len(self)}") from None
        arrays = {name: a[index] for name, a in self._arrays.items()}
        for name in "v", "theta":
            arrays[name] = contiguous(arrays[name][:, : report["s"]])
        arrays["tau"], arrays["history"] = self.embeddings[index], np.empty((0, 4))
        model = SCQM(**self._params)
        found = report["loss"]
        loss = as_fitted(self._loss, found.get("params") or {}, found.get("plugin"))
        model._take(dict(report), arrays, loss)
        model._name()
        return model

    def __repr__(self) -> str:
        B, d, D = self.components.shape
        names, counts = np.unique(self.status, return_counts=True)
        ends = ", ".join(f"{n} {s}" for s, n in zip(names, counts, strict=True))
        s = self.curvature_components.shape[1]
        loss = self._loss._choice()["name"]
        return f"Fits({B} of d={d}, s={s}, D={D} by {loss}: {ends})"

    def _warned(self) -> dict[str, tuple[str, list[int]]]:
        """Return by what is wrong the first warning, and the numbers of the fits."""
        found: dict[str, tuple[str, list[int]]] = {}
        for i, report in enumerate(self._reports):
            for text in report["warnings"] or []:
                name = report["status"] if text == report["message"] else "curvature"
                found.setdefault(name, (text, []))[1].append(i)
        return found

    def _warn(self, stacklevel: int) -> None:
        """Warn once of each kind of thing that is wrong."""
        for name, (text, which) in self._which.items():
            status = name != "curvature"
            what = f"ended {name!r}" if status else "are folded"
            warnings.warn(
                f"fit_many: {len(which)} of {len(self)} fits {what}, the first is fit "
                f"{which[0]}: {text}",
                ConvergenceWarning if status else UserWarning,
                stacklevel=stacklevel,
            )


@documented
def fit_many(
    X: npt.ArrayLike | Sequence[npt.ArrayLike],
    n_components: int = 2,
    n_curvature: int | Literal["full"] | None = None,
    *,
    sample_weight: npt.ArrayLike | Sequence[npt.ArrayLike] | None = None,
    **options: Unpack[FitOptions],
) -> Fits:
    """Fit a sheet to each of many small sets of rows.

    The fits are those of :meth:`SCQM.fit` of each set, to the last bit, on several
    threads. Sets share nothing but the settings, which are those of :class:`SCQM`;
    ``loss="auto"`` is not there.

    Parameters
    ----------
    X : array-like of shape (B, n, D), or list of B array-like of shape (n_i, D)
        The sets, with one sample per row.
    {n_components, n_curvature}
    sample_weight : array-like of shape (B, n), or list of arrays of shape (n_i,)
        Factors of the losses of the rows, at least 0; by default all are 1.
    {...}

    Returns
    -------
    Fits
        Arrays of all fits, and a sequence of fitted :class:`SCQM`.

    Raises
    ------
    InputError
        Data or parameters that cannot be used, naming the first fit and row; a
        ValueError. Nothing is fitted then.
    NonFiniteError
        The loss gave NaN or infinite values.

    Examples
    --------
    >>> import numpy as np
    >>> import scqm
    >>> from sklearn.neighbors import NearestNeighbors
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> X /= np.linalg.norm(X, axis=1, keepdims=True)
    >>> near = NearestNeighbors(n_neighbors=30).fit(X).kneighbors(return_distance=False)
    >>> fits = scqm.fit_many(X[near], 2, loss="squared_l2")
    >>> fits.components.shape
    (500, 2, 3)
    >>> bool(np.abs(fits[7].project(X[near[7]]) - X[near[7]]).max() < 0.05)
    True
    """
    params: dict[str, Any] = {
        "n_components": n_components,
        "n_curvature": n_curvature,
        **options,
    }
    model = SCQM(**params)
    if isinstance(model.loss, str) and model.loss == AUTO:
        raise InputError("loss='auto' is not there for many fits; name a loss")
    settings = model._settings()
    if not isinstance(model.solver, str):
        raise InputError(f"solver is {model.solver!r}; want a name for many fits")
    parameters = settings["parameters"]
    params["random_state"] = parameters["random_state"]
    scorer = resolve(model.loss, model.p, model.delta, model.precision)
    rows, lengths = _join(model, X, model.missing == "ignore")
    weights = _join_weights(sample_weight, rows, lengths)
    d, D = parameters["n_components"], rows.shape[1]
    check_components(d, D)
    pinned = parameters["n_curvature"]
    s = min(pinned if isinstance(pinned, int) else d * (d + 1) // 2, D - d)
    names = getattr(model, "feature_names_in_", None)
    settings |= {"lengths": lengths, "width": s}
    verbose = check_bool("verbose", model.verbose)
    with Progress(f"fit_many: {len(lengths)} fits", verbose) as progress:
        reports, arrays = run(
            scorer, "many", settings, progress, x=rows, weights=weights
        )
    B, q = len(lengths), d * (d + 1) // 2
    shapes = {"c": (B, D), "u": (B, D, d), "v": (B, D, s), "theta": (B, q, s)}
    for name, shape in (shapes | {"tau": (len(rows), d)}).items():
        arrays[name] = arrays[name].reshape(shape)
    if names is not None:
        for report in reports:
            report["feature_names"] = [str(name) for name in names]
    tau, ends = arrays.pop("tau"), np.cumsum(lengths).tolist()
    embeddings = [tau[i:j] for i, j in zip([0, *ends], ends, strict=False)]
    fits = Fits(params, scorer, reports, arrays, embeddings)
    fits._warn(stacklevel=3)
    return fits


def _join(
    model: SCQM, X: npt.ArrayLike | Sequence[npt.ArrayLike], missing: bool
) -> tuple[Array, list[int]]:
    """Return the rows of all sets, and how many each has.

    The model learns the names of the columns, which are those of the first set.
    """
    if isinstance(X, np.ndarray) and X.dtype != object:
        if X.ndim != 3:
            raise InputError(
                f"X has {X.ndim} dimensions; want an array of shape (B, n, D), or a "
                "list of B arrays of shape (n_i, D)"
            )
        B, n, D = X.shape
        if n > 1:
            with suppress(ValueError, TypeError):  # said below, with the fit
                flat = X.reshape(B * n, D)
                rows = check_rows(model, flat, reset=True, missing=missing)
                return rows, [n] * B
    given: Any = X  # what is no sequence raises an error of its own
    parts: list[Array] = []
    for i, x in enumerate(given):
        try:
            checks: dict[str, Any] = {"reset": i == 0, "ensure_min_samples": 2}
            parts.append(check_rows(model, x, missing=missing, **checks))
        except (TypeError, ValueError) as error:
            raise InputError(f"fit {i}: {error}") from None
    if not parts:
        raise InputError("X has no sets of rows; want at least one")
    return np.concatenate(parts), [len(p) for p in parts]


def _join_weights(
    weights: npt.ArrayLike | Sequence[npt.ArrayLike] | None,
    rows: Array,
    lengths: list[int],
) -> Array | None:
    """Return the weights of the rows of all sets."""
    if weights is None:
        return None
    given: Any = weights  # what is no sequence raises an error of its own
    if len(given) != len(lengths):
        raise InputError(
            f"sample_weight is for {len(given)} fits, X for {len(lengths)}"
        )
    ends = np.cumsum(lengths)
    parts: list[Any] = []
    for i, (own, part) in enumerate(zip(given, np.split(rows, ends[:-1]), strict=True)):
        try:
            parts.append(check_weights(np.asanyarray(own), part))
        except (TypeError, ValueError) as error:
            raise InputError(f"fit {i}: {error}") from None
    return contiguous(np.concatenate(parts))
