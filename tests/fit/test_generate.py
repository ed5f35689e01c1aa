"""Answers are the target's own, whatever is written beside them."""

from __future__ import annotations

import pytest

from tests.fit.toy_fit import LENGTHS, toy_answers, toy_target
from tests.reference.engines import plain_greedy
from trtspec.errors import UsageError
from trtspec.fit.answers import read_answers
from trtspec.fit.conversations import ChatFrame, conversations
from trtspec.fit.writing import write_answers
from trtspec.recipe import load_prompts


def test_greedy_answers_are_the_targets_greedy_output(answers):
    for answer in answers[:12]:
        ((begin, end),) = answer.spans
        written = list(answer.tokens[begin:end])
        assert written == plain_greedy(answer.tokens[:begin], end - begin)
        assert len(written) == LENGTHS.answer or written[-1] == 1


def test_turns_of_its_own_stand_in_the_chat_template(answers, target):
    frame = ChatFrame(target.directory)
    for answer in answers:
        begin = answer.spans[0][0]
        assert answer.tokens[: len(frame.before)] == frame.before
        assert answer.tokens[begin - len(frame.after) : begin] == frame.after
        own = begin - len(frame.before) - len(frame.after)
        assert 0 <= own <= LENGTHS.turn
    assert len({answer.tokens for answer in answers}) > len(answers) // 2


def test_sampled_answers_do_not_depend_on_their_neighbours(tmp_path, target):
    heat = (0.0, 1.0, 0.7)
    one = toy_answers(tmp_path / "1.jsonl", target, 9, heat, slots=1)
    many = toy_answers(tmp_path / "5.jsonl", target, 9, heat, slots=5)
    assert sorted(one, key=lambda a: a.id) == sorted(many, key=lambda a: a.id)
    assert {answer.temperature for answer in one} == set(heat)


def test_the_seed_decides_what_is_drawn(tmp_path, target):
    first, second = (
        toy_answers(tmp_path / f"{seed}.jsonl", target, 12, (1.0,), seed=seed)
        for seed in (1, 2)
    )
    assert {answer.tokens for answer in first} != {answer.tokens for answer in second}


def test_what_is_there_is_not_written_again(tmp_path, target):
    path = tmp_path / "answers.jsonl"
    whole = toy_answers(path, target, 6)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:3]) + lines[3][:30])
    again = toy_answers(path, target, 6)
    assert path.read_text().startswith("".join(lines[:3]))
    assert sorted(again, key=lambda a: a.id) == sorted(whole, key=lambda a: a.id)


def test_a_file_of_another_target_is_not_continued(tmp_path, target):
    path = tmp_path / "answers.jsonl"
    toy_answers(path, target, 2)
    with pytest.raises(UsageError, match="written by another target"):
        toy_answers(path, toy_target(tmp_path / "other", seed=1), 4)


def test_prompts_are_answered_and_too_long_ones_left_out(tmp_path, target):
    prompts = tmp_path / "prompts.jsonl"
    long = " ".join(["w5"] * 30)
    prompts.write_text(
        '{"id": "s", "category": "math", "prompt": "w4 w7"}\n'
        f'{{"id": "l", "prompt": "{long}"}}\n'
    )
    wanted = list(
        conversations(target.directory, load_prompts(prompts), 0, (0.0,), seed=0)
    )
    path = tmp_path / "answers.jsonl"
    write_answers(path, target, wanted, LENGTHS, slots=2, told=lambda _: None)
    (answer,) = read_answers(path, target.vocabulary)
    assert (answer.id, answer.source) == ("prompt-s", "math")
    assert answer.tokens[: answer.spans[0][0]] == (2, 4, 7, 3)
