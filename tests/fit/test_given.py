"""Answers by others become conversations as the target's chat template has them."""

from __future__ import annotations

import json

import pytest

from trtspec.errors import UsageError
from trtspec.fit.answers import read_answers
from trtspec.fit.command.main import main
from trtspec.fit.given import given_answers
from trtspec.fit.held_out import require_greedy

END = 1


def texts(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def given(target, path, prompt=50, answer=50):
    return list(
        given_answers(
            target.directory, path, longest_prompt=prompt, longest_answer=answer
        )
    )


def test_prompt_and_answer_stand_where_the_template_puts_them(tmp_path, target):
    path = texts(
        tmp_path / "math.jsonl",
        {"id": "a", "prompt": "w4 w7", "answer": "w5 w6"},
        {"prompt": "w9", "answer": "w8", "category": "poetry"},
    )
    first, second = given(target, path)
    ((begin, end),) = first.spans
    assert first.tokens[:begin] == (2, 4, 7, 3)
    assert first.tokens[begin:end] == (5, 6, END)
    assert end == len(first.tokens)
    assert (first.id, first.source) == ("given-math-a", "given/math")
    assert (second.id, second.source) == ("given-math-2", "given/poetry")


def test_long_prompts_are_left_out_and_long_answers_cut(tmp_path, target):
    long = " ".join(["w5"] * 30)
    path = texts(
        tmp_path / "t.jsonl",
        {"prompt": long, "answer": "w4"},
        {"prompt": "w4", "answer": long},
    )
    (answer,) = given(target, path, prompt=20, answer=10)
    assert answer.id == "given-t-2"
    assert answer.tokens[answer.spans[0][0] :] == (5,) * 10


def test_answers_are_read_as_those_of_a_workload_are(tmp_path, target):
    path = tmp_path / "t.jsonl"
    path.write_bytes(
        b'{"prompt": "w4",\r "response": "w5 w6"}\n{"prompt": "w4", "answer": ["w8"]}\n'
    )
    answers = [a.tokens[a.spans[0][0] :] for a in given(target, path)]
    assert answers == [(5, 6, END), (8, END)]


@pytest.mark.parametrize("answer", [None, "", "  ", 3, [], [3]])
def test_a_line_without_an_answer_is_named(tmp_path, target, answer):
    path = texts(
        tmp_path / "t.jsonl",
        {"prompt": "w4", "answer": "w5"},
        {"prompt": "w4", "answer": answer},
    )
    path.write_bytes(b"\n" + path.read_bytes())
    with pytest.raises(UsageError, match=r"t\.jsonl:3: the line has no answer"):
        given(target, path)


def test_the_command_adds_what_is_lacking_to_a_file_of_answers(tmp_path, target):
    path = texts(tmp_path / "t.jsonl", {"prompt": "w4", "answer": "w5 w6"})
    out = tmp_path / "answers.jsonl"
    command = ["texts", "--target", str(target.directory), "--out", str(out)]
    main([*command, "--texts", str(path)])
    texts(path, {"prompt": "w4", "answer": "w5 w6"}, {"prompt": "w7", "answer": "w8"})
    main([*command, "--texts", str(path)])
    answers = read_answers(out, target.vocabulary)
    assert [answer.id for answer in answers] == ["given-t-1", "given-t-2"]
    assert answers == given(target, path)


def test_given_answers_are_no_measure_of_greedy_acceptance(tmp_path, target):
    path = texts(tmp_path / "t.jsonl", {"prompt": "w4", "answer": "w5 w6"})
    with pytest.raises(UsageError, match="not the target's greedy ones"):
        require_greedy(given(target, path))
