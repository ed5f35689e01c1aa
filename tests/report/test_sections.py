"""What the sections say: every word, every doubt, every failure, and nothing twice."""

from __future__ import annotations

import re

import pytest

from tests.report.made_runs import LOADS, Drafting, Made, make_run
from tests.report.pages import Page
from trtspec.bench.cells import BreakEven, Doubt
from trtspec.bench.records import Load
from trtspec.bench.rundir import load_run
from trtspec.bench.verdict import Verdict
from trtspec.report.build import build_document
from trtspec.report.document import Details, Figure, Note, Table, Text, Verdicts
from trtspec.report.html import WORDS, to_html
from trtspec.report.load import Loaded
from trtspec.report.markdown import to_markdown
from trtspec.report.plots import draw
from trtspec.report.plots.lines import LinePlot
from trtspec.report.sections.conditions import conditions_section
from trtspec.report.sections.control import control_section
from trtspec.report.sections.ladder import ladder_section
from trtspec.report.sections.latency import latency_section
from trtspec.report.sections.resources import resources_section
from trtspec.report.sections.step_time import step_time_section
from trtspec.report.sections.verdict import verdict_section
from trtspec.report.sections.words import headline
from trtspec.report.view import RunView


def blocks(section, kind):
    return [block for block in section.blocks if isinstance(block, kind)]


def rows(table):
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def changed(run, load, name, **comparison):
    """Give the run with something else in one comparison."""
    cells = []
    for cell in run.result.cells:
        if cell.load.key == load:
            of = cell.comparisons[name].model_copy(update=comparison)
            update = {"comparisons": {**cell.comparisons, name: of}}
            cells.append(cell.model_copy(update=update))
        else:
            cells.append(cell)
    result = run.result.model_copy(update={"cells": tuple(cells)})
    return type(run)(run.path, result, run.raw)


def document_of(run):
    return build_document(Loaded((run,), ()))


def test_the_order_of_sections(full):
    assert full.titles == [
        "Verdict",
        "Speed over load",
        "Latency",
        "Goodput",
        "Acceptance",
        "Where a step's time goes",
        "Control: off against off",
        "Same output",
        "Resources",
        "Conditions",
        "How to reproduce",
    ]


@pytest.mark.parametrize("word", ["faster", "slower", "no difference", "no claim"])
def test_every_word_of_a_verdict_is_shown(full, word):
    verdict = Verdict(word=word, reason="the reason" if word == "no claim" else "")
    run = changed(full.run, "c4", "ngram", verdict=verdict)
    document = document_of(run)
    text = Page(to_html(document)).text
    css, sign = WORDS[word]
    assert f"{sign} {word} ngram" in text
    assert f'class="verdict w-{css}"' in to_html(document)
    (block,) = blocks(document.chapters[0].sections[0], Verdicts)
    row = next(
        r
        for r in rows(block.table)
        if (r["load"], r["candidate"]) == ("concurrency 4", "ngram")
    )
    assert row["verdict"] == word
    if word == "no claim":
        assert "the reason" in row["because"]


def test_a_verdict_has_its_ratios_acceptance_and_output(full):
    (block,) = blocks(full.section("Verdict"), Verdicts)
    row = rows(block.table)[0]
    cell = full.run.result.cells[0]
    ratio = cell.comparisons["ngram"].ratios["output_throughput"]
    assert row["output throughput / off"] == (
        f"{ratio.estimate:.2f}× [{ratio.interval[0]:.2f}, {ratio.interval[1]:.2f}]"
    )
    p95 = cell.comparisons["ngram"].ratios["e2e.p95"]
    if p95:
        assert row["E2E p95 / off"].startswith(f"{p95.estimate:.2f}×")
    assert row["acceptance length"] == (f"{cell.arms['ngram'].acceptance.length:.2f}")
    assert row["same output"] == "24/24"


def test_the_headline_names_loads_by_word_and_never_an_average(full):
    run = full.run
    for load, word in (("c1", "faster"), ("c4", "faster"), ("c16", "slower")):
        run = changed(run, load, "ngram", verdict=Verdict(word=word))
    said = headline(run.result.cells, "ngram")
    assert said == "faster at concurrency 1 and 4, slower at concurrency 16."


