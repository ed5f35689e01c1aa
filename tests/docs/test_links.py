"""Every link of every Markdown file leads somewhere; external ones only look right."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs_pages import PARSER, Link, anchors, fault, links, pages

from tests.docs.conftest import ROOT

PENDING: frozenset[str] = frozenset()
"""Pages that others have linked to and nobody has written yet, from the root."""


def dead(page: Path) -> list[str]:
    found = []
    for link in links(page.read_text(encoding="utf-8")):
        target = (page.parent / link.target.partition("#")[0]).resolve()
        is_pending = any(target == ROOT / name for name in PENDING)
        if not is_pending and (what := fault(page, link)):
            found.append(f"{page.relative_to(ROOT)}:{link.line}: {what}")
    return found


@pytest.mark.parametrize("page", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_anchors_resolve(page):
    assert dead(page) == []


@pytest.mark.parametrize("page", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_number_at_the_begin_of_a_line_became_a_list(page):
    """Such as a sentence that ends with "is 1." where the 1 stands on the next line."""
    text = page.read_text(encoding="utf-8")
    lines = text.splitlines()
    begun = [t.map[0] for t in PARSER.parse(text) if t.type == "ordered_list_open"]
    assert [lines[line] for line in begun if line and lines[line - 1].strip()] == []


def test_a_pending_page_that_exists_is_no_longer_pending():
    assert [name for name in PENDING if (ROOT / name).exists()] == []


def test_the_pages_of_the_repository_are_found():
    found = {str(page.relative_to(ROOT)) for page in pages()}
    assert {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/index.md"} <= found
    assert {"docs/rules/README.md", "recipes/workloads/README.md"} <= found
    assert "recipes/smollm2-135m/drafters/eagle3/README.md" in found
    assert not any(name.startswith(("engines/smollm2", ".")) for name in found)


@pytest.fixture
def page(tmp_path):
    (tmp_path / "other.md").write_text("# One `two` (three)\n\n## Same\n\n## Same\n")
    return tmp_path / "page.md"


GOOD = (
    "other.md",
    "other.md#one-two-three",
    "other.md#same-1",
    "#here",
    ".",
    "https://example.com/a_(b)?c=d#e",
    "mailto:someone@example.com",
)
BAD = (
    "absent.md",
    "other.md#one-two",
    "other.md#same-2",
    "#there",
    "other.md/",
    "htp://example.com",
    "https:///path",
    "https://exa_mple.com",
    "https://example.com/a%20b",
    "mailto:someone",
)


@pytest.mark.parametrize("target", GOOD)
def test_a_good_link(page, target):
    page.write_text("# Here\n")
    assert fault(page, Link(1, target)) == ""


@pytest.mark.parametrize("target", BAD)
def test_a_dead_link(page, target):
    page.write_text("# Here\n")
    assert fault(page, Link(1, target))


def test_a_link_out_of_the_repository_is_none():
    assert "leads out" in fault(ROOT / "README.md", Link(1, "../elsewhere.md"))


def test_links_are_found_where_markdown_has_them_and_nowhere_else():
    text = (
        "[a](1.md) ![b](2.png) [c][ref] <https://d.org>\n\n"
        "| [e](3.md) | `[f](no.md)` |\n|---|---|\n\n"
        "    [g](no.md)\n\n```md\n[h](no.md)\n```\n\n[ref]: 4.md\n"
    )
    found = [link.target for link in links(text)]
    assert found == ["1.md", "2.png", "4.md", "https://d.org", "3.md"]
    assert [link.line for link in links(text)] == [1, 1, 1, 1, 3]


def test_anchors_are_those_of_github():
    text = "# A: *b* `c_d`, e-f\n\n## A\n\n## A\n\n```\n# no heading\n```\n"
    assert anchors(text) == {"a-b-c_d-e-f", "a", "a-1"}
