"""PARD drafts are what the draft model says after the text and its mask tokens."""

from __future__ import annotations

import json

import pytest
import torch

from tests.reference.toy_heads.pard import MASK, toy_pard
from tests.reference.toy_heads.setup import toy_setup
from tests.reference.toy_heads.story import LIMITS, Story
from tests.reference.toys import full_logits, toy_model
from trtspec.errors import RunError
from trtspec.methods import Pard
from trtspec.reference.drafters import draft_target, open_drafter, pard
from trtspec.reference.sampling import distribution
from trtspec.run import SamplingParams


def plain(text, drafted: int) -> torch.Tensor:
    """Logits of each draft token, by one forward of the whole text and its masks."""
    logits = full_logits([*text, *[MASK] * (drafted - 1)])
    return logits[len(text) - 1 :]


def play(story: Story) -> None:
    for limits in LIMITS:
        seen = story.step(limits[: len(story.texts)])
        for (text, _, tree), limit in zip(seen, limits, strict=False):
            assert len(tree) == limit
            if limit:
                assert plain(text, limit).argmax(-1).tolist() == list(tree.tokens)


def test_draft_follows_text_and_masks():
    drafter, _ = toy_pard()
    story = Story(drafter, 0)
    for tokens in (1, 6, 11):
        story.join(tokens)
    play(story)
    story.leave(0)
    story.join(4)
    play(story)


def test_masks_are_cut_off_again():
    drafter, _ = toy_pard()
    story = Story(drafter, 0)
    story.join(5)
    ((text, _, _),) = story.step([4])
    assert drafter._model.lengths[0] == len(text)


def test_long_prompts_are_read_in_parts(monkeypatch):
    monkeypatch.setattr(pard, "_FEW", 2)
    monkeypatch.setattr(draft_target, "_CATCH_UP", 3)
    story = Story(toy_pard()[0], 0)
    for tokens in (9, 1, 14):
        story.join(tokens)
    play(story)


def test_every_position_is_drawn_from_its_own_distribution():
    drafter, _ = toy_pard()
    story = Story(drafter, 0)
    story.join(5)
    sampling = SamplingParams(temperature=0.9, top_p=0.9, seed=1)
    ((text, _, tree),) = story.step([3], sampling)
    for node, logits in enumerate(plain(text, 3)):
        q = tree.proposal(node)
        torch.testing.assert_close(q, distribution(logits, sampling), atol=1e-5, rtol=0)
        assert q[tree.tokens[node]] > 0


def opened(directory, config: dict, **fields):
    toy_model().save_pretrained(directory)
    path = directory / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **config}))
    method = Pard(method="pard", model="./draft", draft_length=2, **fields)
    return open_drafter(method, directory, toy_setup())


def test_mask_token_is_the_checkpoints_own_or_the_recipes(tmp_path):
    assert opened(tmp_path, {"pard_token": 7})._mask == 7
    assert opened(tmp_path, {"pard_token": 7}, mask_token_id=9)._mask == 9


def test_draft_model_without_mask_token_is_refused(tmp_path):
    with pytest.raises(RunError, match="tells no mask token"):
        opened(tmp_path, {})


def test_mask_token_beyond_the_vocabulary_is_refused(tmp_path):
    with pytest.raises(RunError, match=r"mask token is 48(.|\n)*an id below 48"):
        opened(tmp_path, {"pard_token": 48})
