"""What the routes of a server share: its tokenizer, its health, its counts."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tests.serve.engine.fakes import FakeRunner
from tests.serve.serving import runner_of, service_for
from trtspec.run import Chunk, Completion, StepResult
from trtspec.serve.limits import ServeLimits


@pytest.fixture
def service(word_models, word_recipe):
    runner = FakeRunner()
    runner.codec = runner_of(word_recipe, word_models / "target").codec
    limits = ServeLimits(waiting=3, hang_seconds=10)
    return service_for(runner, word_recipe, limits=limits)


def test_each_server_has_a_key_of_its_own(service, word_recipe):
    other = service_for(service.runner, word_recipe)
    assert len(service.own_key) > 20
    assert service.own_key != other.own_key


def test_places_are_those_of_the_recipe(service):
    with service.admission.enter(3):
        assert (service.admission.running, service.admission.queued) == (2, 1)
        text = service.metrics.render().decode()
        assert 'num_requests_running{model_name="toy"} 2.0' in text
        assert 'num_requests_waiting{model_name="toy"} 1.0' in text


def test_tokenizing_is_done_beside_the_loop_in_one_thread(service):
    threads = set()
    encode = service.codec.encode

    def noted(text):
        threads.add(threading.get_ident())
        return encode(text)

    service.codec.encode = noted

    async def test():
        return await asyncio.gather(*(service.encode(f"w{i}") for i in range(5)))

    assert asyncio.run(test()) == [(i,) for i in range(5)]
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_conversations_go_through_the_template(service):
    messages = [{"role": "user", "content": "w7"}]
    assert asyncio.run(service.encode_chat(messages)) == (2, 7, 3)


def test_health(service, monkeypatch):
    assert service.health() == ""
    monkeypatch.setattr(service.driver, "idle_seconds", lambda: 11.0)
    assert "no engine step for 11 s" in service.health()
    monkeypatch.setattr(service.driver, "broken", ValueError("x"))
    assert "restart" in service.health()


def test_ended_requests_are_counted_whoever_listens(service):
    done = Completion("a", 3, [4, 5], finish_reason="stop")
    chunks = (Chunk("a", (5,), "", 0.0, done), Chunk("b", (5,), "", 0.0))
    service.watch(StepResult(chunks))
    text = service.metrics.render().decode()
    assert 'request_success_total{finished_reason="stop",model_name="toy"} 1.0' in text
    assert 'generation_tokens_total{model_name="toy"} 2.0' in text
