"""The whole page: its order, and that it is whole, alone, safe and complete."""

from __future__ import annotations

import re

import pytest

from tests.report.pages import Page
from tests.report.tuning.made import shown
from tests.tune.made_result import candidate, result
from trtspec.report.build import build_document
from trtspec.report.load import load_all

HOSTILE = '<script>alert("1")</script>'
PAGES = ["full", "plain", "none"]


@pytest.fixture(params=PAGES)
def made(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def page(made):
    return Page(made.html)


def test_the_choice_comes_first_and_the_way_back_last(full, plain):
    assert full.titles == [
        "Choice",
        "Draft length and load",
        "Prediction and bench",
        "Methods",
        "By category",
        "What it stands on",
        "The bill",
        "The tuned recipe",
        "Conditions",
        "How to reproduce",
    ]
    assert plain.titles == [
        title
        for title in full.titles
        if title not in ("Prediction and bench", "Methods", "By category")
    ]


def test_the_head_says_what_and_when(full):
    assert full.chapter.title == "toy-ngram"
    assert full.chapter.under[0] == (
        "2026-11-30 16:43 UTC. 12 prompts of code.jsonl, up to 48 tokens, concurrency "
        "1, 4 and 8."
    )


def test_every_element_is_closed_and_nothing_is_loaded(page):
    assert page.problems == []
    assert [a for a in page.loads if not a.startswith("#")] == []
    assert not page.of("script")


def test_every_id_is_used_once_and_every_link_leads_somewhere(page):
    assert len(page.ids) == len(set(page.ids))
    assert {a["href"] for a in page.of("a")} <= {f"#{i}" for i in page.ids}


def test_every_plot_can_be_heard_and_no_coordinate_is_missing(page):
    plots = [svg for svg in page.of("svg") if svg.get("class") == "plot"]
    assert plots
    for svg in plots:
        assert set(svg["aria-labelledby"].split()) <= set(page.ids)
    values = [v for _, attributes in page.tags for v in attributes.values() if v]
    assert not [v for v in values if re.search(r"\b(nan|inf|None)\b", v)]


def test_every_class_of_the_surface_has_a_colour(made):
    used = {
        name
        for attributes in Page(made.html).of("rect") + Page(made.html).of("span")
        for name in (attributes.get("class") or "").split()
    }
    style = Page(made.html).style
    assert {"heat", "chosen", "p-up", "p-down", "p-chosen"} <= used
    for name in ("heat.up", "heat.down", "heat.even", "chosen", "p-up", "p-chosen"):
        assert f".{name} {{" in style


def test_markdown_has_the_same_figures(full):
    text = full.markdown
    assert text.startswith("# toy-ngram\n")
    assert "1.85× [1.76, 1.94]" in text
    assert "| 1 | 3 | 2.20 | 23.00 | 95.7 |" in text
    assert all(f"## {title}" in text for title in full.titles)
    assert "None" not in text


def test_names_are_escaped(tmp_path):
    lengths = {HOSTILE: {1: 1}, "b": {1: 2}}
    method = {"method": "ngram"}  # a recipe in a block of code is what it is
    hostile = candidate(HOSTILE, by_category=lengths, speculation=method)
    page = shown(tmp_path, result(hostile, candidate(HOSTILE + "2")))
    assert "<script" not in page.html
    assert "<script" not in page.markdown
    assert HOSTILE in Page(page.html).text


def test_a_tuning_and_a_run_are_chapters_of_one_report(full):
    paths = [full.found.path, full.found.path / "confirmation"]
    document = build_document(load_all(paths, ()))
    assert [chapter.over for chapter in document.chapters] == [
        "Speculation on against off",
        "Tuned draft length",
    ]
