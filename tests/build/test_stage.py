"""Whether a stage's key covers all that decides its output, and nothing else."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtspec.build.command_line import Command
from trtspec.build.progress import SILENT
from trtspec.build.stage import Stage, StageContext


def nothing(context):
    pass


STAGE = Stage("convert", 1, {"dtype": "float32"}, nothing)
EARLIER = Stage("fetch", 1, {"url": "a"}, nothing)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"version": 2},
        {"inputs": {"dtype": "float16"}},
        {"inputs": {"dtype": "float32", "more": ""}},
        {"uses": (EARLIER,)},
    ],
)
def test_key_changes_with_what_decides(change):
    assert replace(STAGE, **change).key != STAGE.key


@pytest.mark.parametrize(
    "change",
    [
        {"action": print},
        {"summary": ("said otherwise",)},
        {"needs_bytes": 7},
        {"folder": "target"},
        # what decides of a command is in the inputs, where it runs is not
        {"command": Command(("program", "{output}"))},
        {"paths": {"program": "/usr/bin/program"}},
    ],
)
def test_key_stays_with_what_does_not_decide(change):
    assert replace(STAGE, **change).key == STAGE.key


def test_key_changes_when_a_used_stage_does():
    user = replace(STAGE, uses=(EARLIER,))
    other = replace(STAGE, uses=(replace(EARLIER, inputs={"url": "b"}),))
    assert user.key != other.key
    assert user.all_inputs == {"dtype": "float32", "fetch": EARLIER.key}


@given(st.dictionaries(st.text(), st.text(), min_size=2))
def test_key_does_not_depend_on_the_order_of_inputs(inputs):
    turned = dict(reversed(inputs.items()))
    assert replace(STAGE, inputs=inputs).key == replace(STAGE, inputs=turned).key


def test_stages_are_equal_wherever_they_run():
    assert replace(STAGE, paths={"python": "/a"}, action=print) == STAGE
    assert replace(STAGE, command=Command(("program",))) != STAGE


def test_label_is_name_and_first_twelve_digits():
    assert STAGE.label == f"convert-{STAGE.key[:12]}"
    assert len(STAGE.key) == 64


def test_log_adds_lines(tmp_path):
    context = StageContext(tmp_path, {}, tmp_path / "stage.log")
    context.log("one")
    context.log("zwei: ü")
    assert (tmp_path / "stage.log").read_text(encoding="utf-8") == "one\nzwei: ü\n"


def test_silent_progress_takes_anything():
    SILENT.line("a")
    SILENT.status("b")
