"""What becomes of a server that dies, and of one that is asked to end."""

import json
import os
import signal
import socket
import threading
import time
from http.client import HTTPConnection

import pytest

from tests.trtllm.pytorch.launch.conftest import wait_until
from trtspec.errors import RunError, UsageError
from trtspec.trtllm.pytorch.launch import supervise as supervise_module
from trtspec.trtllm.pytorch.launch.http_client import ask, is_healthy
from trtspec.trtllm.pytorch.launch.stop_request import StopRequest, stop_by_signal
from trtspec.trtllm.pytorch.launch.supervise import Restarts, supervise

QUICK = {"first_wait": 0.01}


def serve(rig, came_up=lambda server: None, restarts=0, **patience):
    supervise(
        lambda: rig.make(**patience),
        came_up,
        Restarts(restarts, **QUICK),
        rig.stop,
        rig.progress,
    )


def test_server_is_ended_when_somebody_asks(rig):
    serve(rig, lambda server: rig.stop.make())
    assert rig.told == ["stopping trtllm-serve; requests in flight get 10 s"]


def test_server_that_does_not_end_in_time_is_told_and_killed(rig):
    rig.behave(ignores_term=True)
    serve(rig, lambda server: rig.stop.make(), grace=0.1)
    assert rig.told[-1] == (
        "trtllm-serve is killed, with what it started: it did not end in time"
    )


def test_second_signal_that_cuts_the_grace_short_is_told_as_that(rig):
    rig.behave(ignores_term=True)
    tell = rig.progress.line

    def line(text):
        tell(text)
        if text.startswith("stopping"):
            threading.Timer(0.2, rig.stop.make).start()

    rig.progress = type(rig.progress)(line)
    serve(rig, lambda server: rig.stop.make(), grace=60)
    assert rig.told[-1] == (
        "trtllm-serve is killed, with what it started: asked to by another signal"
    )


def test_death_without_restarts_is_an_error_with_the_log(rig):
    rig.behave(dies_when_asked=True, lines=["last words"])
    with pytest.raises(RunError) as caught:
        serve(rig, rig.kill_by_request)
    assert caught.value.problems[0].what == (
        "trtllm-serve ended with exit status 3\n  | last words"
    )


def test_server_that_dies_is_started_again_as_often_as_allowed(rig):
    rig.behave(dies_when_asked=True)
    up = []
    with pytest.raises(RunError, match="exit status 3"):
        serve(rig, lambda server: up.append(rig.kill_by_request(server)), restarts=2)
    assert len(set(up)) == 3
    restarts = [line.splitlines()[-1] for line in rig.told if "restart" in line]
    assert restarts == ["restart 1 of 2 in 0.01 s", "restart 2 of 2 in 0.02 s"]


def test_killed_server_is_started_again(rig):
    up = []

    def came_up(server):
        up.append(server.pid)
        if len(up) == 1:
            os.kill(server.pid, signal.SIGKILL)
        else:
            rig.stop.make()

    serve(rig, came_up, restarts=1)
    assert len(set(up)) == 2
    assert "was ended by signal 9" in rig.told[0]


def test_server_that_says_it_cannot_serve_is_taken_for_dead(rig):
    def came_up(server):
        # it was healthy once; from now on it is not
        module = "trtspec.trtllm.pytorch.launch.supervise.is_healthy"
        rig.monkeypatch.setattr(module, lambda address, timeout: False)

    with pytest.raises(RunError, match="says at /health that it cannot serve"):
        serve(rig, came_up)


def test_server_too_busy_to_answer_is_left_alone_for_a_while(rig):
    asked = []

    def came_up(server):
        module = "trtspec.trtllm.pytorch.launch.supervise.is_healthy"
        rig.monkeypatch.setattr(module, lambda address, timeout: asked.append(1))
        threading.Thread(target=stop_later).start()

    def stop_later():
        wait_until(lambda: len(asked) > 5)
        rig.stop.make()

    serve(rig, came_up, hang=600)
    assert len(asked) > 5
    assert rig.told == ["stopping trtllm-serve; requests in flight get 10 s"]


