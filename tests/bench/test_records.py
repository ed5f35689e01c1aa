"""Raw records refuse what would make a summary meaningless."""

from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from tests.bench.fakes import block, plan, sample
from trtspec.bench.records import Load, Resources, warm_up_prompts


@pytest.mark.parametrize(
    "changes",
    [
        {"e2e": math.nan},
        {"ttft": math.inf},
        {"ttft": -0.1},
        {"e2e": -1.0},
        {"e2e": 1e300},
        {"output_tokens": 0},
        {"block": 0},
        {"accepted": -1},
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


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"concurrency": 0},
        {"concurrency": 1, "rate": 2.0},
        {"arrivals": "poisson"},
        {"arrivals": "poisson", "concurrency": 2},
        {"arrivals": "fixed", "rate": 0.0},
        {"arrivals": "closed", "rate": 2.0},
    ],
)
def test_a_load_is_closed_with_a_concurrency_or_open_with_a_rate(values):
    with pytest.raises(ValidationError):
        Load(**values)


def test_loads_have_names_for_files_and_for_readers():
    loads = [
        Load(concurrency=4),
        Load(arrivals="poisson", rate=2.5),
        Load(arrivals="fixed", rate=2.0),
    ]
    assert [load.key for load in loads] == ["c4", "poisson2.5", "fixed2"]
    assert [load.words for load in loads] == [
        "concurrency 4",
        "2.5 requests/s, Poisson",
        "2 requests/s, evenly spaced",
    ]


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
    of = plan(2)
    for record in (sample(), block(), of, of.settings, of.arms[0], Resources()):
        for name, field in type(record).model_fields.items():
            assert field.description, name


def test_rates_that_nearly_agree_are_loads_of_their_own():
    """Under one key the second would be taken as measured already."""
    rates = (2.0, 0.5, 0.12345678, 0.12345679, 1_000_000.0, 1_000_001.0, 1 / 3)
    loads = [Load(arrivals="poisson", rate=rate) for rate in rates]
    assert len({load.key for load in loads}) == len(rates)
    assert len({load.words for load in loads}) == len(rates)
    assert [load.key for load in loads[:2]] == ["poisson2", "poisson0.5"]