def test_a_doubt_is_shown_once_and_says_what_it_takes(full):
    fatal = Doubt(
        id="forced-acceptance", what="acceptance is pinned at 1.0", fatal=True
    )
    mild = Doubt(id="few-prompts", what="only 9 prompts", fatal=False)
    verdict = Verdict(word="no claim", reason=fatal.what)
    run = changed(full.run, "c1", "eagle3", doubts=(fatal, mild), verdict=verdict)
    document = document_of(run)
    (block,) = blocks(document.chapters[0].sections[0], Verdicts)
    row = next(r for r in block.loads[0].rows if r.name == "eagle3")
    assert row.remarks == (
        (
            "warning",
            "forced-acceptance takes the claim away: acceptance is pinned at 1.0",
        ),
        ("info", "few-prompts qualifies the numbers: only 9 prompts"),
    )
    notes = [n.text for n in blocks(document.chapters[0].sections[0], Note)]
    assert not any("only 9 prompts" in text for text in notes)


def test_a_doubt_of_every_comparison_is_told_once(full):
    fatal = Doubt(id="repeated-prompts", what="3 prompts are the same", fatal=True)
    run = full.run
    for cell in run.result.cells:
        for name in ("ngram", "eagle3"):
            verdict = Verdict(word="no claim", reason=fatal.what)
            run = changed(run, cell.load.key, name, doubts=(fatal,), verdict=verdict)
    section = document_of(run).chapters[0].sections[0]
    said = "repeated-prompts takes the claim away"
    assert Note("warning", f"{said}: 3 prompts are the same") in section.blocks
    (block,) = blocks(section, Verdicts)
    for load in block.loads:
        for row in load.rows:
            assert row.remarks == (("warning", f"{said}, see above"),)
    assert all("3 prompts are the same" in row[-1] for row in block.table.rows)


def test_a_mild_doubt_that_every_candidate_has_of_itself_is_told_once(full):
    run = full.run
    for cell in run.result.cells:
        for name in ("ngram", "eagle3"):
            own = Doubt(id="degenerate-output", what=f"arm {name}: 1 of 9", fatal=False)
            run = changed(run, cell.load.key, name, doubts=(own,))
    section = document_of(run).chapters[0].sections[0]
    said = "degenerate-output qualifies the numbers: each candidate: 1 of 9"
    assert [n for n in blocks(section, Note) if "1 of 9" in n.text] == [
        Note("info", said)
    ]
    (block,) = blocks(section, Verdicts)
    assert not any("1 of 9" in str(row.remarks) for r in block.loads for row in r.rows)
    assert not any("1 of 9" in row[-1] for row in block.table.rows)


def test_a_mild_doubt_that_differs_under_one_load_stays_in_the_rows(full):
    run = full.run
    for cell in run.result.cells:
        for name in ("ngram", "eagle3"):
            count = 2 if (cell.load.key, name) == ("c4", "ngram") else 1
            what = f"arm {name}: {count} of 9"
            own = Doubt(id="degenerate-output", what=what, fatal=False)
            run = changed(run, cell.load.key, name, doubts=(own,))
    section = document_of(run).chapters[0].sections[0]
    assert not any(" of 9" in note.text for note in blocks(section, Note))
    (block,) = blocks(section, Verdicts)
    row = next(r for r in block.loads[1].rows if r.name == "ngram")
    assert "arm ngram: 2 of 9" in str(row.remarks)
    assert "arm eagle3: 1 of 9" in block.table.rows[1][-1]


@pytest.mark.parametrize(
    ("interval", "end"),
    [
        ((1.0, 4.8), "; the ladder ends at 1, so it may lie beyond."),
        ((2.0, 16.0), "; the ladder ends at 16, so it may lie beyond."),
        ((2.0, 4.8), "."),
    ],
)
def test_a_break_even_says_where_its_ladder_ends(full, interval, end):
    found = BreakEven(kind="crossing", concurrency=2.5, interval=interval)
    result = full.run.result.model_copy(update={"break_even": {"ngram": found}})
    run = type(full.run)(full.run.path, result, full.run.raw)
    (block,) = blocks(document_of(run).chapters[0].sections[0], Verdicts)
    low, high = interval
    said = f"Break-even: at 2.5 requests [{low:.1f}, {high:.1f}]{end}"
    assert block.headlines[0].break_even == said


