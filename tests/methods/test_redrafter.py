"""ReDrafter: how many tokens its beams hold, and how many an engine has room for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.methods.samples import made, refusal

ALLOWED = "num_beams times draft_length_per_beam up to 256"


def test_default_beams():
    assert made("redrafter").longest_draft == 25


@given(st.integers(1, 16), st.integers(1, 16))
def test_longest_draft_is_beams_times_their_length(beams, length):
    method = made("redrafter", num_beams=beams, draft_length_per_beam=length)
    assert method.longest_draft == sum(length for _ in range(beams))


@pytest.mark.parametrize(
    ("fields", "key", "sizes"),
    [
        (
            {"num_beams": 52},
            "num_beams",
            "52 beams of 5 tokens are 260 tokens to verify",
        ),
        (
            {"draft_length_per_beam": 52},
            "draft_length_per_beam",
            "5 beams of 52 tokens are 260 tokens to verify",
        ),
        (
            {"draft_length_per_beam": 86, "num_beams": 3},
            "num_beams",
            "3 beams of 86 tokens are 258 tokens to verify",
        ),
    ],
)
def test_more_tokens_than_an_engine_has_room_for_are_refused(fields, key, sizes):
    assert refusal("redrafter", **fields) == {
        "place": (key,),
        "what": f"is too large: {sizes}",
        "allowed": ALLOWED,
        "action": "lower one of them",
    }


def test_largest_beams_are_accepted():
    assert made("redrafter", num_beams=256, draft_length_per_beam=1)
    method = made("redrafter", num_beams=16, draft_length_per_beam=16)
    assert method.longest_draft == 256
