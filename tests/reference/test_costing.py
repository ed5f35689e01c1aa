"""Steps whose cost is measured all have the shape that was asked for."""

from __future__ import annotations

import pytest

from tests.reference.artifacts import recipe, write_model
from trtspec.errors import RunError
from trtspec.reference import costing
from trtspec.reference.costing import STEPS, cell_cost, verify_cost
from trtspec.reference.runner import ReferenceRunner
from trtspec.run import Request

PROMPTS = [(2, 9, 4, 3), (2, 11, 12, 13, 3)]


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("target") / "target")


@pytest.fixture
def runner(target):
    return ReferenceRunner(recipe(), target, None, threads=1)


@pytest.fixture
def seen(monkeypatch):
    """The steps that a cost was taken from."""
    steps = []
    real = costing._steps

    def keep(*arguments):
        found = real(*arguments)
        steps.extend(found)
        return found

    monkeypatch.setattr(costing, "_steps", keep)
    return steps


def method(length: int):
    speculation = recipe().speculation
    return type(speculation).model_validate(
        speculation.model_dump() | {"draft_length": length}
    )


@pytest.mark.parametrize("length", [1, 3])
@pytest.mark.parametrize("batch", [1, 2])
def test_every_step_verifies_as_many_tokens_as_asked_for(runner, seen, length, batch):
    seconds = verify_cost(runner, PROMPTS[:batch], method(length))
    assert seconds > 0
    assert len(seen) == STEPS
    assert {s.running for s in seen} == {batch}
    assert {s.drafted for s in seen} == {batch * length}
    assert {s.emitted for s in seen} == {batch}
    assert not runner.busy


def test_plain_decoding_has_a_cost_too(runner, seen):
    found = cell_cost(runner, PROMPTS, None)
    assert found.verify > 0
    assert {s.drafted for s in seen} == {0}
    assert found.draft < found.verify


def test_the_engine_is_as_before_afterwards(runner):
    before = [c.tokens for c in decoded(runner)]
    verify_cost(runner, PROMPTS, method(3))
    cell_cost(runner, PROMPTS, method(2))
    assert [c.tokens for c in decoded(runner)] == before


def decoded(runner):
    for index, prompt in enumerate(PROMPTS):
        runner.submit(Request(f"r{index}", prompt, 9, ignore_eos=True))
    done = []
    while runner.busy:
        done += [c.completion for c in runner.advance().chunks if c.completion]
    assert any(c.drafted for c in done)
    return sorted(done, key=lambda c: c.request_id)


def test_a_busy_engine_is_refused(runner):
    runner.submit(Request("r", PROMPTS[0], 9))
    with pytest.raises(RunError, match="busy"):
        cell_cost(runner, PROMPTS, None)
