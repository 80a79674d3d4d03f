"""Build the extension module ``scqm._core`` from the Go package ``bindings``.

gopy writes the C and Go sources of the module, and ``go build`` links them.
The module keeps to the limited API of CPython, and is not linked with
libpython: one file serves every CPython from 3.10 on.

The sources that gopy writes are part of an sdist, so that building one needs
Go, a C compiler and the headers of Python, but no gopy.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
NATIVE = ROOT / "build" / "_native"

# No table of symbols, no build ID: equal sources make equal bytes.
LDFLAGS = "-s -w -buildid="

# What keeps the module small. The tracing of gRPC has templates, which find methods by
# name, so that the linker could drop no method of any type: a fifth of the module.
# gRPC is called once for a batch of rows and needs no inlining. The Makefile has the
# same.
SMALL = ("-tags=grpcnotrace", "-gcflags=google.golang.org/...=-l")

# The oldest Python that the module serves; pyproject.toml says the same.
LIMITED_API = "0x030A0000"
MODULE = "_core"
# The program that ends plugins, beside the module.
GUARD = "_guard"

# Debugging sections name folders of this machine, and some compilers write them
# without being asked. These are for all packages: what one of them alone needs is
# in FLAGS, or the standard library would be compiled once more for it. The
# Makefile has the same, so that tests and the module share what is compiled.
CGO_CFLAGS = "-O2 -g0"

# What the C compiler and the linker are told of the module, as a Go file. Not every
# linker heeds Go's own -s. On macOS the interpreter supplies its symbols when it
# loads a module.
FLAGS = """package main

// #cgo CFLAGS: "-I{include}" -DPy_LIMITED_API={limited}
// #cgo LDFLAGS: {link}
import "C"
"""

# Tools of go.mod. "go tool" would build them with flags of its own, and the standard
# library with them.
GOPY = "github.com/go-python/gopy"
GOIMPORTS = "golang.org/x/tools/cmd/goimports"

# What gopy writes beyond the limited API, with its place in it.
LIMITED = {
    "core.go": [
        (r"v := C\.PyComplex_AsCComplex\(o\)", ""),
        (
            r"float32\(v\.real\), float32\(v\.imag\)",
            "float32(C.PyComplex_RealAsDouble(o)), "
            "float32(C.PyComplex_ImagAsDouble(o))",
        ),
        (
            r"float64\(v\.real\), float64\(v\.imag\)",
            "float64(C.PyComplex_RealAsDouble(o)), "
            "float64(C.PyComplex_ImagAsDouble(o))",
        ),
        (r"(?m)^#cgo (CFLAGS|LDFLAGS):.*$", ""),
        # The command line of gopy names folders of this machine.
        (r"(?m)^(# )?gopy gen .*$", ""),
        (
            r"static inline int gopy_method_check\(PyObject\* obj\) "
            r"\{ // macro\s+return PyMethod_Check\(obj\);\s+\}",
            "",
        ),
    ],
    "core.c": [(r"typedef PyAsyncMethods\* cmpfunc;", "typedef void* cmpfunc;")],
}

# What build.py, which gopy writes, says to add a function of the bindings.
ADDS = re.compile(r"add_checked_\w+\(mod, 'bindings_")


class BuildError(Exception):
    """The module cannot be built here; the message says what is missing."""


def build(target: Path) -> None:
    """Write the extension module to ``target``."""
    check_tools()
    if not from_sdist():
        generate()
    target.parent.mkdir(parents=True, exist_ok=True)
    flags = FLAGS.format(
        include=sysconfig.get_path("include"),
        limited=LIMITED_API,
        link=(
            "-Wl,-undefined,dynamic_lookup" if sys.platform == "darwin" else "-Wl,-s"
        ),
    )
    (NATIVE / "flags.go").write_text(flags, encoding="utf-8")
    environment = os.environ | {"CGO_ENABLED": "1", "CGO_CFLAGS": CGO_CFLAGS}
    environment.pop("CGO_LDFLAGS", None)
    run(
        "go", "build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared",
        *SMALL, f"-ldflags={LDFLAGS}", "-o", str(target),
        "./" + NATIVE.relative_to(ROOT).as_posix(),
        environment=environment,
    )  # fmt: skip
    target.with_suffix(".h").unlink(missing_ok=True)


def build_guard(target: Path) -> None:
    """Write the program that ends plugins to ``target``; Linux only."""
    if sys.platform != "linux":
        return
    check_tools()
    target.parent.mkdir(parents=True, exist_ok=True)
    run(
        "go", "build", "-trimpath", "-buildvcs=false", f"-ldflags={LDFLAGS}",
        "-o", str(target), "./plugins/internal/guard/cmd",
        environment=os.environ | {"CGO_ENABLED": "0"},
    )  # fmt: skip


def generate() -> None:
    """Write the sources of the module to ``build/_native``."""
    check_tools()
    shutil.rmtree(NATIVE, ignore_errors=True)
    NATIVE.mkdir(parents=True)
    output = NATIVE.relative_to(ROOT).as_posix()
    run(
        "go", "run", GOPY, "gen", "-no-make", "-name=core", f"-output={output}",
        f"-vm={sys.executable}", "./bindings",
    )  # fmt: skip
    # gopy takes the functions out of a map, that is in another order each time.
    rewrite(NATIVE / "build.py", sort_calls)
    rewrite(NATIVE / "core.go", sort_exports)
    # build.py uses pybindgen, which belongs to this Python.
    run(sys.executable, "build.py", folder=NATIVE)
    for name, changes in LIMITED.items():
        path = NATIVE / name
        text = path.read_text(encoding="utf-8")
        for pattern, replacement in changes:
            text, count = re.subn(pattern, replacement, text)
            if count == 0:
                raise BuildError(f"gopy wrote a {name} without {pattern!r}")
        path.write_text(text, encoding="utf-8")
    header = NATIVE / "core_go.h"
    header.write_text('#include "_cgo_export.h"\n', encoding="utf-8")
    run("go", "run", GOIMPORTS, "-w", str(NATIVE / "core.go"))
    for name in ("__init__.py", "bindings.py", "go.py", "build.py"):
        (NATIVE / name).unlink()


def sort_calls(text: str) -> str:
    """Sort the calls of build.py that add the functions of the bindings."""
    lines = text.splitlines(keepends=True)
    chosen = [n for n, line in enumerate(lines) if ADDS.match(line)]
    for n, line in zip(chosen, sorted(lines[n] for n in chosen), strict=True):
        lines[n] = line
    return "".join(lines)


def sort_exports(text: str) -> str:
    """Sort the functions of core.go that call the bindings."""
    head, title, functions = text.partition("// ---- Functions ---\n")
    _, *bodies = functions.split("//export ")
    if not title or not all(b.startswith("bindings_") for b in bodies):
        raise BuildError("gopy wrote a core.go without the list of functions last")
    ordered = sorted(b.strip() + "\n" for b in bodies)
    return head + title + "".join(f"\n//export {b}" for b in ordered)


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Change the text of a file."""
    text = path.read_text(encoding="utf-8")
    path.write_text(change(text), encoding="utf-8")


