"""Derivatives of costs: functions of the user, or of JAX or PyTorch.

Both libraries are imported when they are asked for, and never else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .exceptions import InputError

LIBRARIES = ("jax", "torch")


@dataclass(frozen=True)
class Derivatives:
    """A cost and what can be derived from it, as functions of points of NumPy.

    Attributes
    ----------
    cost : callable
        The cost.
    gradient : callable
        The Euclidean gradient.
    both : callable or None
        The pair of them, where that is less work.
    hessian : callable or None
        The Euclidean Hessian-vector product.
    """

    cost: Callable[[Any], Any]
    gradient: Callable[[Any], Any]
    both: Callable[[Any], tuple[Any, Any]] | None
    hessian: Callable[[Any, Any], Any] | None


def derivatives(cost: Any, gradient: Any, hessian: Any) -> Derivatives:
    """Return the functions for the arguments of :func:`scqm.optimize.minimize`."""
    if not callable(cost):
        raise InputError(f"cost is {cost!r}; want a function of a point")
    for what, given in (("gradient", gradient), ("hessian", hessian)):
        known = callable(given) or (isinstance(given, str) and given in LIBRARIES)
        if not known and (what == "gradient" or given is not None):
            raise InputError(
                f"{what} is {given!r}; want a function of a point"
                f"{' and a vector' if what == 'hessian' else ''}, 'jax' or 'torch'"
            )
    if isinstance(gradient, str) and hessian is None:
        hessian = gradient
    made = {
        name: _MAKERS[name](cost)
        for name in LIBRARIES
        if name in (gradient if isinstance(gradient, str) else "", hessian)
    }
    if isinstance(hessian, str):
        hessian = made[hessian].hessian
    if isinstance(gradient, str):
        own = made[gradient]
        return Derivatives(own.cost, own.gradient, own.both, hessian)
    return Derivatives(cost, gradient, None, hessian)


def _missing(name: str) -> InputError:
    return InputError(
        f"gradient is {name!r}, and {name} is not installed; install it, or give a "
        "function"
    )


def _of_jax(cost: Callable[[Any], Any]) -> Derivatives:
    """Differentiate a cost written with jax.numpy."""
    try:
        import jax
    except ImportError:
        raise _missing("jax") from None
    if jax.numpy.zeros(0).dtype != "float64":
        raise InputError(
            "jax computes in float32, which is too little here; call "
            "jax.config.update('jax_enable_x64', True) first"
        )
    value = jax.jit(cost)
    slope = jax.grad(cost)
    gradient = jax.jit(slope)
    both = jax.jit(jax.value_and_grad(cost))
    product = jax.jit(lambda x, v: jax.jvp(slope, (x,), (v,))[1])

    def plain(tree: Any) -> Any:
        return jax.tree_util.tree_map(np.asarray, tree)

    def pair(x: Any) -> tuple[Any, Any]:
        number, slopes = both(x)
        return number, plain(slopes)

    return Derivatives(
        lambda x: value(x),
        lambda x: plain(gradient(x)),
        pair,
        lambda x, v: plain(product(x, v)),
    )


def _of_torch(cost: Callable[[Any], Any]) -> Derivatives:
    """Differentiate a cost written with torch."""
    try:
        import torch
    except ImportError:
        raise _missing("torch") from None

    def tensors(x: Any, follow: bool) -> tuple[Any, list[Any]]:
        leaves: list[Any] = []

        def leaf(array: Any) -> Any:
            leaves.append(torch.from_numpy(array).requires_grad_(follow))
            return leaves[-1]

        return _mapped(leaf, x), leaves

    def evaluate(x: Any) -> Any:
        with torch.no_grad():
            return cost(tensors(x, False)[0]).item()

    def both(x: Any) -> tuple[Any, Any]:
        point, leaves = tensors(x, True)
        value = cost(point)
        slopes = torch.autograd.grad(value, leaves, materialize_grads=True)
        return value.item(), _rebuilt(x, [g.numpy() for g in slopes])

    def product(x: Any, v: Any) -> Any:
        point, leaves = tensors(x, True)
        _, along = tensors(v, False)
        slopes = torch.autograd.grad(
            cost(point), leaves, create_graph=True, materialize_grads=True
        )
        linear = sum((g * w).sum() for g, w in zip(slopes, along, strict=True))
        if not linear.requires_grad:  # the gradient is constant
            return _mapped(np.zeros_like, x)
        result = torch.autograd.grad(linear, leaves, materialize_grads=True)
        return _rebuilt(x, [g.numpy() for g in result])

    return Derivatives(evaluate, lambda x: both(x)[1], both, product)


_MAKERS: dict[str, Callable[[Callable[[Any], Any]], Derivatives]] = {
    "jax": _of_jax,
    "torch": _of_torch,
}


def _mapped(change: Callable[[Any], Any], x: Any) -> Any:
    """Apply a function to the arrays of a point."""
    if isinstance(x, dict):
        return {name: _mapped(change, part) for name, part in x.items()}
    if isinstance(x, tuple):
        return tuple(_mapped(change, part) for part in x)
    return change(x)


def _rebuilt(x: Any, arrays: list[Any]) -> Any:
    """Return arrays in the form of a point."""
    rest = iter(arrays)
    return _mapped(lambda _: next(rest), x)
