"""Greedy output of engines whose drafter is under test, beside plain decoding."""

from __future__ import annotations

from tests.reference.engines import finish, plain_greedy, request, submit
from tests.reference.toys import toy_model
from trtspec.reference.engine import Engine
from trtspec.reference.slots import SlotModel
from trtspec.run import Completion

PROMPTS = [tuple((7 * i + 3 * j) % 9 + 1 for j in range(2 + 3 * i)) for i in range(8)]
TOKENS = [24, 17, 30, 9, 21, 2, 13, 26]


def greedy_outputs(factory, slots: int, **options) -> dict[str, Completion]:
    """Run eight requests of different lengths, ``slots`` at a time."""
    target = toy_model()
    drafter, method = factory(target, slots, **options)
    model = SlotModel(target, slots, 96, longest_step=method.longest_draft + 1)
    engine = Engine(model, drafter, method)
    for i, (prompt, tokens) in enumerate(zip(PROMPTS, TOKENS, strict=True)):
        submit(engine, request(str(i), prompt, tokens))
    done, _ = finish(engine)
    model.capture(())
    return done


def wanted() -> dict[str, list[int]]:
    """Plain greedy output of the same requests."""
    pairs = zip(PROMPTS, TOKENS, strict=True)
    return {str(i): plain_greedy(*pair) for i, pair in enumerate(pairs)}
