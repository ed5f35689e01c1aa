"""Case 10: schedules that are broken, or valid and quietly harmful."""

import pytest
from packaging.version import Version

from tests.trtllm.pytorch.compile.recipes import EAGLE3, NEWEST, compiled, config
from trtspec.trtllm.pytorch.compile.validate import faults


def schedule(keys, version=NEWEST, **more):
    held = {
        "decoding_type": "Eagle3",
        "max_draft_len": 4,
        "speculative_model": "head",
        "draft_len_schedule": keys,
        **more,
    }
    return faults({"speculative_config": held}, Version(version))


def test_both_faults_are_found_in_one_pass():
    found = schedule({4: 3, 16: 2, 48: 0}, max_concurrency=32)
    assert {one.where for one in found} == {"speculative_config.draft_len_schedule"}
    told = [one.what for one in found]
    assert "begins with 3, and max_draft_len is 4" in told
    assert "stands beside max_concurrency" in told


@pytest.mark.parametrize(
    "keys", [{4: 4, 16: 5}, {4: 4, 16: -1}, {8: 2, 16: 4}], ids=str
)
def test_rungs_that_a_release_refuses(keys):
    assert schedule(keys)


@pytest.mark.parametrize(
    "keys", [{4: 4, 16: 2}, {4: 4, 16: 2, 48: 0}, {4: 4, 16: 0, 48: 2}], ids=str
)
def test_a_zero_rung_is_valid_wherever_it_stands_but_first(keys):
    assert not schedule(keys)
    assert schedule({4: 0, 16: 4})


def remark(version, length, batch=64, **fields):
    limits = {"max_batch_size": batch, "max_input_tokens": 64, "max_total_tokens": 128}
    method = EAGLE3 | {"draft_length": length} | fields
    made = compiled(version, method, limits=limits)
    found = [one for one in made.remarks if one.rule == "draft-length"]
    return made, found


def test_zero_rung_is_valid_with_a_warning_and_a_last_rung_of_one():
    made, (found,) = remark(NEWEST, {4: 4, 16: 2})
    assert not made.blocked
    assert found.severity == "warning"
    assert "goes stale" in found.why
    assert "16888" in found.why
    assert "write draft_length: {4: 4, 16: 2, 64: 1}" in found.action


@pytest.mark.parametrize(
    ("length", "batch"), [({4: 4, 64: 1}, 64), ({4: 4, 16: 2}, 16), (4, 64)]
)
def test_schedule_that_reaches_no_zero_is_not_warned_of(length, batch):
    made, found = remark(NEWEST, length, batch)
    assert not made.blocked
    assert not found


def test_the_zero_rung_is_written_as_the_release_reads_it():
    limits = {"max_batch_size": 64, "max_input_tokens": 64, "max_total_tokens": 128}
    method = EAGLE3 | {"draft_length": {4: 4, 16: 2}}
    newest = config(NEWEST, method, limits=limits)["draft_len_schedule"]
    assert newest == {4: 4, 16: 2}
    older = config("1.2.1", method, limits=limits)["draft_len_schedule"]
    assert older == {1: 4, 5: 2, 17: 0}
