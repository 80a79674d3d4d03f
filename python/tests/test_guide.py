"""The code of README.md, docs/guide and docs/benchmarks.md runs, and prints what stands below it.

The blocks ``sh`` and ``python`` of a page run in their order in one folder, the
latter in one process. A block ``text`` right below one of them is what it prints;
``...`` there stands for anything, times may differ, the last digits may, and ``--update`` writes anew
what does not match. A block with the comment ``<!-- not run: reason -->`` above it
is left out. Blocks ``go`` are run by internal/lint.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import scqm

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "benchmarks.md",
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
]

FENCE = re.compile(r"(?ms)^```([^\n]*)\n(.*?)^```$\n?")
REASON = re.compile(r"<!-- (not run|compiled only): \S.* -->\s*\Z")
INDENTED = re.compile(r"(?m)(?:\A|^\n)    \S")

# What differs from run to run: times, and the folders of the tests.
VOLATILE = re.compile(
    r"\d+(\.\d+)?(e-\d+)? ?(ns|µs|ms|s|seconds)\b|\"seconds\": [\d.e-]+|/tmp/\S*"
)

# What a fit says that did not converge. Readers begin with a fit of the guide: only
# where it shows such a warning may it give one.
WARNING = re.compile(r"ConvergenceWarning|: warning: ")

# Runs blocks that come as JSON, a line each, and ends each with a line of its own.
SESSION = r"""
import json, sys, traceback
sys.stderr = sys.stdout
names = {"__name__": "__main__"}
for line in sys.stdin:
    ended = "done"
    try:
        exec(compile(json.loads(line), "<block>", "exec"), names)
    except BaseException:
        traceback.print_exc()
        ended = "failed"
    print("\x00" + ended, flush=True)
"""


@dataclass
class Block:
    """A fenced block of a page.

    Attributes
    ----------
    language : str
        What stands behind the fence.
    code : str
        Its lines.
    left_out : bool
        Whether the line above says why it is not run.
    output : re.Match or None
        The block ``text`` right below it.
    """

    language: str
    code: str
    left_out: bool
    output: re.Match[str] | None


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page, but for those that are outputs."""
    fences = list(FENCE.finditer(text))
    found: list[Block] = []
    for k, fence in enumerate(fences):
        before = text[: fence.start()]
        language = fence[1]
        previous = fences[k - 1] if k else None
        if (
            language == "text"
            and previous is not None
            and previous[1] != "text"
            and not text[previous.end() : fence.start()].strip()
        ):
            found[-1].output = fence
        else:
            left_out = bool(REASON.search(before))
            found.append(Block(language, fence[2], left_out, None))
    return found


