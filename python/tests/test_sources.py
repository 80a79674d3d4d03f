"""The sources: examples in docstrings, their form, types and style.

Imports have no circle, docstrings are of the numpydoc form, the stub lists what the
library exports, the sdist has what Go needs, and the examples run.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import scqm
from scqm._parameters import RIDGE

ROOT = Path(__file__).resolve().parents[2]
FOUND = {m.name for m in pkgutil.walk_packages(scqm.__path__, "scqm.")}
MODULES = ["scqm", *sorted(FOUND - {"scqm._core"})]
PUBLIC = [m for m in MODULES if "._" not in m and m != "scqm.plugin"]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings_run(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.failed == 0


def exported() -> list[str]:
    found = []
    for module in map(importlib.import_module, PUBLIC[1:]):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found.append(f"{thing.__module__}.{name}")
    found += ["scqm._denoiser.DenoiseReport", "scqm._denoiser.ManifoldDenoiser"]
    found += ["scqm._geometry.DenoiseGeometry"]
    found += ["scqm._influence.Influence", "scqm._influence.ProjectionReport"]
    found += ["scqm._mean.FrechetMean", "scqm._mean.frechet_mean"]
    found += ["scqm._streaming.fit_blocks", "scqm._many.Fits", "scqm._many.fit_many"]
    return sorted({*found, "scqm._estimator.SCQM", "scqm._estimator.load"})


def documented(name: str) -> list[str]:
    """Return the name and those of the public methods defined there."""
    module, _, last = name.rpartition(".")
    thing = getattr(importlib.import_module(module), last)
    methods = [
        f"{name}.{m}"
        for m, f in vars(thing).items()
        if inspect.isclass(thing) and inspect.isfunction(f) and not m.startswith("_")
    ]
    return [name, *methods]


# What numpydoc need not find: summaries may continue on a second line or begin
# with a verb of another form, and not everything has an example, a section See
# Also or an extended summary.
LEFT_OUT = {"ES01", "EX01", "SA01", "SA04", "GL01", "GL03", "GL08", "SS05", "SS06", "PR01", "PR02", "RT01", "RT03", "YD01", "GL02"}  # fmt: skip


@pytest.mark.parametrize("name", exported())
def test_docstrings_are_numpydoc(name: str) -> None:
    validate = pytest.importorskip("numpydoc.validate")
    for part in documented(name):
        errors = [e for e in validate.validate(part)["errors"] if e[0] not in LEFT_OUT]
        assert not errors, part


def test_parameters_are_documented() -> None:
    for name in exported():
        module, _, last = name.rpartition(".")
        thing: Any = getattr(importlib.import_module(module), last)
        estimator = last in {"SCQM", "ManifoldDenoiser"}
        if not inspect.isfunction(thing) and not estimator:
            continue
        for parameter in inspect.signature(thing).parameters.values():
            pattern = rf"(?m)^\s*(.*, )?\**{parameter.name}(, .*)?( : .*)?$"
            assert re.search(pattern, inspect.getdoc(thing) or ""), (name, parameter)


def test_stub_lists_what_the_library_exports() -> None:
    stub = (ROOT / "python" / "scqm" / "_core.pyi").read_text(encoding="utf-8")
    declared = set(re.findall(r"def (bindings_\w+)", stub))
    assert declared == {n for n in dir(scqm._core) if n.startswith("bindings_")}


def go_functions() -> dict[str, tuple[list[tuple[str, str]], str]]:
    """Return arguments and result of what package bindings exports, as Python has them."""
    kinds = {"int64": "int", "uint64": "Place", "int": "int", "string": "str"}
    kinds |= {"float64": "float", "bool": "bool"}
    found = {}
    for path in (ROOT / "bindings").glob("*.go"):
        if path.stem.endswith("_test"):
            continue
        text = path.read_text(encoding="utf-8")
        for name, arguments, result in re.findall(
            r"(?m)^func ([A-Z]\w*)\((.*?)\) \(?(\w+)", text
        ):
            parts: list[tuple[str, str]] = []
            waiting: list[str] = []
            for part in filter(None, arguments.split(", ")):
                argument, _, kind = part.partition(" ")
                waiting.append(argument)
                if kind:
                    own = dict.fromkeys(
                        ("settings", "arrays", "destinations"), "Settings"
                    )
                    parts += [(w, own.get(w, kinds.get(kind, kind))) for w in waiting]
                    waiting = []
            found[f"bindings_{name}"] = parts, kinds.get(result, result)
    return found


def test_stub_has_the_types_of_the_library() -> None:
    stub = ast.parse((ROOT / "python" / "scqm" / "_core.pyi").read_text("utf-8"))
    declared = {
        f.name: (
            [(a.arg, ast.unparse(a.annotation)) for a in f.args.args if a.annotation],
            ast.unparse(f.returns) if f.returns else "",
        )
        for f in stub.body
        if isinstance(f, ast.FunctionDef)
    }
    assert declared == go_functions()


def test_parameters_of_fits_have_the_types_of_the_table(tmp_path: Path) -> None:
    """Each door takes the defaults of the table, and nothing that is of no type."""
    doors: dict[str, Any] = {
        "SCQM(": scqm.SCQM,
        "fit_many([[[0.0]]], ": scqm.fit_many,
        "fit_blocks(parts, (2, 1), ": scqm.large.fit_blocks,
        "ManifoldImputer(": scqm.ManifoldImputer,
    }
    right, wrong = [], []
    for call, door in doors.items():
        of = inspect.signature(door).parameters
        assert of["ridge"].default == RIDGE
        for name, p in inspect.signature(scqm.SCQM).parameters.items():
            if name not in of:
                assert door is scqm.ManifoldImputer
                continue
            if door is not scqm.ManifoldImputer:
                assert of[name].default == p.default, (call, name)
            right.append(f"{call}{name}={of[name].default!r})")
            wrong.append(f"{call}{name}=b'0')")
    code = tmp_path / "doors.py"
    head = "from scqm import SCQM, ManifoldImputer, fit_many\nfrom scqm.large import fit_blocks\n"
    head += "from typing import Any\nparts: Any = None\n"
    code.write_text(head + "\n".join(right + wrong))
    command = [sys.executable, "-m", "mypy", "--config-file=",
               "--ignore-missing-imports", str(code)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = {int(n) for n in re.findall(r"doors\.py:(\d+): error", done.stdout)}
    begin = head.count("\n") + len(right) + 1
    expected = {
        begin + k for k, call in enumerate(wrong) if "precision" not in call
    }  # bytes are an array
    assert expected <= lines <= expected | {begin + k for k in range(len(wrong))}


def arrows(package: Path) -> dict[str, set[str]]:
    """Return which module imports which, anywhere in it, for types alone too.

    The names that the package itself hands on when they are asked for are no
    imports of it: every module would be below it and above.
    """
    modules = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        modules[".".join(parts).removesuffix(".__init__")] = path
    found: dict[str, set[str]] = {}
    for module, path in modules.items():
        home = module if path.stem == "__init__" else module.rpartition(".")[0]
        named = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                relative = "." * node.level + (node.module or "")
                source = importlib.util.resolve_name(relative, home)
                for alias in node.names:
                    inner = f"{source}.{alias.name}"
                    named.add(inner if inner in modules else source)
        found[module] = (named & modules.keys()) - {module}
    found[package.name] = set()
    return found


def circle(arrows: dict[str, set[str]]) -> list[str]:
    """Return modules that import each other, in a round; none where there are none."""
    left = dict(arrows)
    while free := [m for m, into in left.items() if not into & left.keys()]:
        for module in free:
            del left[module]
    way: list[str] = []
    while left and (not way or way[-1] not in way[:-1]):
        way.append(min(left[way[-1]] & left.keys()) if way else min(left))
    return way[way.index(way[-1]) :] if way else []


def test_imports_have_no_circle() -> None:
    found = arrows(ROOT / "python" / "scqm")
    assert len(found) > 30
    assert "scqm._estimator" in found["scqm._report"]
    assert "scqm.losses._answer" in found["scqm._model"]
    assert circle(found) == []


def test_circles_are_found(tmp_path: Path) -> None:
    package = tmp_path / "p"
    (package / "q").mkdir(parents=True)
    sources = {
        "__init__.py": "from . import a\n",
        "a.py": "def f():\n    from .q import b\n",
        "q/__init__.py": "from ._c import d\n",
        "q/_c.py": "import p.e\n",
        "q/b.py": "",
        "e.py": "if TYPE_CHECKING:\n    from . import q\n",
        "f.py": "from .a import f\n",
    }
    for name, text in sources.items():
        (package / name).write_text(text)
    found = arrows(package)
    assert found["p.a"] == {"p.q.b"}
    assert found["p.f"] == {"p.a"}
    assert circle(found) == ["p.e", "p.q", "p.q._c", "p.e"]


def test_imports_keep_to_the_floors_of_the_architecture() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("| room in `python/scqm` | offers |\n| --- | --- |\n")[2]
    rows = [line.split("|")[1] for line in table.partition("\n\n")[0].splitlines()]
    floor = {
        name: k for k, row in enumerate(rows) for name in re.findall(r"`(\w+)`", row)
    }

    def room(module: str) -> str:
        return module.split(".")[1]

    found = arrows(ROOT / "python" / "scqm")
    inside = {
        m: into for m, into in found.items() if m not in ("scqm", "scqm._version")
    }
    assert {room(m) for m in inside} == floor.keys()
    for module, into in inside.items():
        for other in into - {"scqm", "scqm._version"}:  # the library _core is scqm
            assert floor[room(other)] <= floor[room(module)], (module, other)


def test_version() -> None:
    assert scqm.__version__ == scqm._native.library()["version"]


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "-q", "."],
        ["ruff", "format", "-q", "--diff", "."],
        [
            "mypy",
            "python/scqm",
            "python/examples",
            "python/benchmarks",
            "python/tests",
            "python/check_wheel.py",
            "internal/soak/cases.py",
            "internal/soak/cluster_fits.py",
            "internal/soak/real_tables.py",
            "cmd/scqm/testdata/memory_drill.py",
        ],
    ],
    ids=" ".join,
)
def test_style_and_types(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_actions_are_pinned_by_commit() -> None:
    """A tag can be moved to other code, a commit cannot."""
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    lines = [x for w in workflows for x in w.read_text().splitlines() if "uses:" in x]
    pinned = re.compile(r"\s*- uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert lines
    assert [x for x in lines if not pinned.fullmatch(x)] == []


def test_the_sdist_has_all_that_go_needs() -> None:
    """Files that are embedded among it, which no other build would miss."""
    kinds = ("GoFiles", "CgoFiles", "CFiles", "HFiles", "SFiles", "EmbedFiles")
    files = "".join(
        f"{{{{range .{k}}}}}{{{{$.Dir}}}}/{{{{.}}}} {{{{end}}}}" for k in kinds
    )
    form = f"{{{{with .Module}}}}{{{{if .Main}}}}{{{{with $}}}}{files}{{{{end}}}}{{{{end}}}}{{{{end}}}}"
    command = ["go", "list", "-buildvcs=false", "-deps", "-f", form, "./bindings"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    needed = [Path(f).relative_to(ROOT) for f in done.stdout.split()]
    assert len(needed) > 100
    kept = {}
    for line in (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines():
        if line.startswith("recursive-include "):
            _, folder, *patterns = line.split()
            kept[folder] = patterns
    missing = [
        str(f) for f in needed if not any(f.match(p) for p in kept.get(f.parts[0], []))
    ]
    assert not missing


@pytest.mark.parametrize("page", ["python", "denoise"])
def test_types_of_the_code_of_guides(page: str, tmp_path: Path) -> None:
    """Readers may check the types of what they copy, without strict settings."""
    text = (ROOT / "docs" / "guide" / f"{page}.md").read_text(encoding="utf-8")
    code = tmp_path / "page.py"
    code.write_text("\n".join(re.findall(r"(?ms)^```python\n(.*?)^```$", text)))
    command = [sys.executable, "-m", "mypy", "--config-file=",
               "--ignore-missing-imports", str(code)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# The tasks of the gallery come first in it; `make docs` runs all of it.
TASKS = sorted((ROOT / "docs" / "examples").glob("e[01]?_*.py"))[:10]
EXAMPLES = TASKS + sorted((ROOT / "python" / "examples").glob("*.py"))
Done = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def runs(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[Path, Future[Done]]]:
    """Run the examples, two at a time."""

    def run(example: Path) -> Done:
        return subprocess.run(
            [sys.executable, str(example)],
            cwd=tmp_path_factory.mktemp(example.stem),
            env=os.environ | {"MPLBACKEND": "agg"},
            capture_output=True,
            text=True,
            check=False,
        )

    with ThreadPoolExecutor(2) as pool:
        yield {example: pool.submit(run, example) for example in EXAMPLES}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_examples_run(example: Path, runs: dict[Path, Future[Done]]) -> None:
    done = runs[example].result()
    assert done.returncode == 0, done.stderr
    assert done.stdout
    # Fits of examples end converged; whoever copies one begins without a warning.
    assert "Warning" not in done.stderr, done.stderr
    assert not re.search(r"\b(stalled|max_iter)\b", done.stdout), done.stdout
    assert example not in TASKS or len(example.read_text().splitlines()) < 60
