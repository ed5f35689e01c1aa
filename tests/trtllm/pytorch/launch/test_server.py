"""A server comes up, fails or stalls, and goes down with all that it has started."""

import socket
import threading
from http.server import ThreadingHTTPServer
from subprocess import TimeoutExpired

import pytest

from tests.trtllm.pytorch.launch.conftest import wait_until
from tests.trtllm.pytorch.launch.fake_server import Handler
from trtspec.build.left_running import NOTE
from trtspec.errors import RunError, UsageError
from trtspec.trtllm.pytorch.launch import process as process_module
from trtspec.trtllm.pytorch.launch import server as server_module
from trtspec.trtllm.pytorch.launch.address import Address
from trtspec.trtllm.pytorch.launch.canary import SENTENCE
from trtspec.trtllm.pytorch.launch.http_client import ask
from trtspec.trtllm.pytorch.launch.server import Stopped


def test_start_waits_until_the_server_answers_and_learns_its_model(rig):
    rig.behave(ready_after=0.2)
    with rig.make() as server:
        server.start()
        assert server.model == "target"
        assert server.url == f"http://127.0.0.1:{rig.address.port}"
        assert ask(server.address, "/health", timeout=5).ok
        assert (rig.folder / NOTE).exists()
        assert [p.pid for p in rig.left()] == [server.pid]
    assert not (rig.folder / NOTE).exists()


def test_recognised_lines_become_the_status(rig):
    rig.behave(lines=["Loading weights concurrently: 10%"], ready_after=0.3)
    with rig.make() as server:
        server.start()
    assert rig.statuses == ["trtllm-serve: loading weights", ""]


def test_server_that_ends_at_the_start_is_told_with_its_last_lines(rig):
    line = "RuntimeError: Executor creation failed due to insufficient GPU memory."
    rig.behave(lines=["one", line], exit_at_start=1)
    with rig.make() as server, pytest.raises(RunError) as caught:
        server.start()
    problem = caught.value.problems[0]
    assert problem.what.startswith(
        "trtllm-serve ended with exit status 1 before it was ready\n  | one\n"
    )
    assert "meaning: The GPU has too little memory" in problem.what
    assert "limits.kv_cache_fraction" in problem.action
    assert str(rig.log) in problem.action
    assert caught.value.exit_code == 5


def test_server_that_is_never_ready_is_ended_after_the_start_timeout(rig):
    rig.behave(ready_after=None)
    with rig.make(start=0.5) as server:
        with pytest.raises(RunError, match=r"not ready within 0.5 s \(--start-timeout"):
            server.start()
        assert rig.left() != []
    assert rig.left() == []


def test_server_that_says_nothing_more_is_ended_after_the_stall_timeout(rig):
    rig.behave(ready_after=None, lines=["[I] Creating CUDA graph instances for 3 b"])
    with rig.make(stall=0.5) as server, pytest.raises(RunError) as caught:
        server.start()
    assert "said nothing for 0.5 s (--stall-timeout) while capturing CUDA graphs" in (
        str(caught.value)
    )


def test_program_that_is_not_there_is_an_error_in_words(rig):
    server = rig.make()
    server._command = ("no-such-program",)
    with server, pytest.raises(RunError, match="cannot start no-such-program"):
        server.start()
    assert not (rig.folder / NOTE).exists()


def test_busy_port_is_refused_before_anything_starts(rig):
    with socket.socket() as other:
        other.bind((rig.address.host, rig.address.port))
        other.listen()
        with rig.make() as server, pytest.raises(UsageError, match="is in use"):
            server.start()
    assert rig.log.read_text() == ""


def test_port_that_closes_old_connections_is_waited_for_and_told_once(rig, monkeypatch):
    closing = [True, True, True, False]
    monkeypatch.setattr(server_module, "is_closing", lambda address: closing.pop(0))
    with rig.make() as server:
        server.start()
    (told,) = rig.told
    assert told.startswith(f"port {rig.address.port} still closes the connections of")
    assert closing == []


