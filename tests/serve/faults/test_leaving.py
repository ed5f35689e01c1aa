"""Clients that leave: mid-stream, unstreamed, in the queue, at any moment."""

from __future__ import annotations

import random
import threading
import time

import pytest

from tests.serve.faults.rig import (
    MANY,
    ask,
    connect,
    descriptors,
    finished,
    gauge,
    is_empty,
    memory,
    request_bytes,
    require_answers,
    require_empty,
    say,
    toy_server,
)
from tests.serve.serving import until

LONG = 150


def test_a_client_gone_mid_stream_frees_its_slot_at_the_next_step(model):
    with toy_server(model, pause=0.05) as (server, runner):
        connection = connect(server)
        connection.sendall(request_bytes(ask(LONG, stream=True)))
        assert connection.recv(10)
        assert gauge(server, "num_requests_running") == 1
        connection.close()
        until(lambda: not server.service.admission.inside)
        # the command is there before the next step begins; one may be under way
        steps = runner.steps
        until(lambda: not runner.requests)
        assert runner.steps <= steps + 2
        require_empty(server, runner)
        assert finished(server, "cancelled") == 1
        require_answers(server)
    assert '"outcome": "gone"' in server.lines[0]


def test_a_client_gone_before_the_answer_is_cancelled(model):
    with toy_server(model, pause=0.02) as (server, runner):
        connection = connect(server)
        connection.sendall(request_bytes(ask(LONG)))
        until(lambda: runner.requests)
        connection.close()
        require_empty(server, runner)
        assert finished(server, "cancelled") == 1
    assert '"status": 499' in server.lines[0]


def test_a_client_gone_from_the_queue_never_joins(model):
    with toy_server(model, max_batch_size=1) as (server, runner):
        runner.gate.clear()
        connections = [connect(server) for _ in range(3)]
        for connection in connections:
            connection.sendall(request_bytes(ask(LONG)))
        until(lambda: server.service.admission.inside == 3)
        assert gauge(server, "num_requests_waiting") == 2
        for connection in connections:
            connection.close()
        until(lambda: not server.service.admission.inside)
        assert gauge(server, "num_requests_waiting") == 0
        runner.gate.set()
        require_empty(server, runner)
        assert finished(server, "cancelled") == 3
        assert gauge(server, "generation_tokens_total") <= 4


def test_all_answers_of_a_request_end_with_its_client(model):
    with toy_server(model, pause=0.02) as (server, runner):
        connection = connect(server)
        connection.sendall(request_bytes(ask(LONG, n=6, stream=True, temperature=1)))
        assert connection.recv(10)
        connection.close()
        require_empty(server, runner)
        until(lambda: finished(server, "cancelled") == 6)


def leave_at_random(server, chance, streamed):
    """Send a request and leave, at a moment between at once and its end."""
    with connect(server) as connection:
        body = ask(chance.randrange(1, LONG), stream=streamed, n=chance.choice((1, 2)))
        data = request_bytes(body)
        if chance.random() < 0.1:  # not even all of it
            data = data[: chance.randrange(len(data))]
        connection.sendall(data)
        connection.settimeout(chance.random() * 0.3)
        try:
            while chance.random() < 0.8 and connection.recv(chance.randrange(1, 4096)):
                pass
        except OSError:
            pass


def leave_often(server, count, seed):
    """Have clients of all kinds leave, a few at a time."""
    numbers = iter(range(count))
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            leave_at_random(server, random.Random(seed + number), number % 2 == 0)

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.slow
def test_random_cancels_leave_nothing(model):
    """500 of them: TRTSPEC_FAULTS=500."""
    count = MANY or 60
    with toy_server(model, pause=0.001, limits={"waiting": 40}) as (server, runner):
        leave_often(server, count, 1000)  # what is made once is made now
        until(lambda: is_empty(server, runner))
        time.sleep(0.2)
        files, before = descriptors(), memory()
        leave_often(server, count, 0)
        require_empty(server, runner)
        until(lambda: descriptors() <= files)
        grown = memory() - before
        cancelled = finished(server, "cancelled")
        say(f"{count} cancels: {cancelled:.0f} cancelled, {grown / 1e6:.1f} MB more")
        assert cancelled > count / 4
        assert grown < 8e6 + 20e3 * count
        assert not server.service.driver.broken
        require_answers(server)
    assert server.error is None
