"""Words of YAML: which are text, which are numbers, which are true and false."""

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from trtspec.recipe.yaml_core import (
    MAX_DEPTH,
    CoreLoader,
    NotPlainYamlError,
    is_merge_key,
    read_scalar,
    reads_as_text,
)


def scalar(text):
    return read_scalar(CoreLoader(text).get_single_node())


TEXT_WORDS = """
    on off yes no y n Y N On OFF Yes NO none None nil
    1:30 12:30:45 2024-01-01 2024-01-01T10:00:00Z 1_000 0b101 1,5 1e 0o8 0x +-1 .
    1.2.3 .nan1 tRUE = << v1
"""


@pytest.mark.parametrize("word", TEXT_WORDS.split())
def test_words_stay_text(word):
    assert scalar(word) == word
    assert reads_as_text(word)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("true", True),
        ("True", True),
        ("TRUE", True),
        ("false", False),
        ("False", False),
        ("~", None),
        ("null", None),
        ("Null", None),
        ("0", 0),
        ("-7", -7),
        ("+7", 7),
        ("012", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("1e-3", 1e-3),
        ("1e3", 1e3),
        ("1E+3", 1e3),
        (".5", 0.5),
        ("5.", 5.0),
        ("-1.5", -1.5),
        (".inf", math.inf),
        ("-.Inf", -math.inf),
    ],
)
def test_core_schema_of_yaml_1_2_is_followed(word, value):
    read = scalar(word)
    assert (type(read), read) == (type(value), value)
    assert not reads_as_text(word)


def test_not_a_number_is_read():
    assert math.isnan(scalar(".NaN"))


@pytest.mark.parametrize("word", ["true", "12", "~", "1e-3"])
@pytest.mark.parametrize("quote", ["'", '"'])
def test_quotes_make_text_of_anything(word, quote):
    assert scalar(f"{quote}{word}{quote}") == word


def test_explicit_text_tag_makes_text():
    assert scalar("!!str 12") == "12"


def test_numbers_too_long_for_python_stay_text():
    assert scalar("9" * 5000) == "9" * 5000
    assert scalar("0x" + "f" * 5000) == "0x" + "f" * 5000


@given(st.integers(-(10**30), 10**30))
def test_decimal_integers_are_read_exactly(number):
    assert scalar(f"[{number}]".strip("[]")) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_in_python_notation_are_read_exactly(number):
    assert scalar(repr(number)) == number


@pytest.mark.parametrize(
    "text", ["!foo a", "!!binary aGk=", "!!timestamp 2024-01-01", "!!int four"]
)
def test_other_tags_are_refused_with_their_line(text):
    node = CoreLoader("# comment\n" + text).get_single_node()
    with pytest.raises(NotPlainYamlError) as caught:
        read_scalar(node)
    problem = caught.value.problem("f")
    assert problem.where == "f:2"
    assert "cannot be used here" in problem.what


@pytest.mark.parametrize("text", ['"a\\0b"', '"\\uD800"'])
def test_text_that_no_path_can_hold_is_refused(text):
    with pytest.raises(NotPlainYamlError, match="NUL character or half a surrogate"):
        scalar(text)


@pytest.mark.parametrize(("key", "merges"), [("<<", True), ("'<<'", False)])
def test_only_a_plain_merge_key_merges(key, merges):
    ((key_node, _),) = CoreLoader(f"{key}: 1").get_single_node().value
    assert is_merge_key(key_node) is merges


def test_nesting_is_bounded_before_the_stack_is():
    deepest = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert CoreLoader(deepest).get_single_node() is not None
    with pytest.raises(yaml.MarkedYAMLError, match="nested deeper"):
        CoreLoader("[" * 100_000).get_single_node()
