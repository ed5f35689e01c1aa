"""What a person and a program see of completions."""

import json

from trtspec.run import Chunk, Completion, Request
from trtspec.run.show import OrderedText, json_line, totals


def completion(name="a", tokens=10, **values):
    times = {"submitted_at": 1.0, "first_token_at": 1.5, "last_token_at": 3.0}
    return Completion(name, 4, tokens=list(range(tokens)), **(times | values))


def request(name="a", **options):
    return Request(name, (1,), 10, **options)


def test_json_line_is_one_line_with_every_metric():
    done = completion(text="a\nb é", steps=3, drafted=9, accepted=6)
    line = json_line(done, request())
    assert "\n" not in line
    assert line.isascii()
    assert json.loads(line) == {
        "id": "a",
        "speculation": True,
        "prompt_tokens": 4,
        "output_tokens": 10,
        "tokens": list(range(10)),
        "text": "a\nb é",
        "finish_reason": "length",
        "ttft_s": 0.5,
        "tpot_s": 1.5 / 9,
        "e2e_s": 2.0,
        "steps": 3,
        "drafted": 9,
        "accepted": 6,
        "acceptance_rate": 6 / 9,
        "acceptance_length": 3.0,
        "lossy": None,
    }


def test_undefined_metrics_are_null():
    values = json.loads(json_line(completion(tokens=1), request(speculate=False)))
    assert values["tpot_s"] is values["acceptance_rate"] is None
    assert values["speculation"] is False


def test_totals_sum_over_requests_and_take_the_whole_time():
    text = totals(
        [
            completion(steps=3, drafted=8, accepted=6),
            completion("b", last_token_at=5.0, steps=1, drafted=2, accepted=0),
        ]
    )
    assert text == (
        "20 tokens in 4.00 s, 5.0 tokens/s, acceptance rate 0.60, "
        "acceptance length 2.50"
    )


def test_totals_say_when_nothing_was_drafted():
    assert totals([completion(steps=9)]).endswith("nothing drafted")


def test_without_a_counter_none_drafted_is_not_nothing_drafted():
    said = totals([completion(steps=9)], drafted_known=False)
    assert said.endswith("tokens/s, acceptance length 1.00")
    said = totals([completion(steps=3, accepted=6)], drafted_known=False)
    assert said.endswith("tokens/s, acceptance length 3.00")
    untold = totals([completion()], drafted_known=False)
    assert untold.endswith("acceptance not told per request")


def test_there_is_a_rate_only_if_every_requests_drafts_are_known():
    known = completion(steps=3, drafted=8, accepted=6)
    unknown = completion("b", steps=4, accepted=1)
    assert "acceptance rate 0.75" in totals([known], drafted_known=False)
    said = totals([known, unknown], drafted_known=False)
    assert "acceptance rate" not in said
    assert "acceptance length 2.00" in said
    done_at_once = completion("c", tokens=1)
    assert "rate 0.75" in totals([known, done_at_once], drafted_known=False)


def test_without_a_counter_drafted_tokens_are_null():
    done = completion(steps=3, accepted=6)
    values = json.loads(json_line(done, request(), drafted_known=False))
    assert values["drafted"] is values["acceptance_rate"] is None
    assert values["acceptance_length"] == 3.0
    assert json.loads(json_line(done, request()))["drafted"] == 0


def shown(names, *chunks):
    pieces: list[str] = []
    text = OrderedText([request(name) for name in names], pieces.append)
    for name, piece, end in chunks:
        done = completion(name) if end else None
        text.add(Chunk(name, (0,), piece, 0.0, done))
    return pieces


def test_a_single_request_streams_its_text_and_nothing_else():
    pieces = shown("a", ("a", "He", False), ("a", "llo", True))
    assert pieces == ["He", "llo", "\n"]


def test_requests_are_shown_in_order_even_if_a_later_one_is_first():
    pieces = shown(
        "ab",
        ("b", "second ", False),
        ("a", "first ", False),
        ("b", "done", True),
        ("a", "done", True),
    )
    assert "".join(pieces) == "[a]\nfirst done\n\n[b]\nsecond done\n"


def test_a_request_without_text_still_has_its_place():
    pieces = shown("ab", ("a", "", True), ("b", "x", True))
    assert "".join(pieces) == "[a]\n\n\n[b]\nx\n"
