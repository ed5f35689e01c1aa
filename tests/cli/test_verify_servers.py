"""``trtspec verify --url``: two servers, one verdict, by whatever they tell."""

from __future__ import annotations

import json

import pytest

from tests.bench.http.events import DONE, chat, usage
from tests.bench.http.mock_server import Script, document, serving
from trtspec.bench import conditions
from trtspec.bench.http.address import API_KEY
from trtspec.cli.main import _run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(conditions, "IDLE_SECONDS", 0.01)
    monkeypatch.delenv(API_KEY, raising=False)
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"id": f"p{i}", "prompt": f"p{i} go"}) for i in range(4)]
    (tmp_path / "p.jsonl").write_text("\n".join(lines))
    return tmp_path


def verify(off, on, *arguments):
    urls = ["--url", f"off={off.url}", "--url", f"on={on.url}"]
    more = ["--prompts", "p.jsonl", "--output", "v.json", "--greedy"]
    return _run(["verify", *urls, *more, *arguments])


def verdict(folder):
    return json.loads((folder / "v.json").read_text())


def greedy(folder):
    (part,) = verdict(folder)["parts"]
    return part["figures"]


def says(texts, logprobs=None, ids=None, **more):
    """A server that says the text that a prompt's name has, or the usual one."""

    def answer(seen):
        name = seen.name if seen.name in texts else "else"
        pieces = texts[name]
        steps = b""
        for index, piece in enumerate(pieces):
            last = index == len(pieces) - 1
            choice = {}
            if logprobs and "logprobs" in seen.body:
                place = logprobs(piece)
                choice["logprobs"] = {"content": [place]}
            if ids and "return_token_ids" in seen.body:
                choice["token_ids"] = [ids[piece]]
            steps += chat(piece, "stop" if last else None, choice=choice)
        return Script((steps + usage(len(pieces), **more) + DONE,))

    return answer


SAME = {"else": ("a", " b", " c")}
OTHER = {**SAME, "p2": ("a", " x", " y")}
NEAR = {"a": -0.1, " b": -0.70, " x": -0.71, " c": -0.1, " y": -0.2}
FAR = {**NEAR, " x": -6.0}
IDS = {"a": 5, " b": 6, " c": 7, " x": 8, " y": 9}


def likeliest(table):
    def place(piece):
        rows = [{"token": t, "logprob": v} for t, v in table.items()]
        return {"token": piece, "logprob": table[piece], "top_logprobs": rows}

    return place


def test_equal_texts_pass_and_say_what_that_hides(folder, capsys):
    with serving(says(SAME)) as off, serving(says(SAME)) as on:
        assert verify(off, on) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("pass: no sign that speculation changes the output")
    assert "4 prompts by text: identical 4" in shown
    assert "assumed: no server tells it" in shown
    assert greedy(folder)["comparisons"][0]["by"] == "text"


def test_a_difference_of_texts_alone_cannot_be_told(folder, capsys):
    with serving(says(SAME)) as off, serving(says(OTHER)) as on:
        assert verify(off, on) == 6
    shown = capsys.readouterr()
    assert shown.out.startswith("cannot tell: not proven either way: greedy parity")
    assert "neither logits nor log probabilities" in shown.out
    assert "not proven" in shown.err
    assert greedy(folder)["comparisons"][0]["unknown"]["count"] == 1


@pytest.mark.parametrize(("table", "code"), [(NEAR, 0), (FAR, 7)])
def test_log_probabilities_of_off_tell_near_from_far(folder, table, code):
    off_says = says(SAME, likeliest(table))
    with serving(off_says) as off, serving(says(OTHER)) as on:
        assert verify(off, on) == code
    (difference,) = greedy(folder)["comparisons"][0]["differences"]
    assert difference["source"] == "logprobs"
    assert difference["kind"] == ("near tie" if code == 0 else "divergence")
    assert difference["gap"] == pytest.approx(-0.7 - table[" x"])


