"""Robust subspace-constrained quadratic models.

>>> import scqm
>>> model = scqm.SCQM(n_components=2, loss="l2")

:class:`SCQM` learns a curved sheet of low dimension from noisy rows, and
follows the conventions of scikit-learn. :mod:`scqm.losses` has the losses and
the way to write your own, :mod:`scqm.solvers` the same for solvers,
:mod:`scqm.datasets` data to try things on, and :mod:`scqm.plot` pictures.
"""

from . import datasets, exceptions, losses, solvers
from ._estimator import SCQM, load
from ._version import __version__
from .exceptions import (
    BudgetExhausted,
    FileError,
    ForkError,
    InputError,
    InternalError,
    LossError,
    NonFiniteError,
    ScqmError,
)
from .losses import Loss
from .solvers import Problem, Solver

__all__ = [
    "SCQM",
    "BudgetExhausted",
    "FileError",
    "ForkError",
    "InputError",
    "InternalError",
    "Loss",
    "LossError",
    "NonFiniteError",
    "Problem",
    "ScqmError",
    "Solver",
    "__version__",
    "datasets",
    "exceptions",
    "load",
    "losses",
    "solvers",
]