def test_categories_that_are_loads_of_their_own_have_their_own_words(full):
    cells = []
    for category, word in (("chat", "slower"), ("code", "faster")):
        for cell in full.run.result.cells[:2]:
            load = cell.load.model_copy(update={"category": category})
            of = cell.comparisons["ngram"].model_copy(
                update={"verdict": Verdict(word=word)}
            )
            cells.append(
                cell.model_copy(update={"load": load, "comparisons": {"ngram": of}})
            )
    assert headline(tuple(cells), "ngram") == (
        "chat: slower at concurrency 1 and 4; code: faster at concurrency 1 and 4."
    )


def test_lossy_stands_everywhere_a_verdict_does(partial):
    verdict = partial.section("Verdict")
    assert Note("lossy", "typical is LOSSY: typical acceptance.") in verdict.blocks
    (block,) = blocks(verdict, Verdicts)
    assert "LOSSY" in block.headlines[0].said
    assert rows(block.table)[0]["verdict"].endswith("(LOSSY)")
    assert "LOSSY" in partial.markdown


def test_a_partial_run_says_so_before_anything_else(partial):
    first = partial.section("Verdict").blocks[0]
    assert first.text == (
        "Partial: the run ended before all its blocks ran. Whole rounds: 4 of 4 at "
        "concurrency 1, 1 of 4 at concurrency 4, 0 of 4 at concurrency 16. "
        "trtspec bench --resume RUN goes on with the rest."
    )
    assert partial.document.chapters[0].over.endswith("partial")
    (block,) = blocks(partial.section("Verdict"), Verdicts)
    assert block.loads[2].rows[0].word == "not measured"


def test_a_load_with_a_failure_has_no_numbers_but_the_failures(failing):
    (block,) = blocks(failing.section("Verdict"), Verdicts)
    row = block.loads[1].rows[0]
    assert row.word == "failed"
    assert row.speed is None
    assert "HTTP 503 of http://***@host: overloaded, and 6 more" in row.remarks[0][1]
    (table,) = blocks(failing.section("Failures"), Table)
    (told,) = rows(table)
    assert told["load"] == "concurrency 4"
    assert told["count"] == "7"
    assert told["prompts"].endswith(" and 2 more")
    assert told["what"] == "HTTP 503 of http://***@host: overloaded"
    ladder = blocks(failing.section("Speed over load"), Figure)[0]
    assert "concurrency 4" not in {r["load"] for r in rows(ladder.table)}


def test_too_few_blocks_make_no_claim_and_say_why(failing):
    (block,) = blocks(failing.section("Verdict"), Verdicts)
    row = block.loads[0].rows[0]
    assert row.word == "no claim"
    assert "needs 3 blocks and 8 prompts, has 2 and 9" in row.remarks[-1][1]


def test_the_ladder_draws_the_ratios_of_the_result(full):
    (figure,) = blocks(full.section("Speed over load"), Figure)
    ratios, absolute = figure.plots
    assert isinstance(ratios, LinePlot)
    assert ratios.reference == (1.0, "off")
    for series in ratios.series:
        for cell, point in zip(full.run.result.cells, series.points, strict=True):
            found = cell.comparisons[series.key.name].ratios["output_throughput"]
            assert point.x == cell.load.concurrency
            assert (point.y, point.interval) == (found.estimate, found.interval)
    assert [s.key.name for s in absolute.series] == ["off", "ngram", "eagle3"]


def test_many_candidates_have_a_plot_each_on_the_same_axes(full, tmp_path):
    names = [f"m{i}" for i in range(5)]
    made = Made(
        arms={name: Drafting(3, 0.0, 0.0001) for name in names},
        prompts=8,
        repeats=3,
        loads=LOADS[:2],
    )
    view = RunView(load_run(make_run(tmp_path / "r", made)))
    figure = ladder_section(view).blocks[0]
    *each, absolute = figure.plots
    assert [plot.titles[1] for plot in each] == names
    assert [len(plot.ghosts) for plot in each] == [4] * 5
    assert len(absolute.series) == 6
    heights = {re.search(r'y1="([\d.]+)"[^>]*reference', draw(p, "p"))[1] for p in each}
    assert len(heights) == 1