def test_token_ids_are_compared_where_both_give_them(folder):
    with serving(says(SAME, ids=IDS)) as off, serving(says(SAME, ids=IDS)) as on:
        assert verify(off, on) == 0
    comparison = greedy(folder)["comparisons"][0]
    assert (comparison["by"], comparison["tokens"]) == ("token ids", 12)


def test_an_off_arm_that_drafts_is_refused(capsys):
    details = {
        "num_spec_steps": 2,
        "num_draft_tokens": 4,
        "num_accepted_draft_tokens": 1,
    }
    drafting = says(SAME, metrics={"speculative_decoding": details})
    with serving(drafting) as off, serving(drafting) as on:
        assert verify(off, on) == 5
    assert "drafted although this server is the off arm" in capsys.readouterr().err


def test_drafts_that_the_on_arm_tells_are_shown(folder):
    details = {
        "num_spec_steps": 2,
        "num_draft_tokens": 4,
        "num_accepted_draft_tokens": 1,
    }
    drafting = says(SAME, metrics={"speculative_decoding": details})
    with serving(says(SAME)) as off, serving(drafting) as on:
        assert verify(off, on) == 0
    comparison = greedy(folder)["comparisons"][0]
    assert (comparison["drafted"], comparison["accepted"]) == (16, 4)


def test_a_server_that_takes_no_extras_is_asked_plainly(folder):
    def strict(answer):
        known = {"model", "messages", "max_tokens", "stream", "temperature"}

        def checked(seen):
            if set(seen.body) - known:
                return document({"detail": "unexpected"}, "422 Unprocessable Entity")
            return answer(seen)

        return checked

    with serving(strict(says(SAME))) as off, serving(strict(says(SAME))) as on:
        assert verify(off, on) == 0


def test_what_is_in_the_document(folder):
    with serving(says(SAME)) as off, serving(says(SAME)) as on:
        verify(off, on, "--dtype", "float16")
        urls = [off.url, on.url]
    found = verdict(folder)
    assert found["schema"] == "trtspec/verify/v1"
    assert found["name"] == "mock-model"
    assert [arm["endpoint"]["url"] for arm in found["arms"]] == urls
    assert found["arms"][1]["speculation"] == {"method": "unknown"}
    assert found["prompts"]["count"] == 4
    assert greedy(folder)["tolerance"]["dtype"] == "float16"
    assert {one["name"] for one in found["skipped"]} >= {"gate", "oracle", "sampled"}


def test_json_is_the_document_alone(capsys):
    with serving(says(SAME)) as off, serving(says(SAME)) as on:
        verify(off, on, "--json")
    assert json.loads(capsys.readouterr().out)["verdict"] == "pass"


def test_the_gate_wants_to_see_the_configuration(capsys):
    urls = ["--url", "off={}", "--url", "on={}"]
    with serving(says(SAME)) as off, serving(says(SAME)) as on:
        urls = ["--url", f"off={off.url}", "--url", f"on={on.url}"]
        assert _run(["verify", *urls, "--prompts", "p.jsonl", "--gate"]) == 6
    shown = capsys.readouterr().out
    assert "not run: lossless gate: name what the server is started with" in shown
    assert "nothing was tested" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--url", "off=http://h:1"], "0 servers to compare with off"),
        (["--url", "on=http://h:1", "--url", "x=http://h:2"], "2 servers"),
        (["--url", "off=http://h:1", "--url", "on=http://h:1"], "named twice"),
        (
            ["--url", "off=http://h:1", "--url", "on=http://h:2", "--threads", "1"],
            "--threads beside --url",
        ),
        ([], "nothing to verify"),
    ],
)
def test_what_is_wrong_is_said_before_anybody_is_asked(arguments, words, capsys):
    assert _run(["verify", *arguments, "--prompts", "p.jsonl", "--greedy"]) == 2
    assert words in capsys.readouterr().err


def test_a_server_has_no_prompts_of_its_own(capsys):
    urls = ["--url", "off=http://h:1", "--url", "on=http://h:2"]
    assert _run(["verify", *urls]) == 2
    assert "--prompts" in capsys.readouterr().err
