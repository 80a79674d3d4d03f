"""The estimator that moves noisy rows onto the surface they scatter about.

It checks the parameters of the methods, keeps a copy of the rows fitted, and leaves
the work to the library, where what a method has found out about the rows stays as
long as the estimator lives.
"""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.metrics import pairwise_distances_argmin_min
from sklearn.utils.validation import check_is_fitted

from . import _native, losses
from ._geometry import DenoiseGeometry
from ._native import Array, Job, Kept, library
from ._options import documented
from ._progress import Progress
from ._rows import check_components, check_rows, check_weights, like
from ._validation import (
    check_bool,
    check_count,
    check_integer,
    check_missing,
    check_real,
    check_threads,
)
from .exceptions import InputError
from .losses._answer import answer
from .losses._resolve import as_fitted, resolve

__all__ = ["DenoiseReport", "ManifoldDenoiser"]

# The default of n_neighbors, which leaves the choice to methods that make one, and
# that of loss, which leaves it to all methods but scqm and linear.
NEIGHBORS = 30
LOSS: Final = "l2"

# The methods that choose the number of neighbours by themselves.
CHOOSING = ("auto", "apss")

# The method without a surface, whose axes are n_axes.
LINEAR = "pca"

# What leaves the dimension to the library.
CHOOSE = -1

# The parameters that only some methods have, with what the library calls them.
SETTINGS = {
    "ridge": "Ridge",
    "passes": "Passes",
    "degree": "Degree",
    "flat_weights": "Flat",
    "width": "Width",
}

# Makes two threads that need a fit again do it once.
_lock = threading.Lock()


@dataclass(frozen=True)
class DenoiseReport:
    """How rows were denoised.

    Attributes
    ----------
    residual : ndarray of float, shape (n,)
        Distance by which the row was moved.
    noise : ndarray of float, shape (n,)
        Standard deviation of the noise of its neighbours in each direction away
        from the surface, as estimated from them; 0 where they cannot tell.
    n_neighbors : ndarray of int, shape (n,)
        Number of rows that the local surface was made from.
    ridge : ndarray of float, shape (n,)
        Curvature ridge it was made with.
    extrapolated : ndarray of bool, shape (n,)
        Whether the row, as it came or denoised, is outside of the ball that its
        neighbours fill, or, with "auto", further from the surface than the noise
        explains: the result rests on less than that of others.
    unchanged : ndarray of bool, shape (n,)
        Whether there was no surface, its point was so far from the neighbours that
        it cannot be meant, or entries are missing: the row is as it came.
    share_error : float
        What `share` has cost: the root mean square distance of up to 256 of the
        rows from where surfaces of their own take them. 0 without `share`.
    """

    residual: Array
    noise: Array
    n_neighbors: npt.NDArray[np.int64]
    ridge: Array
    extrapolated: npt.NDArray[np.bool_]
    unchanged: npt.NDArray[np.bool_]
    share_error: float


def report_of(about: Any, share_error: float) -> DenoiseReport:
    """Return the report for its columns, in an array of NumPy or of Dask."""
    return DenoiseReport(
        residual=about[:, 0].copy(),
        noise=about[:, 1].copy(),
        n_neighbors=about[:, 2].astype(np.int64),
        ridge=about[:, 3].copy(),
        extrapolated=about[:, 4] > 0,
        unchanged=about[:, 5] > 0,
        share_error=share_error,
    )


