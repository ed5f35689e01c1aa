"""Drafters propose what they promise and keep their state in step."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.engines import sampled
from tests.reference.toys import full_logits, toy_slots
from trtspec.methods import NGram
from trtspec.reference.chance import SeededChance
from trtspec.reference.drafters import DraftContext
from trtspec.reference.drafters.draft_target import DraftModelDrafter
from trtspec.reference.drafters.ngram import NGramDrafter
from trtspec.reference.sampling import distribution
from trtspec.run import SamplingParams
from trtspec.run.prompt_lookup import NGramIndex

GREEDY = SamplingParams()


def context(tokens, limit=4, sampling=GREEDY):
    return DraftContext(list(tokens), limit, sampling, SeededChance(0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ([1, 2, 3, 9, 1, 2], [3, 9, 1]),  # what followed 1 2
        ([1, 2, 3, 7, 2, 5, 1, 2], [3, 7, 2]),  # the longer match wins over 2 5
        ([1, 2, 3, 1, 2, 4, 1, 2], [4, 1, 2]),  # the latest match wins
        ([4, 5, 5], [5, 5, 5]),  # a repetition is continued
        ([7, 8, 7, 8, 7], [8, 7, 8]),
        ([1, 2, 3], []),  # nothing occurs twice
        ([1], []),
    ],
)
def test_prompt_lookup_copies_what_followed(text, expected):
    assert NGramIndex(3).draft(text, 3) == expected


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=40),
    st.integers(1, 4),
    st.integers(1, 6),
)
def test_incremental_index_equals_a_search_of_the_whole_text(text, longest, limit):
    index = NGramIndex(longest)
    for end in range(1, len(text) + 1):
        assert index.draft(text[:end], limit) == brute_force(text[:end], longest, limit)


def brute_force(text, longest, limit):
    for size in range(min(longest, len(text) - 1), 0, -1):
        for start in range(len(text) - size - 1, -1, -1):
            if text[start : start + size] == text[-size:]:
                grown = list(text)
                for _ in range(limit):
                    grown.append(grown[start + size + len(grown) - len(text)])
                return grown[len(text) :]
    return []


def ngram_drafter():
    return NGramDrafter(NGram(method="ngram", draft_length=4))


def test_prompt_lookup_proposes_point_masses_per_slot():
    trees = ngram_drafter().propose(
        [context([1, 2, 3, 1, 2]), context([5, 6], limit=0)]
    )
    assert trees[0].tokens == (3, 1, 2, 3)
    assert trees[0].proposal(0) is None
    assert len(trees[1]) == 0


def test_prompt_lookup_state_moves_with_the_sequence():
    drafter = ngram_drafter()
    drafter.propose([context([1, 2, 1]), context([7, 8, 9, 7, 8])])
    drafter.release(0)
    drafter.move(1, 0)
    assert drafter.propose([context([7, 8, 9, 7, 8, 9])])[0].tokens == (7, 8, 9, 7)
    assert drafter.propose([context([7]), context([1, 4])])[1].tokens == ()


def greedy_chain(prompt, length):
    text = list(prompt)
    for _ in range(length):
        text.append(int(full_logits(text)[-1].argmax()))
    return tuple(text[len(prompt) :])


def model_drafter(slots=3, vocabulary=48):
    return DraftModelDrafter(toy_slots(slots=slots), vocabulary)


def test_draft_model_proposes_its_own_greedy_continuation():
    prompts = [[3, 9, 4], [5, 6], [8, 8, 8, 30]]
    drafter = model_drafter()
    trees = drafter.propose(
        [context(p, limit) for p, limit in zip(prompts, (4, 1, 0), strict=True)]
    )
    assert trees[0].tokens == greedy_chain(prompts[0], 4)
    assert trees[1].tokens == greedy_chain(prompts[1], 1)
    assert trees[2].tokens == ()
    assert drafter.forward_seconds > 0


@pytest.mark.parametrize("accepted", range(5))
def test_draft_model_rolls_back_what_was_not_accepted(accepted):
    drafter = model_drafter()
    drafts = drafter.propose([context([3, 9, 4])])[0].tokens
    text = [3, 9, 4, *drafts[:accepted], 33]
    assert drafter.propose([context(text)])[0].tokens == greedy_chain(text, 4)


def test_draft_model_reads_a_long_prompt_in_parts(monkeypatch):
    monkeypatch.setattr("trtspec.reference.drafters.draft_target._CATCH_UP", 8)
    prompt = [(7 * i) % 40 + 2 for i in range(61)]
    trees = model_drafter().propose([context(prompt), context([5, 6]), context([9])])
    assert trees[0].tokens == greedy_chain(prompt, 4)
    assert trees[1].tokens == greedy_chain([5, 6], 4)
    assert trees[2].tokens == greedy_chain([9], 4)


def test_draft_model_state_moves_with_the_sequence():
    drafter = model_drafter()
    drafter.propose([context([3, 9, 4]), context([5, 6]), context([8])])
    drafter.release(0)
    drafter.move(2, 0)
    trees = drafter.propose([context([8, 2]), context([5, 6, 7])])
    assert trees[0].tokens == greedy_chain([8, 2], 4)
    assert trees[1].tokens == greedy_chain([5, 6, 7], 4)


def test_sampled_draft_names_the_distribution_it_was_drawn_from():
    sampling = sampled(3, temperature=0.7, top_k=5)
    tree = model_drafter().propose([context([3, 9, 4], 3, sampling)])[0]
    text = [3, 9, 4]
    for node, token in enumerate(tree.tokens):
        q = tree.proposal(node)
        expected = distribution(full_logits(text)[-1], sampling)
        torch.testing.assert_close(q, expected, atol=1e-6, rtol=0)
        assert q[token] > 0
        text.append(token)


def test_ids_that_the_draft_model_has_no_row_for_are_read_as_another():
    """A target may have more rows; the draft may guess worse, but not fail."""
    drafter = model_drafter(vocabulary=64)  # the toy draft model has 48
    tree = drafter.propose([context([3, 9, 60, 4])])[0]
    assert tree.tokens == greedy_chain([3, 9, 0, 4], 4)


@pytest.mark.parametrize("vocabulary", [40, 60])
def test_padding_rows_of_another_vocabulary_size_are_never_proposed(vocabulary):
    """Draft checkpoints may have more or fewer rows than the target."""
    sampling = sampled(1, temperature=3.0)
    drafter = model_drafter(vocabulary=vocabulary)
    tree = drafter.propose([context([3, 9, 4], 16, sampling)])[0]
    assert all(q.shape == (vocabulary,) for q in tree.proposals)
    assert max(tree.tokens) < min(vocabulary, 48)
