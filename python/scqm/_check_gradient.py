"""Derivatives of a cost, tried against the cost."""

from __future__ import annotations

import json

from ._autodiff import derivatives
from ._domain import Domain
from ._laws import CheckReport, read
from ._library import _core
from ._minimize import Cost, Functions, Gradient, Hessian, Manifolds, Point
from ._validation import check_integer


def check_gradient(
    cost: Cost,
    x: Point,
    *,
    manifold: Manifolds,
    gradient: Gradient,
    hessian: Hessian = None,
    random_state: int = 0,
) -> CheckReport:
    """Try whether a gradient, and a Hessian, are those of a cost.

    The cost is expanded at x along random tangent vectors of each block. With the
    right gradient the error falls with the square of the length, and with the right
    Hessian with its cube; the Hessian is symmetric besides.

    Parameters
    ----------
    cost : callable
        The cost, as for :func:`minimize`.
    x : ndarray, tuple of three, or dict by block
        A point near which the cost is smooth; no minimum, where every gradient is
        small, but one such as ``manifold.random_point()``.
    manifold : Manifold or dict of Manifold
        What x is on.
    gradient : callable, "jax" or "torch"
        The Euclidean gradient, as for :func:`minimize`.
    hessian : callable, "jax", "torch" or None, default=None
        The Euclidean Hessian-vector product, as for :func:`minimize`.
    random_state : int, default=0
        Seed of the tangent vectors.

    Returns
    -------
    CheckReport
        True where every law holds; its text lists all of them.

    Examples
    --------
    >>> import numpy as np
    >>> import scqm
    >>> A = np.diag([1.0, 2.0, 5.0])
    >>> sphere = scqm.manifolds.Sphere(3)
    >>> x = sphere.random_point(0)
    >>> bool(
    ...     scqm.optimize.check_gradient(
    ...         lambda x: x @ A @ x, x, manifold=sphere, gradient=lambda x: 2 * (A @ x)
    ...     )
    ... )
    True
    >>> scqm.optimize.check_gradient(
    ...     lambda x: x @ A @ x, x, manifold=sphere, gradient=lambda x: A @ x
    ... ).broken
    ('gradient slope of x',)
    """
    domain = Domain(manifold)
    settings = {"seed": check_integer("random_state", random_state, 0)}
    shown = Functions(domain, derivatives(cost, gradient, hessian), None, "")
    shown.begin(x)
    found = shown.run(_core.bindings_CheckProblem, settings)
    return read("derivatives", json.loads(found))
