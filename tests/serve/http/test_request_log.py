"""One JSON line per request, without what was said in it unless that is asked for."""

from __future__ import annotations

import json
from datetime import datetime

from trtspec.run import Completion
from trtspec.serve.http.request_log import Entry, RequestLog


def entry(**fields) -> Entry:
    made = Entry("cmpl-1", "/v1/completions", "127.0.0.1")
    made.status, made.outcome = 200, "ok"
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def logged(made: Entry, **options) -> dict:
    lines: list[str] = []
    RequestLog(lines.append, **options).add(made)
    [line] = lines
    assert "\n" not in line
    return json.loads(line)


DONE = Completion(
    "a",
    3,
    [4, 5],
    "the answer",
    "stop",
    submitted_at=10.0,
    first_token_at=10.5,
    last_token_at=11.0,
    steps=2,
    drafted=6,
    accepted=1,
    lossy="typical",
)
OTHER = Completion(
    "b", 3, [4], "x", "length", 10.0, 0, 10.25, 10.25, steps=1, drafted=3, accepted=0
)


def test_what_every_line_has():
    line = logged(entry())
    assert {"id", "path", "client", "status", "outcome", "seconds"} < set(line)
    assert datetime.fromisoformat(line["time"]).tzinfo is not None
    assert line["seconds"] >= 0
    assert "reason" not in line


def test_figures_are_those_of_all_answers():
    line = logged(entry(completions=[DONE, OTHER], stream=True))
    assert line["output_tokens"] == 3
    assert line["finish"] == ["stop", "length"]
    assert (line["steps"], line["drafted"], line["accepted"]) == (3, 9, 1)
    assert line["ttft"] == 0.25
    assert line["lossy"] == "typical"
    assert line["stream"] is True


def test_a_completion_without_tokens_has_no_first_one():
    line = logged(entry(completions=[Completion("a", 3, submitted_at=5.0)]))
    assert line["ttft"] is None


def test_no_text_by_default():
    line = logged(entry(text="my secret", completions=[DONE]))
    text = json.dumps(line)
    assert "my secret" not in text
    assert "the answer" not in text


def test_prompts_and_outputs_if_asked_for():
    made = entry(text=["mein Gruß"], completions=[DONE])
    line = logged(made, with_prompts=True)
    assert line["prompt"] == ["mein Gruß"]
    assert line["output"] == ["the answer"]


def test_text_with_line_breaks_stays_in_one_line():
    assert (
        logged(entry(text="a\nb\u2028c"), with_prompts=True)["prompt"] == "a\nb\u2028c"
    )


def test_reasons_of_refusals():
    line = logged(entry(status=429, outcome="refused", reason="too many"))
    assert (line["outcome"], line["reason"]) == ("refused", "too many")


def test_no_log_writes_nothing():
    RequestLog(None).add(entry())
