"""Draft lengths: what is accepted, what is refused and how, what K a batch gets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from trtspec.methods.draft_length import (
    MAX_DRAFT_LENGTH,
    MAX_RUNNING_REQUESTS,
    DraftLength,
    draft_length_at,
    draft_length_faults,
    longest_draft,
)

ADAPTER = TypeAdapter(DraftLength)
LENGTHS = st.integers(1, MAX_DRAFT_LENGTH)
MAPS = st.dictionaries(st.integers(1, MAX_RUNNING_REQUESTS), LENGTHS, min_size=1)


@pytest.mark.parametrize("value", [1, 4, MAX_DRAFT_LENGTH, {8: 4}, {8: 4, 32: 2}])
def test_number_and_map_are_taken_as_they_are(value):
    assert ADAPTER.validate_python(value) == value


REFUSED = [
    (0, "below 1"),
    (-3, "below 1"),
    (MAX_DRAFT_LENGTH + 1, f"above {MAX_DRAFT_LENGTH}"),
    (10_000, f"above {MAX_DRAFT_LENGTH}"),
    ("four", "not a whole number"),
    ("4", "not a whole number"),
    (4.0, "not a whole number"),
    (True, "not a whole number"),
    (None, "not a whole number"),
    ([4], "not a whole number"),
    ({}, "empty"),
    ({0: 4}, "below 1"),
    ({MAX_RUNNING_REQUESTS + 1: 4}, f"above {MAX_RUNNING_REQUESTS}"),
    ({8: 0}, "below 1"),
    ({8: 300}, f"above {MAX_DRAFT_LENGTH}"),
    ({"8": 4}, "not a whole number"),
    ({8: "4"}, "not a whole number"),
    ({True: 4}, "not a whole number"),
]


@pytest.mark.parametrize(("value", "reason"), REFUSED)
def test_refused_values_say_why(value, reason):
    faults = draft_length_faults(value)
    assert [reason in fault.what for fault in faults] == [True]


@pytest.mark.parametrize(("value", "reason"), REFUSED)
def test_refused_values_give_one_error_not_one_per_form(value, reason):
    with pytest.raises(ValidationError) as caught:
        ADAPTER.validate_python(value)
    assert [e["type"] for e in caught.value.errors()] == ["draft_length"]
    assert "a whole number from 1 to 256, or a map" in str(caught.value)


def test_every_bad_entry_of_a_map_is_reported_with_its_key():
    faults = draft_length_faults({8: 4, 0: 4, 16: 999, "x": None})
    assert [(f.entry, f.in_key) for f in faults] == [
        ((0,), True),
        ((16,), False),
        (("x",), True),
        (("x",), False),
    ]


def test_map_is_sorted_by_running_requests():
    assert list(ADAPTER.validate_python({32: 2, 8: 4, 16: 3})) == [8, 16, 32]


def test_json_maps_have_text_keys():
    assert ADAPTER.validate_json('{"32": 2, "8": 4}') == {8: 4, 32: 2}


@pytest.mark.parametrize("text", ['{"x": 2}', '{"-8": 4}', '{"": 4}', '{"8": "4"}'])
def test_json_maps_refuse_what_is_no_number(text):
    with pytest.raises(ValidationError):
        ADAPTER.validate_json(text)


@pytest.mark.parametrize(
    ("running", "expected"), [(1, 4), (8, 4), (9, 2), (32, 2), (33, 0), (4096, 0)]
)
def test_key_of_a_map_is_the_most_running_requests_it_holds_for(running, expected):
    assert draft_length_at({8: 4, 32: 2}, running) == expected


@given(length=LENGTHS, running=st.integers(1, MAX_RUNNING_REQUESTS))
def test_number_holds_for_any_batch(length, running):
    assert draft_length_at(length, running) == length
    assert longest_draft(length) == length


@given(schedule=MAPS, running=st.integers(1, MAX_RUNNING_REQUESTS))
def test_smallest_key_that_covers_the_batch_decides(schedule, running):
    covering = [key for key in schedule if key >= running]
    expected = schedule[min(covering)] if covering else 0
    assert draft_length_at(ADAPTER.validate_python(schedule), running) == expected


@given(schedule=MAPS)
def test_longest_draft_is_reached_and_never_exceeded(schedule):
    schedule = ADAPTER.validate_python(schedule)
    reached = {draft_length_at(schedule, key) for key in schedule}
    assert longest_draft(schedule) == max(reached)