class Session:
    """A folder with the test data and benchmarks, a shell and a Python process.

    Parameters
    ----------
    folder : Path
        Where blocks run.
    program : Path
        The command line.
    """

    def __init__(self, folder: Path, program: Path) -> None:
        for name in ("testdata", "python"):
            (folder / name).symlink_to(ROOT / name)
        path = [str(program.parent), str(Path(sys.executable).parent)]
        self.folder = folder
        self.env = os.environ | {
            "PATH": os.pathsep.join([*path, os.environ["PATH"]]),
            "PYTHONPATH": str(Path(scqm.__file__).resolve().parents[1]),
            "XDG_DATA_HOME": str(folder / "data"),
            "COLUMNS": "120",
        }
        self.python: subprocess.Popen[str] | None = None

    def run(self, block: Block) -> tuple[str, bool]:
        """Return what a block prints, and whether it ran to its end."""
        if block.language == "sh":
            return self._shell(block.code)
        return self._python(block.code)

    def _shell(self, code: str) -> tuple[str, bool]:
        done = subprocess.run(
            ["bash", "-euc", code],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout, done.returncode == 0

    def _python(self, code: str) -> tuple[str, bool]:
        if self.python is None:
            self.python = subprocess.Popen(
                [sys.executable, "-c", SESSION],
                cwd=self.folder,
                env=self.env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        assert self.python.stdin
        assert self.python.stdout
        self.python.stdin.write(json.dumps(code) + "\n")
        self.python.stdin.flush()
        lines: list[str] = []
        for line in self.python.stdout:
            if line.startswith("\0"):
                return "".join(lines), line == "\0done\n"
            lines.append(line)
        return "".join(lines), False

    def end(self) -> None:
        """End the Python process."""
        if self.python is not None:
            self.python.communicate()


@pytest.fixture
def session(tmp_path: Path, program: Path) -> Iterator[Session]:
    """A folder to run the blocks of a page in."""
    session = Session(tmp_path, program)
    yield session
    session.end()


# Numbers with a decimal point or an exponent, which machines round differently.
REAL = re.compile(r"(?<![\w.])-?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)(?![\w.]*\d)")
PIECE = re.compile(rf"(?P<anything>\.\.\.)|(?P<real>{REAL.pattern})|(?P<space>\s+)|.")


def agrees(want: str, got: str) -> bool:
    """Whether an output is the one written.

    Times may differ, ``...`` stands for anything, and numbers that are not whole
    agree if they are within a thousandth of each other, or both no more than
    rounding errors.
    """
    want, got = (VOLATILE.sub("TIME", text).strip() for text in (want, got))
    pieces = list(PIECE.finditer(want))
    stands_for = {"anything": "(?s:.*?)", "real": f"({REAL.pattern})", "space": r"\s+"}
    pattern = "".join(
        stands_for[p.lastgroup] if p.lastgroup else re.escape(p[0]) for p in pieces
    )
    found = re.fullmatch(pattern, got)
    numbers = [float(p[0]) for p in pieces if p.lastgroup == "real"]
    return found is not None and all(
        math.isclose(x, float(y), rel_tol=1e-3, abs_tol=1e-6)
        for x, y in zip(numbers, found.groups(), strict=True)
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_code_runs(
    page: Path, session: Session, request: pytest.FixtureRequest
) -> None:
    text = page.read_text(encoding="utf-8")
    update = request.config.getoption("--update")
    wrong: list[tuple[re.Match[str], str]] = []
    for block in blocks(text):
        if block.left_out or block.language not in ("sh", "python"):
            continue
        got, ended = session.run(block)
        fails = block.output is not None and "\nscqm: " in "\n" + block.output[2]
        assert ended or fails, f"{block.code}\n{got}"
        shown = block.output[2] if block.output is not None else ""
        assert not WARNING.search(got) or WARNING.search(shown), f"{block.code}\n{got}"
        if block.output is None or agrees(block.output[2], got):
            continue
        assert update, f"{block.code}\nprints\n{got}\nnot\n{block.output[2]}"
        wrong.append((block.output, got))
    for match, got in reversed(wrong):
        text = text[: match.start(2)] + got.rstrip("\n") + "\n" + text[match.end(2) :]
    if wrong:
        page.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_block_is_run_or_says_why_not(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = blocks(text)
    assert found
    for block in found:
        known = block.language in ("sh", "python", "go", "text")
        assert known or block.left_out, f"no test runs this:\n{block.code}"
    # Code that is indented only would be run by nobody.
    assert not INDENTED.search(FENCE.sub("", text))


def test_outputs_are_compared() -> None:
    page = (
        "```sh\necho a\n```\n\n```text\na\n```\n\n<!-- not run: why -->\n\n"
        "```python\nx\n```\nand\n\n```text\nformula\n```\n"
    )
    first, second, third = blocks(page)
    assert first.output is not None
    assert first.output[2] == "a\n"
    assert not first.left_out
    assert second.left_out
    assert second.output is None
    assert third.language == "text"
    assert agrees("took 0.1s\n...\nend", "took 12 ms\none\ntwo\nend\n")
    assert agrees("1e-9,-1.2500, 3 rows", "4.5e-10,-1.2501,   3 rows")
    assert not agrees("objective 1.25", "objective 1.26")
    assert not agrees("in 3 iterations", "in 4 iterations")
    assert agrees(
        "in ... iterations, objective 1.2500", "in 12 iterations, objective 1.2501"
    )
    assert not agrees(
        "in ... iterations, objective 1.25", "in 12 iterations, objective 1.26"
    )
    assert not agrees("objective 1.25", "objective 1.25, mean 2.5")


def test_every_flag_is_explained(program: Path) -> None:
    """A flag that --help lists is somewhere in the guide, and so is its command."""
    guide = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    flags: set[str] = set()
    commands: list[list[str]] = [[]]
    for command in commands:
        done = subprocess.run(
            [program, *command, "--help"], capture_output=True, text=True, check=True
        )
        _, _, listed = done.stdout.partition("Available Commands:\n")
        for line in listed.partition("\n\n")[0].splitlines():
            name = line.split()[0]
            if name not in ("help", "completion"):
                commands.append([*command, name])
        assert not command or command[-1] in guide
        flags.update(re.findall(r"(?m)^ +(?:-\w, )?(--[\w-]+)", done.stdout))
    assert len(commands) > 15
    assert len(flags) > 50
    missing = {f for f in flags if not re.search(rf"{f}(?![\w-])", guide)}
    assert missing <= {"--help", "--version"}


def test_every_public_name_is_explained() -> None:
    """A name of the module is in a page for Python."""
    pages = [ROOT / "docs" / "guide" / f"{p}.md" for p in ("python", "python-optimize")]
    guide = "".join(page.read_text(encoding="utf-8") for page in pages)
    for name in set(scqm.__all__) - {"__version__"}:
        assert re.search(rf"\b{name}\b", guide), name
    assert scqm.SCQM().get_params().keys() <= set(re.findall(r"\w+", guide))
