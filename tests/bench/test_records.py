"""Raw records refuse what would make a summary meaningless."""

from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from tests.bench.fakes import block, sample
from trtspec.bench.records import warm_up_prompts


@pytest.mark.parametrize(
    "changes",
    [
        {"e2e": math.nan},
        {"ttft": math.inf},
        {"output_tokens": 0},
        {"block": 0},
        {"finish_reason": "cancelled"},
        {"arm": "both"},
        {"average": 1.0},
    ],
)
def test_a_sample_refuses(changes):
    with pytest.raises(ValidationError):
        sample(**changes)


@pytest.mark.parametrize(
    "changes", [{"wall_seconds": 0.0}, {"wall_seconds": math.nan}, {"requests": 0}]
)
def test_a_block_refuses(changes):
    with pytest.raises(ValidationError):
        block(**changes)


def test_records_cannot_be_changed():
    with pytest.raises(ValidationError):
        sample().e2e = 1.0


@pytest.mark.parametrize(
    ("concurrency", "prompts", "expected"), [(1, 16, 2), (4, 16, 8), (8, 10, 10)]
)
def test_the_warm_up_is_two_rounds_of_what_is_in_flight(concurrency, prompts, expected):
    assert warm_up_prompts(concurrency, prompts, cached=False) == expected


def test_the_warm_up_is_all_prompts_where_they_stay_in_the_cache():
    assert warm_up_prompts(1, 16, cached=True) == 16


def test_only_block_zero_is_the_warm_up():
    assert block(block=0).warm_up
    assert not block(block=1).warm_up


def test_every_field_says_what_it_is():
    for record in (sample(), block()):
        for name, field in type(record).model_fields.items():
            assert field.description, name