def test_server_that_answers_no_more_is_told_killed_and_started_again(rig):
    rig.behave(ignores_term=True)
    up = []

    def came_up(server):
        up.append(server.pid)
        if len(up) == 1:
            os.kill(server.pid, signal.SIGSTOP)
        else:
            rig.behave()
            rig.monkeypatch.setattr(supervise_module, "is_healthy", is_healthy)
            os.kill(server.pid, signal.SIGKILL)

    rig.monkeypatch.setattr(supervise_module, "is_healthy", lambda *_: None)
    with pytest.raises(RunError, match="was ended by signal 9"):
        serve(rig, came_up, restarts=1, hang=0.01)
    assert len(set(up)) == 2
    assert rig.told[0].startswith(
        "trtllm-serve did not answer at /health for 0.01 s (--hang-timeout)"
    )


def test_port_that_was_taken_before_a_restart_counts_as_a_failed_start(rig):
    other = socket.socket()

    def came_up(server):
        os.kill(server.pid, signal.SIGKILL)
        wait_until(server.ending)
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind((rig.address.host, rig.address.port))
        other.listen()

    with other, pytest.raises(RunError, match="is in use") as caught:
        serve(rig, came_up, restarts=2)
    assert caught.value.exit_code == 5
    assert [line.splitlines()[-1] for line in rig.told] == [
        "restart 1 of 2 in 0.01 s",
        "restart 2 of 2 in 0.02 s",
    ]


def test_port_that_is_taken_at_the_first_start_is_a_wrong_option(rig):
    with socket.socket() as other:
        other.bind((rig.address.host, rig.address.port))
        other.listen()
        with pytest.raises(UsageError, match="is in use"):
            serve(rig, restarts=2)


def test_server_that_never_was_ready_is_not_started_again(rig):
    rig.behave(exit_at_start=2)
    with pytest.raises(RunError, match="exit status 2 before it was ready"):
        serve(rig, restarts=5)
    assert rig.told == []


def test_restart_that_fails_counts_as_one(rig):
    up = []

    def came_up(server):
        up.append(server.pid)
        rig.behave(exit_at_start=2)
        os.kill(server.pid, signal.SIGKILL)

    with pytest.raises(RunError, match="exit status 2 before it was ready"):
        serve(rig, came_up, restarts=2)
    assert len(up) == 1
    assert len(rig.told) == 2


def test_request_to_end_while_waiting_for_a_restart_ends_all(rig):
    def came_up(server):
        os.kill(server.pid, signal.SIGKILL)

    def line(text):
        rig.told.append(text)
        rig.stop.make()

    rig.progress = type(rig.progress)(line)
    supervise(rig.make, came_up, Restarts(1, 60.0), rig.stop, rig.progress)
    assert "restart 1 of 1" in rig.told[0]


def test_failure_after_the_start_ends_the_server(rig):
    def came_up(server):
        raise RunError("the canary failed")

    with pytest.raises(RunError, match="the canary failed"):
        serve(rig, came_up, restarts=3)
    assert rig.left() == []


def test_client_that_leaves_in_the_middle_does_no_harm(rig):
    def came_up(server):
        body = {"model": "target", "prompt": "a"}
        leaver = HTTPConnection(server.address.host, server.address.port)
        leaver.request("POST", "/v1/completions", json.dumps(body))
        leaver.close()
        assert ask(server.address, "/v1/completions", timeout=10, body=body).ok
        rig.stop.make()

    serve(rig, came_up)


@pytest.mark.parametrize(("done", "seconds"), [(0, 1), (1, 2), (5, 32), (9, 60)])
def test_waits_double_up_to_the_longest(done, seconds):
    assert Restarts(10).wait(done) == seconds


def test_signals_become_requests_and_get_their_old_meaning_back():
    before = signal.getsignal(signal.SIGTERM)
    with stop_by_signal() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.pause(10)
        assert (stop.signal, stop.times) == (signal.SIGTERM, 2)
    assert signal.getsignal(signal.SIGTERM) is before


def test_pause_lasts_its_time_if_nobody_asks():
    began = time.monotonic()
    assert not StopRequest().pause(0.1)
    assert time.monotonic() - began >= 0.1
