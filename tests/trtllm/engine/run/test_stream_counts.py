"""What the engine says of its own drafts: steps, drafted and accepted tokens."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.trtllm.engine.run.artifacts import END, Opener, ask, finish, greedy_tokens
from tests.trtllm.engine.run.fakes import Script, install, target_token
from trtspec.run import Completion
from trtspec.trtllm.engine.run import streams
from trtspec.trtllm.engine.run.streams import count_engine, count_plain

IN_ENGINE = ["medusa", "eagle", "redrafter", "lookahead"]


def ending_with(token, at):
    """A target that emits ``token`` behind ``at`` tokens."""
    return Script(lambda tokens: token if len(tokens) == at else target_token(tokens))


def sent(bindings):
    return bindings.executors["target"].requests


def test_plain_decoding_counts_a_step_per_token_but_the_first(open_engine, bindings):
    done, _ = finish(open_engine("none"), ask(tokens=9))
    counts = done["r"].steps, done["r"].drafted, done["r"].accepted
    assert counts == (8, 0, 0)


@pytest.mark.parametrize("method", IN_ENGINE)
def test_acceptance_is_what_the_engine_says(open_engine, bindings, method):
    bindings.scripts["target"] = Script(accepts=2)
    done, _ = finish(open_engine(method), ask(tokens=13))
    assert sent(bindings)[0].output_config.return_perf_metrics is True
    counts = done["r"].steps, done["r"].drafted, done["r"].accepted
    assert counts == (4, 12, 8)


def test_accepted_tokens_are_those_that_became_output(open_engine, bindings):
    """The engine's own count leaves out the end token, here the third of its step."""
    script = ending_with(END, 12)
    script.accepts = 2
    bindings.scripts["target"] = script
    done, _ = finish(open_engine("medusa"), ask(tokens=20, ignore_eos=False))
    assert len(done["r"].tokens) == 10
    counts = done["r"].steps, done["r"].drafted, done["r"].accepted
    assert counts == (3, 9, 6)


@pytest.mark.parametrize("end", [[], [END]])
def test_without_metrics_nothing_is_known_of_what_was_drafted(
    open_engine, bindings, end
):
    bindings.scripts["target"] = Script(accepts=2, metrics=False)
    if end:
        script = ending_with(END, 13)
        script.accepts, script.metrics = 2, False
        bindings.scripts["target"] = script
    done, _ = finish(open_engine("medusa"), ask(tokens=13, ignore_eos=not end))
    assert done["r"].steps == 4
    assert done["r"].drafted == 0
    assert done["r"].acceptance_rate is None
    assert done["r"].accepted == len(done["r"].tokens) - 1 - done["r"].steps


def test_a_version_without_metrics_is_not_asked_for_them(monkeypatch, tmp_path):
    bindings = install(monkeypatch, "0.17.0")
    runner = Opener(tmp_path)("medusa", version="0.17.0")
    finish(runner, ask())
    assert sent(bindings)[0].output_config.return_perf_metrics is None
    assert runner.conditions()["drafted_tokens_known"] is False


def test_counts_are_waited_for_when_we_end_a_drafting_request(open_engine, bindings):
    bindings.scripts["target"] = Script(accepts=2)
    word = f"w{greedy_tokens(count=6)[5]}"
    done, _ = finish(open_engine("medusa"), ask(tokens=40, stop=(word,)))
    assert (done["r"].steps, done["r"].drafted, done["r"].accepted) == (2, 6, 4)


def test_counts_that_never_come_stay_unknown(open_engine, bindings, monkeypatch):
    monkeypatch.setattr(streams, "DRAIN_SECONDS", 0.0)
    bindings.scripts["target"] = Script(accepts=2, answers_cancellation=False)
    word = f"w{greedy_tokens(count=6)[5]}"
    runner = open_engine("medusa")
    runner.submit(ask(tokens=40, stop=(word,)))
    chunks = [chunk for _ in range(8) for chunk in runner.advance().chunks]
    done = chunks[-1].completion
    assert (done.steps, done.drafted, done.accepted) == (0, 0, 0)
    assert done.acceptance_length is None


def result(iterations, drafted=None, accepted=0):
    speculative = SimpleNamespace(
        total_draft_tokens=drafted, total_accepted_draft_tokens=accepted
    )
    metrics = None
    if drafted is not None:
        metrics = SimpleNamespace(speculative_decoding=speculative)
    return SimpleNamespace(decoding_iter=iterations, request_perf_metrics=metrics)


@pytest.mark.parametrize(
    ("iterations", "drafted", "emitted", "counts"),
    [
        (5, 16, 12, (4, 16, 7)),  # the iteration that reads the prompt is no step
        (5, None, 12, (4, 0, 7)),  # without metrics
        (1, 0, 1, (0, 0, 0)),  # nothing was drafted
        (3, 8, 2, (2, 8, 0)),  # cancelled
    ],
)
def test_accepted_tokens_follow_from_the_iterations(
    iterations, drafted, emitted, counts
):
    completion = Completion("r", 3)
    count_engine(completion, result(iterations, drafted, accepted=99), emitted)
    assert (completion.steps, completion.drafted, completion.accepted) == counts


def test_an_engine_that_says_nothing_leaves_nothing_known():
    completion = Completion("r", 3, tokens=[4, 5])
    count_engine(completion, None, 2)
    count_engine(completion, result(0), 2)
    assert (completion.steps, completion.drafted, completion.accepted) == (0, 0, 0)
    assert completion.acceptance_length is None


def test_plain_decoding_takes_a_step_per_token_but_the_first():
    for size, steps in ((0, 0), (1, 0), (5, 4)):
        completion = Completion("r", 3, tokens=list(range(size)))
        count_plain(completion)
        assert completion.steps == steps
