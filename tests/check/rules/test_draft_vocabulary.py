"""Tables that lead elsewhere are refused; what they cover is told with its share."""

from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.check.samples import subject
from tests.models.drafters import write_eagle3
from tests.models.tiny import ROWS, write_checkpoint
from tests.models.vocabularies import set_tables, write_model
from trtspec.check.rules.draft_vocabulary import draft_tables, vocabulary_overlap
from trtspec.models.describe import describe
from trtspec.models.drafter import describe_drafter

DRAFTED = ROWS // 2
OFFSETS = list(range(DRAFTED))
EVEN = [index % 2 == 0 for index in range(ROWS)]


def made(directory, offsets=OFFSETS, marked=None, *, backend="pytorch", **more):
    """Make what the rules look at: a target of 16 rows and a head of 8 tokens."""
    if not (directory / "target").exists():
        write_checkpoint(directory / "target")
    set_tables(write_eagle3(directory / "head"), offsets, marked)
    found = subject(
        describe(directory / "target"),
        backend=backend,
        speculation={"method": "eagle3", "model": "./head", "draft_length": 3},
        **more,
    )
    return replace(found, drafter=describe_drafter(directory / "head", "eagle3"))


def only(findings):
    (finding,) = findings
    assert finding.where == "speculation.model"
    return finding


@pytest.mark.parametrize("marked", [None, EVEN])
def test_offsets_in_order_that_agree_with_the_marks_give_no_finding(tmp_path, marked):
    assert not list(draft_tables(made(tmp_path, marked=marked)))


def test_ids_behind_the_targets_rows_are_blocking(tmp_path):
    finding = only(draft_tables(made(tmp_path, [0] * 7 + [90])))
    assert finding.severity == "blocking"
    assert "leads 1 of the 8 drafted tokens" in finding.what
    assert "the first from 7 to 97 (the target has 16 vocabulary rows)" in finding.what


@pytest.mark.parametrize(
    ("backend", "severity"), [("reference", "blocking"), ("pytorch", "warning")]
)
def test_an_id_named_twice_blocks_where_the_engine_refuses_it(
    tmp_path, backend, severity
):
    finding = only(draft_tables(made(tmp_path, [1, 0] + [0] * 6, backend=backend)))
    assert finding.severity == severity
    assert finding.values["ids"] == [1]


def test_marks_of_another_head_are_a_warning(tmp_path):
    finding = only(draft_tables(made(tmp_path, [0] * 8, EVEN)))
    assert finding.severity == "warning"
    assert "t2d marks 8 ids, and d2t leads to 8, 4 of them marked" in finding.what


def test_ids_out_of_order_are_a_note(tmp_path):
    finding = only(draft_tables(made(tmp_path, [1, -1] + [0] * 6)))
    assert finding.severity == "note"
    assert not finding.action


@pytest.mark.parametrize("marked", [EVEN, None])
def test_ids_in_place_of_offsets_are_blocking_and_the_command_mends_them(
    tmp_path, marked
):
    ids = list(range(0, ROWS, 2))
    finding = only(draft_tables(made(tmp_path, ids, marked)))
    assert finding.severity == "blocking"
    assert "ids in place of offsets, such as 14" in finding.what
    body = finding.snippet.split("<<'END'\n")[1].removesuffix("END")
    exec(body, {})
    path = tmp_path / "head" / "model.safetensors"
    assert load_file(path)["d2t"].tolist() == OFFSETS
    assert not list(draft_tables(_again(tmp_path)))


def _again(directory):
    found = subject(describe(directory / "target"), backend="pytorch")
    return replace(found, drafter=describe_drafter(directory / "head", "eagle3"))


def test_the_share_of_the_vocabulary_is_told_without_a_workload(tmp_path):
    finding = only(vocabulary_overlap(made(tmp_path)))
    assert finding.severity == "note"
    assert finding.what == "the drafter proposes 8 of the target's 16 tokens (50.0 %)"
    assert finding.values["workload_share"] is None


@pytest.mark.parametrize(
    ("line", "counted", "share", "severity"),
    [
        ('{"prompt": "aacc"}', "prompts", 1.0, "note"),
        ('{"prompt": "aabb"}', "prompts", 0.5, "warning"),
        (
            '{"messages": [{"role": "user", "content": "bb"}, {"role": "assistant", '
            '"content": "aaab"}, {"role": "user", "content": "b"}]}',
            "answers",
            0.75,
            "warning",
        ),
    ],
)
def test_the_share_is_weighed_by_answers_or_else_by_prompts(
    tmp_path, line, counted, share, severity
):
    write_model(tmp_path / "target", list("abcdefghijklmnop"))
    (tmp_path / "prompts.jsonl").write_text(line + "\n")
    found = made(tmp_path, base=tmp_path, workload={"prompts": "prompts.jsonl"})
    finding = only(vocabulary_overlap(found))
    assert finding.severity == severity
    assert finding.values["workload_share"] == share
    assert finding.values["counted"] == counted
    assert f"tokens in the workload's {counted}" in finding.why
    assert ("answers may hold other words" in finding.why) == (counted == "prompts")


def test_a_whole_vocabulary_and_unreadable_tables_give_no_finding(tmp_path):
    write_eagle3(tmp_path / "whole", drafted=ROWS, draft_vocab_size=ROWS)
    whole = made(tmp_path)
    set_tables(tmp_path / "whole", np.zeros(ROWS))
    drafter = describe_drafter(tmp_path / "whole", "eagle3")
    assert not list(vocabulary_overlap(replace(whole, drafter=drafter)))
    floats = write_eagle3(tmp_path / "floats")
    drafter = describe_drafter(floats, "eagle3")
    for rule in (draft_tables, vocabulary_overlap):
        assert not list(rule(replace(whole, drafter=drafter)))
        assert not list(rule(replace(whole, drafter=None)))


def test_ids_outside_hide_neither_duplicates_nor_other_marks(tmp_path):
    found = list(draft_tables(made(tmp_path, [1, 0, *[0] * 5, 90], EVEN)))
    assert [finding.severity for finding in found] == ["blocking", "warning", "warning"]
    outside, twice, marks = found
    assert "to ids that the target does not have" in outside.what
    assert twice.values["ids"] == [1]
    assert "t2d marks 8 ids" in marks.what
