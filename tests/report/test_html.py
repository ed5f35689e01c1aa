"""The page: whole, alone, safe, and with everything in it."""

from __future__ import annotations

import re

import pytest

from tests.report.conftest import Reported
from tests.report.made_runs import Drafting, Made, make_run
from tests.report.pages import Page

RUNS = ["full", "failing", "partial", "served"]
HOSTILE = '<script>alert("1")</script>'


@pytest.fixture(params=RUNS)
def page(request):
    return Page(request.getfixturevalue(request.param).html)


def test_every_element_is_closed_where_it_must_be(page):
    assert page.problems == []


def test_nothing_is_loaded_from_elsewhere(page):
    assert page.loads
    assert [a for a in page.loads if not a.startswith("#")] == []
    assert not page.of("script")
    assert not page.of("link")
    assert not page.of("img")


def test_every_id_is_used_once_and_every_link_leads_somewhere(page):
    assert len(page.ids) == len(set(page.ids))
    assert {a["href"] for a in page.of("a")} <= {f"#{i}" for i in page.ids}


def test_every_plot_can_be_heard(page):
    plots = [s for s in page.of("svg") if s.get("class") == "plot"]
    assert plots
    for svg in plots:
        assert svg["role"] == "img"
        assert set(svg["aria-labelledby"].split()) <= set(page.ids)


def test_no_coordinate_is_missing(page):
    values = [v for _, attributes in page.tags for v in attributes.values() if v]
    assert not [v for v in values if re.search(r"\b(nan|inf|None)\b", v)]


def test_it_is_made_for_phones_dark_rooms_and_paper(full):
    page = Page(full.html)
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in (
        page.of("meta")
    )
    assert "screen and (prefers-color-scheme: dark)" in page.style
    assert "@media print" in page.style
    assert "@media screen and (max-width" in page.style


def test_every_colour_has_a_dark_twin(full):
    style = Page(full.html).style
    light, dark = re.findall(r":root \{(.*?)\}", style, re.S)
    colours = set(re.findall(r"(--[\w-]+): #", light))
    assert colours == set(re.findall(r"(--[\w-]+): #", dark))
    used = set(re.findall(r"var\((--[\w-]+)", style))
    assert used - colours <= {"--sans", "--mono", "--c", "--w", "--tint", "--p"}


def test_every_class_of_a_drawing_has_a_style(full):
    page = Page(full.html)
    inside = {"path", "line", "circle", "polygon", "rect"}
    classes = {
        css
        for tag, attributes in page.tags
        if tag in inside
        for css in (attributes.get("class") or "").split()
    }
    assert {css for css in classes if f".{css}" not in page.style} == set()


def test_a_phone_s_tables_scroll(full):
    page = Page(full.html)
    assert len(page.of("table")) == len(
        [d for d in page.of("div") if d.get("class") == "scroll"]
    )


def test_the_verdict_comes_first(full):
    text = Page(full.html).text
    heads = ["Verdict", *full.titles[1:]]
    # behind the list of sections
    body = text[text.index("95 % intervals") :]
    assert body.index("The numbers") < body.index(heads[-1])
    assert full.titles[0] == "Verdict"


def test_no_name_can_write_into_the_page(tmp_path):
    made = Made(
        name=HOSTILE,
        arms={f"{HOSTILE}a": Drafting(3, 0.1, 0.0001, lossy=HOSTILE, changes=2)},
        prompts=8,
        repeats=3,
        prompt_id=HOSTILE + "{category}{index}",
        categories=(HOSTILE, "chat"),
        command=(HOSTILE, "--prompts", "</pre>"),
        failure=HOSTILE,
        fail=Made().loads[2],
        cpu=HOSTILE,
    )
    page = Page(Reported(make_run(tmp_path / "r", made)).html)
    assert page.problems == []
    assert not page.of("script")
    assert HOSTILE in page.text


def test_no_prompt_s_output_is_in_the_page(full):
    sample = full.run.raw.samples[0]
    assert sample.tokens
    assert ", ".join(map(str, sample.tokens[:4])) not in full.html


def test_the_page_stays_small(full):
    assert len(full.html) < 400_000
