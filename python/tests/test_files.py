"""Model files, those of the program scqm too.

A model comes back to the last bit, NumPy can read it, damage is refused, and a save
that fails leaves the old file.
"""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import scqm
from scqm import SCQM
from scqm.datasets import make_sphere

ROOT = Path(__file__).resolve().parents[2]
Array = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def X() -> Array:
    return make_sphere(50, random_state=0)[0]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"loss": "lp", "p": 1.5},
        {"loss": "huber"},
        {"loss": "mahalanobis", "precision": np.diag([1.0, 2.0, 3.0])},
        {"linear": True},
        {"loss": scqm.losses.L1(), "ridge": 0.1, "random_state": 7},
    ],
)
def test_a_model_comes_back(X: Array, params: dict[str, Any], tmp_path: Path) -> None:
    m = SCQM(2, **params).fit(X)
    path = tmp_path / "model.npz"
    m.save(path)
    again = scqm.load(path)
    for name in (
        "components_",
        "curvature_components_",
        "theta_",
        "offset_",
        "embedding_",
    ):
        np.testing.assert_array_equal(getattr(again, name), getattr(m, name))
    assert again.loss_ == m.loss_
    for name in (
        "objective_",
        "status_",
        "message_",
        "n_iter_",
        "kkt_",
        "solver_",
        "notes_",
    ):
        assert getattr(again, name) == getattr(m, name)
    np.testing.assert_array_equal(again.transform(X), m.transform(X))
    assert again.score(X) == m.score(X)
    again.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == path.read_bytes()
    assert SCQM(**again.get_params(deep=False)).fit(X).objective_ == pytest.approx(
        m.objective_
    )


def test_numpy_reads_it(X: Array, tmp_path: Path) -> None:
    m = SCQM(2).fit(X)
    m.save(str(tmp_path / "model.npz"))
    with np.load(tmp_path / "model.npz") as stored:
        np.testing.assert_array_equal(stored["U"], m.components_.T)
        np.testing.assert_array_equal(stored["Theta"], m.theta_)
        meta = json.loads(stored["meta.json"])
    assert meta["objective"] == m.objective_


def test_the_program_makes_the_same_model(
    X: Array, program: Path, tmp_path: Path
) -> None:
    np.save(tmp_path / "x.npy", X)
    command = [
        str(program),
        "fit",
        "x.npy",
        "-o",
        "cli.npz",
        "--loss",
        "huber",
        "--json",
    ]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    m = SCQM(2, loss="huber").fit(X)
    m.save(tmp_path / "python.npz")
    assert json.loads(done.stdout)["objective"] == m.objective_
    assert (tmp_path / "python.npz").read_bytes() == (tmp_path / "cli.npz").read_bytes()
    loaded = scqm.load(tmp_path / "cli.npz")
    np.testing.assert_array_equal(loaded.transform(X), m.transform(X))


def test_losses_written_in_python_are_stored_by_name(X: Array, tmp_path: Path) -> None:
    def squared(R: Array) -> tuple[Array, Array]:
        return (R**2).sum(axis=1), 2 * R

    path = tmp_path / "model.npz"
    m = SCQM(2, loss=squared).fit(X)
    m.save(path)
    with pytest.raises(
        scqm.exceptions.InputError, match="the loss 'squared' of the model is not known"
    ):
        scqm.load(path)
    again = scqm.load(path, loss=squared)
    np.testing.assert_array_equal(again.transform(X), m.transform(X))


def test_files_that_cannot_be(X: Array, tmp_path: Path) -> None:
    m = SCQM(2).fit(X)
    with pytest.raises(scqm.exceptions.FileError, match="no such file") as caught:
        scqm.load(tmp_path / "none.npz")
    assert isinstance(caught.value, OSError)
    with pytest.raises(scqm.exceptions.FileError, match="there is no directory"):
        m.save(tmp_path / "no" / "folder" / "m.npz")
    path = tmp_path / "m.npz"
    m.save(path)
    whole = path.read_bytes()
    for damaged in (b"", b"PK", whole[:-30], whole[:100] + b"x" * 50 + whole[150:]):
        path.write_bytes(damaged)
        with pytest.raises(
            (scqm.exceptions.InputError, scqm.exceptions.FileError)
        ) as refused:
            scqm.load(path)
        assert "m.npz" in str(refused.value)
    np.savez(path, c=np.zeros(3))
    with pytest.raises(scqm.exceptions.InputError, match=r"has no meta\.json"):
        scqm.load(path)


def test_a_file_with_a_flipped_bit_is_refused(X: Array, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    SCQM(2).fit(X).save(path)
    whole = path.read_bytes()
    for bit in np.random.default_rng(1).integers(8 * len(whole), size=200):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(scqm.exceptions.InputError, match=r"model\.npz: .*again"):
            scqm.load(path)


def test_a_model_is_changed_through_the_estimator(X: Array, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    m = SCQM(2).fit(X)
    m.save(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b""
    with pytest.raises(scqm.exceptions.InputError, match="changed by another program"):
        scqm.load(path)

    m.theta_ = 2 * m.theta_
    m.embedding_ = m.embedding_[:7]
    m.save(path)
    again = scqm.load(path)
    np.testing.assert_array_equal(again.theta_, m.theta_)
    np.testing.assert_array_equal(again.embedding_, m.embedding_)


def test_a_failed_save_leaves_the_old_file(X: Array, tmp_path: Path) -> None:
    m = SCQM(2).fit(X)
    path = tmp_path / "m.npz"
    m.save(path)
    before = path.read_bytes()
    m.components_ = 2 * m.components_
    with pytest.raises(scqm.exceptions.ScqmError, match="orthonormal"):
        m.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.npz"]