@documented
class ManifoldDenoiser(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Move noisy rows onto the curved surface they scatter about.

    For each row the nearest of the rows fitted tell how the surface runs there,
    and the row moves to the point of it that belongs to it. The result for a
    row depends on that row and on those fitted, to the last bit on nothing
    else: not on the rows denoised with it, nor on the number of threads. It is
    that of the program ``scqm denoise``.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Dimension d of the surface. With "auto" it is the one from 1 to 4, below D, for
        which local quadratic regression has the least estimated risk. It does not
        matter to the method "pca", which has ``n_axes``.
    n_neighbors : int or "auto", default=30
        Number of nearest rows to look at; all rows where there are fewer. With
        "auto" it is the one, from 8 to 300, of the least estimated risk; not for
        kernels of fixed width, which have none. The methods "auto" and "apss" also
        choose it by themselves if this is the default 30.
    method : str, default="auto"
        How to denoise; :meth:`methods` says what there is. "auto", the one to
        recommend, is quadratic regression over tangent planes with the number
        of neighbours and the curvature ridge chosen by estimated risk; it becomes
        "pca" where a linear model of all rows has less estimated risk. Where rows are
        too few for a method, or leave it no direction for noise (d = D), they stay as
        they are, with a warning.
    loss : str, Loss or callable, default="l2"
        Loss of a residual row, for the methods "scqm" and "linear": a name of
        :func:`scqm.losses.names`, a :class:`scqm.losses.Loss`, or a function
        that takes residual rows (n, D) and returns values (n,) and gradients
        (n, D). The method "auto" has Tukey's loss, which outliers do not move,
        if this is "tukey" or the default "l2", and "squared_l2". The others
        have none and want the default.
    {p}
    delta : float, optional
        Width of the losses that have one, in the unit of the data. By default that of
        :class:`scqm.losses.Huber` and :class:`scqm.losses.Tukey` for the distances of
        up to 300 rows from fits with the loss "l2".
    {precision}
    ridge : float, optional
        Penalty on curvature of "scqm" and "sqmf", by default 10, and of "qmf",
        by default 0.01.
    passes : int, optional
        End the fits of "scqm", "sqmf" and "linear" after so many passes of the
        alternating solver.
    degree : int, optional
        Degree of the polynomial of "mls", 1 or 2; by default 2.
    flat_weights : bool, default=False
        Give all neighbours the same weight, for "mls".
    width : float or "local", optional
        Kernel width of "kde" and "logkde"; "local" is the distance of the
        furthest neighbour, with no more than 16 times as many rows in the
        kernels. By default Silverman's rule.
    n_axes : int, "auto" or "all", default="auto"
        Principal axes of wide rows in whose coordinates surfaces are looked for.
        With "auto" these are the axes that are more than noise, where there are ten
        columns or more and at most four axes for five columns, else the columns; losses
        that look at columns keep them. "all" keeps all columns.
    average : int, optional
        Average over the surfaces of so many neighbours: better, and as many
        times slower.
    share : float, optional
        Let a surface serve all rows within this part, at most 1, of the size of
        its neighbourhood: faster and less exact; `report_.share_error` says how
        much.
    missing : {"error", "ignore"}, default="error"
        What to do with rows that have missing entries: refuse them, or leave them as
        they are. They are then nobody's neighbours, and ``unchanged`` in the report.
    {n_threads, verbose}

    Attributes
    ----------
    method_ : str
        The method used.
    n_components_ : int
        Dimension d of the surface, given or chosen; with the method "pca", the
        number of axes.
    n_axes_ : int
        Number of principal axes in whose coordinates rows are denoised; 0 where they
        keep their columns.
    grid_end_ : str
        Whether the number of neighbours that was chosen is the "smallest" or the
        "largest" that was tried, or "within"; empty where none was chosen.
    notes_ : list of str
        What was done differently from what was asked, and why.
    loss_ : Loss or None
        The loss, with its parameters; None where it is that of the method.
    report_ : DenoiseReport
        How the rows fitted are denoised. Where :meth:`fit` was called, not
        :meth:`fit_transform`, it is computed when it is first asked for.
    n_features_in_ : int
        Number D of columns.
    feature_names_in_ : ndarray of shape (D,)
        Names of the columns, where all of them are strings.

    See Also
    --------
    SCQM : One sheet for all rows.

    Notes
    -----
    The estimator keeps a copy of the rows fitted, and what the method has found
    out about them. A pickle holds the rows; the fit, which can be repeated to
    the last bit, is done again when the copy is first used.

    Examples
    --------
    >>> import numpy as np
    >>> from scqm import ManifoldDenoiser
    >>> from scqm.datasets import make_sphere
    >>> X, clean = make_sphere(200, noise=0.1, random_state=0)
    >>> denoiser = ManifoldDenoiser(n_components=2).fit(X)
    >>> def error(rows):
    ...     return ((rows - clean) ** 2).sum(axis=1).mean()
    >>> bool(error(denoiser.transform(X)) < 0.8 * error(X))
    True
    >>> rows, report = denoiser.denoise([[0.0, 0.0, 1.2], [0.0, 0.0, 2.0]])
    >>> bool(abs(report.residual[0] - 0.2) < 0.1)  # the distance moved
    True
    >>> bool(report.unchanged[1])  # which noise does not explain
    True
    """

    # Rows of the cells of large clouds; 0 for the default.
    _cell_rows = 0

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
        share: float | None = None,
        missing: str = "error",
        n_threads: int | None = None,
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
        self.width = width
        self.n_axes = n_axes
        self.average = average
        self.share = share
        self.missing = missing
        self.n_threads = n_threads
        self.verbose = verbose

    @staticmethod
    def methods() -> dict[str, str]:
        """Return the names of the methods and what they do.

        Returns
        -------
        dict of str
            The recommended one first.

        Examples
        --------
        >>> from scqm import ManifoldDenoiser
        >>> ManifoldDenoiser.methods()["mls"]
        'moving least squares'
        """
        return {m["name"]: m["summary"] for m in library()["methods"]}

    def fit(
        self,
        X: npt.ArrayLike,
        y: None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> ManifoldDenoiser:
        """Prepare to denoise rows by those of X.

        Parameters
        ----------
        X : array-like of shape (n, D)
            One sample per row; they are copied.
        y : None
            Ignored.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, at least 0, where surfaces are fitted to them.
            Rows of weight 0 are nobody's neighbours. A weight counts as that many
            repetitions: equal rows are one neighbour with the sum of their
            weights.

        Returns
        -------
        ManifoldDenoiser
            The estimator itself.

        Raises
        ------
        InputError
            Data or parameters that cannot be used; a ValueError.
        """
        settings, loss = self._settings()
        self._options()
        rows = self._checked(X, reset=True, ensure_min_samples=2)
        if settings["d"] != CHOOSE and self.method != LINEAR:
            check_components(settings["d"], rows.shape[1])
        weights = check_weights(sample_weight, rows)
        # Searches among the rows would go wrong if they changed.
        rows, weights = rows.copy(), None if weights is None else weights.copy()
        fitted = _Fitted(settings, loss, rows, weights)
        kept, report = fitted.prepare(self.verbose)
        self._fitted, self._kept = fitted, kept
        self.__dict__.pop("_report", None)
        self.__dict__.pop("_geometry", None)
        self.method_ = report["method"]
        self.n_components_, self.grid_end_ = report["d"], report["grid_end"]
        self.n_axes_ = report["axes"]
        self.notes_ = [report["note"]] if report["note"] else []
        self.loss_ = loss
        if loss is not None:
            self.loss_ = as_fitted(
                loss, report.get("loss_params") or {}, report.get("plugin")
            )
        if isinstance(loss, losses.Plugin):
            # A copy that fits again takes no other program.
            fitted.loss = self.loss_
        for note in self.notes_:
            warnings.warn(f"ManifoldDenoiser: {note}", UserWarning, stacklevel=2)
        return self

    def fit_transform(
        self,
        X: npt.ArrayLike,
        y: None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Array:
        """Fit to the rows of X and denoise them.

        Parameters
        ----------
        X : array-like of shape (n, D)
            One sample per row.
        y : None
            Ignored.
        sample_weight : array-like of shape (n,), optional
            As for :meth:`fit`.

        Returns
        -------
        ndarray of shape (n, D)
            The rows as :meth:`transform` gives them.
        """
        self.fit(X, sample_weight=sample_weight)
        rows, self._report = self._denoise(self._fitted.X)
        return like(X, rows)

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn may expect."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "ignore"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _checked(self, X: npt.ArrayLike, **checks: Any) -> Array:
        ignoring = check_missing(self.missing)
        return check_rows(self, X, missing=ignoring, empty=ignoring, **checks)

    def transform(self, X: npt.ArrayLike) -> Array:
        """Denoise rows, those fitted or others.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows. The result for one does not depend on the others.

        Returns
        -------
        ndarray of shape (n, D)
            For each row the point of the surface that belongs to it. A row
            without one is as it came.
        """
        check_is_fitted(self)
        return like(X, self._denoise(self._checked(X))[0])

    def denoise(self, X: npt.ArrayLike) -> tuple[Array, DenoiseReport]:
        """Denoise rows and say how far the result can be trusted.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows.

        Returns
        -------
        rows : ndarray of shape (n, D)
            The rows as :meth:`transform` gives them.
        report : DenoiseReport
            Distances moved, noise, neighbours, ridge and flags.
        """
        check_is_fitted(self)
        out, report = self._denoise(self._checked(X))
        return like(X, out), report

    def describe(
        self,
        X: npt.ArrayLike,
        *,
        normals: npt.ArrayLike | None = None,
        viewpoint: npt.ArrayLike | None = None,
    ) -> tuple[Array, DenoiseGeometry]:
        """Denoise rows and describe the surface there.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows, those fitted or others.
        normals : array-like of shape (n, D), optional
            Vectors that the normals are to agree with, such as those that a scan
            has brought; a row of zeros leaves the side open.
        viewpoint : array-like of shape (D,), optional
            Place that normals point to, such as that of the scanner. Without both,
            normals agree with each other along the rows fitted, and point outwards
            at the outermost row.

        Returns
        -------
        rows : ndarray of shape (n, D)
            The rows as :meth:`transform` gives them.
        geometry : DenoiseGeometry
            Normals, curvatures, standard errors and outlier scores.
        """
        check_is_fitted(self)
        X = self._checked(X)
        like = self._vectors("normals", normals, X.shape)
        place = self._vectors("viewpoint", viewpoint, X.shape[1:])
        return self._fitted.describe(
            self._alive(), X, self._options(), like, place, self.verbose
        )

    @staticmethod
    def _vectors(
        name: str, given: npt.ArrayLike | None, shape: tuple[int, ...]
    ) -> Array | None:
        if given is None:
            return None
        try:
            vectors = _native.contiguous(given)
        except (TypeError, ValueError) as error:
            raise InputError(f"{name}: {error}") from error
        if vectors.shape != shape or not np.isfinite(vectors).all():
            raise InputError(f"{name} must be finite numbers of the shape {shape}")
        return vectors

    def score(
        self,
        X: npt.ArrayLike,
        y: None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> float:
        """Return minus the mean distance of rows from the surface.

        It is for rows that were left out of the fit: a row that was fitted
        draws the surface towards itself. A row without a surface counts with
        its distance from the nearest row fitted.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n,), optional
            Weights of the mean.

        Returns
        -------
        float
            At most 0; the higher, the better.
        """
        check_is_fitted(self)
        rows = check_rows(self, X)
        _, report = self._denoise(rows)
        distances = report.residual
        if report.unchanged.any():
            _, nearest = pairwise_distances_argmin_min(
                rows[report.unchanged], self._fitted.used()
            )
            distances[report.unchanged] = nearest
        weights = check_weights(sample_weight, rows)
        return -float(np.average(distances, weights=weights))

    @property
    def report_(self) -> DenoiseReport:
        """How the rows fitted are denoised."""
        check_is_fitted(self)
        if "_report" not in self.__dict__:
            _, self._report = self._denoise(self._fitted.X)
        return self._report

    @property
    def geometry_(self) -> DenoiseGeometry:
        """The surface at the rows fitted."""
        check_is_fitted(self)
        if "_geometry" not in self.__dict__:
            _, self._geometry = self.describe(self._fitted.X)
        return self._geometry

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = {**super().__getstate__()}
        # What is in the library stays there.
        if "_kept" in state:
            state["_kept"] = None
        return state

    def _settings(self) -> tuple[dict[str, Any], losses.Loss | None]:
        """Return the parameters of the method as the library takes them."""
        known = {m["name"]: m["settings"] for m in library()["methods"]}
        method = self.method
        if not isinstance(method, str) or method not in known:
            raise InputError(f"method is {method!r}; want one of {', '.join(known)}")
        settings: dict[str, Any] = {
            "method": method,
            "d": self._count_or("n_components", {"auto": CHOOSE}),
            "n_neighbors": self._neighbors(),
            "axes": self._count_or("n_axes", {"auto": 0, "all": -1}),
            "cell_rows": self._cell_rows,
            "ignore_missing": check_missing(self.missing),
            "threads": check_threads(self.n_threads),
        }
        values: dict[str, Any] = {
            "ridge": None
            if self.ridge is None
            else check_real("ridge", self.ridge, 0, False),
            "passes": check_count("passes", self.passes),
            "degree": check_count("degree", self.degree),
            "flat_weights": check_bool("flat_weights", self.flat_weights) or None,
            "width": self._width(),
        }
        if (values["degree"] or 1) > 2:
            raise InputError(f"degree is {self.degree}; want 1 or 2")
        for name, value in values.items():
            if value is None:
                continue
            if SETTINGS[name] not in known[method]:
                having = [m for m, has in known.items() if SETTINGS[name] in has]
                raise InputError(
                    f"the method {method!r} has no {name}; {', '.join(having)} have"
                )
            settings["local_width" if value == "local" else name] = (
                value if value != "local" else True
            )
        if method == LINEAR and settings["n_neighbors"] != 30:
            raise InputError(f"the method {LINEAR!r} has no n_neighbors, but n_axes")
        loss = self._loss("Loss" in known[method])
        return settings, loss

    def _count_or(self, name: str, words: dict[str, int]) -> int:
        """Return a parameter that is an integer of at least 1, or one of some words."""
        value = getattr(self, name)
        if not isinstance(value, str):
            return check_integer(name, value, 1)
        if value not in words:
            wanted = " or ".join(["an integer", *map(repr, words)])
            raise InputError(f"{name} is {value!r}; want {wanted}")
        return words[value]

    def _neighbors(self) -> int:
        """Return the number of neighbours, -1 and, for "auto", 0 to choose it."""
        number = self._count_or("n_neighbors", {"auto": CHOOSE})
        if number == CHOOSE:
            if self.method in ("kde", "logkde") and self.width != "local":
                raise InputError(
                    "n_neighbors is 'auto'; kernels of fixed width have no neighbours "
                    "to choose, set width to 'local' or n_neighbors to its default"
                )
            return 0 if self.method == "auto" else CHOOSE
        return 0 if self.method in CHOOSING and number == NEIGHBORS else number

    def _width(self) -> float | str | None:
        if self.width is None or self.width == "local":
            return self.width
        if isinstance(self.width, str):
            raise InputError(f"width is {self.width!r}; want a number or 'local'")
        return check_real("width", self.width, 0, True)

    def _loss(self, has_loss: bool) -> losses.Loss | None:
        """Return the loss, None for that of the method."""
        given = (self.p, self.delta, self.precision)
        plain = isinstance(self.loss, str) and all(g is None for g in given)
        if self.method == "auto":
            if plain and self.loss in (LOSS, "tukey"):
                return None
            loss = resolve(self.loss, *given)
            if isinstance(loss, losses.L2):
                return None
            if not isinstance(loss, losses.SquaredL2):
                raise InputError(
                    f"loss is {self.loss!r}; the method 'auto' has Tukey's loss and "
                    "'squared_l2', the methods 'scqm' and 'linear' take any"
                )
            return loss
        if not has_loss:
            if plain and self.loss == LOSS:
                return None
            raise InputError(
                f"the method {self.method!r} takes no loss; 'scqm' and 'linear' do"
            )
        return resolve(self.loss, *given)

    def _options(self) -> dict[str, Any]:
        """Return the parameters for denoising as the library takes them."""
        average = check_count("average", self.average)
        share = 0.0
        if self.share is not None:
            share = check_real("share", self.share, 0, True)
            if share > 1:
                raise InputError(f"share is {share}; want at most 1")
            if (average or 0) > 1:
                raise InputError("share and average exclude each other; set one")
        return {
            "average": average or 0,
            "share": share,
            "ignore_missing": check_missing(self.missing),
            "threads": check_threads(self.n_threads),
        }

    def _alive(self) -> Kept:
        """Return what stays in the library, made again where it does not."""
        kept = self._kept
        if kept is None or not kept.alive():
            with _lock:
                kept = self._kept
                if kept is None or not kept.alive():
                    kept, _ = self._fitted.prepare(self.verbose)
                    self._kept = kept
        return kept

    def _denoise(self, X: Array) -> tuple[Array, DenoiseReport]:
        rows, report = self._fitted.denoise(
            self._alive(), X, self._options(), self.verbose
        )
        if len(X) > 1 and not self.notes_ and report.unchanged.all():
            warnings.warn(
                "ManifoldDenoiser: no surface was found near any of the rows, which "
                "are returned as they came; are they like those fitted to?",
                UserWarning,
                stacklevel=3,
            )
        return rows, report


class _Fitted:
    """Rows and settings, of which the library makes what it denoises with."""

    def __init__(
        self,
        settings: dict[str, Any],
        loss: losses.Loss | None,
        X: Array,
        weights: Array | None,
    ) -> None:
        self.settings = settings
        self.loss = loss
        self.X = X
        self.weights = weights

    def used(self) -> Array:
        """Return the rows of positive weight without missing entries."""
        rows = self.X if self.weights is None else self.X[self.weights > 0]
        return rows[~np.isnan(rows).any(axis=1)]

    def _told(self) -> tuple[dict[str, Any], dict[str, Array | None]]:
        """Return what the library is told of the method and of the rows."""
        choice = None if self.loss is None else self.loss._choice()
        matrix = None if self.loss is None else self.loss._matrix()
        # Arrays from a pickle may be anywhere in memory.
        weights = None if self.weights is None else _native.contiguous(self.weights)
        return self.settings | {"loss": choice}, {
            "x": _native.contiguous(self.X),
            "weights": weights,
            "precision": matrix,
        }

    def prepare(self, verbose: bool) -> tuple[Kept, dict[str, Any]]:
        """Fit, and return what stays in the library and its report."""
        settings, arrays = self._told()
        with (
            Progress("ManifoldDenoiser: fit", verbose) as progress,
            Job(answer=self._answer) as job,
        ):
            job.start("denoiser", settings, **arrays).wait(progress=progress)
            report, _ = job.result()
            self.settings = self.settings | {"d": report["d"]}
            return job.kept(), report

    def partition(self, total: int) -> dict[str, Any]:
        """Cut space into cells for so many rows, of which these are a sample."""
        settings, arrays = self._told()
        settings["total"] = total
        made: dict[str, Any]
        made, _ = _native.run("partition", settings, self._answer, **arrays)
        return made

    def denoise(
        self, kept: Kept, X: Array, options: dict[str, Any], verbose: bool
    ) -> tuple[Array, DenoiseReport]:
        """Denoise rows with what stayed in the library."""
        cost, made = self._run("denoise", kept, X, options, verbose)
        about = made["about"].reshape(len(X), -1)
        return made["out"].reshape(X.shape), report_of(about, cost)

    def describe(
        self,
        kept: Kept,
        X: Array,
        options: dict[str, Any],
        like: Array | None,
        viewpoint: Array | None,
        verbose: bool,
    ) -> tuple[Array, DenoiseGeometry]:
        """Denoise rows, and describe the surface there."""
        if viewpoint is not None:
            options["viewpoint"] = viewpoint.tolist()
        _, made = self._run("geometry", kept, X, options, verbose, like=like)
        found = made.get("normals"), made.get("principal")
        normals, bends = (a if a is None else a.reshape(len(X), -1) for a in found)
        numbers = made["curvature"], made["error"], made["score"]
        return made["out"].reshape(X.shape), DenoiseGeometry(normals, bends, *numbers)

    def _run(
        self,
        act: str,
        kept: Kept,
        X: Array,
        options: dict[str, Any],
        verbose: bool,
        **arrays: Array | None,
    ) -> tuple[Any, dict[str, Array]]:
        """Run a job on rows with what stayed in the library."""
        settings = options | {"denoiser": kept.number}
        with (
            Progress("ManifoldDenoiser: denoise", verbose) as progress,
            Job(kept, answer=self._answer) as job,
        ):
            job.start(act, settings, x=X, **arrays).wait(progress=progress)
            return job.result()

    def _answer(self, job: Job, state: Array) -> None:
        if self.loss is not None:
            answer(self.loss, job, state)
