"""At which load drafting stops to pay, by a recipe's own table."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from tests.trtllm.pytorch.launch.recipes import recipe
from trtspec.serve.proxy.rules import Rules, break_even


def tuned(*rows):
    """A recipe with a table, whose columns are ``names``."""
    names = ("concurrency", "draft_length", "predicted", "measured", "verdict")
    table = {
        "by": "trtspec 0",
        "date": "2026-01-01",
        "fingerprint": "f",
        "prompts_sha256": "0",
        "prompts": 1,
        "output_tokens": 8,
        "costs": "measured",
        "hardware": "cpu",
        "loads": [dict(zip(names, row, strict=True)) for row in rows],
    }
    content = recipe().model_dump(mode="json", by_alias=True, exclude_unset=True)
    return type(recipe()).model_validate(content | {"tuned": table})


@pytest.mark.parametrize(
    ("rows", "most"),
    [
        ([(1, 4, 1.5, None, "faster"), (8, 2, 1.1, None, "faster")], None),
        ([(1, 4, 1.5, None, "faster"), (8, 2, 0.9, None, "slower")], 1),
        ([(8, 0, 1.0, None, "no difference"), (1, 4, 1.5, None, "faster")], 1),
        ([(1, 4, 1.5, 0.8, "slower"), (8, 4, 1.5, None, "faster")], 0),
        ([(1, 4, 1.5, 1.4, "faster"), (4, 4, 1.2, 1.0, "no difference")], 1),
        ([(1, 4, 0.9, 1.2, "faster"), (16, 0, 1.0, None, "no claim")], 1),
    ],
)
def test_break_even_is_the_last_load_before_drafting_is_not_ahead(rows, most):
    assert break_even(tuned(*rows)) == most


def test_recipe_without_a_table_has_none():
    assert break_even(recipe()) is None


@pytest.mark.parametrize(
    "fields",
    [{"off_above_load": -1}, {"workloads": {"a": "both"}}, {"off_above_prompt": -3}],
)
def test_rules_that_make_no_sense_are_refused(fields):
    with pytest.raises(ValidationError):
        Rules(**fields)
