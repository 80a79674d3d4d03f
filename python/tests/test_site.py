"""The site, as far as neither Sphinx nor a browser is needed to see it.

Every page is in a table of contents, every public name and flag on a page, what the
site is built with is pinned, and each block of code in the pages is run by some test.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

import scqm

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs" / "site"
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))


@pytest.fixture(scope="module")
def build() -> ModuleType:
    """The module that brings the pages together."""
    spec = importlib.util.spec_from_file_location("build", SITE / "build.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_in_a_table_of_contents(build: ModuleType) -> None:
    listed = {"index", "readme"}  # the start page has what the README says
    for page in SITE.glob("*.md"):
        for tree in re.findall(r"(?ms)^```\{toctree\}\n(.*?)^```", page.read_text()):
            listed.update(re.findall(r"(?m)^[a-z][^\s<]*$", tree))
    pages = {name.removesuffix(".md") for name in build.pages().values()}
    missing = {p for p in pages - listed if not p.startswith("adr/0")}
    assert not missing
    written = {"examples/index", "api/index", "commands/index"}
    assert listed <= pages | written


@pytest.mark.parametrize(
    ("target", "page", "turned"),
    [
        ("python.md#losses", "docs/guide/cli.md", "python.md#losses"),
        ("../../README.md#when-not-to-use-it", "docs/guide/cli.md", "../index.md#when-not-to-use-it"),
        ("docs/adr/README.md", "README.md", "adr/index.md"),
        ("../adr", "docs/guide/cli.md", "../adr/index.md"),
        ("docs/images/torus.png", "README.md", "images/torus.png"),
        ("../../setup.py", "docs/guide/cli.md", "https://github.com/scqm/scqm/blob/main/setup.py"),
        ("../python/examples", "docs/theory.md", "https://github.com/scqm/scqm/tree/main/python/examples"),
        ("https://example.org/a.md", "README.md", "https://example.org/a.md"),
        ("#here", "README.md", "#here"),
    ],
)  # fmt: skip
def test_links_lead_where_pages_come_to_stand(
    build: ModuleType, target: str, page: str, turned: str
) -> None:
    assert build.turn_link(target, page, build.pages()) == turned
    text = f"[a]({target})\n\n```sh\necho '[a]({target})'\n```\n"
    after = build.turn_links(text, page, build.pages())
    assert after == f"[a]({turned})\n\n```sh\necho '[a]({target})'\n```\n"


def test_every_public_name_has_a_place(build: ModuleType) -> None:
    modules = ["scqm"]
    modules += [f"scqm.{n}" for n in scqm.__all__ if inspect.ismodule(getattr(scqm, n))]
    pages = {module: build.module_page(module) for module in modules}
    everything = "\n".join(pages.values())
    for module in modules:
        for name in set(importlib.import_module(module).__all__) - {"__version__"}:
            shown = inspect.ismodule(getattr(importlib.import_module(module), name))
            where = everything if module == "scqm" or shown else pages[module]
            pattern = rf"(?m)^(   |\.\. py:data:: |\.\. automodule:: scqm\.){name}$"
            assert re.search(pattern, where), (module, name, shown)


def test_every_flag_is_on_its_page(build: ModuleType, program: Path) -> None:
    text, subcommands = build.command_section(program, ["fit"])
    flags = re.findall(r"(?m)^ +(?:-\w, )?(--[\w-]+)", build.help_of(program, ["fit"]))
    assert len(flags) > 30
    assert not subcommands
    assert all(re.search(rf"(?m)^`(-\w, )?{f}[ `]", text) for f in flags)
    assert "list" in build.command_section(program, ["plugin"])[1]


def test_what_builds_the_site_is_pinned() -> None:
    text = (ROOT / "docs" / "requirements.txt").read_text(encoding="utf-8")
    entries = re.split(r"(?m)^(?=[a-z])", text)[1:]
    assert len(entries) > 40
    for entry in entries:
        assert re.match(r"[\w.-]+==[\w.]+", entry), entry
        assert "--hash=sha256:" in entry, entry


def test_examples_are_ready_for_the_gallery() -> None:
    assert len(EXAMPLES) >= 12
    for example in EXAMPLES:
        text = example.read_text(encoding="utf-8")
        assert re.match(r'"""\n(.+)\n(=+)\n\n', text), example
        assert "# %%" in text, example
        assert "plt." in text or "plot." in text, example


def test_citation_has_the_version() -> None:
    said = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {scqm.__version__}\n" in said
    assert scqm.__version__ in (SITE / "cite.md").read_text(encoding="utf-8")


def test_no_page_asks_another_machine() -> None:
    """Styles and pages of the site itself load nothing from elsewhere."""
    for path in [*SITE.rglob("*.css"), *SITE.rglob("*.md"), *SITE.rglob("*.svg")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"@import|url\(|<script|<link|src=\"?http", text), path


FENCE = re.compile(r"(?ms)^```(\w+)[^\n]*\n(.*?)^```$")


def test_blocks_of_other_pages_say_that_they_are_not_run() -> None:
    """A block of a page that test_guide does not run shows something."""
    pages = [*(ROOT / "docs").glob("*.md"), *SITE.glob("*.md"), *ROOT.glob("[CS]*.md")]
    for page in set(pages) - {ROOT / "docs" / "benchmarks.md"}:
        text = page.read_text(encoding="utf-8")
        for fence in FENCE.finditer(text):
            if fence[1] in ("python", "go", "sh"):
                before = text[: fence.start()]
                assert re.search(r"<!-- not run: \S.* -->\s*\Z", before), (
                    page,
                    fence[2],
                )
