"""Greedy output is that of plain decoding, token by token, whatever drafts."""

from __future__ import annotations

import pytest

from tests.reference.engines import finish, generate, request, submit
from tests.reference.matrix.engines import engine_of, greedy_text
from tests.reference.toy_heads import TOYS

PROMPTS = [
    (3, 9, 4),
    (5,),
    (6, 2, 8, 9, 6, 2),
    (8, 8, 8, 8, 8, 8, 8, 8, 3),
    (1, 7, 1, 7, 1),
    (0, 4),
    (2, 3, 5, 7, 2, 3, 5, 7, 2),
    (9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 9, 8, 7),
]
DRAFTING = [name for name in TOYS if name != "none"]


def assert_plain(done, asked):
    for one in asked:
        assert tuple(done[one.id].tokens) == greedy_text(one.prompt, one.max_new_tokens)


@pytest.mark.parametrize("slots", [1, 8])
@pytest.mark.parametrize("name", TOYS)
def test_greedy_output_is_that_of_plain_decoding(name, slots):
    """Prompts of every length, outputs of several, all at once or some one by one."""
    asked = [
        request(str(i), prompt, tokens=9 + 2 * (i % 4))
        for i, prompt in enumerate(PROMPTS if slots > 1 else PROMPTS[::2])
    ]
    with engine_of(TOYS[name], slots) as engine:
        done = generate(engine, *asked)
    assert_plain(done, asked)
    assert any(one.accepted for one in done.values()) == (name != "none")


@pytest.mark.parametrize("name", DRAFTING)
def test_joining_leaving_and_a_request_without_speculation_change_nothing(name):
    """Slots are moved, cleared and taken again beside one that never drafts."""
    asked = [
        request(str(i), prompt, tokens=4 + 5 * (i % 3), speculate=i != 1)
        for i, prompt in enumerate(PROMPTS + PROMPTS[2:6])
    ]
    done = {}
    with engine_of(TOYS[name], 3) as engine:
        for one in asked:
            submit(engine, one)
            for chunk in engine.advance().chunks:
                if chunk.completion:
                    done[chunk.request_id] = chunk.completion
        done |= finish(engine)[0]
    assert_plain(done, asked)
    assert done["1"].drafted == 0
    assert sum(completion.drafted for completion in done.values()) > 0


@pytest.mark.parametrize("name", DRAFTING)
def test_a_cancelled_request_leaves_nothing_behind(name):
    with engine_of(TOYS[name], 2) as engine:
        submit(engine, request("gone", PROMPTS[3], tokens=40))
        submit(engine, request("stays", PROMPTS[2], tokens=20))
        for _ in range(4):
            engine.advance()
        engine.queue.cancel("gone")
        after = request("after", PROMPTS[0], tokens=15)
        submit(engine, after)
        done, _ = finish(engine)
    assert done["gone"].finish_reason == "cancelled"
    assert_plain(done, [request("stays", PROMPTS[2], tokens=20), after])
