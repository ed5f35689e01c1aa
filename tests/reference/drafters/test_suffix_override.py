"""Long matches overrule a neural drafter; all else is left to it."""

from __future__ import annotations

import pytest

from trtspec.reference.chance import SeededChance
from trtspec.reference.drafters import BaseDrafter, DraftContext, Observation
from trtspec.reference.drafters.suffix_override import SuffixOverride
from trtspec.reference.tree import NO_DRAFT, DraftTree
from trtspec.run import SamplingParams


class Recorder(BaseDrafter):
    """Proposes the token 40 and writes down what it is told."""

    reads = (0, 1)
    forward_seconds = 2.5

    def __init__(self):
        self.told = []

    def propose(self, contexts):
        self.told.append(("propose", [c.limit for c in contexts]))
        return [DraftTree.chain([40]) if c.limit else NO_DRAFT for c in contexts]

    def observe(self, slot, observation):
        self.told.append(("observe", slot, observation))

    def move(self, source, target):
        self.told.append(("move", source, target))

    def release(self, slot):
        self.told.append(("release", slot))


def propose(drafter, *texts, limit=3):
    contexts = [
        DraftContext(text, limit, SamplingParams(), SeededChance(0)) for text in texts
    ]
    return [tree.tokens for tree in drafter.propose(contexts)]


@pytest.mark.parametrize(("threshold", "overruled"), [(1, True), (2, True), (3, False)])
def test_enough_matching_tokens_overrule_the_draft(threshold, overruled):
    inner = Recorder()
    found = propose(SuffixOverride(inner, threshold), [1, 2, 3, 1, 2], [5, 6])
    assert found == [(3, 1, 2) if overruled else (40,), (40,)]
    assert inner.told == [("propose", [0 if overruled else 3, 3])]


def test_where_all_are_overruled_the_drafter_is_not_asked():
    inner = Recorder()
    assert propose(SuffixOverride(inner, 2), [1, 2, 3, 1, 2]) == [(3, 1, 2)]
    assert inner.told == []


def test_what_may_not_draft_is_not_overruled():
    inner = Recorder()
    drafter = SuffixOverride(inner, 1)
    none = DraftContext([1, 2, 1], 0, SamplingParams(), SeededChance(0))
    some = DraftContext([5, 6], 2, SamplingParams(), SeededChance(0))
    assert [tree.tokens for tree in drafter.propose([none, some])] == [(), (40,)]


def test_everything_else_is_passed_on():
    inner = Recorder()
    drafter = SuffixOverride(inner, 1)
    seen = Observation(None, (1, 2), (0,))
    drafter.observe(1, seen)
    drafter.move(1, 0)
    drafter.release(0)
    assert inner.told == [("observe", 1, seen), ("move", 1, 0), ("release", 0)]
    assert (drafter.reads, drafter.forward_seconds) == ((0, 1), 2.5)


def test_the_text_moves_with_the_sequence():
    drafter = SuffixOverride(Recorder(), 2)
    propose(drafter, [1, 2, 1], [7, 8, 9, 7])
    drafter.release(0)
    drafter.move(1, 0)
    assert propose(drafter, [7, 8, 9, 7, 8]) == [(9, 7, 8)]
