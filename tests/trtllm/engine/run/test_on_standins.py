"""The runner on strict stand-ins: real logits, the documented limits, true counts."""

from __future__ import annotations

import pytest

from tests.standins.engines import greedy
from tests.trtllm.engine.run.artifacts import MODES, ask, finish, sampled
from tests.trtllm.engine.run.on_standins import REPEATING, StandInOpener
from trtspec.errors import RunError
from trtspec.run import generate
from trtspec.trtllm.engine.run import EngineRunner, gate_drafts, load


@pytest.fixture
def opener(monkeypatch, tmp_path):
    opener = StandInOpener(monkeypatch, tmp_path)
    yield opener
    for runner in opener.opened:
        runner.close()


@pytest.mark.parametrize("method", MODES)
def test_greedy_tokens_are_the_targets_own_in_a_batch(opener, method):
    runner, _ = opener(method)
    requests = ask("a", tokens=20), ask("b", REPEATING, 25), ask("c", (9,), 30)
    done, _ = finish(runner, *requests, ask("d", (4, 4), 7))
    for request in requests:
        assert done[request.id].tokens == greedy(request.prompt, request.max_new_tokens)
    assert done["d"].tokens == greedy((4, 4), 7)


@pytest.mark.parametrize("method", ["ngram", "draft_target", "lookahead"])
def test_the_off_arm_gives_the_same_tokens_and_drafts_nothing(opener, method):
    runner, _ = opener(method)
    done, _ = finish(runner, ask(prompt=REPEATING, tokens=25, speculate=False))
    assert done["r"].tokens == greedy(REPEATING, 25)
    assert (done["r"].steps, done["r"].drafted, done["r"].accepted) == (24, 0, 0)


@pytest.mark.parametrize("method", ["ngram", "draft_target"])
def test_our_counts_are_what_the_engine_did(opener, method):
    runner, records = opener(method)
    done, steps = finish(runner, ask("a", tokens=25), ask("b", REPEATING, 25))
    target = records[-1].requests
    counts = sum(r.drafted for r in target), sum(r.accepted for r in target)
    assert counts[0] > 0
    for ours in (done.values(), steps):
        assert sum(c.drafted for c in ours) == counts[0]
        assert sum(c.accepted for c in ours) == counts[1]
    for completion in done.values():
        assert 1 + completion.steps + completion.accepted == 25


@pytest.mark.parametrize("method", ["medusa", "eagle", "redrafter", "lookahead"])
def test_the_engines_counts_are_taken_over(opener, method):
    runner, records = opener(method)
    done, _ = finish(runner, ask("a", tokens=25), ask("b", REPEATING, 25))
    did = {r.prompt: r for r in records[0].requests}
    for name, prompt in (("a", (3, 9, 4)), ("b", REPEATING)):
        record = did[prompt]
        assert (done[name].steps, done[name].drafted) == (
            record.steps - 1,
            record.drafted,
        )
        # the last step may be cut inside its draft, which then has no token behind it
        assert record.accepted - done[name].accepted in (0, 1)
        assert done[name].accepted == 25 - record.steps
        assert done[name].drafted > 0


@pytest.mark.parametrize("method", ["medusa", "eagle", "lookahead"])
@pytest.mark.parametrize("prompt", [(3, 9, 4), REPEATING])
@pytest.mark.parametrize("at_end_token", [False, True])
def test_an_early_version_tells_accepted_but_not_drafted_tokens(
    opener, method, prompt, at_end_token
):
    plain = greedy(prompt, 20)
    end = next(t for i, t in enumerate(plain) if i > 3 and t not in plain[:i])
    runner, records = opener(method, "0.17.0", ends=(end,))
    done, _ = finish(runner, ask(prompt=prompt, tokens=20, ignore_eos=not at_end_token))
    (record,) = records[0].requests
    assert (done["r"].steps, done["r"].drafted) == (record.steps - 1, 0)
    # one less if the output ended in an accepted token
    assert record.accepted - done["r"].accepted in (0, 1)
    assert len(done["r"].tokens) - 1 - done["r"].steps == done["r"].accepted


