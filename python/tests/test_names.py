"""The names of the package: few, each with a home, and the old ones for one version."""

from __future__ import annotations

import subprocess
import sys

import pytest

import scqm


def test_there_are_few() -> None:
    assert len(scqm.__all__) <= 32
    assert sorted(scqm.__all__) == dir(scqm)
    for name in scqm.__all__:
        assert getattr(scqm, name) is not None


@pytest.mark.parametrize(("name", "home"), scqm._MOVED.items())
def test_old_names_warn(name: str, home: str) -> None:
    assert name not in scqm.__all__
    with pytest.warns(
        DeprecationWarning, match=rf"is scqm\.{home}\.{name} now"
    ) as seen:
        old = getattr(scqm, name)
    assert seen[0].filename == __file__
    assert old is getattr(getattr(scqm, home), name)


def test_the_package_uses_none() -> None:
    """Importing every module gives no warning."""
    modules = ["_estimator", "optimize", "large", "losses", "plugin"]
    code = "; ".join(f"import scqm.{m}" for m in modules)
    subprocess.run([sys.executable, "-W", "error::DeprecationWarning:scqm", "-c", code], check=True)  # fmt: skip


def test_modules_of_optimization() -> None:
    optimize = scqm.optimize
    assert optimize.manifolds is scqm.manifolds
    assert optimize.solvers is scqm.solvers
    for module in (optimize, scqm.large):
        assert sorted(module.__all__, key=str.lower) == sorted(
            (n for n in vars(module) if not n.startswith("_") and n != "annotations"),
            key=str.lower,
        )
