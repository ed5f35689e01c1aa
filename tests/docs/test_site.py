"""The guide is built without a warning, has every page, and needs no network."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys

import pytest
from docs_pages import pages

from tests.docs.conftest import ROOT

LOADED = re.compile(
    r"<(?:script|link|img|iframe|source)[^>]+(?:src|href)=\"((?:https?:)?//[^\"]+)\""
)
"""What a page fetches when it is opened; a link to be clicked is not among it."""


@pytest.fixture(scope="module")
def navigation():
    spec = importlib.util.spec_from_file_location("docs_conf", ROOT / "docs/conf.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_of_the_guide_is_in_the_navigation(navigation):
    named = {page for entries in navigation.NAVIGATION.values() for page in entries}
    named |= set(navigation.UNDER_RULES) | {"docs/index"}
    there = {
        str(page.relative_to(ROOT).with_suffix(""))
        for page in pages()
        if page.is_relative_to(ROOT / "docs") or page.is_relative_to(ROOT / "recipes")
    }
    assert there <= named


def test_every_entry_of_the_navigation_exists_once(navigation):
    entries = [page for listed in navigation.NAVIGATION.values() for page in listed]
    assert len(set(entries)) == len(entries)
    assert [page for page in entries if not (ROOT / f"{page}.md").exists()] == []


def test_what_a_page_loads_is_told_from_what_it_links_to():
    assert LOADED.findall('<script src="https://cdn.x/y.js"></script>')
    assert LOADED.findall('<link rel="stylesheet" href="//fonts.x/css">')
    assert not LOADED.findall('<a href="https://x.org">x</a><link href="../a.css">')


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built guide."""
    pytest.importorskip("sphinx", reason="pip install '.[docs]'")
    pytest.importorskip("myst_parser", reason="pip install '.[docs]'")
    pytest.importorskip("furo", reason="pip install '.[docs]'")
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    done = subprocess.run(
        [*command, "-c", "docs", "-d", str(out / "pages"), ".", str(out / "html")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return out / "html"


@pytest.mark.slow
def test_the_guide_is_built_without_a_warning(site):
    for page in pages():
        relative = page.relative_to(ROOT)
        if relative.parts[0] in ("docs", "recipes", "deploy"):
            assert (site / relative.with_suffix(".html")).exists(), relative


@pytest.mark.slow
def test_no_page_fetches_anything_from_elsewhere(site):
    for page in site.rglob("*.html"):
        if "_downloads" not in page.parts:
            assert LOADED.findall(page.read_text(encoding="utf-8")) == [], page
    for style in (site / "_static").rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert not re.search(r"url\(\s*['\"]?(https?:)?//", text), style
