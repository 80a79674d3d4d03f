"""How Sphinx builds the site: `make docs` calls it by way of build.py."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

project = "SCQM"
author = "The SCQM authors"
project_copyright = "2026, The SCQM authors"
version = release = re.findall(
    '__version__ = "(.*)"', (ROOT / "python/scqm/_version.py").read_text("utf-8")
)[0]

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "myst_parser",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["readme.md"]  # index.md has its parts
# A name in code that is none of ours is none to complain about.
suppress_warnings = ["config.cache"]

# Markdown as it is read at the place where the repository is kept.
myst_heading_anchors = 6
myst_enable_extensions = ["deflist"]
smartquotes = False  # flags begin with two hyphens

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc has them in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
templates_path = [str(ROOT / "docs/site/templates")]

sphinx_gallery_conf = {
    "examples_dirs": [str(ROOT / "docs/examples")],
    "gallery_dirs": ["examples"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": True,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 10**9,
    "write_computation_times": False,
    "show_memory": False,
    "reference_url": {"scqm": None},
    "backreferences_dir": "backreferences",
    "doc_module": ("scqm",),
    "copyfile_regex": "",
    "image_srcset": ["2x"],
    "capture_repr": (),
    "matplotlib_animations": False,
    "plot_gallery": True,
}

html_theme = "pydata_sphinx_theme"
html_title = f"SCQM {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_logo = "static/logo.svg"
html_favicon = "static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "SCQM", "alt_text": "SCQM, the start page"},
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {
    "index": [],
    "install": [],
    "cite": [],
    "changelog": [],
}