def test_a_category_that_is_a_load_has_its_own_ladder(tmp_path):
    loads = tuple(
        Load(concurrency=c, category=k) for c in (1, 4) for k in ("chat", "code")
    )
    arms = {"on": Drafting(3, 0.0, 0.0001)}
    made = Made(arms=arms, prompts=24, repeats=3, loads=loads)
    view = RunView(load_run(make_run(tmp_path / "r", made)))
    chat, code = ladder_section(view).blocks
    assert (chat.caption[:5], code.caption[:5]) == ("chat:", "code:")
    assert [point.x for point in code.plots[0].series[0].points] == [1, 4]
    (block,) = blocks(verdict_section(view), Verdicts)
    assert block.headlines[0].said.startswith("chat: ")
    assert "; code: " in block.headlines[0].break_even


def test_a_run_without_an_off_arm_has_figures_but_no_verdict(tmp_path):
    arms = {"on": Drafting(3, 0.0, 0.0001)}
    made = Made(arms=arms, prompts=8, repeats=3, baseline=False)
    document = document_of(load_run(make_run(tmp_path / "r", made)))
    titles = [section.title for section in document.chapters[0].sections]
    assert "Control: off against off" not in titles
    assert "nothing to compare" in document.chapters[0].sections[0].blocks[0].text
    page = Page(to_html(document))
    assert page.problems == []
    assert len([s for s in page.of("svg") if s.get("class") == "plot"]) > 3
    assert "| on |" in to_markdown(document)


def test_a_run_in_which_every_load_failed_has_the_failures(tmp_path):
    made = Made(prompts=8, repeats=3, loads=LOADS[:1], fail=LOADS[0])
    document = document_of(load_run(make_run(tmp_path / "r", made)))
    titles = [section.title for section in document.chapters[0].sections]
    assert titles == ["Verdict", "Failures", "Conditions", "How to reproduce"]
    assert Page(to_html(document)).problems == []


def test_open_loops_have_a_ladder_each(served):
    first, second = blocks(served.section("Speed over load"), Figure)
    assert first.plots[0].titles == ("requests per second, Poisson", "off / E2E p50")
    assert second.plots[0].titles[0] == "requests per second, evenly spaced"
    cell = served.run.result.cells[0]
    (point,) = first.plots[0].series[0].points
    # the arrivals set the throughput: what is judged is how much sooner answers end
    assert point.y == pytest.approx(
        1 / cell.comparisons["on"].ratios["e2e.p50"].estimate
    )
    assert first.plots[1].titles[1] == "E2E s, p50"


def test_break_evens_stand_with_the_headlines(full):
    (block,) = blocks(full.section("Verdict"), Verdicts)
    assert [line.name for line in block.headlines] == ["ngram", "eagle3"]
    assert all(line.break_even.startswith("Break-even: ") for line in block.headlines)
    ratios = blocks(full.section("Speed over load"), Figure)[0].plots[0]
    crossing = {n for n, b in full.run.result.break_even.items() if b.interval}
    assert {band.key.name for band in ratios.bands} == crossing


def test_distributions_have_every_counted_request_in_the_unit_of_the_table(full):
    section = latency_section(full.view)
    figures = blocks(section, Figure)
    assert len(figures) == 3
    ttft = figures[0].plots[0]
    off = next(d for d in ttft.series if d.key.name == "off")
    wanted = [
        s.ttft * 1000 for s in full.run.raw.samples if (s.arm, s.load) == ("off", "c1")
    ]
    assert sorted(off.values) == pytest.approx(sorted(wanted))
    assert len(wanted) == 96
    table = rows(figures[0].table)
    assert {r["metric"] for r in table} == {
        "TTFT ms",
        "TPOT ms",
        "E2E s",
        "chunk gap ms",
    }
    assert {r["arm"] for r in table} == {"off", "ngram", "eagle3"}


def test_an_open_loop_reports_late_sends(served):
    table = blocks(latency_section(served.view), Figure)[0].table
    assert "sent late ms" in {r["metric"] for r in rows(table)}


