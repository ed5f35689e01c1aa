"""Files of answers: what is read back, and what is refused."""

from __future__ import annotations

import pytest

from trtspec.errors import UsageError
from trtspec.fit.answers import (
    Answer,
    header_path,
    line_of,
    read_answers,
    require_same_target,
    write_header,
)

ANSWER = Answer("a", "math", 0.7, (1, 2, 3, 4, 5), ((2, 5),))
MINE = {"weights": "a" * 64, "tokenizer": "b" * 64}


def test_an_answer_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text(line_of(ANSWER))
    assert read_answers(path, 6) == [ANSWER]
    assert ANSWER.answered == 3


def test_a_line_that_an_interrupt_cut_off_is_left_out(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text(line_of(ANSWER) + line_of(ANSWER)[:20])
    assert read_answers(path, 6) == [ANSWER]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{}", "is no answer"),
        ("[1, 2]", "is no answer"),
        (line_of(ANSWER).strip().replace("[2,5]", "[2,9]"), "is no answer"),
        (line_of(ANSWER).strip().replace("1,2,3", "1,2,99"), "token 99"),
    ],
)
def test_what_is_no_answer_is_named_by_its_line(tmp_path, line, told):
    path = tmp_path / "answers.jsonl"
    path.write_text(line_of(ANSWER) + line + "\n")
    with pytest.raises(UsageError, match=told) as caught:
        read_answers(path, 6)
    assert caught.value.problems[0].where == f"{path}:2"


def test_an_empty_or_missing_file_is_refused(tmp_path):
    path = tmp_path / "answers.jsonl"
    with pytest.raises(UsageError, match="cannot be read"):
        read_answers(path, 6)
    path.write_text("")
    with pytest.raises(UsageError, match="has no answers"):
        read_answers(path, 6)


@pytest.mark.parametrize("part", ["weights", "tokenizer"])
def test_answers_of_another_target_are_refused(tmp_path, part):
    path = tmp_path / "answers.jsonl"
    write_header(path, MINE, seed=0)
    require_same_target(path, MINE)
    with pytest.raises(UsageError, match=f"its {part} differ"):
        require_same_target(path, MINE | {part: "c" * 64})


def test_answers_that_nobody_signed_are_refused(tmp_path):
    path = tmp_path / "answers.jsonl"
    with pytest.raises(UsageError, match="is missing or damaged"):
        require_same_target(path, MINE)
    header_path(path).write_text("{")
    with pytest.raises(UsageError, match="is missing or damaged"):
        require_same_target(path, MINE)
