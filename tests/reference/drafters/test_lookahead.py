"""Lookahead drafts from its pool, looks ahead behind it, and keeps the output."""

from __future__ import annotations

import pytest

from tests.reference.drafters.greedy import greedy_outputs, wanted
from tests.reference.engines import generate, request, sampled
from tests.reference.paths import path_to
from tests.reference.toy_heads.lookahead import lookahead
from tests.reference.toy_heads.setup import toy_setup
from tests.reference.toys import full_logits, toy_model, toy_slots
from trtspec.methods import Lookahead
from trtspec.reference.drafters import DraftContext, Observation
from trtspec.reference.drafters.lookahead import LookaheadDrafter, open_drafter
from trtspec.reference.engine import Engine
from trtspec.run import SamplingParams


class NoChance:
    """A request's stream of chance that must be left alone."""

    def flip(self, probability):
        raise AssertionError

    def draw(self, distribution):
        raise AssertionError


def method(window=3, size=3, most=3) -> Lookahead:
    return Lookahead(
        method="lookahead",
        window_size=window,
        ngram_size=size,
        verification_set_size=most,
    )


def context(tokens, limit=9, own=None):
    sampling = SamplingParams(temperature=1.0)
    return DraftContext(list(tokens), limit, sampling, NoChance(), own)


def step(drafter, tokens, limit=9, slot=0):
    """Propose, and let a target answer whose best token after x is x + 1."""
    tree = drafter.propose([context(tokens, limit)] * (slot + 1))[slot]
    best = [token + 1 for token in (tokens[-1], *tree.tokens)]
    drafter.observe(slot, Observation(None, best))
    return tree


SIZES = [(1, 2, 1), (2, 2, 3), (4, 3, 4), (3, 5, 2), (2, 4, 0), (7, 7, 7)]


@pytest.mark.parametrize("sizes", SIZES)
def test_a_full_step_has_as_many_nodes_as_the_method_says(sizes):
    """A text in which a token was followed in G different ways by N - 1 tokens."""
    chosen = method(*sizes)
    _, size, most = sizes
    drafter = LookaheadDrafter(chosen, max_tokens=2000)
    text: list[int] = []
    for way in range(most):
        text += [1, *range(100 * way + 10, 100 * way + 10 + size)]
    text.append(1)
    nodes = [len(step(drafter, text, 90)) for _ in range(size)]
    assert nodes == sorted(nodes)
    assert nodes[-1] == chosen.longest_draft


def test_candidates_come_first_and_merge_where_they_begin_alike():
    drafter = LookaheadDrafter(method(2, 3, 3), max_tokens=200)
    tree = step(drafter, [1, 2, 3, 1, 2, 4, 1, 5, 6, 1])
    assert tree.tokens[: tree.drafted] == (5, 6, 2, 4, 3)
    assert tree.parents[: tree.drafted] == (-1, 0, -1, 2, 2)
    assert len(tree) > tree.drafted
    assert not tree.proposals, "chosen without chance"


def test_the_limit_cuts_candidates_and_not_the_window():
    drafter = LookaheadDrafter(method(), max_tokens=200)
    tree = step(drafter, [1, 2, 3, 1], limit=1)
    assert tree.tokens[: tree.drafted] == (2,)
    assert max(tree.depths) == 3
    assert len(step(drafter, [1, 2, 3, 1], limit=0)) == 0


def test_the_window_keeps_within_the_sequence():
    """Positions that the model may not have are never asked for."""
    drafter = LookaheadDrafter(method(), max_tokens=6)
    assert max(step(drafter, [1, 2, 1]).depths) == 3
    tree = step(drafter, [1, 2, 1, 2])
    assert len(tree) == tree.drafted == 2


def test_what_the_target_says_comes_back_as_a_candidate():
    drafter = LookaheadDrafter(method(4, 3, 4), max_tokens=200)
    text = [20, 20, 20]
    for _ in range(3):
        step(drafter, text)
        text.append(90)
    tree = step(drafter, [*text, 21])  # 21, 22, 23 passed through the window only
    assert tree.tokens[: tree.drafted] == (22, 23)


