"""What a reply says, with hand-computed times: nothing here waits."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from tests.bench.http.events import (
    DONE,
    answered,
    call,
    chat,
    completion,
    counts,
    event,
    prompt,
    role,
    usage,
)
from trtspec.bench.collect import Place, samples
from trtspec.bench.http.answer import NOT_TOLD
from trtspec.bench.outcome import Failed, Outcome, Pass

# milliseconds: tokens 100:1 120:3 140:1 160:4 180:2
TIMES = (100, 120, 140, 160, 180)
TOKENS = (1, 3, 1, 4, 2)


def example(**of_each):
    """The stream whose figures are known, behind a role and before the usage."""
    total = 0
    for ms, tokens in zip(TIMES, TOKENS, strict=True):
        total += tokens
        more = {key: value(tokens, total) for key, value in of_each.items()}
        yield ms, chat("x" * tokens, "length" if ms == TIMES[-1] else None, **more)


def failure(*timed, **more):
    outcome = answered(*timed, **more)
    assert isinstance(outcome, Failed)
    assert outcome.request_id == "p1"
    return outcome.what


def test_multi_token_chunks_give_the_figures_computed_by_hand():
    outcome = answered((30, role()), *example(), (181, usage(11)), (182, DONE))
    assert isinstance(outcome, Outcome)
    assert outcome.output_tokens == 11
    assert outcome.prompt_tokens == 7
    assert outcome.ttft == pytest.approx(0.100)
    assert outcome.tpot == pytest.approx(0.008)  # (180 - 100) / (11 - 1) ms
    assert 1 / outcome.tpot == pytest.approx(125)
    assert outcome.e2e == pytest.approx(0.180)
    assert outcome.text == "x" * 11
    assert outcome.finish_reason == "length"
    # five chunks, but nobody said how many tokens each has
    assert outcome.chunks == tuple((ms / 1000, None) for ms in TIMES)


def test_usage_in_every_event_tells_the_tokens_of_each_chunk():
    """As vLLM and TensorRT-LLM do with continuous_usage_stats."""
    outcome = answered(
        (30, chat(choice={"delta": {"role": "assistant"}}, usage=counts(0))),
        *example(usage=lambda _, total: counts(total)),
        (181, usage(11)),
    )
    assert [tokens for _, tokens in outcome.chunks] == list(TOKENS)
    assert outcome.output_tokens == 11


def test_token_ids_with_the_text_tell_both():
    """As vLLM does with return_token_ids."""
    outcome = answered(
        *example(choice=lambda n, total: {"token_ids": list(range(total - n, total))}),
        (181, usage(11)),
    )
    assert [tokens for _, tokens in outcome.chunks] == list(TOKENS)
    assert outcome.tokens == tuple(range(11))


def test_token_ids_that_are_not_all_are_left_out():
    outcome = answered(
        (100, chat("a", choice={"token_ids": [5]})),
        (120, chat("b", "stop")),
        (121, usage(3)),
    )
    assert outcome.tokens is None
    assert outcome.chunks == ((0.1, None), (0.12, None))


@pytest.mark.parametrize("ids", [["5"], [None], [-1], "5"])
def test_token_ids_that_are_none_are_left_out(ids):
    outcome = answered(
        (100, chat("a", "stop", choice={"token_ids": ids})), (101, usage(1))
    )
    assert outcome.tokens is None


@pytest.mark.parametrize("totals", [(3, 2), (1, 2), (1, 4)])
def test_counts_that_do_not_add_up_to_the_usage_are_left_out(totals):
    first, second = totals
    outcome = answered(
        (100, chat("a", usage=counts(first))),
        (120, chat("b", "stop", usage=counts(second))),
        (121, usage(3)),
    )
    assert outcome.output_tokens == 3
    assert [tokens for _, tokens in outcome.chunks] == [None, None]


def test_chunks_are_never_counted_as_tokens():
    outcome = answered((100, chat("many words", "stop")), (101, usage(40)))
    assert outcome.output_tokens == 40
    assert outcome.tpot is None  # one chunk: nothing says when each token was made


def test_nothing_before_the_first_text_is_a_token():
    outcome = answered(
        (10, role()),
        (20, chat("")),
        (30, chat(None)),
        (400, chat("late")),
        (500, chat("r", "stop")),
        (501, usage(3)),
    )
    assert outcome.ttft == pytest.approx(0.400)
    assert outcome.tpot == pytest.approx(0.050)


def test_a_stall_is_one_chunk_gap():
    outcome = answered(
        (100, chat("a")),
        (110, chat("b")),
        (2110, chat("c", "stop")),
        (2111, usage(3)),
    )
    times = [time for time, _ in outcome.chunks]
    assert [b - a for a, b in pairwise(times)] == pytest.approx([0.01, 2.0])


def test_the_end_of_sequence_token_has_no_text_but_a_time():
    """vLLM sends it with the finish reason, a step after the last text."""
    outcome = answered(
        (100, chat("a")), (120, chat("b")), (140, chat("", "stop")), (141, usage(3))
    )
    assert [time for time, _ in outcome.chunks] == [0.1, 0.12, 0.14]
    assert outcome.tpot == pytest.approx(0.020)


def test_a_finish_reason_that_came_with_the_last_text_is_no_chunk_of_its_own():
    outcome = answered(
        (100, chat("a")), (120, chat("b") + chat(None, "stop")), (121, usage(2))
    )
    assert [time for time, _ in outcome.chunks] == [0.1, 0.12]


def test_events_that_arrive_together_are_one_chunk_with_all_their_tokens():
    outcome = answered(
        (100, chat("a", usage=counts(1)) + chat("b", usage=counts(3))),
        (150, chat("c", "stop", usage=counts(4))),
        (151, usage(4)),
    )
    assert outcome.chunks == ((0.1, 3), (0.15, 1))
    assert outcome.text == "abc"


def test_an_output_without_text_has_the_time_of_its_end():
    outcome = answered((50, role()), (90, chat("", "stop")), (91, usage(1)))
    assert outcome.ttft == outcome.e2e == pytest.approx(0.090)
    assert outcome.text == ""


def test_completions_have_their_text_elsewhere():
    outcome = answered(
        (100, completion("a")), (120, completion("b", "length")), (121, usage(2))
    )
    assert (outcome.text, outcome.tpot) == ("ab", pytest.approx(0.020))


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "hm"},
        {"reasoning": "hm"},
        {"reasoning": "hm", "reasoning_content": "hm"},
        {"reasoning": "h", "content": "m"},
    ],
)
def test_thoughts_are_text_and_count_once(delta):
    outcome = answered(
        (100, chat(choice={"delta": delta})), (120, chat("!", "stop")), (121, usage(3))
    )
    assert outcome.text == "hm!"
    assert outcome.ttft == pytest.approx(0.1)


def test_a_character_cut_in_two_is_whole_again():
    stream = chat("漢字", "stop") + usage(2) + DONE
    cut = stream.index("漢".encode()) + 1
    outcome = answered((100, stream[:cut]), (130, stream[cut:]))
    assert outcome.text == "漢字"
    assert outcome.ttft == pytest.approx(0.130)  # only then it could be read


def test_latencies_count_from_the_time_a_request_was_due():
    outcome = answered(
        (100, chat("a")), (120, chat("b", "stop")), (121, usage(2)), due=-0.5, sent=0.02
    )
    assert outcome.ttft == pytest.approx(0.6)
    assert outcome.e2e == pytest.approx(0.62)
    assert outcome.tpot == pytest.approx(0.02)
    assert outcome.sent_at - outcome.due_at == pytest.approx(0.52)


def test_no_done_is_needed_after_a_finish_reason():
    assert isinstance(answered((100, chat("a", "stop")), (101, usage(1))), Outcome)


def test_no_finish_reason_is_needed_before_done():
    outcome = answered((100, chat("a")), (101, usage(1)), (102, DONE))
    assert outcome.finish_reason == NOT_TOLD


def test_nothing_after_done_counts():
    outcome = answered(
        (100, chat("a", "stop") + usage(1) + DONE), (200, chat("b") + usage(9))
    )
    assert (outcome.text, outcome.output_tokens) == ("a", 1)


def test_a_null_usage_in_every_event_is_none():
    """As OpenAI sends it with include_usage."""
    outcome = answered(
        (100, chat("a", usage=None)),
        (110, chat("b", "stop", usage=None)),
        (111, usage(2)),
    )
    assert outcome.output_tokens == 2


def test_usage_beside_the_last_text_counts():
    """As llama.cpp and others send it."""
    outcome = answered((100, chat("a")), (110, chat("b", "stop", usage=counts(5))))
    assert outcome.output_tokens == 5
    assert outcome.tpot == pytest.approx(0.010 / 4)


def test_a_missing_usage_fails_and_says_what_the_server_must_support():
    what = failure((100, chat("a")), (120, chat("b", "stop")), (121, DONE))
    assert "include_usage" in what
    assert "not counted by chunks" in what


def test_a_prompt_length_that_is_not_told_is_unknown():
    told = event({"choices": [], "usage": {"completion_tokens": 2}})
    outcome = answered((100, chat("a", "stop")), (101, told))
    assert outcome.prompt_tokens is None


@pytest.mark.parametrize(
    ("timed", "chunks"),
    [
        ([(100, chat("a")), (110, chat("b"))], "2 chunks"),
        ([(100, chat("a"))], "1 chunk:"),
        ([(50, role())], "0 chunks"),
    ],
)
def test_a_stream_that_breaks_off_fails(timed, chunks):
    what = failure(*timed, broken="the server closed the connection")
    assert chunks in what
    assert "the server closed the connection" in what


def test_a_stream_that_breaks_off_before_its_usage_fails():
    what = failure((100, chat("a", "stop")), broken="the server closed the connection")
    assert "closed" in what


def test_a_connection_that_breaks_when_everything_was_told_does_no_harm():
    outcome = answered(
        (100, chat("a", "stop")), (101, usage(1)), broken="the server closed it"
    )
    assert isinstance(outcome, Outcome)


def test_a_stream_that_ends_without_a_finish_reason_fails():
    what = failure((100, chat("a")), (101, usage(1)))
    assert "without a finish reason" in what


@pytest.mark.parametrize("reason", ["abort", "error", "cancelled", "timeout"])
def test_a_request_that_the_server_gave_up_fails(reason):
    assert reason in failure((100, chat("a", reason)), (101, usage(1)))


@pytest.mark.parametrize(
    "piece",
    [
        event({"error": {"message": "out of memory", "code": 500}}),
        event({"object": "error", "message": "out of memory"}),
        event({"error": "out of memory"}),
    ],
)
def test_an_error_in_the_stream_fails_with_its_message(piece):
    assert "out of memory" in failure((100, chat("a")), (110, piece))


@pytest.mark.parametrize(
    "piece",
    [
        b"data: {not json}\n\n",
        b"data: [1]\n\n",
        b"data: \xff\xfe\n\n",
        b'data: {"choices": "none"}\n\n',
    ],
)
def test_what_is_no_event_of_this_api_fails_and_is_shown(piece):
    assert "the server sent" in failure((100, chat("a")), (110, piece))


def test_what_is_no_stream_at_all_is_shown():
    assert "<html>" in failure((100, b"<html>hello"))


def test_an_answer_in_one_piece_fails():
    piece = event({"choices": [{"message": {"content": "a"}}], "usage": counts(1)})
    assert "stream: true" in failure((100, piece[6:]), kind="application/json")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": {"message": "model not found"}}', "model not found"),
        (b'{"detail": "no such field"}', "no such field"),
        (b"upstream timed out\n", "upstream timed out"),
        (b"", "503 Service Unavailable"),
    ],
)
def test_a_refusal_has_its_status_and_reason(body, said):
    what = failure((100, body), status=503, reason="Service Unavailable")
    assert "status 503" in what
    assert said in what


def test_a_reply_that_never_began_says_why():
    why = "no connection to the server: Connection refused"
    assert failure(status=0, broken=why) == why


@pytest.mark.parametrize("tokens", [0, None, "3", True, -1])
def test_a_usage_without_tokens_is_none(tokens):
    told = event({"choices": [], "usage": {"completion_tokens": tokens}})
    assert isinstance(answered((100, chat("a", "stop")), (101, told)), Failed)


def test_a_length_that_was_to_be_fixed_must_be_kept():
    asked = call(output_tokens=4, ignore_end=True)
    pieces = [(100, chat("a")), (120, chat("b", "stop")), (121, usage(2))]
    assert "ignore_eos" in failure(*pieces, asked=asked)
    asked = call(output_tokens=2, ignore_end=True)
    assert isinstance(answered(*pieces, asked=asked), Outcome)


def test_halves_of_an_emoji_in_two_events_are_one_character():
    """A server that escapes all that is not ASCII may cut there."""
    outcome = answered(
        (100, b'data: {"choices": [{"delta": {"content": "a\\ud83d"}}]}\n\n'),
        (120, b'data: {"choices": [{"delta": {"content": "\\ude00\\ud800"},'),
        (120, b' "finish_reason": "st\\udc00op"}]}\n\n'),
        (121, usage(4)),
    )
    assert outcome.text == "a\U0001f600\ufffd"
    assert outcome.finish_reason == "st\ufffdop"
    assert samples_of(outcome)[0].model_dump_json()


def samples_of(outcome):
    passed = Pass((outcome,), None, 0.0, 1.0)
    return samples(Place("on", 1, "c1"), [prompt()], passed)


def test_an_error_cannot_move_the_cursor_of_who_reads_it():
    error = {"error": {"message": "\x1b[2Jgone \ud83d"}}
    assert failure((100, event_of(error))) == "the server failed: \\x1b[2Jgone \ufffd"
    what = failure((100, b"\x1b[2J"), status=500, reason="\x07", kind="text/plain")
    assert what.isprintable()


def event_of(content):
    return b"data: " + json.dumps(content).encode() + b"\n\n"


@pytest.mark.parametrize(
    "content", [b"[" * 200_000, b'{"error":' * 900 + b"1" + b"}" * 900]
)
def test_a_refusal_that_is_nested_too_deep_is_a_refusal(content):
    what = failure((100, content), status=500, reason="Oh")
    assert what.startswith("the server refuses it with status 500 Oh")


@pytest.mark.parametrize("tokens", [10**400, 1 << 53, -4, 4.0, "4", True])
def test_a_count_that_counts_nothing_is_none(tokens):
    what = failure(
        (100, chat("a", "stop")),
        (101, event({"choices": [], "usage": {"completion_tokens": tokens}})),
    )
    assert "told no usage" in what


def test_half_an_event_is_told_as_the_end_of_the_stream_not_as_nonsense():
    what = failure((100, chat("a")), (120, chat("b")[:20]), broken="it was cut")
    assert what == "broke off after 1 chunk: it was cut"


def test_an_error_just_before_the_connection_ends_is_told():
    what = failure((100, event_of({"error": "no memory"})), broken="it was cut")
    assert what == "the server failed: no memory"
