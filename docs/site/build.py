"""Build the site in docs/_build/html: `make docs`.

Pages stay where they are read in the repository. This copies them to
docs/_build/source, with links to files that are no pages turned to where the repository
is kept; writes the pages that follow from the program and the public
names of the Python module; and calls Sphinx, which runs the examples of the gallery.
Warnings are errors.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "docs" / "_build"
SOURCE = BUILD / "source"
SITE = ROOT / "docs" / "site"
REPOSITORY = "https://github.com/scqm/scqm"

# Where pages from outside of docs come to stand.
MOVED = {
    "README.md": "readme.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "docs/adr/README.md": "adr/index.md",
}
# Pages that a link may name though the site has their content elsewhere.
LINKED = {"README.md": "index.md", "docs/README.md": "index.md"}

FENCED = re.compile(r"(?ms)^ *(```+)[^\n]*\n.*?^ *```+ *$")
LINK = re.compile(r"(\]\()([^()\s]+)((?: \"[^\"]*\")?\))")


def pages() -> dict[str, str]:
    """Return where in the site each page of the repository stands."""
    found = {}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        name = path.relative_to(ROOT).as_posix()
        inside = name.split("/")[1]
        if inside not in ("_build", "examples", "README.md"):
            found[name] = name.removeprefix("docs/").removeprefix("site/")
    return found | MOVED


def turn_link(target: str, page: str, placed: dict[str, str]) -> str:
    """Return the target of a link of a page for where the page comes to stand.

    Parameters
    ----------
    target : str
        As it stands in the page.
    page : str
        The page, as a path in the repository.
    placed : dict of str to str
        Where in the site each page of the repository stands.
    """
    path, hash_sign, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return target
    file = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    here = posixpath.dirname(placed[page])
    if file.startswith("docs/images/"):
        return posixpath.relpath(file.removeprefix("docs/"), here or ".")
    place = LINKED.get(file, placed.get(file))
    if place is None and (ROOT / file).is_dir():
        place = placed.get(f"{file}/README.md")
        if place is None:
            return f"{REPOSITORY}/tree/main/{file}"
    if place is None:
        return f"{REPOSITORY}/blob/main/{file}{hash_sign}{anchor}"
    return posixpath.relpath(place, here or ".") + hash_sign + anchor


def turn_links(text: str, page: str, placed: dict[str, str]) -> str:
    """Return a page with its links turned, outside of blocks of code."""
    parts, end = [], 0
    for fence in [*FENCED.finditer(text), None]:
        start = fence.start() if fence else len(text)
        parts.append(
            LINK.sub(
                lambda m: m[1] + turn_link(m[2], page, placed) + m[3], text[end:start]
            )
        )
        if fence:
            parts.append(fence[0])
            end = fence.end()
    return "".join(parts)


def write(name: str, text: str) -> None:
    """Write a page if it is new: Sphinx reads anew what is younger than its build."""
    path = SOURCE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def copy(source: Path, name: str) -> None:
    """Copy a file if it is new."""
    path = SOURCE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != source.read_bytes():
        shutil.copyfile(source, path)


def place_pages() -> None:
    """Bring the pages of the repository and those of the site alone to their place."""
    placed = pages()
    for page, name in placed.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        # Nothing here draws diagrams; as text they can be read.
        write(name, turn_links(text, page, placed).replace("```mermaid\n", "```text\n"))
    for path in (ROOT / "docs" / "images").iterdir():
        copy(path, f"images/{path.name}")
    copy(ROOT / "CITATION.cff", "parts/CITATION.cff")
    records = sorted(n for n in placed.values() if re.match(r"adr/\d{4}-", n))
    entries = "\n".join(
        f"{n.removeprefix('adr/').removesuffix('.md')}" for n in records
    )
    index = (SOURCE / "adr/index.md").read_text(encoding="utf-8")
    if "```{toctree}" not in index:
        write("adr/index.md", f"{index}\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n")


# The command line.

FLAG = re.compile(r"^ {2,6}(?:(-\w), )?(--[\w-]+)(?: (\S+))? {2,}(\S.*)$")


def help_of(program: Path, command: list[str]) -> str:
    """Return what the program says of a command."""
    return subprocess.run(
        [program, *command, "--help"],
        check=True,
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"COLUMNS": "100"},
    ).stdout


def escape(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return re.sub(r"([\\`*_\[\]<>|$#{}])", r"\\\1", text)


def command_section(program: Path, command: list[str]) -> tuple[str, list[str]]:
    """Return a section on a command from its own help, and its subcommands."""
    said = help_of(program, command)
    head, _, rest = said.partition("\nUsage:\n")
    lines = [f"{'#' * max(1, len(command))} {' '.join(['scqm', *command])}", ""]
    lines += [escape(head).strip(), ""]
    usage, _, rest = rest.partition("\n\n")
    lines += ["```text", *(line.strip() for line in usage.splitlines()), "```", ""]
    subcommands, inside = [], ""
    for line in rest.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            if inside == "Examples:":
                lines += ["```", ""]
            inside = line
            if inside == "Examples:":
                lines += ["```sh"]
            elif inside.endswith("Flags:"):
                lines += [f"**{inside.removesuffix(':')}**", ""]
        elif inside == "Available Commands:" and line.strip():
            subcommands.append(line.split()[0])
        elif inside == "Examples:":
            lines += [line.strip()] if line.strip() else []
        elif (flag := FLAG.match(line)) and inside.endswith("Flags:"):
            short, name, value, meaning = flag.groups()
            shown = ", ".join(filter(None, [short, name])) + (
                f" {value}" if value else ""
            )
            lines += [f"`{shown}`", f": {escape(meaning)}", ""]
    if inside == "Examples:":
        lines += ["```", ""]
    return "\n".join(lines) + "\n", subcommands


def place_commands() -> None:
    """Write a page for every command, from what its --help says."""
    program = BUILD / "scqm"
    subprocess.run(
        ["go", "build", "-buildvcs=false", "-o", program, "./cmd/scqm"],
        cwd=ROOT,
        check=True,
        env=os.environ | {"CGO_ENABLED": "0"},
    )
    _, commands = command_section(program, [])
    commands = [c for c in commands if c not in ("help", "completion")]
    rows = []
    for command in commands:
        text, subcommands = command_section(program, [command])
        for subcommand in subcommands:
            more, _ = command_section(program, [command, subcommand])
            text += "\n" + more
        write(f"commands/{command}.md", text)
        first = re.search(rf"(?m)^  {command} +(.*)$", help_of(program, []))
        assert first
        rows.append(f"| [scqm {command}]({command}.md) | {escape(first[1])} |")
    table = "\n".join(["| command | |", "| --- | --- |", *rows])
    tree = "\n".join(commands)
    write(
        "commands/index.md",
        "# Commands\n\nWhat `scqm COMMAND --help` says of each. The "
        "[guide](../guide/cli.md) shows them at work.\n\n"
        f"{table}\n\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n",
    )


# Python.


def kind_of(thing: object) -> str:
    """Return under which heading a public name stands."""
    if inspect.ismodule(thing):
        return "Modules"
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return "Errors"
    if inspect.isclass(thing):
        return "Estimators" if hasattr(thing, "get_params") else "Classes"
    return "Functions" if inspect.isroutine(thing) else "Types"


def module_page(module: str) -> str:
    """Return the page of a module: its docstring, and all its public names by kind."""
    found = importlib.import_module(module)
    kinds: dict[str, list[str]] = {}
    for name in sorted(found.__all__, key=str.lower):
        thing = getattr(found, name)
        # What the package hands on from its modules stands there.
        elsewhere = module == "scqm" and any(
            name in getattr(sub, "__all__", ()) and getattr(sub, name) is thing
            for key in found.__all__
            if inspect.ismodule(sub := getattr(found, key)) and key != "dask"
        )
        if not (elsewhere or inspect.ismodule(thing) or name == "__version__"):
            kinds.setdefault(kind_of(thing), []).append(name)
    lines = [f"{module}\n{'=' * len(module)}\n", f".. automodule:: {module}\n"]
    lines.append(f".. currentmodule:: {module}\n")
    for kind in ("Estimators", "Functions", "Classes", "Errors", "Types"):
        if names := kinds.get(kind):
            lines.append(f".. rubric:: {kind}\n")
            if kind == "Types":
                for name in names:
                    said = f"The type ``{getattr(found, name)}``, for annotations."
                    lines.append(f".. py:data:: {name}\n\n   {said}\n")
            else:
                lines.append(".. autosummary::\n   :toctree: generated\n")
                lines += [f"   {name}" for name in names]
                lines.append("")
    return "\n".join(lines)


def place_python() -> None:
    """Write a page for every public module."""
    import scqm

    modules = ["scqm"]
    modules += [f"scqm.{n}" for n in scqm.__all__ if inspect.ismodule(getattr(scqm, n))]
    for module in modules:
        write(f"api/{module}.rst", module_page(module))
    tree = "\n".join(modules)
    write(
        "api/index.md",
        "# Python\n\nEvery public name of the module, by its docstring. The "
        "[guide](../guide/python.md) shows them at work, the "
        "[gallery](../examples/index.rst) in "
        f"programs with pictures.\n\n```{{toctree}}\n:maxdepth: 1\n\n{tree}\n```\n",
    )


def main() -> None:
    """Build the site."""
    place_pages()
    place_commands()
    place_python()
    # Plugins find this Python first, and examples what lies in the repository.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {
        "PATH": path,
        "SCQM_ROOT": str(ROOT),
        "MPLBACKEND": "Agg",
    }
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q"]
    command += ["-b", "html", "-c", str(SITE), "-d", str(BUILD / "doctrees")]
    done = subprocess.run(
        [*command, *sys.argv[1:], str(SOURCE), str(BUILD / "html")],
        env=environment,
        check=False,
    )
    if done.returncode:
        sys.exit(done.returncode)
    print(json.dumps({"site": str(BUILD / "html" / "index.html")}))


if __name__ == "__main__":
    main()
