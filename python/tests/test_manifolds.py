"""The manifolds in Python: shapes, laws that cross the binding, and clear errors."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import scqm
from scqm.manifolds import (
    SE,
    SPD,
    ComplexCircle,
    Elliptope,
    Euclidean,
    FixedRank,
    Grassmann,
    Hyperbolic,
    Manifold,
    Oblique,
    Positive,
    PSDFixedRank,
    Rotations,
    Simplex,
    SkewSymmetric,
    Sphere,
    Stiefel,
    Symmetric,
    Unitary,
)

Array = npt.NDArray[np.float64]

SHAPES: list[tuple[Manifold[Any], tuple[int, ...], int]] = [
    (Euclidean(3), (3,), 3),
    (Euclidean(2, 3), (2, 3), 6),
    (Euclidean(), (), 1),
    (Sphere(4), (4,), 3),
    (Sphere(4, copies=5), (5, 4), 15),
    (Oblique(3, 4), (3, 4), 8),
    (Stiefel(5, 2), (5, 2), 7),
    (Grassmann(5, 2), (5, 2), 6),
    (SPD(3), (3, 3), 6),
    (SPD(2, copies=3), (3, 2, 2), 9),
    (Rotations(3), (3, 3), 3),
    (Rotations(3, copies=2), (2, 3, 3), 6),
    (Hyperbolic(2), (3,), 2),
    (Positive(2, 3), (2, 3), 6),
    (Simplex(4), (4,), 3),
    (Simplex(4, copies=2), (2, 4), 6),
    (Symmetric(3), (3, 3), 6),
    (SkewSymmetric(3), (3, 3), 3),
    (ComplexCircle(3), (3, 2), 3),
    (Unitary(2), (2, 2, 2), 4),
    (PSDFixedRank(5, 2), (5, 2), 9),
    (Elliptope(5, 3), (5, 3), 7),
    (SE(3), (4, 3), 6),
]
ALL = [m for m, _, _ in SHAPES] + [FixedRank(5, 4, 2)]


def leaves(x: Any) -> list[Array]:
    return list(x) if isinstance(x, tuple) else [x]


def combined(x: Any, f: Any, *others: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(f(*parts) for parts in zip(x, *others, strict=True))
    return f(x, *others)


@pytest.mark.parametrize(("m", "shape", "dim"), SHAPES, ids=repr)
def test_shapes(m: Manifold[Any], shape: tuple[int, ...], dim: int) -> None:
    x = m.random_point(0)
    assert x.shape == shape
    assert m.dim == dim
    assert m.violation(x) < 1e-12
    assert np.array_equal(x, m.random_point(0))
    assert eval(repr(m), vars(scqm.manifolds)) == m
    assert pickle.loads(pickle.dumps(m)) == m
    assert len({m, pickle.loads(pickle.dumps(m))}) == 1


@pytest.mark.parametrize("m", ALL, ids=repr)
def test_operations(m: Manifold[Any]) -> None:
    x = m.random_point(1)
    rng = np.random.default_rng(2)
    noise = combined(x, lambda part: 0.1 * rng.normal(size=np.shape(part)))
    v = m.projection(x, noise)
    for a, b in zip(leaves(m.projection(x, v)), leaves(v), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-14)
    assert m.norm(x, v) ** 2 == pytest.approx(m.inner(x, v, v))
    y = m.retraction(x, v)
    assert m.violation(y) < 1e-12
    w = m.transport(x, y, v)
    for a, b in zip(leaves(m.projection(y, w)), leaves(w), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    # The Riemannian gradient is dual to the derivative in the metric.
    g = combined(x, lambda part: rng.normal(size=np.shape(part)))
    if not isinstance(m, FixedRank | Grassmann | PSDFixedRank | Elliptope):
        slope = sum(np.sum(a * b) for a, b in zip(leaves(g), leaves(v), strict=True))
        assert m.inner(x, m.riemannian_gradient(x, g), v) == pytest.approx(slope)
    near = combined(y, lambda part: part * (1 + 1e-9))
    assert m.violation(m.nearest_point(near)) < 1e-12


@pytest.mark.parametrize("m", ALL, ids=repr)
def test_geodesics(m: Manifold[Any]) -> None:
    x, y = m.random_point(3), m.random_point(4)
    v = m.projection(x, y)
    if isinstance(m, FixedRank):
        with pytest.raises(scqm.exceptions.InputError, match="exponential map"):
            m.exp(x, v)
        with pytest.raises(scqm.exceptions.InputError, match="logarithm"):
            m.log(x, y)
        with pytest.raises(scqm.exceptions.InputError, match="distance"):
            m.dist(x, y)
        return
    y = m.exp(x, 0.1 * v)
    if isinstance(m, Elliptope):
        with pytest.raises(scqm.exceptions.InputError, match="logarithm"):
            m.log(x, y)
        return
    np.testing.assert_allclose(m.log(x, y), 0.1 * v, atol=1e-12)
    assert m.dist(x, y) == pytest.approx(m.norm(x, 0.1 * v))


def test_far_frames() -> None:
    """Beyond the injectivity radius no geodesic is known to be the shortest."""
    m = Stiefel(8, 4)
    x = m.random_point(0)
    with pytest.raises(
        scqm.exceptions.InputError, match="logarithm: no geodesic shorter than pi"
    ):
        m.log(x, -x)
    with pytest.raises(
        scqm.exceptions.InputError, match="distance: no geodesic shorter than pi"
    ):
        m.dist(x, -x)
    turns = Stiefel(3, 3)
    assert turns.dist(np.eye(3), np.diag([1.0, -1.0, -1.0])) > 4.4


def test_columns_and_rows() -> None:
    """Unit vectors are the columns of Oblique; copies are the first axis."""
    x = Oblique(3, 4).random_point(0)
    np.testing.assert_allclose((x**2).sum(axis=0), 1)
    y = Sphere(4, copies=3).random_point(0)
    np.testing.assert_allclose((y**2).sum(axis=1), 1)
    q = Stiefel(4, 2).random_point(0)
    np.testing.assert_allclose(q.T @ q, np.eye(2), atol=1e-14)
    r = Rotations(3, copies=2).random_point(0)
    np.testing.assert_allclose(np.linalg.det(r), 1)
    # Arrays in another order of memory are the same points.
    assert Stiefel(4, 2).violation(np.asfortranarray(q)) < 1e-14


def test_known_answers() -> None:
    a, b = np.diag([1.0, 4.0]), np.diag([9.0, 16.0])
    m = SPD(2)
    middle = m.exp(a, m.log(a, b) / 2)
    np.testing.assert_allclose(middle, np.diag([3.0, 8.0]))
    assert m.dist(a, b) == pytest.approx(np.hypot(np.log(9), np.log(4)))
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    assert Rotations(2).dist(np.eye(2), turn) == pytest.approx(np.pi / np.sqrt(2))


def test_complex_numbers_are_pairs() -> None:
    z = Unitary(3).random_point(0).view(complex)[..., 0]
    np.testing.assert_allclose(z.conj().T @ z, np.eye(3), atol=1e-14)
    circle = ComplexCircle(2)
    i = np.array([1, 1j]).view(float).reshape(2, 2)
    assert circle.dist(i, -i) == pytest.approx(np.pi * np.sqrt(2))


def test_points_off_the_manifold() -> None:
    """What is no point has no distances and no logarithms."""
    x, y = np.eye(3)[0], np.array([[1, 0.5], [0, 1]])
    for f in (Sphere(3).dist, Sphere(3).log):
        with pytest.raises(
            scqm.exceptions.InputError, match="y is off the manifold sphere 3 by"
        ):
            f(x, 2 * x)
    with pytest.raises(scqm.exceptions.InputError, match="off the manifold spd 2 by"):
        SPD(2).dist(np.eye(2), y)
    with pytest.raises(scqm.exceptions.InputError, match="no rotation is nearer"):
        Rotations(3).nearest_point(np.zeros((3, 3)))


def test_matrices_of_fixed_rank() -> None:
    m = FixedRank(5, 4, 2)
    W = np.random.default_rng(0).normal(size=(5, 4))
    x = m.truncation(W)
    U, s, Vt = np.linalg.svd(W)
    np.testing.assert_allclose(m.matrix(x), U[:, :2] * s[:2] @ Vt[:2], atol=1e-14)
    G = np.random.default_rng(1).normal(size=(5, 4))
    g = m.factored_gradient(x, G @ x[2], G.T @ x[0])
    v = m.projection(x, m.random_point(1))
    along = v[0] @ x[1] @ x[2].T + x[0] @ v[1] @ x[2].T + x[0] @ x[1] @ v[2].T  # dW
    slope = sum(np.sum(a * b) for a, b in zip(g, v, strict=True))
    assert slope == pytest.approx(np.sum(G * along))
    assert m.inner(x, m.riemannian_gradient(x, g), v) == pytest.approx(slope)
    with pytest.raises(scqm.exceptions.InputError, match="rank below 2"):
        m.truncation(np.ones((5, 4)))
    with pytest.raises(scqm.exceptions.InputError, match="tuple of U, S and V"):
        m.matrix(W)
    with pytest.raises(scqm.exceptions.InputError, match=r"x, S, has shape \(4, 2\)"):
        m.matrix((x[0], x[2], x[1]))
    with pytest.raises(scqm.exceptions.InputError, match="GtU has shape"):
        m.factored_gradient(x, x[0], x[0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sphere(0), "n is 0"),
        (lambda: Sphere(2.5), "n is 2.5"),  # type: ignore[arg-type]  # refused
        (lambda: Stiefel(2, 3), "p is 3; want at most n = 2"),
        (lambda: Grassmann(2, 3), "p is 3"),
        (lambda: FixedRank(2, 3, 3), "r is 3"),
        (lambda: Rotations(3, copies=0), "copies is 0"),
        (lambda: Euclidean(-1), "shape is -1"),
        (lambda: Euclidean(2**30, 2**30), "want 1 to 1099511627776"),
        (lambda: Sphere(2**30, copies=2**20), "more than 1099511627776 numbers"),
        (lambda: Sphere(3).norm(np.ones(4), np.ones(3)), r"x has shape \(4,\)"),
        (lambda: Sphere(3).norm(np.ones(3), 1j * np.ones(3)), "v has dtype complex"),
        (lambda: Sphere(3).norm([[1], [1, 2]], np.ones(3)), "x is no array"),
        (lambda: Sphere(3).nearest_point(np.zeros(3)), "restoration"),
        (lambda: SPD(2).norm(-np.eye(2), np.eye(2)), "norm: the result is not a"),
        (lambda: SPD(2).log(-np.eye(2), np.eye(2)), "log: .*off the manifold"),
        (lambda: PSDFixedRank(2, 3), "r is 3; want at most n = 2"),
    ],
)
def test_errors(make: Any, message: str) -> None:
    with pytest.raises(scqm.exceptions.InputError, match=message):
        make()
