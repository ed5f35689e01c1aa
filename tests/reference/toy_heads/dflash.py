"""A toy DFlash head, as a module, as a checkpoint and as a drafter."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn
from transformers import DynamicCache, Qwen3Config

from tests.reference.toy_heads.fitting import best_lm_head, greedy_text
from tests.reference.toy_heads.setup import spread, toy_setup
from tests.reference.toys import toy_model
from trtspec.methods import DFlash
from trtspec.reference.capture import Capture
from trtspec.reference.drafters.dflash import Block, DFlashDrafter
from trtspec.reference.heads.dflash import DFlashHead

LAYERS = (1, 0)
MASK = 2
SIZE = 5
CONFIG = {
    "model_type": "qwen3",
    "architectures": ["DFlashDraftModel"],
    "vocab_size": 48,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 256,
    "rope_theta": 10000.0,
    "block_size": SIZE,
    "dflash_config": {"mask_token_id": MASK, "target_layer_ids": list(LAYERS)},
}


def toy_head(target: nn.Module, seed: int = 0) -> DFlashHead:
    """Make a head that reads both layers of a toy target, the second one first."""
    lm_head = nn.Linear(32, target.config.vocab_size, bias=False)
    config = Qwen3Config.from_dict({**CONFIG, "vocab_size": target.config.vocab_size})
    embedding = target.get_input_embeddings()
    head = DFlashHead(config, len(LAYERS), embedding, spread(lm_head, seed))
    return spread(head, seed)


@torch.inference_mode()
def fitted_head(target: nn.Module) -> DFlashHead:
    """One that predicts the target's greedy text now and then."""
    head = toy_head(target)
    text, _ = greedy_text(target)
    with Capture(target, LAYERS) as capture:
        target(text, use_cache=False)
    states = capture.states()
    given, follows = [], []
    for known in range(2, text.shape[1] - SIZE):
        cache = DynamicCache()
        head(text[:, : known - 1], states=states[:, : known - 1], past_key_values=cache)
        block = torch.full((len(text), SIZE), MASK)
        block[:, 0] = text[:, known - 1]
        positions = torch.arange(known - 1, known - 1 + SIZE).expand_as(block)
        output = head(block, position_ids=positions, past_key_values=cache)
        given.append(output.states[:, 1:])
        follows.append(text[:, known : known + SIZE - 1])
    weight = best_lm_head(torch.cat(given, 1), torch.cat(follows, 1), target)
    head._shared[1].weight.copy_(weight)
    return head


def write_head(directory: Path, head: DFlashHead, **config) -> Path:
    """Write a head as z-lab publishes it."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.json").write_text(json.dumps({**CONFIG, **config}))
    save_file(head.state_dict(), str(directory / "model.safetensors"))
    return directory


def toy_dflash(
    target: nn.Module | None = None, slots: int = 4, draft_length: int = 4, **options
) -> tuple[DFlashDrafter, DFlash]:
    """Draft blocks with a toy head."""
    target = toy_model() if target is None else target
    setup = toy_setup(target, slots, **options)
    method = DFlash(method="dflash", model="./draft", draft_length=draft_length)
    head = setup.slots_for(fitted_head(target), SIZE)
    return DFlashDrafter(head, Block(SIZE, MASK, LAYERS)), method
