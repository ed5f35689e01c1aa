"""Remedies: what to write in place of a value that does not fit."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtspec.recipe.remedy import as_number, draft_length_remedy, remedy, type_name

INTEGER = {"type": "integer"}
BOOLEAN = {"type": "boolean"}
NAME = {"type": "string", "pattern": "^[a-z]"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("8", "8 (without quotes)"),
        (" 8 ", "8 (without quotes)"),
        ("1_000", "1000 (without quotes)"),
        ("1,000", "1000 (without quotes)"),
        ("1 000", "1000 (without quotes)"),
        ("007", "7 (without quotes)"),
        ("00", "0 (without quotes)"),
        (8.0, "8"),
        (-2.0, "-2"),
        (8.5, ""),
        (1e300, ""),
        (math.inf, ""),
        (math.nan, ""),
        ("eight", ""),
        ("9" * 16, ""),
        ("", ""),
        (True, ""),
        (None, ""),
        ([8], ""),
    ],
)
def test_number_that_was_meant(value, expected):
    assert as_number(value) == expected


@given(st.integers(0, 10**12))
def test_grouped_digits_keep_their_value(number):
    for text in (f"{number:,}", f"{number:_}", str(number)):
        assert as_number(text) == f"{number} (without quotes)"


@pytest.mark.parametrize(
    ("value", "node", "expected"),
    [
        (True, INTEGER, "a yes-or-no value"),
        ("8", INTEGER, "text"),
        (8.5, INTEGER, "written with a fraction"),
        (8.5, BOOLEAN, "a number"),
        (8, BOOLEAN, "a whole number"),
        ("yes", BOOLEAN, "text"),
        (8.5, {"type": "object"}, "a number"),
        (math.inf, INTEGER, "not a finite number"),
        (8, {"type": "array"}, "a whole number"),
        (8, NAME, "read as a number"),
        (8.5, NAME, "read as a number"),
        (True, NAME, "a yes-or-no value"),
    ],
)
def test_wrong_type_in_words(value, node, expected):
    assert type_name(value, node) == expected


@pytest.mark.parametrize(
    ("value", "written", "node", "expected"),
    [
        ("8", '"8"', INTEGER, "write k: 8 (without quotes)"),
        ("yes", "yes", BOOLEAN, "write k: true"),
        ("ON", "ON", BOOLEAN, "write k: true"),
        ("no", "no", BOOLEAN, "write k: false"),
        ("true", '"true"', BOOLEAN, "write k: true (without quotes)"),
        (1, "1", BOOLEAN, "write k: true"),
        (0, "0", BOOLEAN, "write k: false"),
        (2, "2", BOOLEAN, ""),
        (1.0, "1.0", BOOLEAN, ""),
        ("maybe", "maybe", BOOLEAN, ""),
        (["yes"], "a list", BOOLEAN, ""),
        (4, "4", {"type": "array"}, "write k: [4]"),
        (True, "true", {"type": "array"}, ""),
        (1e5, "1e5", {"type": "string"}, 'write k: "1e5"'),
        ("Llama 3.1", "Llama 3.1", NAME, "write k: llama-3.1"),
        ("!!!", "!!!", NAME, ""),
        ("", '""', {"type": "string"}, ""),
        ("gpt2", "gpt2", {"required": ["model"]}, "write k: {model: gpt2}"),
        ("gpt2", "gpt2", {"required": ["model", "x"]}, ""),
        (3, "3", {"required": ["model"]}, ""),
    ],
)
def test_remedy_for_a_key(value, written, node, expected):
    assert remedy("k", value, written, node) == expected


def test_remedy_for_an_entry_of_a_list_names_no_key():
    assert remedy(1, "4", '"4"', INTEGER) == "write 4 (without quotes)"


ENTRY_POINT = {"type": "string", "pattern": r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("my_drafters.make", "write drafter: my_drafters:make"),
        ("My_Drafters.py:make", "write drafter: My_Drafters:make"),
        ("./folder/mine.py:make", "write drafter: folder.mine:make"),
        ("mine:make()", "write drafter: mine:make"),
        ("make", ""),
        ("mine:", ""),
        ("a b:c", ""),
    ],
)
def test_an_entry_point_is_no_slug(value, expected):
    assert remedy("drafter", value, value, ENTRY_POINT) == expected


@pytest.mark.parametrize(
    ("value", "key", "in_key", "expected"),
    [
        (0, 0, True, "delete the entry: a batch has at least 1 request"),
        ("eight", "eight", True, "write a number of running requests as key"),
        ("8", "8", True, "write 8 (without quotes)"),
        (0, 8, False, "delete the entry; above the last one"),
        (0, "draft_length", False, "for no speculation write method: none"),
        ("9" * 5000, "draft_length", False, ""),
    ],
)
def test_each_fault_of_a_draft_length_has_its_remedy(value, key, in_key, expected):
    said = draft_length_remedy(value, key, in_key=in_key)
    assert said.startswith(expected)
    assert bool(said) == bool(expected)
