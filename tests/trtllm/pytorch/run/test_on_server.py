"""The HTTP runner on a strict trtllm-serve of its own, and how each end of it ends."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import psutil
import pytest

from tests.standins import install
from tests.standins.engines import greedy
from tests.trtllm.pytorch.run.artifacts import (
    REPEATING,
    SERVED,
    installed,
    write_artifact,
)
from tests.trtllm.pytorch.run.fakes import ask, chunks, finish
from trtspec.build.artifact import Artifact
from trtspec.build.progress import Progress
from trtspec.errors import RunError, UsageError
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.pytorch.launch.patience import Patience
from trtspec.trtllm.pytorch.launch.serving import serving
from trtspec.trtllm.pytorch.run import open_artifact

LIMITS = {"max_batch_size": 3, "max_total_tokens": 50}


@pytest.fixture
def said():
    """Lines of progress."""
    return []


@pytest.fixture
def serve(monkeypatch, tmp_path, said):
    """Opens a runner on a server of its own; gives both."""
    with contextlib.ExitStack() as stack:

        def open_one(method="none", version="1.2.1", fail=None, **options):
            standin = install(tmp_path / version, version, pytorch=True, fail=fail)
            standin.activate(monkeypatch)
            monkeypatch.setenv("TRTSPEC_CACHE", str(tmp_path / "cache"))
            options = {"limits": LIMITS, **options}
            artifact = write_artifact(tmp_path / "artifact", version, method, **options)
            there = installed(version, server=standin.root / "bin" / "trtllm-serve")
            progress = Progress(said.append)
            runner = open_artifact(artifact, there, server=True, progress=progress)
            stack.callback(runner.close)
            return runner, standin

        yield open_one


def pids(standin):
    return {e["pid"] for e in standin.events() if psutil.pid_exists(e["pid"])}


def until(holds, seconds=20.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("method", "version"), [("eagle3", "1.2.1"), ("ngram", "1.0.0")]
)
def test_a_server_gives_the_targets_own_tokens_and_is_gone_after(
    serve, method, version
):
    runner, standin = serve(method, version)
    requests = ask("a", tokens=20), ask("b", REPEATING, 25), ask("c", (9,), 30)
    found = chunks(runner, *requests, ask("d", (4, 4), 7))
    done = {c.request_id: c.completion for c in found if c.completion}
    for request in (*requests, ask("d", (4, 4), 7)):
        assert done[request.id].tokens == greedy(request.prompt, request.max_new_tokens)
    truth = standin.decoding()
    assert max(len(chunk.tokens) for chunk in found) > 1
    assert truth.total("drafted") > 0
    if method == "eagle3":
        (note,) = runner.notes()
        assert "acceptance rate" in note.text
    runner.close()
    assert pids(standin) == set()


def test_a_server_is_told_of_and_ends_in_order_once_it_is_not_needed(serve, said):
    runner, standin = serve("ngram")
    (line,) = said
    log = Path(line.rpartition("its log: ")[2])
    assert line.startswith("starting trtllm-serve of TensorRT-LLM 1.2.1; its log: /")
    finish(runner, ask("a"))
    assert standin.events("shutdown") == []
    runner.close()
    assert len(standin.events("shutdown")) == 1
    assert "Application shutdown complete" in log.read_text()
    assert said == [line]
    assert pids(standin) == set()


def test_a_server_that_will_not_end_is_killed_and_that_is_told(
    serve, said, monkeypatch
):
    usual = serving.__wrapped__.__kwdefaults__
    monkeypatch.setitem(usual, "patience", Patience(grace=0.1))
    runner, standin = serve("none", fail="serve:hang_on_term")
    runner.close()
    assert said[-1] == "trtllm-serve did not end within 0.1 s: killed"
    assert standin.events("shutdown") == []
    assert pids(standin) == set()


def test_a_server_of_another_artifact_is_refused_though_only_drafting_differs(
    serve, tmp_path
):
    runner, _ = serve("ngram")
    url = runner.conditions()["url"]
    off = write_artifact(tmp_path / "off", "1.2.1", "none", fingerprint="cd" * 32)
    with pytest.raises(RunError) as refused:
        open_artifact(off, Installation(), url)
    assert f"serves {SERVED}, which does not show" in str(refused.value)
    assert "allowed: toy-cdcd" in str(refused.value)
    on = Artifact.open(tmp_path / "artifact")
    same = open_artifact(on, Installation(), url)
    assert finish(same, ask())["r"].tokens == greedy((3, 9, 4), 12)
    same.close()


def test_the_newest_release_tells_the_truth_and_ends_what_a_client_leaves(serve):
    runner, standin = serve("eagle3", "1.4.0rc4")
    with pytest.raises(UsageError, match="rejects it under speculation"):
        runner.submit(ask(controls={"min_tokens": 4}))
    assert standin.events("request") == standin.events("iteration") == []
    done = finish(runner, ask("a", tokens=25), ask("b", REPEATING, 25))
    truth = standin.decoding()
    assert sum(c.accepted for c in done.values()) == truth.total("accepted")
    assert sum(c.steps for c in done.values()) == truth.steps
    (note,) = runner.notes()
    rate = f"({truth.total('accepted')} of {truth.total('drafted')} drafted tokens)"
    assert rate in note.text
    # a client that leaves
    standin.pace(0.02)
    runner.submit(ask("leaves", tokens=40))
    while not runner.advance().chunks:
        pass
    runner.cancel("leaves")
    (chunk,) = runner.advance().chunks
    assert chunk.completion.finish_reason == "cancelled"
    until(lambda: standin.events("disconnect"))
    standin.pace(0.0)
    assert finish(runner, ask("next"))["next"].tokens == greedy((3, 9, 4), 12)


def test_a_server_that_dies_ends_every_request_and_says_how(serve, said):
    runner, standin = serve("none", fail="serve:die_after_tokens=12")
    with pytest.raises(RunError) as failed:
        finish(runner, ask("a", tokens=30), ask("b", (9,), 30))
    (problem,) = failed.value.problems
    assert problem.what.startswith("trtllm-serve ended with exit status 1 while")
    assert "  | [TRT-LLM] [E] Error in event loop: CUDA error" in problem.what
    (line,) = said
    assert problem.action == f"see the log {line.rpartition('its log: ')[2]}"
    while runner.busy:
        runner.advance()
    runner.close()
    assert pids(standin) == set()


def test_a_server_that_never_comes_up_fails_the_opening(serve, tmp_path):
    with pytest.raises(RunError, match="out of memory"):
        serve("none", fail="serve:out_of_memory")
