"""How values fold into a verdict, and what the record keeps."""

from __future__ import annotations

import itertools

import pytest
from pydantic import ValidationError

from trtspec.verify.gate.result import (
    GateResult,
    judge,
    lossless,
    lossy,
    shown,
    untold,
)

MAKERS = {"lossless": lossless, "lossy": lossy, "cannot tell": untold}


def of(*effects: str) -> GateResult:
    values = [MAKERS[e](f"key{i}", "file", i, "why") for i, e in enumerate(effects)]
    return judge("vLLM", "1.0", "greedy", values)


@pytest.mark.parametrize("effects", list(itertools.product(MAKERS, repeat=3)))
def test_lossy_wins_over_cannot_tell_and_that_over_lossless(effects):
    result = of(*effects)

    expected = "pass"
    if "cannot tell" in effects:
        expected = "cannot tell"
    if "lossy" in effects:
        expected = "fail"
    assert result.verdict == expected
    assert len(result.reasons) == 3 - effects.count("lossless")
    assert len(result.inspected) == 3


def test_nothing_looked_at_is_no_reason_to_pass():
    result = of()

    assert result.verdict == "cannot tell"
    assert result.reasons


def test_a_reason_names_key_value_place_and_meaning():
    (reason,) = of("lossy").reasons

    assert reason == "lossy: key0 0 (file): why"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "unset"),
        ("a", "a"),
        (True, "true"),
        (0.09, "0.09"),
        ({"b": [1]}, '{"b": [1]}'),
    ],
)
def test_values_are_shown_as_json(value, text):
    assert shown(value) == text


def test_the_record_is_frozen_and_survives_json():
    result = of("lossy", "cannot tell")

    assert GateResult.model_validate_json(result.model_dump_json()) == result
    with pytest.raises(ValidationError):
        result.verdict = "pass"
    assert all(field.description for field in GateResult.model_fields.values())
