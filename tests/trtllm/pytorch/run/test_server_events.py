"""Server-sent events are put together from lines; what is none is refused."""

from __future__ import annotations

import json

import pytest

from trtspec.errors import RunError
from trtspec.trtllm.pytorch.run.server_events import (
    EventReader,
    error_text,
    read_event,
)


def events(*lines):
    reader = EventReader()
    return [data for line in lines if (data := reader.feed(line)) is not None]


def test_an_event_ends_at_an_empty_line():
    assert events("data: a", "", "data: b", "") == ["a", "b"]
    assert events("data: a") == []


def test_data_over_several_lines_is_joined():
    assert events("data: a", "data: b", "") == ["a\nb"]


def test_comments_other_fields_and_empty_events_say_nothing():
    assert events(": ping", "", "event: x", "id: 4", "data:a ", "", "", "") == ["a"]


def event(**content):
    return read_event(json.dumps(content), 4.0, "request r")


def test_a_choice_with_several_tokens_is_one_delta():
    choice = {"index": 0, "text": "", "token_ids": [5, 6, 7], "finish_reason": None}
    found = event(choices=[{**choice, "avg_decoded_tokens_per_iter": 1.5}], usage=None)
    assert found.delta.tokens == (5, 6, 7)
    assert (found.delta.time, found.delta.finish) == (4.0, "")
    assert found.delta.per_iteration == 1.5


@pytest.mark.parametrize(("reason", "token"), [(30, 30), ("word", None), (None, None)])
def test_the_end_and_the_token_it_stopped_at_are_told(reason, token):
    choice = {"token_ids": [], "finish_reason": "stop", "stop_reason": reason}
    found = event(choices=[choice]).delta
    assert (found.tokens, found.finish, found.stop_token) == ((), "stop", token)


def test_tokens_of_the_whole_output_come_from_the_usage_alone():
    found = event(choices=[], usage={"completion_tokens": 12, "prompt_tokens": 3})
    assert (found.delta, found.generated) == (None, 12)


def test_text_without_ids_is_refused():
    with pytest.raises(RunError, match="without token ids"):
        event(choices=[{"text": "abc", "finish_reason": None}])


@pytest.mark.parametrize("data", ["no json", "[1]", "5"])
def test_what_is_no_event_is_refused(data):
    with pytest.raises(RunError, match="no event of a completion"):
        read_event(data, 0.0, "request r")


@pytest.mark.parametrize(
    "content",
    [
        {"error": {"message": "broken"}},
        {"error": "broken"},
        {"object": "error", "message": "broken", "code": 500},
    ],
)
def test_an_error_within_the_stream_is_told(content):
    with pytest.raises(RunError, match="the server failed: broken"):
        event(**content)


def test_the_message_is_found_in_any_shape_of_refusal():
    assert error_text({"detail": [{"msg": "x"}]}) == '[{"msg": "x"}]'
    assert error_text("plain") == "plain"
    assert error_text({}) == "{}"
