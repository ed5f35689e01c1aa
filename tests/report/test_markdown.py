"""Markdown: well formed tables, escaped names, nothing but text."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from tests.report.conftest import Reported
from tests.report.made_runs import Drafting, Made, make_run
from trtspec.report.document import Chapter, Code, Document, Section
from trtspec.report.markdown import escape, to_markdown

RUNS = ["full", "failing", "partial", "served"]


@pytest.fixture(params=RUNS)
def markdown(request):
    return request.getfixturevalue(request.param).markdown


def tables(markdown):
    """Split into tables: lists of lists of cells."""
    found, current = [], []
    for line in [*markdown.splitlines(), ""]:
        if line.startswith("|"):
            assert line.endswith("|")
            current.append(re.split(r"(?<!\\)\|", line)[1:-1])
        elif current:
            found.append(current)
            current = []
    return found


def test_every_table_has_as_many_cells_in_each_row(markdown):
    assert tables(markdown)
    for head, marks, *rows in tables(markdown):
        assert all(re.fullmatch(r" -+:? ", mark) for mark in marks)
        assert {len(row) for row in (marks, *rows)} == {len(head)}
        assert rows


def test_every_table_has_an_empty_line_before_it(markdown):
    lines = markdown.splitlines()
    for before, line in pairwise(lines):
        if line.startswith("|") and not before.startswith("|"):
            assert before == ""


def test_details_are_opened_and_closed(markdown):
    assert markdown.count("<details>") == markdown.count("</details>")
    assert re.findall(r"<(?!/?details|/?summary|/?sub)\w+", markdown) == []


def test_the_verdict_is_the_first_section(full):
    first = re.findall(r"^## (.*)", full.markdown, re.M)
    assert first == full.titles
    assert first[0] == "Verdict"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a|b", r"a\|b"),
        ("<b>&", "&lt;b>&amp;"),
        ("*x* `y`", r"\*x\* \`y\`"),
        ("snake_case _x_", r"snake_case \_x\_"),
        ("1.84× [1.71, 1.97]", "1.84× [1.71, 1.97]"),
        ("[x](http://y)", r"[x\](http://y)"),
        ("two\nlines", "two lines"),
    ],
)
def test_text_is_escaped_where_it_has_to_be(text, written):
    assert escape(text) == written


def test_code_cannot_end_its_own_fence():
    section = Section("s", (Code("a\n````\nb"),))
    text = to_markdown(Document("t", (Chapter("t", "o", (), (section,)),), "m"))
    assert "`````\na\n````\nb\n`````" in text


def test_hostile_names_stay_in_their_cells(tmp_path):
    name = "a|b</summary><script>"
    made = Made(
        arms={name: Drafting(2, 0, 0)}, prompts=8, repeats=3, categories=(name,)
    )
    markdown = Reported(make_run(tmp_path / "r", made)).markdown
    test_every_table_has_as_many_cells_in_each_row(markdown)
    outside = re.sub(r"^```\n.*?^```$", "", markdown, flags=re.M | re.S)
    assert "<script" not in outside
