"""Optimization on manifolds, with functions, manifolds and solvers of your own.

:func:`minimize` minimises a cost on one of :mod:`scqm.manifolds` or on several at once,
under constraints if there are any, by one of :mod:`scqm.solvers`.
:func:`check_gradient` tries derivatives, and :class:`ManifoldProblem` keeps a cost with
them.
"""

from __future__ import annotations

from . import manifolds, solvers
from ._check_gradient import check_gradient
from ._laws import CheckReport
from ._manifold_problem import ManifoldProblem
from ._minimize import MinimizeResult, minimize

__all__ = [
    "CheckReport",
    "ManifoldProblem",
    "MinimizeResult",
    "check_gradient",
    "manifolds",
    "minimize",
    "solvers",
]
