"""Robust subspace-constrained quadratic models.

>>> import scqm
>>> model = scqm.SCQM(n_components=2, loss="l2")

:class:`SCQM` learns a curved sheet of low dimension from noisy rows, and
:class:`ManifoldDenoiser` moves rows onto the surface near which they scatter.
:class:`ManifoldImputer` fills missing entries. All follow the conventions of
scikit-learn. :func:`suggest` says which
dimensions to take, :func:`frechet_mean` is a robust mean of rows.
:mod:`scqm.losses` has the losses and
the way to write your own, :mod:`scqm.optimize` minimises a cost of your own on
:mod:`scqm.manifolds` by :mod:`scqm.solvers`,
:func:`fit_many` fits many small sets of rows at once,
:mod:`scqm.large` and :mod:`scqm.dask` fit rows beyond memory and on many machines,
:mod:`scqm.exceptions` has what is raised, :mod:`scqm.datasets` data to try things on,
and :mod:`scqm.plot` pictures.
"""

import importlib
import logging as _logging
import sys as _sys
import warnings as _warnings

from ._descriptors import check_descriptors as _check_descriptors
from ._version import __version__

# Messages go to the logger "scqm", and nowhere unless the program says where.
_logging.getLogger("scqm").addHandler(_logging.NullHandler())

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import (
        dask,
        datasets,
        exceptions,
        large,
        losses,
        manifolds,
        optimize,
        plot,
        plugin,
        solvers,
    )
    from ._denoiser import DenoiseReport, ManifoldDenoiser
    from ._estimator import SCQM, load
    from ._geometry import DenoiseGeometry
    from ._imputer import ManifoldImputer
    from ._influence import Influence, ProjectionReport
    from ._many import Fits, fit_many
    from ._mean import FrechetMean, frechet_mean
    from ._report import report
    from ._suggest import Suggestion, suggest
    from ._versions import show_versions

__all__ = [
    "SCQM",
    "DenoiseGeometry",
    "DenoiseReport",
    "Fits",
    "FrechetMean",
    "Influence",
    "ManifoldDenoiser",
    "ManifoldImputer",
    "ProjectionReport",
    "Suggestion",
    "__version__",
    "dask",
    "datasets",
    "exceptions",
    "fit_many",
    "frechet_mean",
    "large",
    "load",
    "losses",
    "manifolds",
    "optimize",
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
    "large",
    "losses",
    "manifolds",
    "optimize",
    "plot",
    "plugin",
    "solvers",
)
_HOMES = {
    "DenoiseGeometry": "_geometry",
    "DenoiseReport": "_denoiser",
    "Fits": "_many",
    "FrechetMean": "_mean",
    "Influence": "_influence",
    "ManifoldDenoiser": "_denoiser",
    "ManifoldImputer": "_imputer",
    "ProjectionReport": "_influence",
    "SCQM": "_estimator",
    "Suggestion": "_suggest",
    "fit_many": "_many",
    "frechet_mean": "_mean",
    "load": "_estimator",
    "report": "_report",
    "show_versions": "_versions",
    "suggest": "_suggest",
}
# Where names are that were here in 0.1.0, or while 0.2.0 was made; they go with 0.3.0.
_MOVED = {
    "BudgetError": "exceptions",
    "FileError": "exceptions",
    "ForkError": "exceptions",
    "InputError": "exceptions",
    "InternalError": "exceptions",
    "Loss": "losses",
    "LossError": "exceptions",
    "NonFiniteError": "exceptions",
    "PluginError": "exceptions",
    "Problem": "solvers",
    "ScqmError": "exceptions",
    "Solver": "solvers",
    "check_gradient": "optimize",
    "fit_blocks": "large",
    "minimize": "optimize",
}


def __getattr__(name: str) -> object:
    value: object
    moved = _MOVED.get(name)
    home = moved or (name if name in _MODULES else _HOMES.get(name))
    if home is None:
        if name == "_core":  # asked for before it is loaded
            _check_descriptors()
        text = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(text, name=name, obj=_sys.modules[__name__])
    if moved:
        _warnings.warn(
            f"scqm.{name} is scqm.{home}.{name} now; 0.3.0 has it only there",
            DeprecationWarning,
            stacklevel=2,
        )
    if home not in ("exceptions", "plugin"):
        # Before scikit-learn, whose libraries do not bear narrow limits.
        importlib.import_module("scqm._library")
    value = importlib.import_module(f"scqm.{home}")
    if name not in _MODULES:
        value = getattr(value, name)
    if not moved:
        globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
