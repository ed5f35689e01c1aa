"""Toy next-token heads, as modules and as drafters."""

from __future__ import annotations

import torch
from torch import nn

from tests.reference.toy_heads.fitting import best_lm_head, greedy_text
from tests.reference.toy_heads.setup import spread, toy_setup
from tests.reference.toys import make_toy, toy_model
from trtspec.methods import Mtp
from trtspec.reference.drafters.grown import GrowingDrafter
from trtspec.reference.drafters.mtp import MtpDrafter, one_per_position, repeated
from trtspec.reference.heads.mtp import MtpHead


def toy_head(target: nn.Module, seed: int = 0, hidden_first: bool = False) -> MtpHead:
    """Make one head of a toy target, with an LM head of its own in the toy's place."""
    size, vocabulary = target.config.hidden_size, target.config.vocab_size
    lm_head = nn.Linear(size, vocabulary, bias=False)
    spread(lm_head, seed)
    embedding = target.get_input_embeddings()
    return spread(MtpHead(target, embedding, lm_head, hidden_first=hidden_first), seed)


@torch.inference_mode()
def fitted_heads(target: nn.Module, heads: int) -> list[MtpHead]:
    """Heads that predict the target's greedy text now and then, one after the other."""
    made = [toy_head(target, seed) for seed in range(heads)]
    text, states = greedy_text(target)
    for ahead, head in enumerate(made, 1):
        read = text[:, ahead:-1]
        states = head(read, states=states[:, : read.shape[1]]).states
        lm_head = head._shared[1]
        lm_head.weight.copy_(best_lm_head(states, text[:, ahead + 1 :], target))
    return made


def toy_mtp_repeated(
    target: nn.Module | None = None, slots: int = 4, draft_length: int = 4, **options
) -> tuple[GrowingDrafter, Mtp]:
    """One head, applied again and again."""
    target = toy_model() if target is None else target
    setup = toy_setup(target, slots, **options)
    method = Mtp(method="mtp", draft_length=draft_length)
    return repeated(method, fitted_heads(target, 1)[0], setup.slots_for), method


def toy_mtp_dynamic(
    target: nn.Module | None = None, slots: int = 4, draft_length: int = 3, **options
) -> tuple[GrowingDrafter, Mtp]:
    """One head that grows a dynamic tree."""
    target = toy_model() if target is None else target
    setup = toy_setup(target, slots, **options)
    method = Mtp(
        method="mtp",
        draft_length=draft_length,
        tree="dynamic",
        tree_top_k=3,
        tree_tokens=7,
    )
    return repeated(method, fitted_heads(target, 1)[0], setup.slots_for), method


def toy_mtp_several(
    target: nn.Module | None = None, slots: int = 4, draft_length: int = 3, **options
) -> tuple[MtpDrafter, Mtp]:
    """One head per position."""
    target = toy_model() if target is None else target
    setup = toy_setup(target, slots, **options)
    method = Mtp(method="mtp", draft_length=draft_length, vanilla=True)
    heads = fitted_heads(target, draft_length)
    return one_per_position(method, heads, setup.slots_for), method


def toy_deepseek() -> nn.Module:
    """A target with latent attention, one dense layer and one of experts."""
    model = make_toy(
        "deepseek_v3",
        moe_intermediate_size=16,
        n_routed_experts=4,
        num_experts_per_tok=2,
        n_shared_experts=1,
        n_group=1,
        topk_group=1,
        first_k_dense_replace=1,
        q_lora_rank=16,
        kv_lora_rank=8,
        qk_rope_head_dim=8,
        qk_nope_head_dim=8,
        v_head_dim=8,
        num_key_value_heads=4,
    )
    return spread(model, 0)
