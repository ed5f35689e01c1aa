"""The suffix drafter copies what followed, from the right text, and forgets in time."""

from __future__ import annotations

import gc
import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.toy_heads.setup import toy_setup
from trtspec.errors import RunError
from trtspec.methods import Suffix
from trtspec.reference.chance import SeededChance
from trtspec.reference.drafters import DraftContext
from trtspec.reference.drafters.suffix import SuffixDrafter, open_drafter
from trtspec.run import SamplingParams


def context(tokens, limit=4, own=None):
    return DraftContext(tokens, limit, SamplingParams(), SeededChance(0), own)


def method(**fields) -> Suffix:
    return Suffix(method="suffix", draft_length=4, **fields)


def drafts(drafter, *texts, limit=4):
    trees = drafter.propose([context(list(text), limit) for text in texts])
    return [tree.tokens for tree in trees]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ([1, 2, 3, 9, 1, 2], (3, 9, 1, 2)),
        ([1, 2, 3, 1, 2, 4, 1, 2], (3, 1, 2, 4)),  # the first occurrence counts
        ([7, 2, 5, 1, 2, 3, 6, 1, 2], (3, 6, 1, 2)),  # the longest match counts
        ([1, 2, 3, 4, 8, 2, 3, 4, 9, 1, 2, 3, 4], (8, 2, 3, 4)),
        ([4, 5, 5, 5], (5,)),  # a draft ends where the text ends
        ([1, 2, 3], ()),
        ([1], ()),
    ],
)
def test_what_followed_the_longest_suffix_is_copied(text, expected):
    assert drafts(SuffixDrafter(method()), text) == [expected]


def test_a_shorter_limit_on_matches_finds_an_earlier_place():
    text = [7, 2, 5, 1, 2, 3, 6, 1, 2]
    assert drafts(SuffixDrafter(method(max_matching_ngram=1)), text) == [(5, 1, 2, 3)]


def test_a_request_has_its_own_longest_match():
    text = [7, 2, 5, 1, 2, 3, 6, 1, 2]
    own = method(max_matching_ngram=1)
    drafter = SuffixDrafter(method())
    trees = drafter.propose([context(text), context(text, own=own)])
    assert [tree.tokens[0] for tree in trees] == [3, 5]


def test_drafts_are_point_masses_up_to_the_limit():
    (tree,) = SuffixDrafter(method()).propose([context([1, 2, 3, 1, 2], limit=2)])
    assert tree.tokens == (3, 1)
    assert tree.proposal(0) is None
    assert drafts(SuffixDrafter(method()), [1, 2, 1], limit=0) == [()]


def test_without_a_pool_other_texts_are_not_looked_at():
    drafter = SuffixDrafter(method())
    assert drafts(drafter, [1, 2, 3, 4], [8, 1, 2]) == [(), ()]
    drafter.release(0)
    drafter.move(1, 0)
    assert drafts(drafter, [8, 1, 2]) == [()]


def test_the_pool_finds_running_and_finished_texts():
    drafter = SuffixDrafter(method(), pool_size=3)
    texts = [1, 2, 3, 4], [8, 1, 2]
    assert drafts(drafter, *texts) == [(), (3, 4)]
    drafter.release(0)
    drafter.move(1, 0)
    assert drafts(drafter, [8, 1, 2]) == [(3, 4)]


def test_a_finished_text_is_pooled_to_its_last_token():
    """The tokens of the last step came after the last draft."""
    drafter = SuffixDrafter(method(), pool_size=3)
    tokens = [1, 2]
    drafter.propose([context(tokens)])
    tokens += [3, 4]
    drafter.release(0)
    assert drafts(drafter, [1, 2]) == [(3, 4)]


def test_the_longest_match_of_all_texts_wins():
    drafter = SuffixDrafter(method(), pool_size=3)
    own = [5, 2, 6, 1, 2]
    assert drafts(drafter, [1, 2, 3, 9, 9], own)[1] == (3, 9, 9)
    assert drafts(drafter, [1, 2, 3, 9, 9], [*own, 6])[1] == (1, 2, 6)


def test_of_equal_matches_the_own_text_wins_and_then_the_youngest():
    drafter = SuffixDrafter(method(), pool_size=4)
    texts = [2, 3, 3], [2, 4, 4], [2, 5, 2], [9, 2]
    assert drafts(drafter, *texts)[2:] == [(5, 2), (5, 2)]


def test_a_text_that_grew_is_looked_through_again():
    drafter = SuffixDrafter(method(), pool_size=3)
    assert drafts(drafter, [7, 7], [1, 2, 3])[1] == ()
    assert drafts(drafter, [7, 7, 1, 2, 3, 4], [1, 2, 3])[1] == (4,)


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.lists(st.integers(0, 2), max_size=4), min_size=3, max_size=3),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([None, 2, 3]),
)
def test_the_pool_finds_what_a_search_of_all_texts_finds(steps, most):
    drafter = SuffixDrafter(method(max_matching_ngram=most), pool_size=9)
    texts = [[0], [1], [2]]
    for step in steps:
        for text, more in zip(texts, step, strict=True):
            text.extend(more)
        found = drafts(drafter, *texts)
        for slot, own in enumerate(texts):
            others = [text for text in reversed(texts) if text is not own]
            best = followed(own, own, min(most or 64, len(own) - 1))
            for text in others:
                best = max(best, followed(text, own, most or 64), key=lambda b: b[0])
            assert found[slot] == tuple(best[1][:4])


def followed(text, end, most):
    """Length of the longest suffix of ``end`` before something, and what follows."""
    for size in range(min(most, len(end)), 0, -1):
        for start in range(len(text) - size):
            if text[start : start + size] == end[len(end) - size :]:
                return size, text[start + size :]
    return 0, []


def test_the_pool_drops_what_finished_first():
    drafter = SuffixDrafter(method(), pool_size=2)
    for text in ([1, 11], [2, 12]):
        drafter.propose([context(text)])
        drafter.release(0)
    assert drafts(drafter, [2]) == [(12,)]
    assert drafts(drafter, [2, 1]) == [()], "two texts, the running one included"


def test_dropped_texts_leave_the_memory():
    drafter = SuffixDrafter(method(), pool_size=2)
    drafter.propose([context([1, 2, 1]), context([1, 2, 3])])
    text = weakref.ref(drafter._entries[0].text.automaton)
    drafter.release(0)
    drafter.move(1, 0)
    assert text() is not None
    for _ in range(2):
        drafter.propose([context([1, 2, 3, 4]), context([1, 2])])
        drafter.release(1)
    drafter.propose([context([1, 2, 3, 4])])
    gc.collect()
    assert text() is None


def test_the_size_of_the_pool_is_that_of_the_recipe_or_64_at_least():
    def size(slots, **fields):
        opened = open_drafter(method(**fields), None, toy_setup(slots=slots))
        return opened._pool_size

    assert size(4) == 0
    assert size(4, global_pool=True) == 64
    assert size(80, global_pool=True) == 80
    assert size(4, global_pool=True, global_pool_size=5) == 5


def test_a_pool_below_the_batch_size_is_refused():
    pooled = method(global_pool=True, global_pool_size=3)
    with pytest.raises(RunError, match=r"(?s)global_pool_size 3 .*do: .*size: 4"):
        open_drafter(pooled, None, toy_setup(slots=4))
