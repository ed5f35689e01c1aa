import pytest

from tests.verify.distribution.worlds import PROMPTS, World, WorldArm
from trtspec.errors import UsageError
from trtspec.verify.arm import Answer, Question
from trtspec.verify.distribution import Plan
from trtspec.verify.distribution.collect import (
    ask,
    require_different,
    seed_of,
)
from trtspec.verify.distribution.result import Drafts
from trtspec.verify.distribution.symbols import END

PLAN = Plan(seeds=4, places=3)


def test_every_prompt_is_asked_so_often():
    arm = WorldArm()
    found = ask(arm, PROMPTS, PLAN, 0, 4)
    assert {name: len(answers) for name, answers in found.by_prompt.items()} == (
        dict.fromkeys(PROMPTS, 4)
    )
    for one in arm.asked:
        assert one.max_tokens == PLAN.max_tokens
        assert (one.sampling.temperature, one.sampling.top_p) == (0.7, 0.9)


def test_prompts_take_turns():
    """So what changes with time changes for all of them."""
    arm = WorldArm()
    ask(arm, PROMPTS, PLAN, 0, 2)
    size = len(PROMPTS)
    assert [one.prompt for one in arm.asked[:size]] == list(PROMPTS.values())
    assert [one.prompt for one in arm.asked[size:]] == list(PROMPTS.values())


def test_answers_go_to_the_prompts_that_they_answer():
    arm = WorldArm()
    found = ask(arm, PROMPTS, PLAN, 0, 3)
    alone = {name: ask(arm, PROMPTS, PLAN, 0, 3) for name in PROMPTS}
    assert all(found == other for other in alone.values())
    by_id = {one.id: one.prompt for one in arm.asked}
    for name, answers in found.by_prompt.items():
        assert {by_id[one.id] for one in answers} == {PROMPTS[name]}


def test_no_two_requests_of_a_test_have_one_seed():
    arm = WorldArm()
    for first in (0, 4, 8, 12):
        ask(arm, PROMPTS, PLAN, first, 4)
    seeds = [one.sampling.seed for one in arm.asked]
    assert len(seeds) == len(set(seeds)) == 16 * len(PROMPTS)


def test_seeds_differ_for_different_numbers_and_plans_and_fit_31_bits():
    seeds = {seed_of(PLAN, number) for number in range(100_000)}
    assert len(seeds) == 100_000
    assert 0 <= min(seeds) <= max(seeds) < 2**31 - 1
    other = PLAN.model_copy(update={"seed": 1})
    assert len({seed_of(other, n) for n in range(1000)} & seeds) < 100


def test_drafts_are_added_up_or_not_known():
    assert ask(WorldArm(), PROMPTS, PLAN, 0, 2).drafts() == Drafts(
        drafted=5 * 16, accepted=3 * 16
    )
    silent = ask(WorldArm(drafts=None), PROMPTS, PLAN, 0, 2).drafts()
    assert silent == Drafts(drafted=None, accepted=None)


def test_what_is_compared_is_so_many_symbols():
    found = ask(WorldArm(), PROMPTS, PLAN, 0, 2).sample("on", PLAN, as_text=False)
    assert {len(one) for answers in found.by_prompt.values() for one in answers} == {3}
    text = ask(WorldArm(says="text"), PROMPTS, PLAN, 0, 2)
    pieces = text.sample("on", PLAN, as_text=True).by_prompt["p0"]
    assert all(piece.strip().startswith("w") for one in pieces for piece in one)
    assert END not in pieces[0]


def test_prompts_that_are_the_same_are_refused():
    with pytest.raises(UsageError, match="'a' and 'c' are the same"):
        require_different({"a": (1, 2), "b": (1,), "c": (1, 2)})
    with pytest.raises(UsageError, match="there are no prompts"):
        require_different({})
    require_different({"a": "one", "b": "two"})


def test_questions_keep_their_messages():
    talk = ({"role": "user", "content": "w1"},)
    other = ({"role": "user", "content": "w2"},)
    asked = {"a": Question("a", (), 1, messages=talk), "b": (1, 2)}
    arm = WorldArm(world=World())
    arm.answer = lambda questions, _: (
        arm.asked.extend(questions)
        or {one.id: Answer(one.id, (1,) * one.max_tokens, "") for one in questions}
    )
    ask(arm, asked, PLAN, 0, 2)
    assert [one.messages for one in arm.asked] == [talk, (), talk, ()]
    assert {one.max_tokens for one in arm.asked} == {PLAN.max_tokens}
    require_different({"a": asked["a"], "b": Question("b", (), 1, messages=other)})
    with pytest.raises(UsageError, match="are the same"):
        require_different({"a": asked["a"], "b": Question("b", (), 9, messages=talk)})
