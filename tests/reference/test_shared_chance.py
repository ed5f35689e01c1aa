"""Requests that draft from one another's text do not share their chance."""

from __future__ import annotations

import torch

from tests.reference.engines import finish, request, sampled, submit
from tests.reference.matrix.engines import MAX_TOKENS, VOCABULARY
from tests.reference.toys import toy_model
from trtspec.methods import NGram, Suffix
from trtspec.reference.chance import SeededChance
from trtspec.reference.drafters.suffix import SuffixDrafter
from trtspec.reference.engine import Engine
from trtspec.reference.sampling import distribution
from trtspec.reference.slots import SlotModel

PROMPT = (3, 9, 4)
SEEDS = 150


def first_two(seed: int, other: int) -> tuple[int, int]:
    """First two tokens of a request behind another one with the same prompt."""
    target = toy_model(vocabulary=VOCABULARY)
    method = Suffix(method="suffix", draft_length=3, global_pool=True)
    model = SlotModel(target, 2, MAX_TOKENS, 4)
    engine = Engine(model, SuffixDrafter(method, 64), method)
    submit(engine, request("before", PROMPT, 8, sampling=sampled(other)))
    for _ in range(3):
        engine.advance()
    submit(engine, request("behind", PROMPT, 4, sampling=sampled(seed)))
    first, second, *_ = finish(engine)[0]["behind"].tokens
    return first, second


def height(first: int, second: int) -> float:
    """Where in the target's distribution a token lies: 1/2 on average, sd < 0.29."""
    target = toy_model(vocabulary=VOCABULARY)
    text = torch.tensor([[*PROMPT, first]])
    with torch.inference_mode():
        logits = target(text, use_cache=False).logits[0, -1]
    p = distribution(logits, sampled(0))
    return float(p[:second].sum() + p[second] / 2)


def bias(apart: int) -> float:
    """How far the second token lies from the middle, in standard deviations."""
    heights = [height(*first_two(seed, seed + apart)) for seed in range(SEEDS)]
    return abs(sum(heights) / SEEDS - 0.5) / (0.29 / SEEDS**0.5)


def test_a_pool_leaves_the_distribution_alone():
    assert bias(apart=0) < 4


def test_negative_control_with_one_stream_for_one_seed_is_caught(monkeypatch):
    monkeypatch.setattr(Suffix, "follows_batch", False)
    assert bias(apart=0) > 4


def test_a_seed_alone_decides_where_nothing_depends_on_others():
    assert not NGram(method="ngram", draft_length=3).follows_batch
    assert SeededChance(7).draw(torch.ones(1000)) == SeededChance(7).draw(
        torch.ones(1000)
    )


def test_draft_lengths_by_the_batch_follow_the_others():
    assert NGram(method="ngram", draft_length={1: 4, 2: 2}).follows_batch
    first, second = SeededChance(7, "a"), SeededChance(7, "b")
    assert first.draw(torch.ones(1000)) != second.draw(torch.ones(1000))
