"""Engines around the toys, and the texts that they must reproduce."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from tests.reference.toy_heads import Toy
from tests.reference.toys import full_logits, toy_model
from trtspec.reference.engine import Engine
from trtspec.reference.slots import SlotModel

VOCABULARY = 10
MAX_TOKENS = 96


@contextmanager
def engine_of(toy: Toy, slots: int) -> Iterator[Engine]:
    """Make an engine for a toy drafter; afterwards the target is as it was."""
    target = toy_model(vocabulary=VOCABULARY)
    drafter, method = toy.make(target, slots)
    model = SlotModel(target, slots, MAX_TOKENS, method.longest_draft + 1)
    try:
        yield Engine(model, drafter, method)
    finally:
        model.capture(())  # takes the hooks away: other tests share the target


def greedy_text(prompt: tuple[int, ...], tokens: int) -> tuple[int, ...]:
    """Greedy decoding by whole forwards, without cache or engine."""
    text = prompt
    for _ in range(tokens):
        text += (_likeliest(text),)
    return text[len(prompt) :]


@functools.cache
def _likeliest(text: tuple[int, ...]) -> int:
    return int(full_logits(text, vocabulary=VOCABULARY)[-1].argmax())


def plain_logits(texts: torch.Tensor) -> torch.Tensor:
    """Give the target's logits [texts, n, vocabulary] by one plain forward."""
    with torch.inference_mode():
        return toy_model(vocabulary=VOCABULARY)(texts, use_cache=False).logits