@pytest.mark.parametrize("method", MODES)
def test_an_end_token_ends_the_output_and_belongs_to_it(opener, method):
    plain = greedy((3, 9, 4), 20)
    end = next(t for i, t in enumerate(plain) if i > 3 and t not in plain[:i])
    for ends in ((end,), (0, end)):
        runner, _ = opener(method, ends=ends)
        done, _ = finish(runner, ask(tokens=20, ignore_eos=False))
        assert done["r"].tokens == plain[: plain.index(end) + 1]
        assert done["r"].finish_reason == "stop"
        runner.close()


@pytest.mark.parametrize("method", MODES)
def test_a_stop_string_cuts_the_output(opener, method):
    plain = greedy((3, 9, 4), 20)
    runner, _ = opener(method)
    stop = f"w{plain[5]} w{plain[6]}"
    chunks = list(generate(runner, [ask(tokens=20, stop=(stop,))]))
    done = chunks[-1].completion
    assert done.tokens == plain[: len(done.tokens)]
    assert done.finish_reason == "stop"
    assert "".join(chunk.text for chunk in chunks) == done.text
    assert stop not in done.text


@pytest.mark.parametrize("version", ["0.17.0", "0.20.0", "1.0.0", "1.2.1"])
@pytest.mark.parametrize("method", ["none", "ngram", "draft_target", "eagle"])
def test_every_version_takes_what_is_sent(opener, method, version):
    runner, _ = opener(method, version)
    done, _ = finish(runner, ask("a", tokens=12), ask("b", REPEATING, 12))
    assert done["a"].tokens == greedy((3, 9, 4), 12)
    assert done["b"].tokens == greedy(REPEATING, 12)


def test_eagle_2_runs_by_its_runtime_flags(opener):
    runner, _ = opener("eagle", tree="dynamic", dynamic_top_k=3)
    done, _ = finish(runner, ask(tokens=20))
    assert done["r"].tokens == greedy((3, 9, 4), 20)
    assert done["r"].drafted > 0


def test_samples_by_logits_are_lossless_and_repeated(opener):
    options = {"use_draft_logits": True, "draft_seed": 1}
    outputs = []
    for _ in range(2):
        runner, records = opener("draft_target", **options)
        done, _ = finish(runner, ask(tokens=20, sampling=sampled(7, temperature=1.0)))
        outputs.append(done["r"].tokens)
        assert done["r"].drafted == sum(r.drafted for r in records[-1].requests) > 0
        assert done["r"].lossy == ""
        runner.close()
    assert outputs[0] == outputs[1]


def test_a_perfect_draft_model_is_accepted_whole(opener):
    runner, _ = opener("draft_target", draft_seed=0)
    done, _ = finish(runner, ask(tokens=21))
    assert done["r"].acceptance_rate == 1.0


def test_unequal_rows_are_refused_by_us_and_would_be_by_the_runtime(
    opener, monkeypatch
):
    with pytest.raises(RunError, match="48, the draft engine 56"):
        opener("draft_target", draft_seed=2, use_draft_logits=True)
    monkeypatch.setattr(gate_drafts, "require_logits", lambda *_: None)
    runner, _ = opener("draft_target", draft_seed=2, use_draft_logits=True)
    with pytest.raises(RunError, match=r"Incompatible buffer sizes.*\n  meaning: "):
        finish(runner, ask(tokens=3, sampling=sampled()))


def test_without_block_reuse_the_runtime_would_take_no_drafts(opener, monkeypatch):
    arguments = opener.arguments("ngram")
    monkeypatch.setattr(load, "drafts_from_outside", lambda _: False)
    with pytest.raises(RunError, match="block reuse must be enabled"):
        EngineRunner(*arguments)


def test_a_rejected_draft_ends_its_request_without_a_reason(opener):
    runner, records = opener("draft_target")
    done, _ = finish(runner, ask(tokens=25))
    reasons = {r.finish_reason for r in records[-1].requests if r.external_draft}
    assert "NOT_FINISHED" in reasons
    assert done["r"].finish_reason == "length"
    assert done["r"].tokens == greedy((3, 9, 4), 25)
