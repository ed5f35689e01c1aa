"""MTP drafts are what the heads say of the whole text, computed without a cache."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import save_file

from tests.reference.toy_heads.mtp import toy_head
from tests.reference.toy_heads.setup import toy_setup
from tests.reference.toy_heads.story import LIMITS, Story
from tests.reference.toys import toy_model
from trtspec.errors import RunError
from trtspec.methods import Mtp
from trtspec.reference.drafters import open_drafter, states
from trtspec.reference.drafters.grown import GrowingDrafter
from trtspec.reference.drafters.mtp import MtpDrafter, one_per_position, repeated
from trtspec.reference.heads.mtp import public_tensors
from trtspec.reference.sampling import distribution
from trtspec.run import SamplingParams


@torch.inference_mode()
def plain_several(heads, text, seen, drafted) -> list[torch.Tensor]:
    """Logits of each draft token: arXiv 2412.19437, equations 21 to 23."""
    tokens, logits = [*text, *drafted], []
    for ahead, head in enumerate(heads[: len(drafted)], 1):
        read = torch.tensor([tokens[ahead : ahead + len(seen)]])
        output = head(read, states=seen[None])
        seen = output.states[0]
        logits.append(output.logits[0, -1])
    return logits


@torch.inference_mode()
def plain_repeated(head, text, seen, drafted) -> list[torch.Tensor]:
    """Logits of each draft token, from the head's own states behind the target's."""
    tokens, logits = [*text, *drafted], []
    for _ in drafted:
        read = torch.tensor([tokens[1 : 1 + len(seen)]])
        output = head(read, states=seen[None])
        seen = torch.cat((seen, output.states[0, -1:]))
        logits.append(output.logits[0, -1])
    return logits


def check(seen, plain) -> None:
    for text, observed, tree in seen:
        logits = plain(text, observed, tree.tokens)
        assert [int(row.argmax()) for row in logits] == list(tree.tokens)


def play(drafter, plain) -> None:
    story = Story(drafter, 32)
    for tokens in (1, 6, 11):
        story.join(tokens)
    for asked in LIMITS:
        limits = [min(limit, 3) for limit in asked]
        seen = story.step(limits)
        assert [len(tree) for _, _, tree in seen] == limits
        check(seen, plain)
    story.leave(0)
    story.join(4)
    check(story.step([3, 2]) if len(story.texts) == 2 else story.step([3, 2, 3]), plain)


def several(heads: int = 3) -> MtpDrafter:
    method = Mtp(method="mtp", draft_length=3, vanilla=True)
    made = [toy_head(toy_model(), seed) for seed in range(heads)]
    return one_per_position(method, made, toy_setup().slots_for)


def single() -> GrowingDrafter:
    method = Mtp(method="mtp", draft_length=3)
    return repeated(method, toy_head(toy_model()), toy_setup().slots_for)


def several_plain(drafter: MtpDrafter):
    heads = [slots.model for slots in drafter._heads]
    return lambda *told: plain_several(heads, *told)


def single_plain(drafter: GrowingDrafter):
    return lambda *told: plain_repeated(drafter._head.model, *told)


def test_one_head_per_position_follows_the_definition():
    drafter = several()
    play(drafter, several_plain(drafter))


def test_repeated_head_reads_its_own_states():
    drafter = single()
    play(drafter, single_plain(drafter))


def test_long_prompts_are_read_in_parts(monkeypatch):
    monkeypatch.setattr(states, "_CHUNK", 4)
    drafter = several()
    play(drafter, several_plain(drafter))


def test_heads_take_turns_where_more_is_drafted():
    drafter = several(2)
    first, second, third = (slots.model for slots in drafter._heads)
    assert first is third
    assert first is not second
    play(drafter, several_plain(drafter))


@pytest.mark.parametrize(
    ("make", "plain_of"), [(several, several_plain), (single, single_plain)]
)
def test_sampled_drafts_carry_what_they_were_drawn_from(make, plain_of):
    drafter = make()
    story = Story(drafter, 32)
    story.join(5)
    sampling = SamplingParams(temperature=0.8, top_k=7, seed=1)
    ((text, seen, tree),) = story.step([3], sampling)
    assert len(tree) == 3
    for node, logits in enumerate(plain_of(drafter)(text, seen, tree.tokens)):
        q = tree.proposal(node)
        torch.testing.assert_close(q, distribution(logits, sampling), atol=1e-5, rtol=0)
        assert q[tree.tokens[node]] > 0


def checkpoint(directory, heads: int):
    tensors = {}
    for number in range(heads):
        tensors |= public_tensors(toy_head(toy_model(), number), 2 + number)
    directory.mkdir(exist_ok=True)
    save_file(tensors, str(directory / "model.safetensors"))
    return directory


def opened(directory, heads: int, **fields):
    method = Mtp(method="mtp", draft_length=3, **fields)
    target = checkpoint(directory, heads)
    return open_drafter(method, None, toy_setup(directory=target))


def test_single_head_is_repeated_unless_told_otherwise(tmp_path):
    assert isinstance(opened(tmp_path, 1), GrowingDrafter)
    assert isinstance(opened(tmp_path, 1, vanilla=True), MtpDrafter)
    assert isinstance(opened(tmp_path, 2), MtpDrafter)


def test_heads_of_their_own_checkpoint_come_first(tmp_path):
    own = checkpoint(tmp_path / "draft", 2)
    setup = toy_setup(directory=checkpoint(tmp_path / "target", 1))
    method = Mtp(method="mtp", draft_length=2)
    assert isinstance(open_drafter(method, own, setup), MtpDrafter)


def test_dynamic_tree_with_several_heads_is_refused(tmp_path):
    with pytest.raises(RunError, match="tree is dynamic, and each position"):
        opened(tmp_path, 2, tree="dynamic", tree_top_k=2)
