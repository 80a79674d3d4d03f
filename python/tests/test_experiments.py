"""The experiments of the paper, from Python.

Their tables are those of the program, the models of scikit-learn beside them are scored
right, and pictures are optional.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from scqm import experiments

ROOT = Path(__file__).resolve().parents[2]


def golden(name: str) -> str:
    path = ROOT / "cmd" / "scqm" / "testdata" / f"experiment-{name}.csv"
    return path.read_text(encoding="utf-8")


def test_the_table_is_that_of_the_program(tmp_path: Path) -> None:
    outcome = experiments.sphere(tmp_path, quick=True, reps=1, sigma=[0.06])
    assert outcome.csv == golden("sphere")
    with (tmp_path / "sphere.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row, line in zip(rows, outcome.table, strict=True):
        assert row["method"] == line["method"]
        assert float(row["0.06"]) == pytest.approx(line["0.06"], rel=1e-3)
        assert line["0.06_se"] is None
    assert repr(outcome) == (tmp_path / "sphere.md").read_text(encoding="utf-8")
    params = json.loads((tmp_path / "params.json").read_text(encoding="utf-8"))
    assert params == outcome.params
    assert params["call"] == (
        "scqm.experiments.sphere(out_dir, quick=True, reps=1, sigma=[0.06], "
        "random_state=0)"
    )
    errors = outcome.arrays["errors"]
    assert errors.shape == (23, 1, 1)
    assert outcome.arrays["rows"][:, 0].mean(axis=1) * 1e4 == pytest.approx(
        errors[:, 0, 0]
    )
    drawn = {p.name for p in tmp_path.glob("*.png")}
    assert drawn == {"sphere.png", "sphere-points.png"}
    assert not list(tmp_path.glob(".*"))


def test_digits_beside_models_of_scikit_learn(tmp_path: Path) -> None:
    outcome = experiments.mnist(tmp_path, quick=True, reps=1)
    # SciPy's matrix product rounds differently, and l1 has many minima.
    for line in golden("mnist").splitlines():
        assert line.startswith("l1 ") or line in outcome.csv.splitlines()
    models = [row["model"] for row in outcome.table]
    assert models[-4:] == [
        "factor analysis",
        "NMF",
        "Isomap",
        "kernel PCA",
    ]
    assert all(0.4 < row["accuracy"] <= 1 for row in outcome.table)
    isomap = outcome.table[models.index("Isomap")]
    assert isomap["learned"] is None
    assert f"| Isomap |  |  | {isomap['accuracy']:.4f} |" in outcome.markdown
    assert outcome.markdown.count("\n| ") == len(models) + 2
    assert (tmp_path / "mnist.png").stat().st_size > 10_000


def test_pictures(tmp_path: Path) -> None:
    toy = experiments.toy(quick=True, reps=1)
    assert toy.csv == golden("toy")
    assert set(toy.figures()) == {"toy-quarter", "toy-long", "toy-noisy"}
    files = experiments.interpolation(quick=True, reps=2, random_state=3).save(tmp_path)
    assert {p.name for p in files} == {
        "interpolation.csv",
        "interpolation.md",
        "params.json",
        "interpolation-linear.png",
        "interpolation-quadratic.png",
    }


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    outcome = experiments.run("interpolation", quick=True, reps=1)
    with pytest.raises(ImportError, match=r"pip install scqm\[plot\]"):
        outcome.figures()
    names = {p.name for p in outcome.save(tmp_path)}
    assert names == {"interpolation.csv", "interpolation.md", "params.json"}


def test_refusals() -> None:
    with pytest.raises(ValueError, match='no experiment "torus"; there are toy, '):
        experiments.run("torus")
    with pytest.raises(ValueError, match="sigma does nothing"):
        experiments.toy(sigma=[0.1])
    with pytest.raises(ValueError, match="reps is 0"):
        experiments.toy(reps=0)
    with pytest.raises(ValueError, match="sigma is 0"):
        experiments.sphere(sigma=[0.0])
