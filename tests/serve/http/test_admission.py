"""How many are let in, and when the others should come again."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtspec.serve.http.admission import Admission
from trtspec.serve.openai.errors import RefusalError


def test_places_and_the_queue_are_filled_and_no_more():
    admission = Admission(places=2, waiting=1)
    with ExitStack() as inside:
        for _ in range(3):
            inside.enter_context(admission.enter())
        assert (admission.running, admission.queued) == (2, 1)
        with pytest.raises(RefusalError) as caught:
            admission.require_room()
        said = caught.value
        assert (said.status, said.code) == (429, "queue_full")
        assert int(said.headers["Retry-After"]) >= 1
        assert "at most 2 run and 1 wait" in said.message
        with pytest.raises(RefusalError), admission.enter():
            raise AssertionError
        assert admission.inside == 3
    assert admission.inside == 0
    admission.require_room(3)


def test_each_answer_of_a_request_needs_a_place():
    admission = Admission(places=2, waiting=2)
    with admission.enter(3):
        assert admission.inside == 3
        admission.require_room(1)
        with pytest.raises(RefusalError):
            admission.require_room(2)


def test_a_place_is_left_after_an_error_too():
    admission = Admission(1, 0)
    with pytest.raises(ZeroDivisionError), admission.enter():
        raise ZeroDivisionError
    assert admission.inside == 0


def test_without_a_queue_only_places_count():
    admission = Admission(1, 0)
    with admission.enter(), pytest.raises(RefusalError):
        admission.require_room()


@given(
    st.integers(1, 8),
    st.integers(0, 20),
    st.lists(st.floats(0, 10_000), max_size=20),
)
def test_retry_after_is_whole_seconds_within_bounds(places, waiting, took):
    admission = Admission(places, waiting)
    for seconds in took:
        admission._usual_seconds += 0.2 * (seconds - admission._usual_seconds)
    assert isinstance(admission.retry_after(), int)
    assert 1 <= admission.retry_after() <= 60


def test_longer_answers_make_for_longer_waits(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    admission = Admission(1, 0)
    assert admission.retry_after() == 1
    for _ in range(30):
        with admission.enter():
            clock[0] += 20
    assert 18 <= admission.retry_after() <= 20
    assert Admission(4, 0).retry_after() == 1
