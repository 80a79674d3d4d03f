"""Problems on manifolds as objects, to be handed around."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._check_gradient import check_gradient
from ._laws import CheckReport
from ._minimize import (
    Cost,
    Gradient,
    Hessian,
    Manifolds,
    MinimizeResult,
    Point,
    minimize,
)


@dataclass(frozen=True)
class ManifoldProblem:
    """A cost on a manifold with its derivatives: the arguments of :func:`minimize`.

    Attributes
    ----------
    cost : callable
        The cost at a point.
    manifold : Manifold or dict of Manifold
        What points are on.
    gradient : callable, "jax" or "torch"
        The Euclidean gradient.
    hessian : callable, "jax", "torch" or None
        The Euclidean Hessian-vector product.

    Examples
    --------
    >>> import numpy as np
    >>> import scqm
    >>> A = np.diag([1.0, 2.0, 5.0])
    >>> sphere = scqm.manifolds.Sphere(3)
    >>> problem = scqm.optimize.ManifoldProblem(
    ...     lambda x: -(x @ A @ x), sphere, lambda x: -2 * (A @ x)
    ... )
    >>> bool(problem.check_gradient(sphere.random_point(0)))
    True
    >>> round(problem.minimize(sphere.random_point(0)).fun, 6)
    -5.0
    """

    cost: Cost
    manifold: Manifolds
    gradient: Gradient
    hessian: Hessian = None

    def minimize(self, x0: Point, **settings: Any) -> MinimizeResult:
        """Minimise the cost; see :func:`scqm.optimize.minimize` for the settings."""
        return minimize(
            self.cost,
            x0,
            manifold=self.manifold,
            gradient=self.gradient,
            hessian=self.hessian,
            **settings,
        )

    def check_gradient(self, x: Point, *, random_state: int = 0) -> CheckReport:
        """Try the derivatives at a point; see :func:`scqm.optimize.check_gradient`."""
        return check_gradient(
            self.cost,
            x,
            manifold=self.manifold,
            gradient=self.gradient,
            hessian=self.hessian,
            random_state=random_state,
        )
