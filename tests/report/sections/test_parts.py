"""Sections on runs that are out of the ordinary."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.report.made_runs import LOADS, Drafting, Made, make_run, plan_of
from trtspec.bench.cells import Cell
from trtspec.bench.outputs import Difference, Outputs
from trtspec.bench.records import Resources
from trtspec.bench.result import BenchResult
from trtspec.bench.rundir import BenchRun, load_run
from trtspec.bench.summary import Raw
from trtspec.report.document import Code, Details, Facts, Note, Table, Text
from trtspec.report.sections.comparison import comparison_chapter
from trtspec.report.sections.conditions import conditions_section
from trtspec.report.sections.goodput import goodput_section
from trtspec.report.sections.outputs import outputs_section
from trtspec.report.sections.reproduce import reproduce_section
from trtspec.report.sections.resources import resources_section
from trtspec.report.sections.step_time import step_time_section
from trtspec.report.sections.verdict import verdict_section
from trtspec.report.view import RunView

SMALL = Made(
    name="toy",
    arms={"on": Drafting(4, 0.0, 0.0001, changes=2)},
    loads=LOADS[:1],
    prompts=8,
    repeats=3,
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return load_run(make_run(tmp_path_factory.mktemp("parts") / "toy", SMALL))


def view_of(run, *, plan=None, cell=None, blocks=None):
    """Give a view of the run with something else in it."""
    result = run.result
    update = {"plan": result.plan.model_copy(update=plan or {})}
    if cell:
        changed = result.cells[0].model_copy(update=cell)
        update["cells"] = (changed, *result.cells[1:])
    raw = run.raw if blocks is None else replace(run.raw, blocks=blocks)
    return RunView(BenchRun(run.path, result.model_copy(update=update), raw))


def unmeasured():
    plan = plan_of(SMALL)
    result = BenchResult(
        plan=plan, finished="now", partial=True, cells=(Cell(load=LOADS[0]),)
    )
    return RunView(BenchRun(None, result, Raw()))


def notes(section):
    return [b.text for b in section.blocks if isinstance(b, Note)]


def test_a_busy_machine_and_forced_acceptance_are_told_first(run):
    conditions = run.result.plan.conditions
    name = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"
    changed = conditions.model_copy(
        update={
            "environment": {name: "3"},
            "hardware": conditions.hardware.model_copy(update={"busy_cores": 1.5}),
        }
    )
    told = notes(verdict_section(view_of(run, plan={"conditions": changed})))
    assert told[0] == "Other programs used 1.5 cores just before the start."
    assert told[1].startswith(f"${name}: ")


def test_sampled_outputs_are_not_compared(run):
    cell = run.result.cells[0]
    outputs = Outputs(
        prompts=8,
        by="token ids",
        identical=None,
        differences=(),
        off_repeats=8,
        on_repeats=8,
    )
    of = cell.comparisons["on"].model_copy(update={"outputs": outputs})
    section = outputs_section(view_of(run, cell={"comparisons": {"on": of}}))
    assert section.blocks[1].rows[0][2] == "sampled, not compared"


def test_a_text_that_ends_early_and_many_differences_are_told(run):
    cell = run.result.cells[0]
    differences = tuple(
        Difference(prompt_id=f"p{i}", position=i, off=None, on="|") for i in range(70)
    )
    outputs = Outputs(
        prompts=80,
        by="text",
        identical=10,
        differences=differences,
        off_repeats=80,
        on_repeats=80,
    )
    of = cell.comparisons["on"].model_copy(update={"outputs": outputs})
    section = outputs_section(view_of(run, cell={"comparisons": {"on": of}}))
    assert section.blocks[1].rows[0][2] == "10/80 texts"
    details = section.blocks[2]
    assert details.summary == "Where they first differ (50 of 70)"
    assert details.blocks[0].rows[1][2:] == ("p1", "1", "ended", "'|'")


def test_steps_that_one_block_does_not_tell_make_no_bar(run):
    blocks = [
        b.model_copy(update={"decode": None}) if b.arm == "on" and b.block == 2 else b
        for b in run.raw.blocks
    ]
    (figure,) = step_time_section(view_of(run, blocks=blocks)).blocks
    assert [bar.label for bar in figure.plots[0].bars] == ["off"]


def test_the_mean_step_is_that_of_the_counted_blocks(run):
    (figure,) = step_time_section(view_of(run)).blocks
    decode = [b.decode for b in run.raw.blocks if b.arm == "off"]
    mean = sum(d.seconds for d in decode) / sum(d.steps for d in decode)
    assert figure.plots[0].bars[0].total == pytest.approx(1000 * mean)


def test_each_gpu_has_its_clocks_and_reasons(run):
    blocks = [
        b.model_copy(
            update={
                "resources": Resources(
                    gpu_clock_mhz=((1000 + b.block, 1980), (1500, 1500)),
                    gpu_throttled=(("thermal",), ("power",) if b.block == 1 else ()),
                )
            }
        )
        for b in run.raw.blocks
    ]
    (table,) = resources_section(view_of(run, blocks=blocks)).blocks
    assert table.columns[-2:] == ("SM clock MHz", "clocks held down by")
    assert table.rows[0][-2:] == ("1001 to 1980; 1500", "thermal; power")


def test_a_run_in_which_nothing_was_measured_has_no_figures():
    view = unmeasured()
    empty = (goodput_section, outputs_section, resources_section, step_time_section)
    assert [make(view) for make in empty] == [None] * 4
    assert notes(verdict_section(view)) == [
        "Partial: the run ended before all its blocks ran. Whole rounds: 0 of 3 at "
        "concurrency 1. trtspec bench --resume RUN goes on with the rest."
    ]


def test_a_run_that_was_not_begun_by_a_command_says_so(run):
    first, facts = reproduce_section(view_of(run, plan={"command": ()})).blocks
    assert isinstance(first, Text)
    assert isinstance(facts, Facts)


def test_a_command_can_be_pasted_into_a_shell(run):
    command = ("my recipe.yaml", "--prompts", "it's.jsonl")
    (code, _) = reproduce_section(view_of(run, plan={"command": command})).blocks
    assert isinstance(code, Code)
    assert code.text == "trtspec bench 'my recipe.yaml' --prompts 'it'\"'\"'s.jsonl'"


def test_variables_that_are_not_set_are_said_to_be_none(run):
    conditions = run.result.plan.conditions.model_copy(update={"environment": {}})
    section = conditions_section(view_of(run, plan={"conditions": conditions}))
    details = {b.summary: b for b in section.blocks if isinstance(b, Details)}
    assert details["Environment variables that change speed"].blocks[0].pairs == (
        ("none", "–"),
    )


def test_each_recipe_is_given_once_without_secrets(run):
    plan = run.result.plan
    arms = []
    for arm in plan.arms:
        recipe = {"target": {"model": "http://me:hunter2@hub/model"}}
        subject = arm.artifact.model_copy(update={"recipe": recipe, "fingerprint": "f"})
        arms.append(arm.model_copy(update={"artifact": subject}))
    section = conditions_section(view_of(run, plan={"arms": tuple(arms)}))
    inner = [b.blocks[0] for b in section.blocks if isinstance(b, Details)]
    codes = [block.text for block in inner if isinstance(block, Code)]
    assert codes == ["target:\n  model: http://***@hub/model"]


def test_a_comparison_says_what_failed_and_what_a_run_did_not_measure(run, tmp_path):
    made = replace(SMALL, name="other", loads=LOADS[:2], fail=LOADS[0])
    other = load_run(make_run(tmp_path / "r", made))
    chapter = comparison_chapter([RunView(run), RunView(other)], ())
    (table,) = chapter.sections[0].blocks
    assert isinstance(table, Table)
    told = [row[:4] for row in table.rows]
    assert told[1:3] == [
        ("concurrency 1", "toy", "on", told[1][3]),
        ("concurrency 1", "other", "on", "failed"),
    ]
    assert {row[1] for row in told if row[0] == "concurrency 4"} == {"other"}
