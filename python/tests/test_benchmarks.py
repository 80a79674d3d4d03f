"""The page of benchmarks names commands that exist; distances of clouds are those from shapes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
import clouds
import shapes
from scipy.spatial import cKDTree

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
COMMAND = re.compile(r"(?m)^((?:scqm|python) .+)|`((?:make|go|python) [^`]+)`")


def test_commands_of_the_page_have_their_scripts_and_flags() -> None:
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = [a or b for a, b in COMMAND.findall(PAGE)]
    for command in found:
        script = re.search(r"python/benchmarks/\w+\.py", command)
        target = re.search(r"\bmake ([\w-]+)", command)
        if target:
            assert f"\n{target[1]}:" in targets, command
            body = targets.partition(f"\n{target[1]}:")[2].partition("\n\n")[0]
            script = re.search(r"python/benchmarks/\w+\.py", body)
        if script:
            flags = re.findall(r"--[a-z-]+", command)
            source = (ROOT / script[0]).read_text(encoding="utf-8")
            assert [f for f in flags if f'"{f}"' not in source] == [], command
    assert sum("python/benchmarks" in c for c in found) > 2


def test_every_benchmark_is_named_by_a_page() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "Makefile"]
    text = "".join(p.read_text(encoding="utf-8") for p in pages)
    scripts = [
        p
        for p in (ROOT / "python" / "benchmarks").glob("*.py")
        if "__main__" in p.read_text()
    ]
    assert [p.name for p in scripts if f"python/benchmarks/{p.name}" not in text] == []


KINDS = [(group, name) for group, kinds in clouds.KINDS.items() for name in kinds]


@pytest.mark.parametrize(("group", "name"), KINDS)
def test_distances_are_those_to_all_of_the_shape(group: str, name: str) -> None:
    rng = np.random.default_rng(4)
    made = clouds.KINDS[group][name](rng, 0.05)
    shape = shapes.placed(made, max(clouds.COLUMNS.get(group, (3,))), rng)
    many = shape.draw(rng, 40_000)
    X = many[:100]
    diagonal = np.linalg.norm(np.ptp(many, axis=0))
    assert shape.distance(X).max() < 1e-9 * diagonal
    Y = X + 0.03 * diagonal * rng.standard_normal(X.shape) / np.sqrt(X.shape[1])
    found, nearest = shape.distance(Y), cKDTree(many).query(Y)[0]
    assert found.mean() > 0.005 * diagonal
    assert np.all(found < nearest + 1e-4 * diagonal)
    # How far points are from the nearest of those drawn adds to it squared.
    gap = 0.02 * diagonal if shape.d == 2 else 1e-3 * diagonal
    assert np.all(found > nearest - gap)


T = np.linspace(0.5, 5, 50)
TOP = np.array([0.0, 0, 1])
RING = np.stack([np.cos(T), np.sin(T), 0 * T], axis=1)


@pytest.mark.parametrize(
    ("shape", "points", "normals"),
    [
        (shapes.blob(np.ones(3), clouds.NONE), RING, RING),
        (shapes.torus(0.4), 1.4 * RING, RING),
        (shapes.torus(0.4), RING + 0.4 * TOP, np.tile(TOP, (50, 1))),
        (shapes.revolved((0, 0), (1, 0), (1, 1), (0, 1)), RING + 0.4 * TOP, RING),
        (
            shapes.revolved((0, 1), (1, 0)),
            0.5 * RING + 0.5 * TOP,
            (RING + TOP) / np.sqrt(2),
        ),
        (shapes.coil(0, 0.2, 3), RING + 0.2 * np.outer(T, TOP), RING),
        (shapes.clover(0, 0), RING[:, :2], RING[:, :2]),
        (
            shapes.moebius(0.3),
            RING,
            np.stack(
                [-np.cos(T) * np.sin(T / 2), -np.sin(T) * np.sin(T / 2), np.cos(T / 2)],
                axis=1,
            ),
        ),
        (shapes.saddle(0.5, 0.3), np.zeros((1, 3)), np.array([[0.0, 0, 1]])),
        (
            shapes.lens(0.5),
            np.array([[0, 0, 0.5], [np.sqrt(0.75), 0, 0]]),
            np.array([[0, 0, 1.0], [1, 0, 0]]),
        ),
        # A corner, and an edge between two faces, seen from outside.
        (
            shapes.chair(0.1),
            np.array([[1.0, 0, 0.1], [0.5, 0, 0.1]]),
            np.array([[1, -1, 1], [0, -1, 1]]) / np.sqrt([[3], [2]]),
        ),
    ],
)
def test_points_moved_along_a_normal(
    shape: shapes.Shape, points: shapes.Array, normals: shapes.Array
) -> None:
    for far in (0.0, 0.001, 0.07):
        np.testing.assert_allclose(
            shape.distance(points + far * normals), far, atol=1e-9
        )


def test_inside_of_a_union_of_boxes() -> None:
    # The top of a leg is within the seat: no part of the surface.
    legs = np.array([[0.1, 0.1, 0.0], [0.1, 0.1, 0.1], [0.1, 0.1, -0.2]])
    np.testing.assert_allclose(shapes.chair(0.2).distance(legs), 0.1, atol=1e-12)


def test_clouds_repeat_with_their_seed() -> None:
    for index in (0, 27):
        a, b, c = (clouds.draw(seed, index)[2] for seed in (1, 1, 2))
        np.testing.assert_array_equal(a.points, b.points)
        assert a.error(a.points) == b.error(b.points) > 0
        assert a.points.shape != c.points.shape or np.any(a.points != c.points)
