"""Surfaces and curves to draw points from, whose distance from any point is known.

Distances are in closed form, or those of a parametrization: from the nearest point of
a fine grid by Levenberg-Marquardt steps to the nearest point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

Array = npt.NDArray[np.float64]
Generator = np.random.Generator
TURN = 2 * np.pi


class Shape(NamedTuple):
    """A manifold of dimension d."""

    draw: Callable[[Generator, int], Array]  # evenly
    distance: Callable[[Array], Array]
    d: int = 2


def stacked(*columns: Array) -> Array:
    """Return coordinates as the columns of a table."""
    return np.stack(columns, axis=1)


def placed(shape: Shape, columns: int, rng: Generator) -> Shape:
    """Return a shape turned, scaled and moved, in so many columns."""
    within = shape.draw(rng, 1).shape[1]
    axes = np.linalg.qr(rng.standard_normal((columns, within)))[0].T
    scale, shift = np.exp(rng.uniform(-2, 2)), rng.uniform(-3, 3, columns)

    def draw(rng: Generator, n: int) -> Array:
        return np.asarray(scale * shape.draw(rng, n) @ axes + shift)

    def distance(X: Array) -> Array:
        moved = (X - shift) / scale
        inner = moved @ axes.T
        beside = np.linalg.norm(moved - inner @ axes, axis=1)
        return np.asarray(scale * np.hypot(shape.distance(inner), beside))

    return Shape(draw, distance, shape.d)


def rectangles(centres: Array, axes: Array, halves: Array) -> Shape:
    """Return rectangles by their half sides along three axes, of which one is zero."""
    areas = np.sort(halves, axis=1)[:, 1:].prod(axis=1)

    def draw(rng: Generator, n: int) -> Array:
        which = rng.choice(len(areas), n, p=areas / areas.sum())
        along = rng.uniform(-1, 1, (n, 3)) * halves[which]
        return np.asarray(centres[which] + np.einsum("ni,nij->nj", along, axes[which]))

    def distance(X: Array) -> Array:
        nearest = np.full(len(X), np.inf)
        for centre, frame, half in zip(centres, axes, halves, strict=True):
            beyond = np.maximum(np.abs((X - centre) @ frame.T) - half, 0)
            nearest = np.minimum(nearest, np.linalg.norm(beyond, axis=1))
        return nearest

    return Shape(draw, distance)


def boxes(corners: Sequence[Any]) -> Shape:
    """Return the surface of a union of boxes, each by its least and greatest corner.

    The planes of all faces cut space into cells. Where a cell inside meets one outside,
    the face between them belongs to the surface.
    """
    pairs = np.asarray(corners, float)
    cuts = [np.unique(pairs[..., j]) for j in range(3)]
    middles = [(cut[1:] + cut[:-1]) / 2 for cut in cuts]
    cells = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1)
    inside = np.zeros(cells.shape[:3], bool)
    for low, high in pairs:
        inside |= ((cells > low) & (cells < high)).all(axis=-1)
    centres, halves = [], []
    for axis in range(3):
        pad = [(int(j == axis),) * 2 for j in range(3)]
        for where in np.argwhere(np.diff(np.pad(inside, pad), axis=axis)):
            corner = np.array([cuts[j][where[j]] for j in range(3)])
            sides = [0 if j == axis else np.diff(cuts[j])[where[j]] for j in range(3)]
            halves.append(np.array(sides) / 2)
            centres.append(corner + halves[-1])
    frames = np.array([np.eye(3)] * len(centres))
    return rectangles(np.array(centres), frames, np.array(halves))


def chair(leg: float) -> Shape:
    """Return a seat on four legs, with a back."""
    parts = [[[0, 0, 0], [1, 1, leg]], [[0, 1 - leg, 0], [1, 1, 1]]]
    for x in (0, 1 - leg):
        parts += [[[x, y, -0.9], [x + leg, y + leg, 0]] for y in (0, 1 - leg)]
    return boxes(parts)


def stairs(steps: int) -> Shape:
    """Return a solid flight of stairs."""
    return boxes([[[k, 0, 0], [k + 1, 0.8 * steps, k + 1]] for k in range(steps)])


def plates(gap: float) -> Shape:
    """Return two parallel rectangles."""
    centres = np.array([[0, 0, 0], [0, 0, gap]])
    return rectangles(
        centres, np.array([np.eye(3)] * 2), np.array([[0.6, 0.4, 0.0]] * 2)
    )


def roof(slope: float) -> Shape:
    """Return two rectangles that fall from a common edge by an angle."""
    along = np.array([0.0, 1, 0])
    down = [np.array([x * np.cos(slope), 0, -np.sin(slope)]) for x in (-1, 1)]
    axes = np.array([[e, along, np.cross(e, along)] for e in down])
    return rectangles(0.5 * axes[:, 0], axes, np.array([[0.5, 0.7, 0.0]] * 2))


def revolved(*profile: tuple[float, float]) -> Shape:
    """Return what a chain of segments, its ends by radius and z, sweeps about z."""
    ends = np.array(profile)
    starts, steps = ends[:-1], np.diff(ends, axis=0)
    areas = (ends[:-1, 0] + ends[1:, 0]) * np.linalg.norm(steps, axis=1)

    def draw(rng: Generator, n: int) -> Array:
        which = rng.choice(len(areas), n, p=areas / areas.sum())
        r, dr = starts[which, 0], steps[which, 0]
        s, turn = rng.uniform(size=n), rng.uniform(0, TURN, n)
        # Area grows with the square of the radius.
        bent = (np.sqrt(r**2 + s * ((r + dr) ** 2 - r**2)) - r) / np.where(dr, dr, 1)
        s = np.where(dr, bent, s)
        radius, z = r + s * dr, starts[which, 1] + s * steps[which, 1]
        return stacked(radius * np.cos(turn), radius * np.sin(turn), z)

    def distance(X: Array) -> Array:
        P = stacked(np.hypot(X[:, 0], X[:, 1]), X[:, 2])
        nearest = np.full(len(P), np.inf)
        for a, b in zip(starts, steps, strict=True):
            t = np.clip((P - a) @ b / (b @ b), 0, 1)
            off = np.linalg.norm(P - a - np.outer(t, b), axis=1)
            nearest = np.minimum(nearest, off)
        return nearest

    return Shape(draw, distance)


def lens(offset: float) -> Shape:
    """Return what two unit spheres have in common: curved, with a sharp crease."""

    def draw(rng: Generator, n: int) -> Array:
        z, turn = rng.uniform(offset, 1, n), rng.uniform(0, TURN, n)
        out, side = np.sqrt(1 - z**2), rng.choice([-1.0, 1.0], n)
        return stacked(out * np.cos(turn), out * np.sin(turn), side * (z - offset))

    def distance(X: Array) -> Array:
        out, up = np.hypot(X[:, 0], X[:, 1]), np.abs(X[:, 2]) + offset
        size, crease = np.hypot(out, up), np.sqrt(1 - offset**2)
        rim = np.hypot(out - crease, up - offset)
        return np.asarray(np.where(up >= offset * size, np.abs(size - 1), rim))

    return Shape(draw, distance)


def parametric(
    f: Callable[..., tuple[Array, ...]],
    *ranges: tuple[float, float],
    closed: tuple[bool, ...] = (False, False),
) -> Shape:
    """Return the image of a box of parameters, of which some go round."""
    low, high = np.array(ranges).T
    d = len(low)
    axes = np.meshgrid(*(np.linspace(*r, 4000 if d == 1 else 160) for r in ranges))
    grid = np.stack(axes, axis=-1).reshape(-1, d)
    around = np.array(closed[:d])
    least, most = np.where(around, -np.inf, low), np.where(around, np.inf, high)

    def at(U: Array) -> Array:
        return stacked(*f(*U.T))

    def jacobian(U: Array) -> Array:
        steps = np.diag(1e-6 * (high - low))
        moved = [(at(U + h) - at(U - h)) / (2 * h.sum()) for h in steps]
        return np.stack(moved, axis=-1)

    tree = cKDTree(at(grid))

    def draw(rng: Generator, n: int) -> Array:
        U = rng.uniform(low, high, (10 * n + 99, d))
        J = jacobian(U)
        area = np.sqrt(np.linalg.det(np.swapaxes(J, 1, 2) @ J))
        return at(U[rng.choice(len(U), n, replace=False, p=area / area.sum())])

    def distance(X: Array) -> Array:
        U = grid[tree.query(X)[1]]
        off, damping = at(U) - X, np.full(len(X), 1e-3)
        far: Array = np.linalg.norm(off, axis=1)
        for _ in range(60):
            J = jacobian(U)
            g = np.einsum("nij,ni->nj", J, off)
            held = ((least >= U) & (g > 0)) | ((most <= U) & (g < 0))  # at an edge
            J, g = np.where(held[:, None], 0, J), np.where(held, 0, g)
            H = np.swapaxes(J, 1, 2) @ J
            added = damping * np.trace(H, axis1=1, axis2=2) + 1e-30
            H += added[:, None, None] * np.eye(d)
            V = np.clip(U - np.linalg.solve(H, g[..., None])[..., 0], least, most)
            tried = at(V) - X
            size = np.linalg.norm(tried, axis=1)
            lower = size < far
            U[lower], off[lower], far[lower] = V[lower], tried[lower], size[lower]
            damping = damping * np.where(lower, 0.25, 4)
        return far

    return Shape(draw, distance, d)


def torus(tube: float) -> Shape:
    """Return a torus around the unit circle."""

    def f(u: Array, v: Array) -> tuple[Array, ...]:
        out = 1 + tube * np.cos(v)
        return out * np.cos(u), out * np.sin(u), tube * np.sin(v)

    return parametric(f, (0, TURN), (0, TURN), closed=(True, True))


def blob(axes: Array, bumps: Array) -> Shape:
    """Return an ellipsoid with waves of its radius, each by a direction and a size."""

    def f(u: Array, v: Array) -> tuple[Array, ...]:
        on = np.array([np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)])
        radius = 1 + bumps[:, 3] @ np.sin(bumps[:, :3] @ on)
        return tuple(axes[:, None] * on * radius)

    return parametric(f, (0, np.pi), (0, TURN), closed=(True, True))


def saddle(a: float, b: float) -> Shape:
    """Return a saddle with edges."""
    return parametric(lambda x, y: (x, y, a * x**2 - b * y**2), (-1, 1), (-1, 1))


def moebius(width: float) -> Shape:
    """Return a Moebius strip around the unit circle."""

    def f(u: Array, v: Array) -> tuple[Array, ...]:
        out = 1 + v * np.cos(u / 2)
        return out * np.cos(u), out * np.sin(u), v * np.sin(u / 2)

    return parametric(f, (0, TURN), (-width, width), closed=(True, False))


def swiss_roll(turns: float) -> Shape:
    """Return a sheet rolled up."""
    around = (1.5 * np.pi, 1.5 * np.pi + turns * TURN)
    return parametric(lambda u, v: (u * np.cos(u), u * np.sin(u), v), around, (0, 20))


def waves(w: Array, phase: Array) -> Shape:
    """Return a wavy square in further dimensions, one for each phase."""

    def f(x: Array, y: Array) -> tuple[Array, ...]:
        return x, y, *(0.3 * np.sin(w.T @ np.array([x, y]) + phase[:, None]))

    return parametric(f, (-1, 1), (-1, 1))


def coil(growth: float, rise: float, turns: float) -> Shape:
    """Return a helix, or without rise a spiral in the plane."""

    def f(t: Array) -> tuple[Array, ...]:
        radius = 1 + growth * t
        return radius * np.cos(t), radius * np.sin(t), rise * t

    return parametric(f, (0, turns * TURN))


def trefoil(depth: float) -> Shape:
    """Return a knot."""

    def f(t: Array) -> tuple[Array, ...]:
        x, y = np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t)
        return x, y, -depth * np.sin(3 * t)

    return parametric(f, (0, TURN), closed=(True,))


def clover(leaves: float, depth: float) -> Shape:
    """Return a closed curve in the plane; without depth it is the unit circle."""

    def f(t: Array) -> tuple[Array, ...]:
        radius = 1 + depth * np.cos(leaves * t)
        return radius * np.cos(t), radius * np.sin(t)

    return parametric(f, (0, TURN), closed=(True,))
