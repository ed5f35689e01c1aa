"""How the guide is built with Sphinx: which pages, in which order, self-contained.

The pages are plain Markdown that also reads well in a repository browser, so the
navigation stands here and not in a page. The source is the repository's root: then a
relative link to a recipe, a script or CONTRIBUTING.md is the same in both places.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trtspec import __version__

ROOT = Path(__file__).resolve().parent.parent

project = "trtspec"
version = release = __version__
author = "the trtspec authors"
copyright = "the trtspec authors, Apache-2.0"  # noqa: A001  Sphinx's own name
language = "en"


def _pages(folder: str, pattern: str) -> list[str]:
    """List the pages of a folder but for its front page, without their suffix."""
    found = sorted((ROOT / folder).glob(pattern))
    front = ROOT / folder / "README.md"
    return [str(p.relative_to(ROOT).with_suffix("")) for p in found if p != front]


UNDER_RULES = _pages("docs/rules", "*.md")
DEPLOYED = _pages(".", "deploy/**/*.md")

NAVIGATION: dict[str, list[str]] = {
    "Start": ["docs/quickstart", "docs/concepts", "docs/limits"],
    "Choose": [
        "docs/choosing-a-method",
        "docs/methods",
        "docs/combinations",
        "docs/init",
        "docs/inspect",
        "docs/vocabulary",
        "docs/memory",
    ],
    "Recipes and engines": [
        "docs/recipe",
        "docs/editors",
        "recipes/workloads/README",
        "docs/engines",
        "docs/checkpoint-to-engines",
        "docs/every-release",
        "docs/rules/README",
        "docs/doctor",
    ],
    "Measure": [
        "docs/bench",
        "docs/statistics",
        "docs/report",
        "docs/benchmarks",
        "docs/examples/README",
    ],
    "Tune": ["docs/tune", "docs/tune-pricing", "recipes/smollm2-135m/tuned/README"],
    "Verify": ["docs/verify", "docs/verify-gate", "docs/verify-distribution"],
    "Serve": ["docs/serving", "docs/deploy", "docs/operations", *DEPLOYED],
    "Drafters": [
        "docs/fit-a-drafter",
        "docs/user-drafters",
        "recipes/smollm2-135m/drafters/eagle3/README",
        "recipes/smollm2-135m/drafters/medusa/README",
        "recipes/smollm2-135m/drafters/draft-target/README",
    ],
    "Help": ["docs/troubleshooting", "docs/faq", "docs/cli"],
    "Develop": ["docs/developing", "docs/architecture", "CONTRIBUTING", "CHANGELOG"],
}
"""Captions and pages, in the order of the side bar."""
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "docs/index"
include_patterns = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/**.md",
    "recipes/**.md",
    "deploy/**.md",
    "engines/README.md",
]
exclude_patterns = [".*", "build", "dist", "engines/*/**", "runs", "tests", "tunings"]
nitpicky = True

myst_heading_anchors = 4
myst_enable_extensions: list[str] = []
suppress_warnings = ["myst.header"]  # a page may begin below the first level

html_theme = "furo"
html_title = f"trtspec {__version__}"
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["wide.css"]
html_theme_options = {"navigation_with_keys": True}
pygments_style = "default"


def _toctree(caption: str, pages: list[str]) -> str:
    entries = "\n".join(f"/{page}" for page in pages if (ROOT / f"{page}.md").exists())
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{entries}\n```\n"


def add_navigation(_app: Any, page: str, source: list[str]) -> None:
    """Append what stands in the side bar to the pages that it hangs on."""
    if page == root_doc:
        source[0] += "".join(_toctree(*entry) for entry in NAVIGATION.items())
        source[0] += _toctree("Project", ["README", "engines/README"])
    if page == "docs/rules/README":
        source[0] += _toctree("Rules", UNDER_RULES)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", add_navigation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
