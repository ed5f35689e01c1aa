"""DFlash drafts are what the head says of all observed states at once."""

from __future__ import annotations

import pytest
import torch
from transformers import DynamicCache

from tests.reference.toy_heads.dflash import (
    CONFIG,
    LAYERS,
    MASK,
    SIZE,
    toy_head,
    write_head,
)
from tests.reference.toy_heads.setup import toy_setup
from tests.reference.toy_heads.story import LIMITS, Story
from tests.reference.toys import toy_model
from trtspec.errors import RunError
from trtspec.methods import DFlash
from trtspec.reference.drafters import dflash, open_drafter, states
from trtspec.reference.drafters.dflash import Block, DFlashDrafter
from trtspec.reference.sampling import distribution
from trtspec.run import SamplingParams

WIDTH = 64  # of two layers' states


def drafter_of(head) -> DFlashDrafter:
    return DFlashDrafter(toy_setup().slots_for(head, SIZE), Block(SIZE, MASK, LAYERS))


@torch.inference_mode()
def plain(head, text, seen) -> torch.Tensor:
    """Logits of a block's draft tokens, from the whole text at once."""
    cache = DynamicCache()
    head(torch.zeros(1, len(seen)).long(), states=seen[None], past_key_values=cache)
    block = torch.tensor([[text[-1], *[MASK] * (SIZE - 1)]])
    positions = torch.arange(len(seen), len(seen) + SIZE)[None]
    return head(block, position_ids=positions, past_key_values=cache).logits[0, 1:]


def play(story: Story, head) -> None:
    for limits in LIMITS:
        seen = story.step(limits[: len(story.texts)])
        for (text, observed, tree), limit in zip(seen, limits, strict=False):
            expected = plain(head, text, observed).argmax(-1)[:limit]
            assert expected.tolist() == list(tree.tokens)


def test_draft_follows_all_observed_states():
    head = toy_head(toy_model())
    story = Story(drafter_of(head), WIDTH)
    for tokens in (1, 6, 11):
        story.join(tokens)
    play(story, head)
    story.leave(0)
    story.join(4)
    play(story, head)


def test_long_prompts_are_read_in_parts(monkeypatch):
    monkeypatch.setattr(states, "_CHUNK", 4)
    head = toy_head(toy_model())
    story = Story(drafter_of(head), WIDTH)
    for tokens in (9, 2):
        story.join(tokens)
    play(story, head)


def test_draft_is_no_longer_than_the_block():
    story = Story(drafter_of(toy_head(toy_model())), WIDTH)
    story.join(3)
    ((_, _, tree),) = story.step([9])
    assert len(tree) == SIZE - 1


def test_every_position_is_drawn_from_its_own_distribution():
    head = toy_head(toy_model())
    story = Story(drafter_of(head), WIDTH)
    story.join(5)
    sampling = SamplingParams(temperature=0.9, top_k=6, seed=1)
    ((text, seen, tree),) = story.step([3], sampling)
    assert len(tree) == 3
    for node, logits in enumerate(plain(head, text, seen)[:3]):
        q = tree.proposal(node)
        torch.testing.assert_close(q, distribution(logits, sampling), atol=1e-5, rtol=0)
        assert q[tree.tokens[node]] > 0


def opened(directory, head=None, config=CONFIG, **fields) -> DFlashDrafter:
    write_head(directory, head or toy_head(toy_model()), **config)
    method = DFlash(method="dflash", model="./draft", draft_length=3, **fields)
    return open_drafter(method, directory, toy_setup())


def test_what_the_drafter_reads_comes_from_its_checkpoint(tmp_path):
    drafter = opened(tmp_path)
    assert drafter.reads == LAYERS
    assert drafter._block == Block(SIZE, MASK, LAYERS)


def test_the_recipes_word_counts_first(tmp_path):
    drafter = opened(tmp_path, mask_token_id=9, target_layers=(0, -1))
    assert drafter._block == Block(SIZE, 9, (0, 1))


def test_layers_that_are_not_named_are_spread_over_the_target(tmp_path):
    config = {"dflash_config": {"mask_token_id": 2}, "num_target_layers": 36}
    assert opened(tmp_path, config=config).reads == (1, 33)


def test_five_layers_are_spread_as_in_the_published_drafters():
    config = {"num_target_layers": 36, "num_hidden_layers": 5}
    assert dflash._default_layers(config) == (1, 9, 17, 25, 33)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"block_size": None}, "block_size"),
        ({"dflash_config": {"target_layer_ids": [1, 0]}}, "mask_token_id"),
        ({"dflash_config": {"mask_token_id": 2}}, "target_layer_ids"),
    ],
)
def test_what_no_one_tells_is_named(tmp_path, config, said):
    with pytest.raises(RunError, match=f"does not tell {said}"):
        opened(tmp_path, config=config)


def test_mask_token_beyond_the_vocabulary_is_refused(tmp_path):
    with pytest.raises(RunError, match=r"mask_token_id is 48(.|\n)*ids below 48"):
        opened(tmp_path, mask_token_id=48)
