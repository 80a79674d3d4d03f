"""Robust subspace-constrained quadratic models.

>>> import scqm
>>> model = scqm.SCQM(n_components=2, loss="l2")

:class:`SCQM` learns a curved sheet of low dimension from noisy rows, and
:class:`ManifoldDenoiser` moves rows onto the surface near which they scatter.
Both follow the conventions of scikit-learn. :func:`suggest` says which
dimensions to take, :func:`frechet_mean` is a robust mean of rows.
:mod:`scqm.losses` has the losses and
the way to write your own, :mod:`scqm.solvers` the same for solvers,
:func:`minimize` minimises a cost of your own on :mod:`scqm.manifolds`,
:func:`fit_many` fits many small sets of rows at once,
:func:`fit_blocks` and :mod:`scqm.dask` fit rows beyond memory and on many machines,
:func:`influence_blocks` says which of these drive the fit,
:mod:`scqm.datasets` has data to try things on, :mod:`scqm.plot` pictures, and
:mod:`scqm.experiments` the experiments of the paper.
"""

import importlib
import logging as _logging

from ._descriptors import check_descriptors as _check_descriptors
from ._names import unknown as _unknown
from ._version import __version__

# Messages go to the logger "scqm", and nowhere unless the program says where.
_logging.getLogger("scqm").addHandler(_logging.NullHandler())

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import (
        dask,
        datasets,
        exceptions,
        experiments,
        losses,
        manifolds,
        plot,
        plugin,
        solvers,
    )
    from ._block_influence import BlockInfluence, influence_blocks
    from ._check_gradient import check_gradient
    from ._denoiser import DenoiseReport, ManifoldDenoiser
    from ._estimator import SCQM, load
    from ._geometry import DenoiseGeometry
    from ._influence import Influence, ProjectionReport
    from ._manifold_problem import ManifoldProblem
    from ._many import Fits, fit_many
    from ._mean import FrechetMean, frechet_mean
    from ._minimize import MinimizeResult, minimize
    from ._native import blas
    from ._report import report
    from ._streaming import fit_blocks
    from ._suggest import Suggestion, suggest
    from ._versions import show_versions
    from .exceptions import (
        BudgetError,
        FileError,
        ForkError,
        InputError,
        InternalError,
        LossError,
        MemoryLimitError,
        NonFiniteError,
        PluginError,
        ScqmError,
    )
    from .losses import Loss
    from .solvers import Problem, Solver

__all__ = [
    "SCQM",
    "BlockInfluence",
    "BudgetError",
    "DenoiseGeometry",
    "DenoiseReport",
    "FileError",
    "Fits",
    "ForkError",
    "FrechetMean",
    "Influence",
    "InputError",
    "InternalError",
    "Loss",
    "LossError",
    "ManifoldDenoiser",
    "ManifoldProblem",
    "MemoryLimitError",
    "MinimizeResult",
    "NonFiniteError",
    "PluginError",
    "Problem",
    "ProjectionReport",
    "ScqmError",
    "Solver",
    "Suggestion",
    "__version__",
    "blas",
    "check_gradient",
    "dask",
    "datasets",
    "exceptions",
    "experiments",
    "fit_blocks",
    "fit_many",
    "frechet_mean",
    "influence_blocks",
    "load",
    "losses",
    "manifolds",
    "minimize",
    "plot",
    "plugin",
    "report",
    "show_versions",
    "solvers",
    "suggest",
]

# Modules are imported when they are first used: a plugin needs scqm.plugin
# only, not the compiled library and scikit-learn, and pictures are for few
# programs.
_MODULES = (
    "dask",
    "datasets",
    "exceptions",
    "experiments",
    "losses",
    "manifolds",
    "plot",
    "plugin",
    "solvers",
)
_HOMES = {
    "BlockInfluence": "_block_influence",
    "DenoiseGeometry": "_geometry",
    "DenoiseReport": "_denoiser",
    "Fits": "_many",
    "FrechetMean": "_mean",
    "Influence": "_influence",
    "ManifoldDenoiser": "_denoiser",
    "ManifoldProblem": "_manifold_problem",
    "MinimizeResult": "_minimize",
    "ProjectionReport": "_influence",
    "SCQM": "_estimator",
    "blas": "_native",
    "check_gradient": "_check_gradient",
    "fit_blocks": "_streaming",
    "fit_many": "_many",
    "frechet_mean": "_mean",
    "influence_blocks": "_block_influence",
    "load": "_estimator",
    "report": "_report",
    "show_versions": "_versions",
    "minimize": "_minimize",
    "Suggestion": "_suggest",
    "suggest": "_suggest",
    "Loss": "losses",
    "Problem": "solvers",
    "Solver": "solvers",
}


def __getattr__(name: str) -> object:
    value: object
    home = name if name in _MODULES else _HOMES.get(name, "exceptions")
    if name in __all__:
        if home not in ("exceptions", "plugin"):
            # Before scikit-learn, whose libraries do not bear narrow limits.
            importlib.import_module("scqm._library")
        value = importlib.import_module(f"scqm.{home}")
        if name not in _MODULES:
            value = getattr(value, name)
    else:
        if name == "_core":  # asked for before it is loaded
            _check_descriptors()
        raise _unknown(__name__, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