def from_sdist() -> bool:
    """Whether the sources were unpacked from an sdist, which has them all."""
    return (ROOT / "PKG-INFO").exists() and (NATIVE / "core.c").exists()


def check_tools() -> None:
    """Refuse at once what would fail late and obscurely."""
    no_wheel = (
        "there is no ready-made wheel of scqm for this platform, so that it is "
        "built from source"
    )
    if shutil.which("go") is None:
        raise BuildError(
            f"Go is missing: {no_wheel}; install Go {go_version()} or newer "
            "(go.dev/doc/install), make sure that `go` is on the PATH, and try again"
        )
    # go env says which compiler Go would use; it may be an absolute path.
    compiler = capture("go", "env", "CC").split()
    if not compiler or shutil.which(compiler[0]) is None:
        raise BuildError(
            f"the C compiler {' '.join(compiler) or 'of Go'} is missing: {no_wheel}; "
            "install one (Debian: apt install gcc libc6-dev; macOS: xcode-select "
            "--install), and try again"
        )
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if not header.exists():
        raise BuildError(
            f"the headers of Python are missing ({header}): {no_wheel}; install them "
            "(Debian: apt install python3-dev), and try again"
        )


def go_version() -> str:
    """Return the version of Go that go.mod asks for."""
    text = (ROOT / "go.mod").read_text(encoding="utf-8")
    found = re.search(r"(?m)^go (\d+\.\d+)", text)
    return found.group(1) if found else "1.26"


def run(
    *command: str, folder: Path = ROOT, environment: dict[str, str] | None = None
) -> None:
    """Run a command; what it prints is shown where it fails."""
    # A larger heap saves the compiler of Go a fifth of its time.
    done = subprocess.run(
        command,
        cwd=folder,
        env={"GOGC": "400"} | (environment or os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise BuildError(f"{' '.join(command)} failed:\n{done.stdout}")


def capture(*command: str) -> str:
    """Return what a command prints."""
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise BuildError(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout
