"""Seeded Medusa heads for toy targets."""

from __future__ import annotations

import torch

from tests.reference.toy_heads.fitting import best_lm_head, greedy_text
from trtspec.methods import Medusa
from trtspec.reference.drafters.medusa import MedusaDrafter, StaticTree
from trtspec.reference.heads.medusa import MedusaHeads

TREE = ((0,), (1,), (2,), (3,), (0, 0), (0, 1), (1, 0), (1, 2), (0, 0, 0), (0, 1, 1))


def medusa_heads(target, heads=3, layers=1, own=True, seed=0) -> MedusaHeads:
    """Random heads; ``own`` or the target's LM head."""
    torch.manual_seed(seed)
    config = target.config
    made = MedusaHeads(
        heads,
        layers,
        config.hidden_size,
        lm_head=None if own else target.get_output_embeddings(),
        vocabulary=config.vocab_size,
    )
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return made.eval()


@torch.inference_mode()
def fit(made: MedusaHeads, target) -> MedusaHeads:
    """Least squares from the target's states to its own greedy text, head by head.

    Head 0 is fitted to the token two places on, as FasterDecoding/Medusa trains it.
    """
    text, states = greedy_text(target)
    for ahead, head in enumerate(made, 2):
        known = head[:-1](states[:, :-ahead])
        head[-1].weight.copy_(best_lm_head(known, text[:, ahead:], target))
    return made


def medusa_method(tree=TREE, **fields) -> Medusa:
    return Medusa(method="medusa", model="./heads", tree=tree, **fields)


def medusa_static(target, slots=4, own=True, **fields) -> tuple[MedusaDrafter, Medusa]:
    """Heads with LM heads of their own, and a tree of three levels."""
    method = medusa_method(**fields)
    heads = medusa_heads(target, own=own)
    heads = fit(heads, target) if own else heads
    tree = StaticTree(method.tree)
    return MedusaDrafter(heads, tree, target.config.vocab_size), method


def medusa_shared_lm_head(target, slots=4, **fields) -> tuple[MedusaDrafter, Medusa]:
    """Random heads before the target's LM head."""
    return medusa_static(target, slots, own=False, **fields)
