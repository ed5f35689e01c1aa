"""Which values the types and limits of a key take."""

import pytest
from pydantic import ValidationError

from trtspec.trtllm.facts.records import Key
from trtspec.trtllm.facts.types import class_in, parse_type, spelled
from trtspec.trtllm.facts.value_faults import in_words


def _key(**given):
    return Key(**{"name": "k", "versions": ">=1.0", "source": "a page", **given})


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", 3),
        ("int|null", None),
        ("float", 3),
        ("float", 0.5),
        ("bool", False),
        ("str", "x"),
        ("'auto'|'slow'", "slow"),
        ("bool|'auto'", "auto"),
        ("list[int]|null", [1, 2]),
        ("list[int]", (1, 2)),
        ("set[int]|null", [1, 31]),
        ("list[list[int]]", [[0], [0, 1]]),
        ("map[int,int]|null", {1: 4, 9: 2}),
        ("object|null", {"anything": [1]}),
        ("KvCacheConfig", {"dtype": "fp8"}),
        ("any", [object]),
    ],
)
def test_a_type_takes(kind, value):
    assert _key(type=kind).accepts(value) == ""


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        ("int", True, "is true, which is not a whole number"),
        ("int", 3.0, "is 3.0, which is not a whole number"),
        ("int|null", "3", "is '3', which is not a whole number or null"),
        ("int", None, "is null, which is not a whole number"),
        ("float", True, "is true, which is not a number"),
        ("bool", 1, "is 1, which is not true or false"),
        ("str", 1, "is 1, which is not a text"),
        ("'auto'|'slow'", "fast", "is 'fast', which is not one of auto, slow"),
        ("'auto'|'slow'", 1, "is 1, which is not one of auto, slow"),
        ("bool|'auto'", "fast", "is 'fast', which is not auto"),
        ("bool|'auto'", 1, "is 1, which is not auto or true or false"),
        (
            "list[int]|null",
            [1, True],
            "is [1, True], which is not a list of whole numbers or null",
        ),
        ("list[int]", 1, "is 1, which is not a list of whole numbers"),
        ("list[int]", "12", "is '12', which is not a list of whole numbers"),
        ("set[int]", {1: 2}, "is {1: 2}, which is not a list of whole numbers"),
        (
            "list[list[int]]",
            [[0], 1],
            "is [[0], 1], which is not a list of lists of whole numbers",
        ),
        (
            "map[int,int]",
            {"1": 4},
            "is {'1': 4}, which is not a map of whole numbers to whole numbers",
        ),
        ("object", [], "is [], which is not a map"),
        ("KvCacheConfig", "fp8", "is 'fp8', which is not a map"),
        (
            "python|null",
            1,
            "is 1, but YAML cannot hold it: it is a Python object",
        ),
    ],
)
def test_a_type_says_why_it_does_not_take(kind, value, why):
    assert _key(type=kind).accepts(value) == why


@pytest.mark.parametrize(
    ("limits", "value", "why"),
    [
        ({"least": 0}, 0, ""),
        ({"least": 0}, -1, "is -1, which is below 0"),
        ({"most": 1}, 1.0, ""),
        ({"most": 1}, 1.5, "is 1.5, which is above 1"),
        ({"above": 0}, 1, ""),
        ({"above": 0}, 0, "is 0, which is not above 0"),
        ({"least": 0, "most": 1}, float("nan"), "is nan, which is below 0"),
        ({"above": 0}, None, ""),
        ({"above": 0}, [1, 0], "holds 0, which is not above 0"),
    ],
)
def test_limits_hold_for_numbers_and_for_each_in_a_list(limits, value, why):
    key = _key(type="int|float|list[int]|null", **limits)
    assert key.accepts(value) == why


@pytest.mark.parametrize(
    "text",
    [
        *("", "int|", "|int", "integer", "list", "list[int", "list[int]]", "map[int]"),
        *("map[int,int,int]", "enum: a|b", "set[]", "'open", "int null", "int bytes"),
    ],
)
def test_what_is_no_type_is_refused(text):
    with pytest.raises(ValueError, match="is not a type"):
        parse_type(text)
    with pytest.raises(ValidationError):
        _key(type=text)


@pytest.mark.parametrize(
    "text", ["map[int,list[str]|null]|'a'|object", "set[int]|null", "bool|'auto'"]
)
def test_a_type_is_spelled_as_it_was_read(text):
    assert spelled(parse_type(text)) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("float|null", "a number or null"),
        ("list[str|object]", "a list of texts or maps"),
        ("map[str,list[int]]|'off'", "off or a map of texts to lists of whole numbers"),
    ],
)
def test_a_type_can_be_said_in_words(text, words):
    assert in_words(text) == words


def test_the_class_of_a_section_is_found_in_its_type():
    assert class_in("CudaGraphConfig|null") == "CudaGraphConfig"
    assert class_in("object|'Auto'|null") == ""


@pytest.mark.parametrize(("kind", "default"), [("int", "0 in 1.0"), ("'a'|'b'", "c")])
def test_a_default_that_its_own_type_does_not_take_is_refused(kind, default):
    with pytest.raises(ValidationError, match="its default"):
        _key(type=kind, default=default)


def test_a_key_may_not_be_deprecated_in_what_is_no_range():
    with pytest.raises(ValidationError, match="not a range"):
        _key(type="int", deprecated="from 1.3")