def test_server_is_not_ready_while_another_program_answers_on_its_port(
    rig, monkeypatch
):
    """Both can have it: each may have bound it with SO_REUSEADDR."""
    rig.behave(ready_after=None)
    with (
        ThreadingHTTPServer((rig.address.host, 0), Handler) as other,
        monkeypatch.context() as patch,
        rig.make(start=0.5) as server,
    ):
        serve = threading.Thread(target=other.serve_forever, args=(0.02,), daemon=True)
        serve.start()
        patch.setattr(server_module, "require_free", lambda address: None)
        server.address = Address(rig.address.host, other.server_port)
        with pytest.raises(RunError, match="not ready within"):
            server.start()
        other.shutdown()


def test_process_that_outlives_its_death_is_named_and_its_note_kept(rig, monkeypatch):
    monkeypatch.setattr(process_module, "_DEATH_SECONDS", 0.01)
    server = rig.make()
    server.start()
    pid, popen = server.pid, server._running._process

    def never(timeout=None):
        raise TimeoutExpired("trtllm-serve", timeout)

    wait, popen.wait = popen.wait, never
    with pytest.raises(RunError) as caught:
        server.__exit__()
    wait()
    assert caught.value.problems[0].what.startswith(f"process {pid} was killed and ")
    assert caught.value.exit_code == 5
    assert (rig.folder / NOTE).exists()


def test_request_to_stop_ends_the_wait_for_readiness(rig):
    rig.behave(ready_after=None)
    threading.Timer(0.2, rig.stop.make).start()
    with rig.make() as server, pytest.raises(Stopped):
        server.start()


def test_terminate_lets_requests_in_flight_finish(rig):
    rig.behave(slow=0.5)
    answers = []
    with rig.make() as server:
        server.start()
        body = {"model": "target", "prompt": "a"}
        client = threading.Thread(
            target=lambda: answers.append(
                ask(server.address, "/v1/completions", timeout=10, body=body)
            )
        )
        client.start()
        wait_until(rig.asked)
        assert server.terminate()
        assert server.ending() == "ended with exit status 0"
        client.join()
    assert answers[0].ok


def test_server_that_ignores_sigterm_is_killed_after_the_grace(rig):
    rig.behave(ignores_term=True)
    with rig.make(grace=0.2) as server:
        server.start()
        assert not server.terminate()
        assert server.ending() == ""
    assert rig.left() == []


def test_second_request_to_stop_cuts_the_grace_short(rig):
    rig.behave(ignores_term=True)
    with rig.make(grace=60) as server:
        server.start()
        rig.stop.make()
        threading.Timer(0.1, rig.stop.make).start()
        assert not server.terminate()


@pytest.mark.parametrize("by_itself", [True, False])
def test_process_that_left_the_group_and_ignores_sigterm_is_ended_too(rig, by_itself):
    pid = rig.folder / "left.pid"
    rig.behave(leaves=str(pid))
    with rig.make() as server:
        server.start()
        if by_itself:  # then it is nobody's child any more
            assert server.terminate()
        assert int(pid.read_text()) in [p.pid for p in rig.left()]
    assert rig.left() == []


def test_canary_gives_text_tokens_and_tokens_per_step(rig):
    with rig.make() as server:
        server.start()
        canary = server.canary(SENTENCE)
    assert canary.text == "the Rhine, the Danube and the Elbe"
    assert (canary.tokens, canary.tokens_per_step) == (9, 1.5)
    (asked,) = rig.asked()
    assert asked["temperature"] == 0.0
    assert asked["messages"] == list(SENTENCE)


def test_server_that_dies_in_the_canary_is_told_at_once(rig):
    rig.behave(dies_when_asked=True)
    with rig.make() as server:
        server.start()
        with pytest.raises(RunError, match="ended with exit status 3 in the canary"):
            server.canary(SENTENCE)


def test_request_to_stop_ends_the_canary(rig):
    rig.behave(slow=0.5)
    with rig.make() as server:
        server.start()
        threading.Timer(0.1, rig.stop.make).start()
        with pytest.raises(Stopped):
            server.canary(SENTENCE)
