"""The in-process runner on strict stand-ins: the target's own tokens, true counts."""

from __future__ import annotations

import pytest

from tests.standins import install
from tests.standins.engines import greedy
from tests.trtllm.pytorch.run.artifacts import REPEATING, installed, write_artifact
from tests.trtllm.pytorch.run.fakes import ask, chunks, finish, sampled
from trtspec.errors import RunError, UsageError
from trtspec.trtllm.pytorch.run import open_runner

VERSIONS = ["1.0.0", "1.1.0", "1.2.1", "1.4.0rc4"]
METHODS = ["none", "ngram", "draft_target", "eagle3"]
LIMITS = {"max_batch_size": 3, "max_total_tokens": 50}


@pytest.fixture
def open_here(monkeypatch, tmp_path):
    """Opens a runner on the stand-in of a version; gives both."""
    opened = []

    def open_one(method="none", version="1.2.1", name="artifact", **options):
        standin = install(tmp_path / version, version, pytorch=True)
        standin.activate(monkeypatch)
        folder = tmp_path / name
        options = {"limits": LIMITS, **options}
        artifact = write_artifact(folder, version, method, **options)
        opened.append(open_runner(artifact, installed(version)))
        return opened[-1], standin

    yield open_one
    for runner in opened:
        runner.close()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("method", METHODS)
def test_greedy_tokens_are_the_targets_own_in_a_batch(open_here, method, version):
    runner, standin = open_here(method, version)
    requests = ask("a", tokens=20), ask("b", REPEATING, 25), ask("c", (9,), 30)
    done = finish(runner, *requests, ask("d", (4, 4), 7))
    for request in (*requests, ask("d", (4, 4), 7)):
        assert done[request.id].tokens == greedy(request.prompt, request.max_new_tokens)
    assert (standin.decoding().total("drafted") > 0) is (method != "none")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("method", ["ngram", "eagle3"])
def test_counts_are_what_the_engine_did(open_here, method, version):
    runner, standin = open_here(method, version)
    done = finish(runner, ask("a", tokens=25), ask("b", REPEATING, 25))
    truth = standin.decoding()
    assert truth.total("accepted") > 0
    assert sum(c.steps for c in done.values()) == truth.steps
    for completion in done.values():
        assert 1 + completion.steps + completion.accepted == 25
        known = version == "1.4.0rc4"  # those before leave a request's counters at 0
        assert (completion.acceptance_rate is not None) is known
    if known:
        assert sum(c.drafted for c in done.values()) == truth.total("drafted")
    (note,) = runner.notes()
    if (rates := truth.total("drafted")) and "not available" not in note.text:
        accepted = truth.total("accepted")
        assert f"({accepted} of {rates} drafted tokens)" in note.text


def test_the_rate_is_read_where_the_release_counts(open_here):
    runner, _ = open_here("eagle3", "1.2.1")
    finish(runner, ask(tokens=25))
    (note,) = runner.notes()
    assert note.text.startswith("acceptance rate ")


def test_several_tokens_come_in_one_chunk(open_here):
    runner, standin = open_here("ngram", "1.2.1")
    found = chunks(runner, ask(prompt=REPEATING, tokens=25))
    assert max(len(chunk.tokens) for chunk in found) > 1
    assert len(found) == standin.decoding().steps + 1


def test_an_end_token_ends_it_and_is_the_last_token(open_here):
    runner, _ = open_here("eagle3")
    plain = greedy(REPEATING, 30)
    runner._codec.end_tokens = frozenset(plain[7:8])
    runner._source._end_tokens = runner._codec.end_tokens
    done = finish(runner, ask(prompt=REPEATING, tokens=30, ignore_eos=False))["r"]
    assert done.tokens == plain[: plain.index(plain[7]) + 1]
    assert done.finish_reason == "stop"


def test_a_stop_string_cuts_the_text_and_aborts_the_request(open_here):
    runner, standin = open_here("ngram")
    standin.pace(0.01)
    plain = greedy(REPEATING, 30)
    done = finish(runner, ask(prompt=REPEATING, tokens=30, stop=(f"w{plain[5]}",)))
    assert done["r"].text == "".join(f"w{t} " for t in plain[: plain.index(plain[5])])
    runner.close()
    assert standin.decoding().total("emitted") < 25


def test_a_cancelled_request_is_aborted(open_here):
    runner, standin = open_here("eagle3")
    standin.pace(0.01)
    runner.submit(ask(tokens=40))
    while not runner.advance().chunks:
        pass
    runner.cancel("r")
    (chunk,) = runner.advance().chunks
    assert chunk.completion.finish_reason == "cancelled"
    while runner.busy:
        runner.advance()
    runner.close()
    assert standin.decoding().total("emitted") < 35


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (ask(controls={"min_tokens": 4}), "drops it silently"),
        (ask(controls={"logprobs": 1}), "in part or not at all"),
        (ask(controls={"repetition_penalty": 1.2}), "drops it silently"),
        (ask(speculate=False), "drafts for every request"),
        (ask(tokens=100), "limits.max_total_tokens"),
    ],
)
def test_what_is_refused_never_reaches_the_engine(open_here, request_, words):
    runner, standin = open_here("eagle3")
    with pytest.raises(UsageError, match=words):
        runner.submit(request_)
    runner.close()
    assert standin.events("request") == standin.events("iteration") == []


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_ignored_sampling_is_refused_or_bears_the_word_lossy(open_here, version):
    runner, _ = open_here("eagle3", version)
    with pytest.raises(UsageError, match="would be lossy"):
        runner.submit(ask(sampling=sampled()))
    allowed, _ = open_here("eagle3", version, allow_lossy=True, name="allowed")
    done = finish(allowed, ask(sampling=sampled()))["r"]
    assert "ignored" in done.lossy
    assert done.tokens == greedy((3, 9, 4), 12)


def test_sampling_follows_the_seed_without_speculation(open_here):
    runner, _ = open_here("none")
    one, two = (ask(n, sampling=sampled(seed=s)) for n, s in (("a", 1), ("b", 2)))
    again = ask("c", sampling=sampled(seed=1))
    done = finish(runner, one, two, again)
    assert done["a"].tokens == done["c"].tokens != done["b"].tokens
    assert done["a"].lossy == ""


def test_controls_reach_the_engine(open_here):
    runner, standin = open_here("none")
    finish(runner, ask(controls={"min_p": 0.2, "stop_token_ids": [47]}))
    (record,) = standin.events("request")
    assert record["asked"]["min_p"] == 0.2
    assert record["asked"]["stop_token_ids"] == [47]


def test_a_draft_folder_is_found_from_any_directory(open_here, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    runner, _ = open_here("draft_target")
    assert finish(runner, ask())["r"].tokens == greedy((3, 9, 4), 12)


def test_too_few_gpus_are_told_in_tensorrt_llms_words(open_here):
    with pytest.raises(RunError, match="does not load it: Only 1 GPUs are available"):
        open_here("none", tensor_parallel=2)


def test_closing_shuts_the_engine_down(open_here):
    runner, standin = open_here("none")
    finish(runner, ask())
    runner.close()
    assert len(standin.events("shutdown")) == 1
