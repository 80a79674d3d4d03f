"""Model files and array files of the command line, seen from NumPy.

NumPy plays two parts: it reads and writes the files, and it is a second
implementation of the formulas.
"""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

Array = npt.NDArray[np.float64]

ROOT = Path(__file__).resolve().parents[2]
MNIST = ROOT / "testdata" / "mnist"

N, D, LATENT, CURVATURE = 60, 5, 2, 2
P, DELTA = 3.0, 0.2


class Model(NamedTuple):
    """A model file, read by NumPy, and where it is."""

    path: Path
    c: Array
    U: Array
    V: Array
    Theta: Array
    tau: Array
    meta: dict[str, Any]

    def f(self, tau: Array) -> Array:
        """Rows f(tau) = c + U tau + V Theta' vech(tau tau')."""
        i, j = np.triu_indices(tau.shape[1])
        phi = tau[:, i] * tau[:, j]
        return self.c + tau @ self.U.T + phi @ self.Theta @ self.V.T


class Scqm:
    """The program, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "scqm"
        build = [
            "go",
            "build",
            "-buildvcs=false",
            "-o",
            str(self.program),
            "./cmd/scqm",
        ]
        subprocess.run(build, cwd=ROOT, check=True)

    def run(self, *args: object) -> str:
        command = [str(self.program), *map(str, args)]
        done = subprocess.run(
            command,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        return done.stdout

    def map(
        self, act: str, model: Path, data: object, output: str = "out.npy"
    ) -> Array:
        """Run transform, reconstruct or project and load what it writes."""
        path = self.folder / output
        path.unlink(missing_ok=True)
        self.run(act, model, data, "-o", path)
        array = np.load(path, allow_pickle=False)
        assert array.dtype == np.float64
        return np.asarray(array, dtype=np.float64)

    def fit(self, name: str, data: object, *args: object) -> Model:
        path = self.folder / f"{name}.npz"
        self.run("fit", data, "-o", path, "--max-iter", 60, *args)
        return load(path)


def load(path: Path) -> Model:
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in ("c", "U", "V", "Theta", "tau")}
        meta = json.loads(file["meta.json"])
    assert all(a.dtype == np.float64 for a in arrays.values())
    return Model(path=path, meta=meta, **arrays)


@pytest.fixture(scope="session")
def scqm(tmp_path_factory: pytest.TempPathFactory) -> Scqm:
    return Scqm(tmp_path_factory.mktemp("scqm"))


@pytest.fixture(scope="session")
def rows() -> Array:
    """A noisy curved sheet, in numbers that float32 holds exactly."""
    rng = np.random.default_rng(7)
    t = rng.uniform(-1, 1, (N, 2))
    x = np.zeros((N, D))
    x[:, :2] = t
    x[:, 2] = t[:, 0] ** 2 - 0.5 * t[:, 1] ** 2
    x[:, 3] = t[:, 0] * t[:, 1]
    x += rng.normal(0, 0.05, x.shape) + 3
    return x.astype(np.float32).astype(np.float64)


@pytest.fixture(scope="session")
def precision() -> Array:
    a = np.random.default_rng(8).normal(size=(D, D))
    return np.asarray(a @ a.T + np.eye(D), dtype=np.float64)


@pytest.fixture(scope="session")
def data(scqm: Scqm, rows: Array) -> Path:
    path = scqm.folder / "x.npy"
    np.save(path, rows)
    return path


@pytest.fixture(scope="session")
def model(scqm: Scqm, data: Path) -> Model:
    return scqm.fit("model", data, "-d", LATENT, "-s", CURVATURE)


def test_contents(model: Model) -> None:
    q = LATENT * (LATENT + 1) // 2
    shapes = {
        name: getattr(model, name).shape for name in ("c", "U", "V", "Theta", "tau")
    }
    assert shapes == {
        "c": (D,),
        "U": (D, LATENT),
        "V": (D, CURVATURE),
        "Theta": (q, CURVATURE),
        "tau": (N, LATENT),
    }
    assert all(np.isfinite(a).all() for a in model if isinstance(a, np.ndarray))
    meta = model.meta
    assert (meta["n"], meta["D"], meta["d"], meta["s"]) == (N, D, LATENT, CURVATURE)
    assert meta["format"] == 1
    assert meta["loss"]["name"] == "l2"


def test_frame_is_orthonormal(model: Model) -> None:
    frame = np.hstack([model.U, model.V])
    assert np.abs(frame.T @ frame - np.eye(LATENT + CURVATURE)).max() < 1e-12


def test_curvature_beyond_rank_is_reduced(scqm: Scqm, data: Path) -> None:
    m = scqm.fit("reduced", data, "-d", 1, "-s", 3)
    assert m.V.shape == (D, 1)
    assert (m.Theta != 0).all()


def norms(r: Array) -> Array:
    return np.asarray(np.linalg.norm(r, axis=1))


def huber(r: Array) -> float:
    size = norms(r)
    return float(
        np.where(size <= DELTA, size**2 / 2, DELTA * size - DELTA**2 / 2).sum()
    )


LOSSES: dict[str, tuple[list[object], Callable[[Array, Array], float]]] = {
    "l2": ([], lambda r, _: norms(r).sum()),
    "l1": ([], lambda r, _: np.abs(r).sum()),
    "squared_l2": ([], lambda r, _: (r**2).sum()),
    "lp": (["--p", P], lambda r, _: (np.abs(r) ** P).sum()),
    "huber": (["--delta", DELTA], lambda r, _: huber(r)),
    "mahalanobis": (["--precision", "precision.npy"], lambda r, m: np.sum(r @ m * r)),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_objective(
    scqm: Scqm, data: Path, rows: Array, precision: Array, loss: str
) -> None:
    np.save(scqm.folder / "precision.npy", precision)
    args, evaluate = LOSSES[loss]
    m = scqm.fit(loss, data, "-d", LATENT, "-s", CURVATURE, "--loss", loss, *args)
    assert m.meta["loss"]["name"] == loss

    objective = evaluate(m.f(m.tau) - rows, precision)
    assert m.meta["objective"] == pytest.approx(objective, rel=1e-10)
    assert m.meta["mean_loss"] == pytest.approx(objective / N, rel=1e-10)

    # Nearest points are no farther than the coordinates that the fit ended with.
    nearest = evaluate(m.f(scqm.map("transform", m.path, data)) - rows, precision)
    assert nearest <= objective * (1 + 1e-9)


def test_flat_least_squares_is_pca(scqm: Scqm, data: Path, rows: Array) -> None:
    m = scqm.fit("pca", data, "-d", LATENT, "--linear", "--loss", "squared_l2")
    centred = rows - rows.mean(axis=0)
    singular, axes = np.linalg.svd(centred, full_matrices=False)[1:]
    assert m.meta["objective"] == pytest.approx(
        (singular[LATENT:] ** 2).sum(), rel=1e-9
    )
    projected = rows.mean(axis=0) + centred @ axes[:LATENT].T @ axes[:LATENT]
    np.testing.assert_allclose(scqm.map("project", m.path, data), projected, atol=1e-7)


def test_ridge_is_the_norm_of_the_forms(scqm: Scqm, data: Path, rows: Array) -> None:
    m = scqm.fit("ridge", data, "-d", LATENT, "--ridge", 0.5)
    centred = rows - rows.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:LATENT]
    start = norms(centred - centred @ axes.T @ axes).sum()
    scale = 0.5 * start / N * (centred**2).sum() / N
    i, j = np.triu_indices(LATENT)
    weights = np.where(i == j, 1, 0.5)[:, None]
    assert m.meta["penalty"] == pytest.approx(
        scale * (weights * m.Theta**2).sum(), rel=1e-9
    )


def test_reconstruct_is_f(scqm: Scqm, model: Model) -> None:
    tau = np.random.default_rng(9).normal(size=(17, LATENT))
    np.save(scqm.folder / "tau.npy", tau)
    rows = scqm.map("reconstruct", model.path, "tau.npy")
    np.testing.assert_allclose(rows, model.f(tau), rtol=1e-12, atol=1e-12)


def test_project_is_reconstruct_of_transform(
    scqm: Scqm, model: Model, data: Path
) -> None:
    tau = scqm.map("transform", model.path, data, "tau.npy")
    assert tau.shape == (N, LATENT)
    there = scqm.map("reconstruct", model.path, "tau.npy", "there.npy")
    np.testing.assert_array_equal(scqm.map("project", model.path, data), there)


def test_transform_of_a_row_does_not_depend_on_its_batch(
    scqm: Scqm, model: Model, data: Path, rows: Array
) -> None:
    together = scqm.map("transform", model.path, data)
    np.save(scqm.folder / "some.npy", rows[[40, 3]])
    np.testing.assert_array_equal(
        scqm.map("transform", model.path, "some.npy"), together[[40, 3]]
    )


def write_npz(path: Path, x: Array) -> str:
    np.savez_compressed(path, other=np.zeros(3), x=x)
    return f"{path}:x"


def write_csv(path: Path, x: Array) -> Path:
    np.savetxt(path, x, fmt="%.17g", delimiter=",")
    return path


def write_csv_with_header(path: Path, x: Array) -> Path:
    names = ",".join(f"x{k}" for k in range(x.shape[1]))
    np.savetxt(path, x, fmt="%.17g", delimiter=",", header=names, comments="")
    return path


def write_tsv(path: Path, x: Array) -> Path:
    np.savetxt(path, x, fmt="%.17g", delimiter="\t")
    return path


def write_npy(path: Path, x: npt.NDArray[Any]) -> Path:
    np.save(path, x)
    return path


def write_npy_gz(path: Path, x: Array) -> Path:
    with gzip.open(path, "wb") as file:
        np.save(file, x)
    return path


WRITERS: dict[str, tuple[str, Callable[[Path, Array], object]]] = {
    "float64": ("in.npy", write_npy),
    "fortran order": ("in.npy", lambda p, x: write_npy(p, np.asfortranarray(x))),
    "float32": ("in.npy", lambda p, x: write_npy(p, x.astype("<f4"))),
    "big-endian": ("in.npy", lambda p, x: write_npy(p, x.astype(">f8"))),
    "big-endian float32 in Fortran order": (
        "in.npy",
        lambda p, x: write_npy(p, np.asfortranarray(x.astype(">f4"))),
    ),
    "compressed npz": ("in.npz", write_npz),
    "gzip": ("in.npy.gz", write_npy_gz),
    "csv": ("in.csv", write_csv),
    "csv with header": ("in.csv", write_csv_with_header),
    "tsv": ("in.tsv", write_tsv),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_input_format_makes_no_difference(
    scqm: Scqm, model: Model, data: Path, rows: Array, kind: str
) -> None:
    name, write = WRITERS[kind]
    source = write(scqm.folder / name, rows)
    want = scqm.map("transform", model.path, data)
    np.testing.assert_array_equal(scqm.map("transform", model.path, source), want)


def test_output_formats_are_readable(scqm: Scqm, model: Model, data: Path) -> None:
    want = scqm.map("transform", model.path, data)
    for name, delimiter in (("t.csv", ","), ("t.tsv", "\t")):
        scqm.run("transform", model.path, data, "-o", name)
        text = np.loadtxt(scqm.folder / name, delimiter=delimiter, ndmin=2)
        np.testing.assert_array_equal(text, want)
    scqm.run("transform", model.path, data, "-o", "t.npz")
    with np.load(scqm.folder / "t.npz", allow_pickle=False) as file:
        assert len(file.files) == 1
        np.testing.assert_array_equal(file[file.files[0]], want)


def test_fit_prints_what_the_file_holds(scqm: Scqm, data: Path) -> None:
    report = json.loads(
        scqm.run("fit", data, "-o", "j.npz", "--max-iter", 60, "--json")
    )
    meta = load(scqm.folder / "j.npz").meta
    for key in (
        "objective",
        "penalty",
        "mean_loss",
        "n",
        "D",
        "d",
        "s",
        "status",
        "kkt",
    ):
        assert report[key] == meta[key], key


def test_refit_gives_the_same_bytes(scqm: Scqm, data: Path) -> None:
    first = scqm.fit("first", data, "--threads", 1).path.read_bytes()
    assert scqm.fit("second", data, "--threads", 4).path.read_bytes() == first


def test_labelled_images(scqm: Scqm) -> None:
    """The program selects and scales the rows that NumPy would."""
    with gzip.open(MNIST / "images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784) / 255
    with gzip.open(MNIST / "labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    chosen = np.sort(np.concatenate([np.flatnonzero(labels == k)[:10] for k in (4, 9)]))
    np.save(scqm.folder / "chosen.npy", images[chosen])

    select = [
        "--labels",
        MNIST / "labels-idx1-ubyte.gz",
        "--keep",
        "4,9",
        "--first",
        10,
    ]
    source = [MNIST / "images-idx3-ubyte.gz", "--scale", *select]
    a = scqm.fit("idx", *source, "-d", 1, "--max-iter", 3)
    b = scqm.fit("npy", "chosen.npy", "-d", 1, "--max-iter", 3)
    assert a.meta["n"] == 20
    np.testing.assert_array_equal(a.f(a.tau), b.f(b.tau))
