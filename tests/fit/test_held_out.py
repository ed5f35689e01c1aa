"""The estimate along held-out answers is what the engine really accepts."""

from __future__ import annotations

import pytest

from tests.fit.toy_fit import (
    KINDS,
    round_weights,
    toy_answers,
    toy_objective,
    toy_store,
    toy_trainer,
    train,
)
from tests.reference.engines import finish, request, submit
from tests.reference.toy_heads.setup import toy_setup
from trtspec.errors import UsageError
from trtspec.fit.answers import Answer
from trtspec.fit.held_out import Walked, measure, walk
from trtspec.methods import DraftTarget, Eagle3, Medusa, Mtp
from trtspec.reference.drafters import open_drafter
from trtspec.reference.engine import Engine
from trtspec.reference.slots import SlotModel

METHODS = {
    "eagle3": Eagle3(method="eagle3", model="./d", draft_length=3),
    "medusa": Medusa(
        method="medusa", model="./d", num_heads=3, tree=[[0], [0, 0], [0, 0, 0]]
    ),
    "draft-model": DraftTarget(method="draft_target", model="./d", draft_length=3),
    "mtp": Mtp(method="mtp", model="./d", draft_length=3),
}


def test_decoding_walks_from_pending_token_to_pending_token():
    answer = Answer("a", "", 0.0, tuple(range(14)), ((2, 12),))
    walked = Walked()
    # 2 is pending: 3 4 5 are accepted, 6 is the bonus; then 7, and 8; then 9 10, and 11
    walk(answer, [3, 0, 9, 0, 1, 0, 2, 5, 1], walked)
    assert (walked.steps, walked.accepted) == (3, 3 + 1 + 2)
    assert walked.acceptance_length == 3.0


def test_the_last_tokens_leave_room_for_fewer():
    walked = Walked()
    walk(Answer("a", "", 0.0, (1, 2, 3, 4), ((1, 4),)), [5, 0], walked)
    assert (walked.steps, walked.accepted) == (1, 2)
    walk(Answer("a", "", 0.0, (1, 2, 3), ((1, 3),)), [0], walked)
    assert (walked.steps, walked.accepted) == (2, 2)


def accepted_by_engine(method, directory, target, answers):
    """Run the answers' prompts; gives (accepted, steps)."""
    drafter = open_drafter(method, directory, toy_setup(target.model))
    engine = Engine(SlotModel(target.model, 4, 96, 16), drafter, method)
    for answer in answers:
        begin, end = answer.spans[0]
        prompt = answer.tokens[:begin]
        submit(engine, request(answer.id, prompt, end - begin, ignore_eos=False))
    completions, _ = finish(engine)
    for answer in answers:
        begin, end = answer.spans[0]
        assert tuple(completions[answer.id].tokens) == answer.tokens[begin:end]
    counts = completions.values()
    return sum(c.accepted for c in counts), sum(c.steps for c in counts)


@pytest.mark.parametrize("kind", KINDS)
def test_the_estimate_is_what_the_engine_accepts(tmp_path, target, answers, kind):
    held_out = toy_answers(tmp_path / "held.jsonl", target, 16)
    objective = toy_objective(kind, target, answers)
    store = toy_store(tmp_path / "states", target, objective.layers, answers)
    trainer = toy_trainer(objective, answers, store)
    held = toy_store(tmp_path / "held", target, objective.layers, held_out)
    untrained = measure(objective, held_out, held, 200)
    train(trainer, 60)
    round_weights(objective.module)
    result = measure(objective, held_out, held, 200)
    objective.export(tmp_path / "drafter", objective.module.state_dict())
    accepted, steps = accepted_by_engine(
        METHODS[kind], tmp_path / "drafter", target, held_out
    )
    (walked,) = result.sources.values()
    # states are stored in bfloat16, so a draft token can differ now and then
    assert walked.accepted == pytest.approx(accepted, rel=0.1)
    assert walked.steps == pytest.approx(steps, rel=0.1)
    assert 1 + accepted / steps > untrained.mean + 0.02


def test_sampled_answers_cannot_be_measured_on(tmp_path, target, answers):
    warm = toy_answers(tmp_path / "warm.jsonl", target, 2, (0.7,))
    objective = toy_objective("medusa", target, answers)
    store = toy_store(tmp_path / "states", target, (), warm)
    with pytest.raises(UsageError, match="2 of the held-out answers are not"):
        measure(objective, warm, store, 200)
