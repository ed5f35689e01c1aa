"""Seeded ReDrafter heads for toy targets."""

from __future__ import annotations

import torch

from tests.reference.toy_heads.fitting import best_lm_head, greedy_text
from trtspec.methods import ReDrafter
from trtspec.reference.drafters.redrafter import ReDrafterDrafter
from trtspec.reference.heads.redrafter import ReDrafterHead


def redrafter_head(target, width=64, layers=1, recurrent=True, seed=0) -> ReDrafterHead:
    """A random head; without a projection at width 64, twice the toys' 32."""
    torch.manual_seed(seed)
    config = target.config
    made = ReDrafterHead(
        config.hidden_size, width, layers, config.vocab_size, recurrent=recurrent
    )
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return made.eval()


@torch.inference_mode()
def fit(head: ReDrafterHead, target, length=3) -> ReDrafterHead:
    """Least squares over all steps of the recurrence, on the target's greedy text."""
    text, states = greedy_text(target)
    embedded = target.get_input_embeddings()(text)
    size = text.shape[1]
    state = torch.zeros_like(states)
    known, follows = [], []
    for step in range(1, length + 1):
        end = size - step - 1  # places whose next tokens are known so far
        state = head.advance(state[:, :end], embedded[:, step : step + end])
        beside = torch.cat((states[:, :end], state), -1)
        known.append(head.lm_head[:-1](beside))
        follows.append(text[:, step + 1 :])
    weight = best_lm_head(torch.cat(known, 1), torch.cat(follows, 1), target)
    head.lm_head[-1].weight.copy_(weight)
    return head


def redrafter_method(**fields) -> ReDrafter:
    sizes = {"num_beams": 3, "draft_length_per_beam": 3}
    return ReDrafter(method="redrafter", model="./drafter", **{**sizes, **fields})


def redrafter(target, slots=4, **fields) -> tuple[ReDrafterDrafter, ReDrafter]:
    """A recurrent head that searches three beams of three tokens."""
    method = redrafter_method(**fields)
    head = fit(redrafter_head(target), target)
    embedding = target.get_input_embeddings()
    return ReDrafterDrafter(head, embedding, method, target.config.vocab_size), method
