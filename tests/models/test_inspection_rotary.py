"""The rotary encoding of a head is held against its target's, with both values."""

import pytest

from tests.models.drafters import (
    write_dflash,
    write_eagle,
    write_eagle3,
    write_medusa,
)
from tests.models.tiny import write_checkpoint
from trtspec.models.inspection import inspect
from trtspec.models.inspection_fit import fits

LLAMA3 = {"rope_type": "llama3", "factor": 8.0}
TARGET = {"rope_theta": 500000.0, "rope_scaling": LLAMA3}


def rotary(directory, head, target=TARGET):
    aimed = inspect(write_checkpoint(directory / "target", **target))
    return [fit for fit in fits(inspect(head), aimed) if fit.key == "rotary"]


@pytest.mark.parametrize("write", [write_eagle, write_eagle3, write_dflash])
def test_a_head_that_turns_as_its_target_fits(tmp_path, write):
    (fit,) = rotary(tmp_path, write(tmp_path / "head", **TARGET))
    assert fit.verdict == "fits"
    assert fit.drafter == fit.target
    assert fit.target == {
        "rope_theta": 500000.0,
        "rope_scaling": "llama3",
        "factor": 8.0,
    }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "base 10000, unscaled (the default: it names none), the target has"),
        ({"rope_theta": 500000.0}, "base 500000, unscaled, the target has base 500000"),
        (
            {**TARGET, "rope_scaling": {**LLAMA3, "factor": 32.0}},
            "scaled: llama3 x 32, the target has base 500000, scaled: llama3 x 8",
        ),
        ({**TARGET, "rope_theta": 1e6}, "base 1000000, scaled: llama3 x 8, the target"),
        ({"rope_parameters": {"rope_theta": 7.0, **LLAMA3}}, "base 7, scaled: llama3"),
    ],
)
def test_another_encoding_is_noted_with_both_and_why(tmp_path, given, said):
    (fit,) = rotary(tmp_path, write_eagle3(tmp_path / "head", **given))
    assert fit.verdict == "note"
    assert said in fit.text
    assert "good if the head was trained so" in fit.text


def test_heads_that_know_no_positions_are_not_compared(tmp_path):
    assert rotary(tmp_path, write_medusa(tmp_path / "head")) == []


def test_a_target_that_names_no_base_is_not_compared_with(tmp_path):
    head = write_eagle3(tmp_path / "head", **TARGET)
    assert rotary(tmp_path, head, target={}) == []
