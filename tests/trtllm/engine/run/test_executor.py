"""One engine: its answers are sorted and stamped; a dead one is asked nothing more."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from packaging.version import Version

from tests.trtllm.engine.run.fakes import Script
from trtspec.errors import RunError
from trtspec.trtllm.engine.run import executor as executor_module
from trtspec.trtllm.engine.run.bindings import load_bindings
from trtspec.trtllm.engine.run.executor import SILENCE_SECONDS, Executor


def request(*tokens, length=3):
    output = SimpleNamespace(return_generation_logits=None, return_perf_metrics=None)
    return SimpleNamespace(
        input_token_ids=list(tokens),
        max_tokens=length,
        streaming=True,
        output_config=output,
        external_draft_tokens_config=None,
        end_id=None,
        stop_words=None,
    )


@pytest.fixture
def load(bindings, tmp_path):
    def load(**script):
        bindings.scripts["engine"] = Script(**script)
        made = load_bindings(Version("1.2.1"))
        executor = Executor(made, tmp_path / "engine", None, "target engine")
        return executor, bindings.executors["engine"]

    return load


def test_answers_bear_the_time_at_which_they_were_polled(load, clock):
    executor, _ = load(poll=lambda: clock.pass_by(1.0))
    (one,) = executor.enqueue([request(3, 9)])
    for _ in range(3):
        executor.poll(0.0)
    clock.pass_by(100.0)
    assert [answer.time for answer in executor.collect(one)] == [1.0, 2.0, 3.0]


def test_an_engine_that_owes_one_answer_too_long_is_dead_though_others_talk(
    load, clock
):
    executor, fake = load(poll=lambda: clock.pass_by(SILENCE_SECONDS / 4))
    executor.enqueue([request(3, 9, length=40), request(4, 8, length=40)])
    silent = fake._active.pop()
    for _ in range(4):
        executor.poll(0.0)
    with pytest.raises(RunError, match="target engine: has not answered 1 of 2"):
        executor.poll(0.0)
    assert silent.id == 2


def test_a_request_that_talks_is_never_silent(load, clock):
    executor, _ = load(poll=lambda: clock.pass_by(SILENCE_SECONDS / 4))
    (one,) = executor.enqueue([request(3, 9, length=20)])
    assert len(executor.finish([one])[0].tokens) == 20
    clock.pass_by(10 * SILENCE_SECONDS)
    executor.enqueue([request(4, 8)])
    executor.poll(0.0)


def test_an_engine_that_stops_taking_requests_is_dead(load):
    executor, fake = load()
    executor.enqueue([request(3, 9)])
    fake.takes_requests = False
    fake._active.clear()
    with pytest.raises(RunError, match="takes no requests any more"):
        executor.poll(0.0)
    with pytest.raises(RunError, match="takes no requests any more"):
        executor.enqueue([request(3, 9)])


@pytest.mark.parametrize("takes_others", [False, True])
def test_a_refused_batch_is_a_death_only_if_the_engine_takes_no_other(
    load, takes_others
):
    executor, fake = load()
    real = fake.enqueue_requests

    def refuse(requests):
        fake.enqueue_requests, fake.takes_requests = real, takes_others
        raise RuntimeError("std::bad_alloc")

    fake.enqueue_requests = refuse
    with pytest.raises(RunError, match=r"target engine: .*bad_alloc"):
        executor.enqueue([request(3, 9)])
    if takes_others:
        executor.enqueue([request(3, 9)])
    else:
        with pytest.raises(RunError, match=r"target engine: .*bad_alloc"):
            executor.enqueue([request(3, 9)])


def test_of_a_dead_engine_nothing_is_waited_for_and_nothing_is_asked(load):
    executor, fake = load(dies_at=1)
    first, second, third = executor.enqueue([request(i, 9) for i in (3, 4, 5)])
    executor.discard(first)
    assert executor.is_draining
    with pytest.raises(RunError, match="illegal memory access"):
        executor.poll(0.0)
    assert not executor.is_draining
    executor.discard(second)
    executor.end_early(third)
    executor.discard_all()
    assert fake.cancelled == [first]
    assert fake.polls == 1
    with pytest.raises(RunError, match="illegal memory access"):
        executor.require_life()


def test_discarding_all_waits_until_the_engine_has_let_go(load):
    executor, fake = load()
    ids = executor.enqueue([request(i, 9, length=30) for i in (3, 4)])
    executor.discard_all()
    assert fake.cancelled == ids
    assert not fake._active
    assert not executor.is_draining


def test_discarding_all_does_not_wait_for_ever(load, monkeypatch):
    monkeypatch.setattr(executor_module, "DRAIN_SECONDS", 0.0)
    executor, _ = load(answers_cancellation=False)
    executor.enqueue([request(3, 9, length=30)])
    executor.discard_all()
    assert not executor.is_draining


def test_discarded_requests_that_had_ended_are_not_cancelled(load):
    executor, fake = load()
    (one,) = executor.enqueue([request(3, 9, length=1)])
    executor.poll(0.0)
    executor.discard(one)
    assert fake.cancelled == []
    assert not executor.is_draining
