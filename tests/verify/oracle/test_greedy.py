"""Every token is judged after the text that it followed, in both arms."""

from typing import NamedTuple

import pytest

from tests.verify.arms_fake import questions, tokens
from trtspec.verify.greedy.tolerance import tolerance_for
from trtspec.verify.oracle import Oracle, judge_tokens
from trtspec.verify.oracle.sentences import oracle_lines

GOOD = (1, 2, 3, 4)


class Seen(NamedTuple):
    gap: float
    largest: float


def score(prompt, output):
    """Tokens below 10 are the likeliest; 10 is a near tie, above it is wrong by 5."""
    gaps = [0.0 if t < 10 else 0.01 if t == 10 else 5.0 + t / 100 for t in output]
    return [Seen(gap, 20.0) for gap in gaps]


def judged(on, off=GOOD, count=2):
    asked = questions(count)
    answers = {
        name: {q.id: tokens(*ids, question=q.id) for q in asked}
        for name, ids in (("off", off), ("on", on))
    }
    return judge_tokens(answers, asked, score, tolerance_for("bfloat16", "t"), "toy")


def test_likeliest_tokens_pass():
    found = judged(GOOD)
    assert (found.verdict, found.reasons) == ("pass", ())
    assert [arm.arm for arm in found.arms] == ["off", "on"]
    assert (found.arms[1].likeliest.count, found.arms[1].likeliest.of) == (8, 8)
    assert found.arms[1].largest_gap == 0.0


def test_near_ties_pass_and_are_counted():
    found = judged((1, 10, 3, 10))
    assert found.verdict == "pass"
    assert found.arms[1].near_ties.count == 4
    assert found.arms[1].largest_gap == 0.01


def test_a_wrong_token_fails_and_is_named():
    found = judged((1, 2, 30, 40))
    assert found.verdict == "fail"
    worst = found.arms[1].examples[0]
    assert (worst.prompt_id, worst.position, worst.token) == ("p0", 3, 40)
    assert worst.gap == pytest.approx(5.4)
    assert "4 of 8" in found.reasons[0]


def test_what_stands_behind_a_wrong_token_is_judged_too():
    """Parity stops at the first difference; a second fault behind it is seen here."""
    assert judged((30, 2, 3, 40)).arms[1].wrong.count == 4


def test_an_off_arm_that_is_wrong_is_about_the_reference():
    found = judged((1, 2, 30, 4), off=(1, 2, 30, 4))
    assert found.verdict == "cannot tell"
    assert "do not run the same model" in found.reasons[0]


def test_ten_examples_at_most():
    assert len(judged((30,) * 9).arms[1].examples) == 10


def test_answers_without_token_ids_are_no_input():
    from trtspec.verify.arm import Answer

    answers = {"off": {"p0": Answer("p0", None, "text")}}
    with pytest.raises(ValueError, match="no token ids"):
        judge_tokens(answers, questions(), score, tolerance_for("float32", "t"), "toy")


def test_lines_name_judge_shares_and_tolerance():
    lines = oracle_lines(judged((1, 10, 30, 4)))
    assert lines[1].startswith("on: 8 tokens of 2 answers: 4 the likeliest")
    assert "near ties 2 (25.00%)" in lines[1]
    assert "wrong 2" in lines[1]
    assert "judged by toy" in lines
    assert "4 steps of bfloat16" in lines[-1]


def test_it_survives_json():
    found = judged((1, 10, 30, 4))
    assert Oracle.model_validate_json(found.model_dump_json()) == found