def test_acceptance_stands_by_position_category_and_context(full):
    positions, categories, contexts = blocks(full.section("Acceptance"), Figure)
    assert [len(f.plots) for f in (positions, categories, contexts)] == [3, 3, 3]
    arm = full.run.result.cells[0].arms["ngram"]
    assert positions.plots[0].series[0].points[0].y == arm.positions[0].conditional
    groups = {row.label: row.dots[0].value for row in categories.plots[0].rows}
    assert groups == {name: found.length for name, found in arm.categories.items()}
    assert set(groups) == {"chat", "code", "summary"}
    assert {r["context tokens"] for r in rows(contexts.table)} >= {"0-255", "512-1023"}


def test_an_engine_that_tells_totals_only_is_said_to(served):
    section = served.section("Acceptance")
    assert "totals" in section.blocks[0].text
    (categories,) = blocks(section, Figure)
    assert {row.label for row in categories.plots[0].rows} == {
        "chat",
        "code",
        "summary",
    }
    assert "Where a step's time goes" not in served.titles


def test_a_step_s_parts_are_those_of_the_result_and_fill_the_bar(full):
    (figure,) = blocks(step_time_section(full.view), Figure)
    for plot, cell in zip(figure.plots, full.run.result.cells, strict=True):
        for bar in plot.bars:
            values = cell.arms[bar.label].values
            drafting, forward, rest = (p.value / bar.total for p in bar.parts)
            assert drafting == pytest.approx(values["drafting_share"], abs=1e-9)
            assert forward == pytest.approx(values["verification_share"])
            assert rest > 0
    assert "drafting" in dict(figure.parts)


def test_the_control_says_what_can_be_seen(full):
    (table,) = blocks(full.section("Control: off against off"), Table)
    for row, cell in zip(rows(table), full.run.result.cells, strict=True):
        assert row["smallest visible"] == f"{cell.control.visible:.1%}".replace(
            "%", " %"
        )
        assert row["output throughput"].startswith(
            f"{cell.control.comparison.ratios['output_throughput'].estimate:.3f}×"
        )


@pytest.mark.parametrize(
    ("ends", "told"), [((1.09, 1.17), True), ((0.9, 1.0), False), ((0.8, 0.9), True)]
)
def test_an_off_arm_that_is_apart_from_itself_is_told(full, ends, told):
    cells = []
    for cell in full.run.result.cells:
        ratios = dict.fromkeys(cell.control.comparison.ratios)
        if cell.load.key == "c4":
            known = cell.comparisons["ngram"].ratios["output_throughput"]
            ratios["ttft.p50"] = known.model_copy(update={"interval": ends})
        of = cell.control.comparison.model_copy(update={"ratios": ratios})
        control = cell.control.model_copy(update={"comparison": of})
        cells.append(cell.model_copy(update={"control": control}))
    result = full.run.result.model_copy(update={"cells": tuple(cells)})
    view = RunView(type(full.run)(full.run.path, result, full.run.raw))
    said = [note.text for note in blocks(control_section(view), Note)]
    assert len(said) == told
    assert all(text.endswith(": TTFT p50 at concurrency 4.") for text in said)


def test_a_run_without_a_control_says_what_is_missing(served):
    (note,) = served.section("Control: off against off").blocks
    assert "--no-control" in note.text


def test_goodput_stands_with_its_limits(full, partial):
    section = full.section("Goodput")
    assert section.lead.endswith("TTFT at most 0.2 s, E2E at most 1 s.")
    assert "Goodput" not in partial.titles


def test_resources_of_a_gpu_and_without(full, partial):
    (table,) = blocks(resources_section(full.view), Table)
    row = next(r for r in rows(table) if r["arm"] == "eagle3")
    assert row["SM clock MHz"] == "1760 to 1980"
    assert row["clocks held down by"] == "sw power cap"
    (plain,) = blocks(resources_section(partial.view), Table)
    assert "GPU J/token" not in plain.columns
    assert "memory MiB" in plain.columns


def test_differing_outputs_are_listed(partial):
    section = partial.section("Same output")
    (details,) = blocks(section, Details)
    (table,) = details.blocks
    at = {r["prompt"]: r["at"] for r in rows(table)}
    assert at == {"chat-00": "9", "code-01": "9", "summary-02": "9"}


def test_outputs_that_are_all_the_same_take_one_sentence(full):
    section = full.section("Same output")
    (details,) = blocks(section, Details)
    (table,) = details.blocks
    assert {row["same output"] for row in rows(table)} == {"24/24"}
    said = [text.text for text in blocks(section, Text)]
    assert "every candidate gave the same output as off for all prompts" in said[-1]


