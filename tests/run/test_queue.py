"""Requests wait for a place, join in order, and bear ids of their own."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from trtspec.errors import UsageError
from trtspec.run import Request
from trtspec.run.queue import RequestQueue
from trtspec.run.running import Running


def request(name):
    stream = SimpleNamespace(text="", finish=lambda: "")
    return Running(Request(name, (3, 9), 4), stream, frozenset(), 0.0)


@pytest.fixture
def queue():
    queue = RequestQueue(2)
    for name in "abc":
        queue.submit(request(name))
    return queue


def names(requests):
    return [one.request.id for one in requests]


def test_as_many_are_next_as_there_are_places(queue):
    assert names(queue.next) == ["a", "b"]
    queue.join(1)
    assert names(queue.next) == ["b"]
    assert names(queue.join(1)) == ["b"]
    assert queue.next == []
    assert (names(queue.running), names(queue.waiting)) == (["a", "b"], ["c"])


def test_a_place_that_is_left_is_taken_by_the_next(queue):
    queue.join(2)
    queue.running.pop(0)
    assert names(queue.next) == ["c"]


@pytest.mark.parametrize("name", ["a", "c"])
def test_an_id_that_waits_or_runs_is_refused(queue, name):
    queue.join(2)
    with pytest.raises(UsageError, match=f"a request '{name}' already"):
        queue.submit(request(name))
    queue.running.clear()
    queue.waiting.clear()
    queue.submit(request(name))


def test_cancelled_requests_are_given_once_they_wait_no_more(queue):
    queue.join(1)
    for name in ("a", "c", "nobody"):
        queue.cancel(name)
    cancelled = queue.take_cancelled()
    assert names(cancelled) == ["a", "c"]
    assert names(queue.waiting) == ["b"]
    for one in cancelled:
        one.cancel(1.0)
    assert queue.take_cancelled() == []  # a still has its place, but has ended
    assert names(queue.running) == ["a"]


def test_it_is_empty_when_nobody_waits_or_runs(queue):
    assert queue
    queue.join(2)
    queue.clear()
    assert not queue
    assert queue.next == []


def test_a_request_has_joined_when_it_got_its_place(queue):
    before = time.perf_counter()
    first, second = queue.join(2)
    (third,) = queue.waiting
    assert before <= first.completion.joined_at <= time.perf_counter()
    assert first.completion.joined_at == second.completion.joined_at
    assert third.completion.joined_at == 0
