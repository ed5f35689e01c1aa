"""Toy heads of EAGLE-1 and EAGLE-3, as modules and as drafters of every kind."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn
from transformers import LlamaConfig

from tests.reference.toy_heads.fitting import best_lm_head, greedy_text
from tests.reference.toy_heads.setup import spread, toy_setup
from tests.reference.toys import toy_model
from trtspec.methods import Eagle, Eagle3
from trtspec.reference.capture import FINAL, Capture
from trtspec.reference.drafters import eagle
from trtspec.reference.drafters.grown import GrowingDrafter
from trtspec.reference.growth import by_draft_length, room_for
from trtspec.reference.heads.eagle import EagleHead
from trtspec.reference.heads.eagle3 import Eagle3Head
from trtspec.reference.heads.eagle3_layout import Eagle3Layout

READS = (0, 1, FINAL)
"""What toy heads capture of a toy target's two layers."""

TREE = ((0,), (1,), (2,), (0, 0), (0, 1), (1, 0), (0, 0, 0), (0, 1, 0), (0, 0, 0, 0))


def toy_config(width=32, layers=1, vocabulary=48, kind=LlamaConfig, **sizes):
    """Configure a toy head's decoder layers."""
    return kind(
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=vocabulary,
        rms_norm_eps=1e-6,
        pad_token_id=0,
        attn_implementation="sdpa",
        **sizes,
    )


def toy_eagle3_head(
    target: nn.Module | None = None,
    *,
    seed: int = 0,
    width: int = 32,
    drafted: Sequence[int] | None = None,
    fitted: bool = True,
    **layout,
) -> Eagle3Head:
    """Make a head of a toy target.

    :param drafted: the target's ids that it proposes; None for all.
    :param fitted: let it guess the target's greedy text now and then.
    """
    target = toy_model() if target is None else target
    size = target.config.vocab_size
    parts = {
        "target_width": target.config.hidden_size,
        "drafted": len(drafted) if drafted is not None else size,
        "embedded": size,
        "has_embedding": width != target.config.hidden_size,
        "has_table": drafted is not None,
        "has_mask": drafted is not None,
        **layout,
    }
    made = Eagle3Layout(**parts)
    head = Eagle3Head(
        toy_config(width, len(made.reading), size),
        made,
        embedding=target.get_input_embeddings(),
        lm_head=target.get_output_embeddings(),
    )
    spread(head, seed)
    if drafted is not None:
        head.d2t.copy_(torch.tensor(drafted) - torch.arange(len(drafted)))
        head.t2d[list(drafted)] = True
    if fitted and made.has_output:
        _fit_lm_head(head, target)
    return head


def toy_eagle_head(
    target: nn.Module | None = None, *, seed: int = 0, layers: int = 1, fitted=True
) -> EagleHead:
    """Make an EAGLE-1 head of a toy target."""
    target = toy_model() if target is None else target
    head = EagleHead(
        toy_config(target.config.hidden_size, layers, target.config.vocab_size),
        lm_head=target.get_output_embeddings(),
        embedding=target.get_input_embeddings(),
    )
    spread(head, seed)
    if fitted:
        _fit_projection(head, target)
    return head


def toy_eagle3(
    target: nn.Module | None = None,
    slots: int = 4,
    *,
    head: Eagle3Head | None = None,
    max_tokens: int = 96,
    **parameters,
) -> tuple[GrowingDrafter, Eagle3]:
    """Draft with an EAGLE-3 head: a chain of 4, unless told otherwise."""
    target = toy_model() if target is None else target
    head = toy_eagle3_head(target) if head is None else head
    parameters = {"draft_length": 4, **parameters}
    method = Eagle3(method="eagle3", model="./head", **parameters)
    reads = READS if head.layout.captured == len(READS) else (1,)
    setup = toy_setup(target, slots, max_tokens)
    room = room_for(by_draft_length(method), method)
    drafter = GrowingDrafter(
        setup.slots_for(head, 1 + room),
        reads,
        method,
        by_draft_length,
        fuse=head.fuse,
        vocabulary=head.vocabulary_for(target.config.vocab_size),
        known_tokens=head.known_tokens,
    )
    return drafter, method


