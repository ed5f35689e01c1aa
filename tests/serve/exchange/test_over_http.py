"""Many clients at once over real connections: each reads what it would read alone."""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch

from tests.serve.byte_toys import byte_model, byte_recipe, byte_runner
from tests.serve.exchange.asking import Ask
from tests.serve.exchange.judging import judge
from tests.serve.exchange.test_any_interleaving import drawn
from tests.serve.replies import Reply, read_reply
from tests.serve.serving import served, until
from trtspec.serve.limits import ServeLimits

CLIENTS = 12
ASKS = 12


def send(server, ask: Ask, stream: bool, wait: float) -> Reply | None:
    """Ask over a connection of one's own; None for a client that leaves."""
    time.sleep(wait)
    with server.client() as client:
        if ask.leaves is not None:
            with client.stream("POST", ask.path, json=ask.body(True)) as answer:
                next(answer.iter_lines())
            return None
        answer = client.post(ask.path, json=ask.body(stream))
        return read_reply(answer.status_code, answer.text, stream)


@pytest.mark.parametrize("name", ["ngram", "draft_target"])
def test_many_clients_at_once(byte_models, name):
    chance = random.Random(name)
    recipe = byte_recipe(name)
    asked = [drawn(chance, name) for _ in range(ASKS)]
    jobs = [(ask, stream) for ask in asked for stream in (True, False)]
    order = list(range(len(jobs)))
    chance.shuffle(order)
    served_runner, bare = (byte_runner(byte_models, name) for _ in range(2))
    limits = ServeLimits(waiting=200)
    with (
        served(served_runner, recipe, limits=limits) as server,
        ThreadPoolExecutor(CLIENTS) as pool,
    ):
        futures = {
            index: pool.submit(send, server, *jobs[index], chance.random() * 0.01)
            for index in order
        }
        found = [futures[index].result(120) for index in range(len(jobs))]
        until(lambda: not server.service.driver.streams)
        until(lambda: server.service.admission.inside == 0)
        assert server.service.health() == ""
    seen = Counter()
    for place, ask in enumerate(asked):
        if ask.leaves is None:
            alone = ask.alone(bare, recipe.speculation)
            judge(ask, found[2 * place], found[2 * place + 1], alone, seen)
    assert seen["several tokens in a chunk"] > 0
    assert seen["answers"] > ASKS // 2


@torch.inference_mode()
def plain(tokens) -> torch.Tensor:
    """Log-probabilities [n, vocabulary] of a forward without cache or engine."""
    logits = byte_model()(torch.tensor([list(tokens)]), use_cache=False).logits[0]
    return logits.float().log_softmax(-1)


@pytest.mark.parametrize("name", ["ngram", "eagle3 tree"])
def test_logprobs_are_the_targets_with_speculation_as_without(byte_models, name):
    """In both kinds of documents, those of accepted drafts among them."""
    recipe = byte_recipe(name)
    usual = Ask(prompt="a 🙂 is a 🙂", tokens=24, logprobs=3, ignore_eos=True)
    asked = [
        replace(usual, chat=chat, speculation=said, temperature=temperature)
        for chat in (False, True)
        for said in (None, (("enabled", False),))
        for temperature in (0.0, 0.8)
    ]
    accepted = Counter()
    with (
        served(byte_runner(byte_models, name), recipe) as server,
        ThreadPoolExecutor(CLIENTS) as pool,
    ):
        pieces = server.service.codec.pieces
        futures = [
            [pool.submit(send, server, ask, stream, 0.0) for stream in (True, False)]
            for ask in asked
        ]
        for ask, both in zip(asked, futures, strict=True):
            for reply in [one.result(120) for one in both]:
                [read] = reply.answers
                prompt = ask.prompt_tokens(server.service.runner)
                rows = plain((*prompt, *read.tokens))[len(prompt) - 1 : -1]
                assert len(read.logprobs) == len(rows) == 24
                for token, row, said in zip(
                    read.tokens, rows, read.logprobs, strict=True
                ):
                    assert said[0] == pieces.text(token)
                    assert math.isclose(said[1], row[token], abs_tol=1e-4)
                    best = row.topk(3)
                    values = sorted(value for _, value in said[2])
                    wanted = dict(
                        zip(
                            map(pieces.text, reversed(best.indices.tolist())),
                            reversed(best.values.tolist()),
                            strict=True,
                        )
                    )
                    assert values == pytest.approx(sorted(wanted.values()), abs=1e-4)
                on = ask.speculation is None
                accepted[on] += read.figures["accepted"]
    assert accepted[True] > 0
    assert accepted[False] == 0