def test_an_arm_that_does_not_repeat_itself_is_shown_at_once(full):
    outputs = full.run.result.cells[0].comparisons["ngram"].outputs
    fewer = outputs.model_copy(update={"on_repeats": 23})
    document = document_of(changed(full.run, "c1", "ngram", outputs=fewer))
    section = next(s for s in document.chapters[0].sections if s.title == "Same output")
    (table,) = blocks(section, Table)
    assert rows(table)[0]["candidate repeats itself"] == "23/24"


def test_conditions_say_nothing_twice(full):
    plan = full.run.result.plan
    off = plan.baseline
    again = off.model_copy(update={"name": "off again", "role": "control"})
    other = again.model_copy(update={"engine": {**off.engine, "threads": 8}})
    shown = {}
    for control in (again, other):
        arms = tuple(control if arm.role == "control" else arm for arm in plan.arms)
        runner = {"backend": "reference", "dtype": "bfloat16", "threads": 16}
        conditions = plan.conditions.model_copy(update={"runner": runner})
        update = {"arms": arms, "conditions": conditions}
        result = full.run.result.model_copy(
            update={"plan": plan.model_copy(update=update)}
        )
        view = RunView(type(full.run)(full.run.path, result, full.run.raw))
        found = blocks(conditions_section(view), Details)
        shown[control is again] = {
            d.summary: d.blocks[0].pairs for d in found if d.summary.startswith("Arm ")
        }
    assert "Arm off again" not in shown[True]
    assert ("engine: threads", "8") in shown[False]["Arm off again"]
    assert not any("dtype" in name for name, _ in shown[False]["Arm off again"])
    pairs = dict(shown[True]["Arm ngram"])
    assert pairs["speculation"] == "as in its recipe below"
    assert pairs["engine: all"] == "as under Engine"


def test_a_recipe_is_shown_without_what_has_no_value(full):
    plan = full.run.result.plan
    subject = plan.arms[0].artifact
    recipe = {
        **subject.recipe,
        "engine": None,
        "target": {"model": "m", "family": None},
    }
    arm = plan.arms[0].model_copy(
        update={"artifact": subject.model_copy(update={"recipe": recipe})}
    )
    update = {"plan": plan.model_copy(update={"arms": (arm, *plan.arms[1:])})}
    result = full.run.result.model_copy(update=update)
    view = RunView(type(full.run)(full.run.path, result, full.run.raw))
    found = blocks(conditions_section(view), Details)
    text = next(d for d in found if d.summary.startswith("Recipe of")).blocks[0].text
    assert "model: m" in text
    assert "null" not in text


def test_every_condition_is_there(full):
    text = Page(full.html).text
    plan = full.run.result.plan
    for value in (
        plan.prompts.sha256,
        plan.prompts.rendered_sha256,
        plan.conditions.hardware.cpu,
        plan.conditions.system,
        "OMP_NUM_THREADS",
        "128.0 GiB (137438953472 bytes)",
        "NVIDIA H200",
        "580.95.05",
        "artifact: target_sha256",
        *(arm.artifact.fingerprint for arm in plan.arms if arm.artifact),
    ):
        assert value in text
    names = plan.settings.model_dump()
    assert all(name.replace("_", " ") in text for name in names)


def test_how_to_reproduce_is_a_command_line(full):
    section = full.section("How to reproduce")
    assert section.blocks[0].text == (
        "trtspec bench recipes/llama/ngram.yaml recipes/llama/eagle3.yaml "
        "--concurrency 1,4,16 --repeats 4"
    )


def test_no_secret_of_a_command_or_address_is_shown(served, failing):
    assert "hunter2" not in failing.html + failing.markdown
    assert "hunter2" not in served.html + served.markdown
    assert "sk-123" not in served.html + served.markdown
    assert "http://***@on.local:8000" in served.html


def test_markdown_and_page_carry_the_same_figures(full):
    text = Page(full.html).text
    (block,) = blocks(full.section("Verdict"), Verdicts)
    for row in block.table.rows:
        for cell in row[3:7]:
            assert cell in text
            assert cell in to_markdown(full.document)
