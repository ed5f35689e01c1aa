"""What is written of answers: which fields may be null, and which are left out then."""

from __future__ import annotations

import json

from trtspec.serve.openai.answers import (
    AnswerMessage,
    ChatChoice,
    ChatChunk,
    ChatChunkChoice,
    CompletionChoice,
    Delta,
    SpeculationFigures,
    State,
)

FIGURES = SpeculationFigures(
    method="ngram",
    enabled=True,
    steps=2,
    drafted=None,
    accepted=None,
    acceptance_rate=None,
    acceptance_length=None,
    lossy="",
)


def written(part):
    return json.loads(part.model_dump_json())


def test_unknown_figures_are_null_and_not_left_out():
    found = written(FIGURES)
    assert found["drafted"] is None
    assert set(found) == set(SpeculationFigures.model_fields)


def test_extensions_are_left_out_where_they_say_nothing():
    found = written(ChatChunkChoice(index=0, delta=Delta(content="x")))
    assert set(found) == {"index", "delta", "logprobs", "finish_reason"}
    assert found["finish_reason"] is None
    found = written(CompletionChoice(index=0, text="x"))
    assert set(found) == {"index", "text", "logprobs", "finish_reason"}


def test_extensions_are_written_where_they_say_something():
    found = written(
        CompletionChoice(index=0, text="x", token_ids=[], speculation=FIGURES)
    )
    assert found["token_ids"] == []
    assert found["speculation"]["steps"] == 2


def test_a_role_is_told_once():
    assert "role" not in written(Delta(content="x"))
    assert written(Delta(content="", role="assistant"))["role"] == "assistant"


def test_a_message_of_a_chat_has_what_clients_look_for():
    choice = ChatChoice(
        index=0,
        message=AnswerMessage(content="x"),
        finish_reason="stop",
        speculation=FIGURES,
    )
    found = written(choice)
    assert found["message"] == {"role": "assistant", "content": "x", "refusal": None}
    assert found["logprobs"] is None


def test_usage_of_a_chunk_is_null_and_not_left_out():
    found = written(ChatChunk(id="a", created=1, model="m", choices=[]))
    assert found["usage"] is None
    assert "prompt_token_ids" not in found
    assert found["object"] == "chat.completion.chunk"


def test_left_out_fields_are_not_required_in_the_schema():
    schema = ChatChunkChoice.model_json_schema(mode="serialization")
    assert set(schema["required"]) == {"index", "delta", "logprobs", "finish_reason"}
    assert {"speculation", "token_ids"} < set(schema["properties"])


def test_all_other_fields_are_required():
    assert set(State.model_json_schema(mode="serialization")["required"]) == {
        "status",
        "reason",
    }
