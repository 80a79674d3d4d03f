"""Robust subspace-constrained quadratic models.

>>> import scqm
>>> model = scqm.SCQM(n_components=2, loss="l2")

:class:`SCQM` learns a curved sheet of low dimension from noisy rows, and
follows the conventions of scikit-learn. :mod:`scqm.losses` has the losses and
the way to write your own, :mod:`scqm.solvers` the same for solvers,
:mod:`scqm.datasets` data to try things on, and :mod:`scqm.plot` pictures.
"""

import importlib

from . import datasets, exceptions, losses, solvers
from ._estimator import SCQM, load
from ._version import __version__
from .exceptions import (
    BudgetError,
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import plot

__all__ = [
    "SCQM",
    "BudgetError",
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
    "plot",
    "solvers",
]


def __getattr__(name: str) -> object:
    # Pictures are for few programs, and Matplotlib takes long to import.
    if name == "plot":
        return importlib.import_module("scqm.plot")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
