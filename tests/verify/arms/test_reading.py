"""What is read from a server's reply, in each layout that servers have."""

import pytest

from tests.bench.http.events import DONE, STREAM, chat, completion, event, role, usage
from trtspec.bench.http.reply import Reply
from trtspec.bench.http.stream import AnswerError
from trtspec.verify.arms.reading import read_reply


def reply(*pieces, **more):
    arrivals = [(0.1 * i, piece) for i, piece in enumerate(pieces)]
    return Reply(**{"status": 200, "kind": STREAM, "arrivals": arrivals, **more})


def read(*pieces, off=False, **more):
    return read_reply("q", reply(*pieces, **more), off=off)


def entry(token, logprob, *top, **more):
    rows = [{"token": t, "logprob": v} for t, v in top]
    return {"token": token, "logprob": logprob, "top_logprobs": rows, **more}


def told(*entries):
    return {"logprobs": {"content": list(entries)}}


def test_text_alone_needs_no_usage():
    found = read(role(), chat("a "), chat("b", "stop"), DONE)
    assert (found.text, found.finish) == ("a b", "stop")
    assert found.tokens is found.logprobs is found.pieces is None
    assert found.drafted is None


def test_log_probabilities_of_a_chat():
    found = read(
        chat("a", choice=told(entry("a", -0.1, ("a", -0.1), ("x", -3.0)))),
        chat(
            " b c",
            "stop",
            choice=told(
                entry(" b", -0.5, (" b", -0.5), (" y", -0.6)),
                entry(" c", -0.2, (" c", -0.2)),
            ),
        ),
        DONE,
    )
    assert found.pieces == ("a", " b", " c")
    assert found.logprobs[1] == ((" b", -0.5), (" y", -0.6))
    assert found.tokens is None


def test_a_token_that_is_not_among_the_likeliest_is_added():
    found = read(chat("z", "stop", choice=told(entry("z", -9.0, ("a", -0.1)))), DONE)
    assert found.logprobs == ((("a", -0.1), ("z", -9.0)),)


def test_ids_beside_the_texts_as_llama_cpp_tells_them():
    place = {
        "id": 7,
        "token": "a",
        "logprob": -0.1,
        "top_logprobs": [
            {"id": 7, "token": "a", "logprob": -0.1},
            {"id": 8, "token": "b", "logprob": -2.0},
        ],
    }
    found = read(chat("a", "stop", choice=told(place)), DONE)
    assert found.tokens == (7,)
    assert found.pieces == ("a",)
    assert found.logprobs == ((("a", -0.1), ("b", -2.0)),)


def test_a_stream_that_tells_nothing_of_drafted_tokens_has_no_places():
    """llama.cpp's server leaves out what came from a draft."""
    found = read(
        chat("a", choice=told(entry("a", -0.1, id=7))),
        chat("b"),
        chat("c", "stop", choice=told(entry("c", -0.1, id=9))),
        usage(3),
    )
    assert found.text == "abc"
    assert found.tokens is found.pieces is found.logprobs is None


def test_ids_in_place_of_texts_as_vllm_writes_them_if_asked():
    place = entry("token_id:7", -0.1, ("token_id:7", -0.1), ("token_id:8", -2.0))
    found = read(chat("a", "stop", choice=told(place)), usage(1), DONE)
    assert found.tokens == (7,)
    assert found.logprobs == (((7, -0.1), (8, -2.0)),)
    # pieces that are no text, and no count: it is not known whether they are all
    assert read(chat("a", "stop", choice=told(place)), DONE).tokens is None


def test_an_end_that_has_a_place_but_no_text():
    places = told(entry("a", -0.1), entry("<|im_end|>", -0.2))
    found = read(chat("a", "stop", choice=places), usage(2), DONE)
    assert found.pieces == ("a", "<|im_end|>")
    assert found.text == "a"


def test_log_probabilities_of_completions():
    logprobs = {
        "tokens": ["a", " b"],
        "token_logprobs": [-0.1, -0.7],
        "top_logprobs": [{"a": -0.1, "x": -3.0}, {" b": -0.7, " y": -0.71}],
        "text_offset": [0, 1],
    }
    choice = {"index": 0, "text": "a b", "finish_reason": "length"}
    found = read(event({"choices": [{**choice, "logprobs": logprobs}]}), DONE)
    assert found.pieces == ("a", " b")
    assert found.logprobs[1] == ((" b", -0.7), (" y", -0.71))


def test_token_ids_of_a_stream_are_joined():
    first = {"index": 0, "text": "a", "token_ids": [5, 6]}
    last = {"index": 0, "text": "b", "token_ids": [7], "finish_reason": "stop"}
    found = read(event({"choices": [first]}), event({"choices": [last]}), usage(3))
    assert found.tokens == (5, 6, 7)


def test_ids_that_are_not_all_are_none():
    last = {"index": 0, "text": "b", "token_ids": [7], "finish_reason": "stop"}
    assert read(event({"choices": [last]}), usage(3)).tokens is None


def test_drafts_that_a_server_tells():
    details = {
        "num_spec_steps": 4,
        "num_draft_tokens": 12,
        "num_accepted_draft_tokens": 5,
    }
    found = read(
        chat("a", "stop"), usage(9, metrics={"speculative_decoding": details}), DONE
    )
    assert (found.drafted, found.accepted) == (12, 5)


def test_drafts_that_llama_cpp_tells_among_its_timings():
    timings = {"predicted_n": 40, "draft_n": 29, "draft_n_accepted": 11}
    found = read(chat("a", "stop"), usage(40, timings=timings), DONE)
    assert (found.drafted, found.accepted) == (29, 11)
    plain = read(chat("a", "stop"), usage(40, timings={"predicted_n": 40}), DONE)
    assert plain.drafted is None


def test_an_off_arm_that_drafts_is_refused():
    details = {"num_spec_steps": 4, "num_draft_tokens": 12}
    with pytest.raises(AnswerError, match="off arm"):
        read(
            chat("a", "stop"),
            usage(9, metrics={"speculative_decoding": details}),
            off=True,
        )


def test_what_is_no_whole_answer_is_refused():
    with pytest.raises(AnswerError, match="status 422"):
        read(status=422, reason="Unprocessable", kind="application/json")
    with pytest.raises(AnswerError, match="broke off"):
        read(chat("a"))
    with pytest.raises(AnswerError, match="broke off: the server closed"):
        read(completion("a"), broken="the server closed the connection")
    with pytest.raises(AnswerError, match="gave it up"):
        read(chat("a", "abort"), DONE)


@pytest.mark.parametrize(
    "logprobs",
    [None, [], {}, {"content": None}, {"content": [3, {}]}, {"tokens": None}],
)
def test_what_tells_nothing_of_tokens_is_skipped(logprobs):
    found = read(chat("a", "stop", choice={"logprobs": logprobs}), DONE)
    assert (found.text, found.logprobs) == ("a", None)