def toy_eagle3_static(target=None, slots=4, **options):
    """Draft a fixed tree."""
    return toy_eagle3(target, slots, tree=TREE, **options)


def toy_eagle3_dynamic(target=None, slots=4, **options):
    """Draft a dynamic tree of 7 of up to 39 nodes."""
    shape = {"tree": "dynamic", "tree_top_k": 3, "tree_tokens": 7, **options}
    return toy_eagle3(target, slots, **shape)


def toy_eagle3_reduced(target=None, slots=4, **options):
    """Draft from every other of the target's tokens, and from the first of them."""
    target = toy_model() if target is None else target
    drafted = [*range(4), *range(4, target.config.vocab_size, 2)]
    head = toy_eagle3_head(target, drafted=drafted)
    return toy_eagle3(target, slots, head=head, **options)


def toy_eagle3_of_other_width(target=None, slots=4, **options):
    """Draft with a head that is narrower than its target, and has an embedding."""
    target = toy_model() if target is None else target
    head = toy_eagle3_head(target, width=16)
    return toy_eagle3(target, slots, head=head, **options)


def toy_eagle(target=None, slots=4, *, max_tokens: int = 96, **parameters):
    """Draft a fixed tree with an EAGLE-1 head."""
    target = toy_model() if target is None else target
    method = Eagle(method="eagle", model="./head", **{"tree": TREE, **parameters})
    head = toy_eagle_head(target)
    setup = toy_setup(target, slots, max_tokens)
    room = room_for(eagle.plan_for(method), method)
    slots_of = setup.slots_for(head, 1 + room)
    drafter = GrowingDrafter(slots_of, (FINAL,), method, eagle.plan_for, fuse=head.fuse)
    return drafter, method


def toy_eagle_dynamic(target=None, slots=4, **options):
    """Draft EAGLE-2's tree of 7 nodes."""
    shape = {"tree": "dynamic", "dynamic_top_k": 3, "max_draft_tokens": 7, **options}
    return toy_eagle(target, slots, **shape)


@torch.no_grad()
def captured(target: nn.Module, tokens: torch.Tensor, reads=READS) -> torch.Tensor:
    """The target's states [rows, n, width] side by side for ids [rows, n]."""
    capture = Capture(target, reads)
    with capture:
        target(tokens, use_cache=False)
    states = capture.states()
    capture.remove()
    return states


@torch.no_grad()
def _fit_lm_head(head: Eagle3Head, target: nn.Module) -> None:
    """Let it predict the greedy token after next from the target's states."""
    text, _ = greedy_text(target)
    reads = READS if head.layout.captured == len(READS) else (1,)
    states = head.fuse(captured(target, text, reads))[:, :-2]
    given = head(text[:, 1:-1], states=states).states
    normed = given if head.layout.feeds_normed else head.norm(given)
    rows = best_lm_head(normed, text[:, 2:], target)[head.drafted_ids()]
    # sure of itself, and with no tokens that are equally likely
    noise = torch.randn(rows.shape, generator=torch.Generator().manual_seed(0))
    head.lm_head.weight.copy_(6 * rows + 0.1 * noise)


@torch.no_grad()
def _fit_projection(head: EagleHead, target: nn.Module) -> None:
    """Let ``fc`` predict the target's next state, and the layer add little to it."""
    text, states = greedy_text(target)
    embedded = target.get_input_embeddings()(text[:, 1:])
    known = torch.cat((embedded, states[:, :-1]), -1).flatten(0, 1)
    known = torch.cat((known, torch.ones(len(known), 1)), 1)
    solution = torch.linalg.lstsq(known, states[:, 1:].flatten(0, 1)).solution.T
    head.fc.weight.copy_(solution[:, :-1])
    head.fc.bias.copy_(solution[:, -1])
    for name, weight in head.layers.named_parameters():
        if "o_proj" in name or "down_proj" in name:
            weight.mul_(0.02)
