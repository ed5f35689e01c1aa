"""Several runs in one report, and results of other tools."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.report.made_runs import LOADS, Drafting, Made, make_run
from tests.report.pages import Page
from trtspec.bench.comparable import Difference
from trtspec.bench.interchange import ForeignMetric, ForeignResult
from trtspec.bench.rundir import load_run
from trtspec.errors import UsageError
from trtspec.report.build import build_document
from trtspec.report.html import to_html
from trtspec.report.load import Differing, Loaded, load_all
from trtspec.report.markdown import to_markdown

SMALL = Made(
    name="ngram",
    arms={"on": Drafting(4, 0.0, 0.0001)},
    loads=LOADS[:2],
    prompts=8,
    repeats=3,
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("several")
    other = replace(SMALL, name="eagle3", seed=8, cpu="another")
    return (
        load_run(make_run(folder / "a", SMALL)),
        load_run(make_run(folder / "b", other)),
    )


def foreign():
    latency = ForeignMetric(
        name="TTFT", unit="ms", p50=10.5, p95=20.25, p99=31.0, mean=12.0
    )
    return ForeignResult(
        tool="trtllm-bench",
        tool_version=None,
        file="<report>.json",
        requests=1200,
        failed=3,
        metrics=(
            ForeignMetric(name="output throughput", unit="tokens/s", value=12345.6),
            latency,
        ),
        acceptance={"rate": 0.5},
        conditions={"concurrency": 4},
        caveats=("its TTFT is not ours",),
    )


def test_runs_are_laid_beside_one_another_load_by_load(runs):
    document = build_document(Loaded(runs, ()))
    assert [c.title for c in document.chapters] == ["Comparison", "ngram", "eagle3"]
    (section,) = document.chapters[0].sections
    (table,) = section.blocks
    told = [row[:3] for row in table.rows]
    assert told[:4] == [
        ("concurrency 1", "ngram", "off"),
        ("concurrency 1", "ngram", "on"),
        ("concurrency 1", "eagle3", "off"),
        ("concurrency 1", "eagle3", "on"),
    ]
    assert "own run" in section.lead


def test_two_runs_of_one_name_are_told_apart(runs):
    first = runs[0]
    document = build_document(
        Loaded(
            (first, type(first)(first.path.with_name("z"), first.result, first.raw)), ()
        )
    )
    assert [c.title for c in document.chapters[1:]] == ["ngram (a)", "ngram (z)"]


def differing(*, matters):
    found = Difference(
        key="conditions.hardware.cpu", a="AMD EPYC 9354", b="another", matters=matters
    )
    return (Differing("eagle3", found),)


def test_an_allowed_difference_stands_in_plain_sight(runs):
    document = build_document(Loaded(runs, (), differing(matters=True)))
    said = (
        "Compared although conditions.hardware.cpu differs: AMD EPYC 9354 in the first "
        "run, another in eagle3."
    )
    assert document.notes[0].text == said
    assert said in Page(to_html(document)).text
    assert to_markdown(document).index(said) < to_markdown(document).index("Verdict")


def test_a_difference_that_does_not_matter_is_only_listed(runs):
    document = build_document(Loaded(runs, (), differing(matters=False)))
    assert document.notes == ()
    assert "AMD EPYC 9354 | another" in to_markdown(document)


def test_a_report_of_several_runs_is_one_valid_page(runs):
    page = Page(to_html(build_document(Loaded(runs, (foreign(),)))))
    assert page.problems == []
    assert len(page.ids) == len(set(page.ids))
    assert {a["href"] for a in page.of("a")} <= {f"#{i}" for i in page.ids}


def test_a_foreign_result_makes_no_claim():
    document = build_document(Loaded((), (foreign(),)))
    (chapter,) = document.chapters
    assert chapter.title == "<report>.json"
    assert chapter.over == "Result of trtllm-bench"
    note, failed, caveats, facts, table = chapter.sections[0].blocks
    assert failed.text == "3 requests failed."
    assert caveats.items == ("its TTFT is not ours",)
    assert facts.pairs == (("requests that succeeded", "1,200"),)
    assert note.text.startswith(
        "Measured by trtllm-bench; no paired off arm, so no claim."
    )
    assert table.columns == ("metric", "unit", "value", "mean", "p50", "p95", "p99")
    assert table.rows[0] == (
        "output throughput",
        "tokens/s",
        "12,346",
        "–",
        "–",
        "–",
        "–",
    )
    assert table.rows[1][3:] == ("12", "10.5", "20.25", "31")
    assert [s.title for s in chapter.sections] == [
        "Metrics",
        "Acceptance",
        "Conditions",
    ]
    assert "Verdict" not in to_markdown(document)


def test_differences_are_refused_unless_allowed(runs):
    paths = [run.path for run in runs]
    with pytest.raises(UsageError, match=r"conditions\.hardware\.cpu"):
        load_all(paths, ())
    loaded = load_all(paths, ("conditions.hardware.cpu",))
    (found,) = [d for d in loaded.differing if d.difference.matters]
    assert found.run == "eagle3"
    assert loaded.unneeded == ()
    keys = ("conditions.hardware.cpu", "conditions.python")
    assert load_all(paths, keys).unneeded == ("conditions.python",)
    assert (found.difference.a, found.difference.b) == ("AMD EPYC 9354", "another")


def test_one_run_named_twice_is_read_once(runs):
    path = runs[0].path
    assert len(load_all([path, path], ()).runs) == 1


def test_a_partial_run_is_marked_beside_whole_ones(tmp_path):
    whole = load_run(make_run(tmp_path / "a", SMALL))
    stopped = load_run(make_run(tmp_path / "b", replace(SMALL, stop_after=8)))
    text = to_markdown(build_document(Loaded((whole, stopped))))
    rows = [line for line in text.splitlines() if line.startswith("| concurrency 1 |")]
    comparison = rows[:4]  # off and on of each
    marked = [", partial" in row for row in comparison]
    assert marked == [False, False, True, True]


def test_runs_of_one_name_are_told_apart_by_their_paths(tmp_path):
    runs = [load_run(make_run(tmp_path / place / "run", SMALL)) for place in ("a", "b")]
    titles = [c.title for c in build_document(Loaded(tuple(runs))).chapters[1:]]
    assert titles == [f"ngram ({tmp_path}/a/run)", f"ngram ({tmp_path}/b/run)"]