def test_a_request_has_its_own_sizes():
    drafter = LookaheadDrafter(method(4, 4, 4), max_tokens=200)
    own = method(1, 2, 1)
    trees = drafter.propose([context([1, 2, 1]), context([1, 2, 1], own=own)])
    assert len(trees[0]) > 3
    assert trees[1].tokens == (2,)


def test_the_smallest_sizes_propose_nothing():
    assert method(1, 1, 0).longest_draft == 0
    drafter = LookaheadDrafter(method(1, 1, 0), max_tokens=50)
    assert len(step(drafter, [1, 1, 1])) == 0


def test_a_prompt_being_read_says_nothing_of_the_window():
    drafter = LookaheadDrafter(method(), max_tokens=200)
    drafter.observe(0, Observation(None))
    first = step(drafter, [1, 2, 3])
    drafter.observe(0, Observation(None))
    again = step(drafter, [1, 2, 3])
    assert len(again) > len(first), "the columns grew by one token, not by two"


def test_state_moves_with_the_sequence_and_is_forgotten():
    drafter = LookaheadDrafter(method(), max_tokens=200)
    step(drafter, [1, 2, 3, 1], slot=1)
    expected = drafter._requests[1]
    drafter.release(0)
    drafter.move(1, 0)
    assert drafter._requests == {0: expected}
    drafter.release(0)
    assert drafter._requests == {}


def test_it_opens_with_the_limits_of_the_recipe():
    drafter = open_drafter(method(), None, toy_setup(max_tokens=77))
    assert drafter._max_tokens == 77


@pytest.mark.parametrize("slots", [1, 8])
@pytest.mark.parametrize("sizes", [(1, 2, 1), (4, 3, 4), (3, 5, 2)])
def test_greedy_output_is_that_of_plain_decoding(sizes, slots):
    def factory(target, slots):
        return lookahead(target, slots, *sizes)

    done = greedy_outputs(factory, slots)
    assert {name: one.tokens for name, one in done.items()} == wanted()
    assert sum(one.accepted for one in done.values()) > 0


def test_the_window_learns_what_plain_forwards_say():
    """Every node sees the text and its own ancestors, and nothing else."""
    drafter, chosen = lookahead(toy_model(), 1, 3, 4, 2)
    target = toy_slots(slots=1)
    target = type(target)(toy_model(), 1, 96, longest_step=chosen.longest_draft + 1)
    engine = Engine(target, drafter, chosen)
    running = engine.queue.running
    propose, compared = drafter.propose, []

    def observe(slot, observation):
        if observation.best and len(trees):
            tree, text = trees.pop()
            for node in range(-1, len(tree)):
                seen = [*text, *path_to(tree, node)]
                likeliest = int(full_logits(seen)[-1].argmax())
                compared.append(observation.best[node + 1] == likeliest)
        LookaheadDrafter.observe(drafter, slot, observation)

    def watched(contexts):
        proposed = propose(contexts)
        trees.append((proposed[0], list(running[0].tokens)))
        return proposed

    trees: list = []
    drafter.propose, drafter.observe = watched, observe
    generate(engine, request(tokens=10))
    assert len(compared) > 50
    assert all(compared)


def test_a_sampled_result_does_not_depend_on_the_batch():
    def outputs(*names):
        drafter, chosen = lookahead(toy_model(), 4)
        slots = type(toy_slots())(
            toy_model(), 4, 96, longest_step=chosen.longest_draft + 1
        )
        asked = [
            request(n, (3, 9, int(n)), 14, sampling=sampled(int(n))) for n in names
        ]
        return {
            k: v.tokens
            for k, v in generate(Engine(slots, drafter, chosen), *asked).items()
        }

    together = outputs("1", "2", "3")
    assert {name: outputs(name)[name] for name in "123"} == together
