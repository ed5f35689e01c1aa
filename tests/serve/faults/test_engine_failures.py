"""An engine that runs out of memory, breaks for good, or hangs."""

from __future__ import annotations

import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from tests.serve.faults.rig import (
    ask,
    gauge,
    require_answers,
    require_empty,
    toy_server,
)
from tests.serve.serving import events, until
from trtspec.errors import RunError

OUT_OF_MEMORY = [
    MemoryError(),
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: not enough "
                 "memory: you tried to allocate 99 bytes."),
    RunError("request 3 failed: the KV cache is full of memory"),
]  # fmt: skip


class Failing:
    """Makes steps of a paced runner fail, by their number from now on."""

    def __init__(self, runner, error, steps):
        self._engine = runner._runner.engine
        self._advance, self._error = self._engine._advance, error
        self._steps, self.taken = set(steps), 0
        self._engine._advance = self._step
        self.held = []

    def _step(self):
        number, self.taken = self.taken, self.taken + 1
        if number in self._steps:
            activations = torch.zeros(1000)
            self.held.append(weakref.ref(activations))
            raise self._error
        return self._advance()


def post(server, **asked):
    with server.client() as client:
        return client.post("/v1/completions", json=ask(**asked))


@pytest.mark.parametrize("error", OUT_OF_MEMORY, ids=lambda e: type(e).__name__)
def test_out_of_memory_is_told_and_the_server_goes_on(model, error):
    with toy_server(model) as (server, runner):
        failing = Failing(runner, error, [0])
        answer = post(server)
        assert answer.status_code == 500
        told = answer.json()["error"]
        assert told["code"] == "engine_failed"
        assert "out of memory" in told["message"]
        assert "allocate" not in told["message"]
        assert failing.taken == 1
        require_answers(server)
        require_empty(server, runner)
        assert gauge(server, "requests_failed_total", reason="500") == 1
    assert server.error is None


def test_all_that_are_inside_are_told(model):
    """Those that run, those that wait, streams and others; none is lost in silence."""
    with toy_server(model, max_batch_size=2) as (server, runner):
        Failing(runner, MemoryError(), [4])
        runner.gate.clear()
        with ThreadPoolExecutor(8) as pool:
            asked = []
            for inside, stream in ((3, True), (6, False)):  # the streams run first
                asked += [
                    pool.submit(post, server, tokens=100, stream=stream)
                    for _ in range(3)
                ]
                until(lambda wanted=inside: server.service.admission.inside == wanted)
            runner.gate.set()
            answers = [one.result() for one in asked]
        for answer in answers:
            if answer.status_code == 200:  # a stream that had begun
                last = events(answer.text)[-1]
                assert "out of memory" in last
                assert "[DONE]" not in answer.text
            else:
                assert answer.status_code == 500
                assert "out of memory" in answer.json()["error"]["message"]
        assert {a.status_code for a in answers} == {200, 500}
        require_answers(server)
        require_empty(server, runner)
    assert sum('"outcome": "failed"' in line for line in server.lines) == 6


def test_what_a_failed_step_held_is_free_before_the_next_one(model):
    """Else the next step, too, has not enough memory."""
    with toy_server(model) as (server, runner):
        failing = Failing(runner, MemoryError(), [0])
        held_at_next = []
        usual = failing._advance
        failing._advance = lambda: held_at_next.append(failing.held[0]()) or usual()
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(post, server)
            until(lambda: failing.taken)
            require_answers(server)
            assert first.result().status_code == 500
        assert held_at_next[0] is None


def test_failures_with_success_between_do_not_break_it(model):
    with toy_server(model) as (server, runner):
        Failing(runner, MemoryError(), [0, 1, 4, 5])
        found = [post(server, tokens=1).status_code for _ in range(8)]
        assert found.count(500) == 4
        assert found[-1] == 200
        require_answers(server)


def test_three_failures_in_a_row_end_the_server(model):
    with toy_server(model) as (server, runner):
        Failing(runner, MemoryError(), range(99))
        for _ in range(3):
            assert post(server).status_code == 500
        server.thread.join(20)
        assert not server.thread.is_alive()
    assert isinstance(server.error, RunError)
    assert server.error.exit_code == 5
    assert "the engine broke" in str(server.error)


def test_a_hanging_engine_is_told_by_health_and_then_to_clients(model):
    limits = {"hang_seconds": 0.3, "request_seconds": 1.5}
    with toy_server(model, limits=limits) as (server, runner):
        require_answers(server)
        runner.gate.clear()
        with ThreadPoolExecutor(2) as pool, server.client() as client:
            asked = [pool.submit(post, server, stream=s) for s in (False, True)]
            until(lambda: client.get("/health").status_code == 503)
            state = client.get("/health").json()
            assert state["status"] == "failed"
            assert "no engine step for" in state["reason"]
            assert client.get("/ready").status_code == 503
            for one in asked:
                answer = one.result()
                assert answer.status_code == 504
                assert answer.json()["error"]["code"] == "timeout"
            runner.gate.set()  # it was only slow
            until(lambda: client.get("/health").status_code == 200)
        require_empty(server, runner)
        require_answers(server)


def test_an_idle_engine_does_not_hang(model):
    with toy_server(model, limits={"hang_seconds": 0.2}) as (server, _):
        time.sleep(0.5)
        with server.client() as client:
            assert client.get("/health").status_code == 200


def test_a_server_whose_engine_hangs_can_be_ended(model, monkeypatch):
    """Its clients are told; the engine's thread is left to end with the process."""
    monkeypatch.setattr("trtspec.serve.in_process._LAST_ANSWERS_SECONDS", 0.3)
    monkeypatch.setattr("trtspec.serve.engine.driver._END_SECONDS", 0.5)
    with toy_server(model, grace=0.3) as (server, runner):
        runner.gate.clear()
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(post, server)
            until(lambda: server.service.admission.inside)
            server.end()
            answer = asked.result()
        assert answer.status_code in (500, 503)
        assert "server ends" in answer.json()["error"]["message"]
    assert isinstance(server.error, RunError)
    assert "does not end" in str(server.error)
