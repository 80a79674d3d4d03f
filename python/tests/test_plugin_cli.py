"""Plugins in Python, used by the command line.

The program runs the three commands of the guide on plugins that are right, and finds
what is wrong with others.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def scqm(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Build the command line; return a function that runs it."""
    go = shutil.which("go")
    assert go, "the tests of plugins need Go"
    program = tmp_path_factory.mktemp("bin") / "scqm"
    subprocess.run(
        [go, "build", "-buildvcs=false", "-o", program, "./cmd/scqm"],
        cwd=ROOT,
        check=True,
    )
    path = f"{program.parent}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT / "python")}

    def run(
        command: str, cwd: Path, check: bool = True
    ) -> "subprocess.CompletedProcess[str]":
        result = subprocess.run(
            command,
            shell=True,
            cwd=cwd,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not check or result.returncode == 0, result.stderr
        return result

    return run


def parabola(path: Path) -> None:
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, 80)
    x = np.column_stack([t, t**2, 0 * t]) + 0.03 * rng.normal(size=(80, 3))
    np.savetxt(path, x, delimiter=",")


def test_the_three_commands_of_the_guide(scqm: Run, tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "guide" / "plugins.md").read_text(encoding="utf-8")
    block = re.search(r"```sh\n(.*?)```", guide, re.DOTALL)
    assert block, "the guide shows three commands"
    commands = block.group(1).splitlines()
    assert "plugin new huberish --lang python" in commands[0]
    assert not list(tmp_path.iterdir())
    commands[1] = commands[1].removesuffix(" > laws.txt")
    results = [scqm(command, tmp_path) for command in commands]
    assert "majorizer" in results[1].stdout
    assert "huberish" in results[2].stdout
    with np.load(tmp_path / "model.npz") as model:
        meta = json.loads(
            bytes(model["meta.json"])
            if "meta.json" in model
            else model.zip.read("meta.json")
        )
    assert meta["loss"]["plugin"]["name"] == "huberish"


def test_the_example_passes_the_check(scqm: Run, tmp_path: Path) -> None:
    example = ROOT / "plugins" / "examples" / "student_t" / "scqm-loss-student_t"
    result = scqm(f"scqm plugin check {example} --loss-param nu=3 --json", tmp_path)
    report = json.loads(result.stdout)
    assert report["ok"], report
    assert report["structure"] == "separable"
    assert {"majorizer", "separable slopes", "large batch", "other process", "end"} <= {
        law["law"] for law in report["laws"]
    }


def test_a_plugin_without_sdk_passes_the_check(scqm: Run, tmp_path: Path) -> None:
    example = ROOT / "plugins" / "examples" / "no_sdk" / "scqm-loss-logcosh"
    report = json.loads(scqm(f"scqm plugin check {example} --json", tmp_path).stdout)
    assert report["ok"], report
    assert report["structure"] == "black box"


def test_a_smoothed_loss_with_everything(scqm: Run, tmp_path: Path) -> None:
    """A black box with kinks, weights and Hessian products."""
    path = tmp_path / "scqm-loss-manhattan"
    path.write_text(
        f"""#!{sys.executable}
import numpy as np
from scqm.plugin import Loss, serve

class Manhattan(Loss):
    name = "manhattan"
    eps = 0.0

    def evaluate(self, r):
        h = np.hypot(r, self.eps)
        h = np.where(h > 0, h, 1)
        return (r * (r / (h + self.eps))).sum(axis=1), r / h

    def weights(self, r):
        return 1 / np.maximum(np.hypot(r, self.eps), 1e-100)

    def hessian_product(self, r, v):
        h = np.hypot(r, self.eps)
        q = self.eps / np.where(h > 0, h, 1)
        return q * q * v / np.where(h > 0, h, 1)

    def smooth(self, eps):
        smoothed = Manhattan()
        smoothed.eps = eps
        return smoothed

serve(Manhattan)
"""
    )
    path.chmod(0o755)
    report = json.loads(scqm(f"scqm plugin check {path} --json", tmp_path).stdout)
    assert report["ok"], report
    assert {"smoothing", "Hessian symmetric", "majorizer"} <= {
        law["law"] for law in report["laws"]
    }
    parabola(tmp_path / "data.csv")
    fits = [
        json.loads(
            scqm(
                f"scqm fit data.csv -d 1 --max-iter 15 --solver rgd --json {loss}",
                tmp_path,
            ).stdout
        )["objective"]
        for loss in (f"--plugin {path}", "--loss l1")
    ]
    np.testing.assert_allclose(fits[0], fits[1], rtol=1e-12)


@pytest.mark.parametrize(
    ("body", "law", "says"),
    [
        ("return (r * r).sum(axis=1), 2.02 * r", "gradient slope", "slope 1"),
        ("return r, 2 * r", "finite", "shape (16, 5), want (16,)"),
        (
            "raise ValueError('no luck')",
            "finite",
            "ValueError: no luck (scqm-loss-wrong:",
        ),
        ("return (r * r).sum(axis=1) - 5, 2 * r", "finite", "must be at least 0"),
        ("return (r * r).sum(axis=1) + len(r), 2 * r", "batch equals single", "row 0"),
        (
            "return (r * r).sum(axis=1) / (r * r).sum(axis=1), 0 * r",
            "zero residual",
            "is NaN for finite residuals",
        ),
    ],
)
def test_wrong_plugins_do_not_pass(
    scqm: Run, tmp_path: Path, body: str, law: str, says: str
) -> None:
    path = tmp_path / "scqm-loss-wrong"
    path.write_text(
        f"#!{sys.executable}\nfrom scqm.plugin import Loss, serve\n\n"
        f"class Wrong(Loss):\n    name = 'wrong'\n    def evaluate(self, r):\n        {body}\n\nserve(Wrong)\n"
    )
    path.chmod(0o755)
    result = scqm(f"scqm plugin check {path}", tmp_path, check=False)
    assert result.returncode == 1
    assert result.stderr.startswith("scqm: plugin: check: loss wrong breaks ")
    assert f"{law}: " in result.stderr
    assert says in result.stderr
