"""A planted rule works for the time of an answer, and only on that engine."""

from dataclasses import replace

import pytest

from tests.reference.artifacts import recipe, write_model
from trtspec.reference.acceptance import accept_exactly
from trtspec.reference.runner import ReferenceRunner
from trtspec.run import SamplingParams
from trtspec.verify.arm import Question
from trtspec.verify.arms.in_process import RunnerArm
from trtspec.verify.arms.planted import PlantedArm, too_hot


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    folder = write_model(tmp_path_factory.mktemp("target"))
    runner = ReferenceRunner(recipe(), folder, None, threads=1)
    yield runner
    runner.close()


def asked(temperature=0.7, count=24):
    return [
        Question(f"q{i}", (3, 9, 4), 8, SamplingParams(temperature, seed=i))
        for i in range(count)
    ]


def outputs(arm, questions):
    return [a.tokens for a in arm.answer(questions, 2).values()]


def test_it_changes_what_is_sampled_and_leaves_no_trace(runner):
    on = RunnerArm("on", runner, speculate=True)
    before = outputs(on, asked())
    wrong = outputs(too_hot(runner), asked())
    assert wrong != before
    assert outputs(on, asked()) == before


def test_it_samples_as_at_the_higher_temperature(runner):
    """Behind the first token, which no rule of acceptance decides."""
    from trtspec.verify.distribution.control import FACTOR

    wrong = outputs(too_hot(runner), asked(temperature=0.7))
    hot = RunnerArm("on", runner, speculate=True)
    right = outputs(hot, asked(temperature=0.7 * FACTOR))
    same_start = [(w, r) for w, r in zip(wrong, right, strict=True) if w[0] == r[0]]
    assert len(same_start) > 5
    assert [w for w, _ in same_start] == [r for _, r in same_start]


def test_any_rule_can_be_planted(runner):
    seen = []

    def rule(verified, sampling, chance):
        seen.append(sampling)
        return accept_exactly(verified, replace(sampling, top_k=1), chance)

    found = outputs(PlantedArm("greedy", runner, rule), asked(count=3))
    assert len(seen) > 3
    assert all(len(tokens) == 8 or tokens[-1] == 1 for tokens in found)


def test_the_name_says_what_is_wrong(runner):
    assert too_hot(runner).name == "drafts accepted at 1.4 times the temperature"
