"""Derivatives of a cost, tried against the cost."""

from __future__ import annotations

from dataclasses import dataclass

from ._autodiff import derivatives
from ._domain import Domain
from ._library import _core
from ._minimize import Cost, Functions, Gradient, Hessian, Manifolds, Point
from ._validation import check_integer


@dataclass(frozen=True)
class DerivativeVerdict:
    """The outcome of one law of :func:`check_gradient`.

    Attributes
    ----------
    law : str
        Its name, such as "gradient slope of R" for the gradient in block R.
    ok : bool
        Whether it holds.
    detail : str
        What was measured.
    """

    law: str
    ok: bool
    detail: str


@dataclass(frozen=True)
class DerivativeReport:
    """The outcome of :func:`check_gradient`. It is true where every law holds.

    Attributes
    ----------
    verdicts : tuple of DerivativeVerdict
        The laws in the order they were tried.
    """

    verdicts: tuple[DerivativeVerdict, ...]

    @property
    def ok(self) -> bool:
        """Whether every law holds."""
        return all(v.ok for v in self.verdicts)

    @property
    def broken(self) -> tuple[str, ...]:
        """The names of the laws that do not hold."""
        return tuple(v.law for v in self.verdicts if not v.ok)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n".join(
            f"{'holds ' if v.ok else 'BROKEN'}  {v.law}: {v.detail}"
            for v in self.verdicts
        )


def check_gradient(
    cost: Cost,
    x: Point,
    *,
    manifold: Manifolds,
    gradient: Gradient,
    hessian: Hessian = None,
    random_state: int = 0,
) -> DerivativeReport:
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
    DerivativeReport
        True where every law holds; its text lists all of them.

    Examples
    --------
    >>> import numpy as np
    >>> import scqm
    >>> A = np.diag([1.0, 2.0, 5.0])
    >>> sphere = scqm.manifolds.Sphere(3)
    >>> x = sphere.random_point(0)
    >>> bool(
    ...     scqm.check_gradient(
    ...         lambda x: x @ A @ x, x, manifold=sphere, gradient=lambda x: 2 * (A @ x)
    ...     )
    ... )
    True
    >>> scqm.check_gradient(
    ...     lambda x: x @ A @ x, x, manifold=sphere, gradient=lambda x: A @ x
    ... ).broken
    ('gradient slope of x',)
    """
    domain = Domain(manifold)
    settings = {
        "blocks": domain.describe(),
        "seed": check_integer("random_state", random_state, 0),
    }
    shown = Functions(domain, derivatives(cost, gradient, hessian), None, "")
    shown.begin(x)
    verdicts = shown.run(_core.bindings_CheckProblem, settings)
    return DerivativeReport(tuple(DerivativeVerdict(**v) for v in verdicts))
