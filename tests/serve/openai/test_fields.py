"""Fields of both kinds of requests: what is taken, what is refused, in what words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.serve.openai.bodies import KINDS, read, refusal
from trtspec.serve.openai.fields import (
    MAX_SEED,
    MISSING_CONTROLS,
    Common,
)

BOTH = pytest.mark.parametrize("kind", KINDS)
NEUTRAL = {
    "frequency_penalty": (0, 0.0, None),
    "presence_penalty": (0, 0.0, None),
    "repetition_penalty": (1, 1.0, None),
    "min_p": (0, 0.0, None),
    "min_tokens": (0, None),
    "logit_bias": ({}, None),
}
OTHER = {
    "frequency_penalty": (0.1, -2, "0", True),
    "presence_penalty": (0.5, -0.001),
    "repetition_penalty": (1.1, 0, 0.99),
    "min_p": (0.05, 1),
    "min_tokens": (1, 5),
    "logit_bias": ({"5": 1}, {"5": 0}, []),
}


def test_every_missing_control_is_known_here():
    assert set(NEUTRAL) == set(OTHER) == MISSING_CONTROLS


@BOTH
@pytest.mark.parametrize("field", sorted(MISSING_CONTROLS))
def test_of_a_missing_control_only_the_neutral_value_is_taken(kind, field):
    for value in NEUTRAL[field]:
        read(kind, **{field: value})
    for value in OTHER[field]:
        said = refusal(kind, **{field: value})
        assert said.message.startswith(f"{field}: this engine has no such control")
        assert said.param == field


@BOTH
@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("temperature", (0, 0.0, 2, None), (-0.1, 2.1, "1", True, [])),
        ("top_p", (0.01, 1, None), (0, 1.5, "0.9")),
        ("top_k", (-1, 0, 5, 5.0, None), (-2, 1.5, "5", True)),
        ("seed", (0, -1, MAX_SEED, -MAX_SEED - 1, 7.0), (MAX_SEED + 1, 0.5, "7")),
        ("n", (1, 3, 2.0, None), (0, -1, 1.5, True, "2")),
        ("stop", ("x", ["x", "y"], [], None), ("", [""], ["x"] * 5, 5, ["x" * 1001])),
        ("stream", (True, False, None), (1, "true", "yes")),
        ("ignore_eos", (True, False, None), (0, "no")),
        ("return_token_ids", (True, None), (1,)),
        ("max_tokens", (1, 5.0, None), (0, -1, 1.5, "5")),
        ("user", ("me", None), (5,)),
        ("metadata", ({"a": "b"}, None), ({"a": 1}, [])),
    ],
)
def test_values(kind, field, good, bad):
    for value in good:
        read(kind, **{field: value})
    for value in bad:
        said = refusal(kind, **{field: value})
        assert field in said.message
        assert said.param is not None
        assert said.param.split(".")[0] == field


@BOTH
def test_numbers_that_json_does_not_have_are_refused(kind):
    for text in ("NaN", "Infinity", "-Infinity"):
        with pytest.raises(ValueError, match=r"temperature|finite|JSON"):
            kind.model_validate_json(f'{{"model": "toy", "temperature": {text}}}')


@BOTH
def test_what_is_not_known_is_refused_by_name(kind):
    said = refusal(kind, best_friend=1, logit_processors=["x"])
    assert "best_friend: not known here" in said.message
    assert "logit_processors: not known here" in said.message
    assert said.status == 400


@BOTH
def test_unknown_fields_inside_are_refused_by_their_place(kind):
    said = refusal(kind, stream_options={"include_usage": True, "more": 1})
    assert said.param == "stream_options.more"
    said = refusal(kind, speculation={"enabled": True, "tree": []})
    assert said.param == "speculation.tree"


@BOTH
def test_own_speculation(kind):
    body = read(kind, speculation={"enabled": False})
    assert body.speculation.enabled is False
    assert read(kind, speculation={}).speculation.enabled is True
    assert read(kind, speculation={"draft_length": 3}).speculation.draft_length == 3
    for wrong in (0, -1, 1.5, "many"):
        said = refusal(kind, speculation={"draft_length": wrong})
        assert said.param == "speculation.draft_length"


@BOTH
def test_stops_are_a_tuple_whatever_was_sent(kind):
    assert read(kind).stops == ()
    assert read(kind, stop="a").stops == ("a",)
    assert read(kind, stop=["a", "b"]).stops == ("a", "b")
    assert read(kind, stop=[]).stops == ()


@BOTH
def test_usage_is_sent_only_if_asked_for(kind):
    assert read(kind, stream=True).usage_wanted is False
    assert read(kind, stream_options={}).usage_wanted is False
    assert read(kind, stream_options={"include_usage": True}).usage_wanted is True


@BOTH
def test_every_field_has_words(kind):
    for name, field in kind.model_fields.items():
        if name in {"messages", "stream_options", "speculation"}:
            continue
        assert field.description, name


def test_what_has_no_effect_is_said_to_have_none():
    for name in ("user", "metadata", "service_tier", "safety_identifier"):
        assert "Not used" in Common.model_fields[name].description


@given(st.integers(-MAX_SEED - 1, MAX_SEED))
def test_seeds_come_through_whole(seed):
    for kind in KINDS:
        assert read(kind, seed=seed).seed == seed
