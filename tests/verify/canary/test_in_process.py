"""The canary's words to an engine in this process, on a toy engine that drafts."""

from __future__ import annotations

import pytest

from tests.reference.artifacts import recipe, write_model
from trtspec.errors import RunError
from trtspec.reference.runner import ReferenceRunner
from trtspec.run import StepResult
from trtspec.verify.arm import Question
from trtspec.verify.arms.in_process import RunnerArm
from trtspec.verify.canary import Ask, run_canary
from trtspec.verify.canary.in_process import RunnerTalker

PROMPTS = [(3, 9, 4, 11), (5, 7, 22, 7), (6, 6, 31, 2), (8, 3, 40, 12)]


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    target = write_model(tmp_path_factory.mktemp("target"))
    draft = write_model(tmp_path_factory.mktemp("draft"), seed=1)
    method = {"method": "draft_target", "model": "./draft", "draft_length": 3}
    made = recipe(method, max_batch_size=4)
    return ReferenceRunner(made, target, draft, threads=1)


def test_streamed_and_whole_are_the_same(runner):
    talker = RunnerTalker(runner)
    asks = [Ask(f"a{i}", p, 24) for i, p in enumerate(PROMPTS)]
    whole = [Ask(ask.id, ask.prompt, 24, stream=False) for ask in asks]

    streamed, at_once = talker.say(asks, 2), talker.say(whole, 4)
    for ask in asks:
        one, other = streamed[ask.id], at_once[ask.id]
        assert one.text == other.text
        assert one.tokens == other.tokens
        assert len(other.pieces) == 1 < len(one.pieces)
        assert one.completion_tokens == len(one.tokens)
        assert one.prompt_tokens == 4


def test_text_and_conversations_are_encoded(runner):
    talker = RunnerTalker(runner)
    chat = ({"role": "user", "content": "w5 w6"},)

    heard = talker.say([Ask("t", "w3 w9", 4), Ask("c", "", 4, messages=chat)], 1)
    assert heard["t"].prompt_tokens == 2
    assert heard["c"].prompt_tokens == 4


def test_stop_strings_reach_the_engine(runner):
    talker = RunnerTalker(runner)
    (whole,) = talker.say([Ask("a", PROMPTS[0], 24)], 1).values()
    stop = " ".join(whole.text.split()[3:5])

    (cut,) = talker.say([Ask("a", PROMPTS[0], 24, stop=(stop,))], 1).values()
    assert cut.text.rstrip() == whole.text.split(stop)[0].rstrip()
    assert cut.finish == "stop"


def test_a_request_that_is_lost_is_an_error(runner, monkeypatch):
    talker = RunnerTalker(runner)
    monkeypatch.setattr(type(runner), "submit", lambda self, request: None)
    monkeypatch.setattr(type(runner), "advance", lambda self: StepResult())

    with pytest.raises(RunError, match="lost a request"):
        talker.say([Ask("a", PROMPTS[0], 4)], 1)


def test_a_canary_of_a_toy_engine(runner):
    """A toy's text is noise, so that one check is left out of the verdict."""
    questions = [Question(f"q{i}", prompt, 24) for i, prompt in enumerate(PROMPTS)]
    arm = RunnerArm("on", runner, speculate=True)

    result = run_canary(
        arm,
        questions,
        talker=RunnerTalker(runner),
        burst=4,
        always_drafts=True,
        seconds=1e9,
    )
    verdicts = {check.name: check.verdict for check in result.checks}
    assert verdicts["streaming"] == verdicts["usage"] == "pass"
    assert verdicts["repeat"] != "fail"
    assert result.first == result.repeated == result.recovered
    assert result.first.drafted
