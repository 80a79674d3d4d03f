"""Parameters of fits, as models/scqm/parameters.go has them.

It is written by make parameters; change the table there.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from .losses import LossLike
from .solvers import Solver, SolverName

RIDGE = 0.001


class FitOptions(TypedDict, total=False):
    """Parameters by name."""

    loss: LossLike
    p: float | None
    delta: float | None
    precision: npt.ArrayLike | None
    solver: SolverName | Solver
    linear: bool
    ridge: float | Literal["auto"]
    n_init: int
    missing: Literal["error", "ignore"]
    max_iter: int | None
    tol: float | None
    time_limit: float | None
    random_state: int | np.random.RandomState | np.random.Generator | None
    n_threads: int | None
    verbose: bool


class FitParameters:
    """The parameters of an estimator."""

    def __init__(
        self,
        n_components: int | float | Literal["auto"] = 2,
        n_curvature: int | Literal["full"] | None = None,
        *,
        loss: LossLike = "l2",
        p: float | None = None,
        delta: float | None = None,
        precision: npt.ArrayLike | None = None,
        solver: SolverName | Solver = "auto",
        linear: bool = False,
        ridge: float | Literal["auto"] = 0.001,
        n_init: int = 1,
        missing: Literal["error", "ignore"] = "error",
        max_iter: int | None = None,
        tol: float | None = None,
        time_limit: float | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        n_threads: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_curvature = n_curvature
        self.loss = loss
        self.p = p
        self.delta = delta
        self.precision = precision
        self.solver = solver
        self.linear = linear
        self.ridge = ridge
        self.n_init = n_init
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose


class Rule(NamedTuple):
    """What the library takes of a parameter: numbers with a bound, and words."""

    kind: type
    least: float
    above: bool
    words: tuple[str, ...]
    optional: bool


RULES: dict[str, Rule] = {
    "n_components": Rule(int, 1, False, (), False),
    "n_curvature": Rule(int, 1, False, ("full",), True),
    "linear": Rule(bool, 0, False, (), False),
    "ridge": Rule(float, 0, False, ("auto",), False),
    "n_init": Rule(int, 1, False, (), False),
    "missing": Rule(str, 0, False, ("error", "ignore"), False),
    "max_iter": Rule(int, 1, False, (), True),
    "tol": Rule(float, 0, True, (), True),
    "time_limit": Rule(float, 0, True, (), True),
    "n_threads": Rule(int, 1, False, (), True),
}

DOCUMENTED = """
n_components : int, float or "auto"
    Latent dimension d. A float between 0 and 1 takes as many as principal
    components need for that part of the variance; a curved sheet needs no more.
    "auto" takes the d of :func:`scqm.suggest`, and its curvature and ridge
    where ``n_curvature`` and ``ridge`` are the defaults: see ``n_components_``,
    ``ridge_`` and ``notes_``.
n_curvature : int or "full"
    Number s of directions in which the sheet may bend, or full for the most,
    min(d(d+1)/2, D-d); by default a test on the rows decides. The sheet is then
    flat where they show no curvature, bends in as many directions as they show,
    and is held back by a larger ridge where it would fold; see ``curvature_``.
loss : str, Loss or callable
    Loss that is summed over the residual rows. A name of
    :func:`scqm.losses.names`, a :class:`scqm.losses.Loss`, or a function that
    takes residual rows (n, D) and returns values (n,) and gradients (n, D).
    "auto" fits with "l2", and again where single entries are outlying or the
    residuals speak for another loss: see ``loss_`` and ``loss_reason_``.
p : float
    Power of the loss lp, at least 1; for the loss quantile, the part of the
    data below the sheet.
delta : float
    Width of the losses huber, huber_entries, tukey, cauchy, welsch and
    geman_mcclure, in the unit of the data; by default it is a robust scale of
    the residuals times a constant for 95 % efficiency.
    :class:`scqm.losses.Huber` and :class:`scqm.losses.Tukey` say what the
    widths are.
precision : array-like of shape (D, D)
    Matrix of the loss mahalanobis.
solver : str or Solver
    Solver of the fit. A name of :func:`scqm.solvers.names`, or a
    :class:`scqm.solvers.Solver`.
linear : bool
    Keep the sheet flat, Theta = 0.
ridge : float or "auto"
    Penalty on curvature, relative to the scale of the data: 0.01 to 0.1 if
    coordinates and neighbours matter, 0 for data without noise or the published
    objective, auto to choose it by the error at hidden entries of held-out
    rows. It adds ``ridge (F_lin / n) h2 sum_k |A_k|^2`` to the objective, with
    F_lin the objective of the principal component start, h2 the mean squared
    distance of the rows from their mean, and A_k the symmetric matrix of column
    k of Theta. "auto" is one of 0.001, 0.01, 0.1, 1 and 10, by two folds: see
    ``ridge_``.
n_init : int
    Number of starts, of which the best fit is kept: first the planes of
    principal scores that predict the other scores best, then random rotations.
    They race: most end after a few evaluations, two run to the end. One whose
    curvature is folded does not take the place of one that bends gently.
missing : {"error", "ignore"}
    What to do with missing entries: refuse them (error) or give them no weight
    (ignore). The loss must then be a sum over entries: "squared_l2", "l1",
    "lp", "huber", which is taken entry by entry, or a plugin or a loss of your
    own that is separable. The coordinates of a row with missing entries have a
    Gaussian prior, as wide as those of all rows, so that few entries place it
    too. :meth:`scqm.SCQM.impute` fills the entries that are missing.
max_iter : int
    Largest number of iterations; by default 10000.
tol : float
    First-order residual, a scale-free measure of the gradients, at which a fit
    counts as converged; by default 1e-6.
time_limit : float
    Longest time of the fit, in seconds from its start.
random_state : int, RandomState, Generator or None
    Seed of random choices; by default 0, so that fits are repeatable.
n_threads : int
    Number of threads, by default one for each processor; the result does not
    depend on it. The environment variable OMP_NUM_THREADS, which joblib sets in
    its workers, changes the default.
verbose : bool
    Show progress.
"""
