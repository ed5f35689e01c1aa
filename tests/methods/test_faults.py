"""Errors of our rules: what they carry and which key they blame."""

import pytest
from pydantic import BaseModel, ValidationError, model_validator

from tests.methods.samples import made, refusal
from trtspec.methods import rule_error
from trtspec.methods.faults import is_value, key_to_blame


@pytest.mark.parametrize(
    ("place", "steps"), [("", ()), ("a", ("a",)), (("a", 1), ("a", 1)), ((), ())]
)
def test_error_carries_all_that_a_message_needs(place, steps):
    error = rule_error(place, "is bad", "good ones", "do better")
    assert error.type == "recipe_rule"
    assert error.context == {
        "place": steps,
        "what": "is bad",
        "allowed": "good ones",
        "action": "do better",
    }


def test_error_reads_well_without_a_recipe():
    class Section(BaseModel):
        @model_validator(mode="after")
        def _never(self):
            raise rule_error(("a", 1), "is {bad}", "good ones")

    with pytest.raises(ValidationError, match=r"is \{bad\}; allowed: good ones"):
        Section()


def test_value_that_nobody_wrote_is_called_a_default():
    assert is_value("a", 4, {"a"}) == "is 4"
    assert is_value("a", 4, {"b"}) == "is 4 by default"


def test_first_key_that_was_written_is_to_blame():
    assert key_to_blame(("a", "b"), {"a", "b"}) == "a"
    assert key_to_blame(("a", "b"), {"b"}) == "b"
    assert key_to_blame(("a", "b"), set()) == "a"


@pytest.mark.parametrize(
    ("method", "key", "word", "companion", "value"),
    [
        ("eagle", "acceptance", "typical", "posterior_threshold", 0.1),
        ("eagle", "tree", "dynamic", "dynamic_top_k", 10),
        ("medusa", "acceptance", "typical", "posterior_threshold", 0.1),
    ],
)
def test_word_and_its_companion_go_together(method, key, word, companion, value):
    assert getattr(made(method, **{key: word, companion: value}), companion) == value
    assert refusal(method, **{key: word}) == {
        "place": (key,),
        "what": f"is {word}, and {companion} is not given",
        "allowed": f"{key}: {word} together with {companion}",
        "action": f"add {companion}, or delete {key}",
    }
    assert refusal(method, **{companion: value}) == {
        "place": (companion,),
        "what": f"has no effect: {key} is not {word}",
        "allowed": f"{companion} only together with {key}: {word}",
        "action": f"delete {companion}, or write {key}: {word}",
    }
