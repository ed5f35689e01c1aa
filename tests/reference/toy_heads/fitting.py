"""Makes toy heads predict a toy target, so that drafts are accepted now and then."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import one_hot

PROMPTS = 8
"""The text begins with the tokens 0 to 7, one a row."""


@torch.inference_mode()
def greedy_text(target, tokens: int = 24) -> tuple[Tensor, Tensor]:
    """Greedy text of the target [rows, n], and its final states [rows, n, hidden]."""
    text = torch.arange(PROMPTS)[:, None]
    for _ in range(tokens):
        likeliest = target(text, use_cache=False).logits[:, -1:].argmax(-1)
        text = torch.cat((text, likeliest), 1)
    return text, target.get_decoder()(text, use_cache=False).last_hidden_state


def best_lm_head(known: Tensor, follows: Tensor, target) -> Tensor:
    """Least squares: the weight [vocabulary, width] that predicts what follows.

    :param known: [rows, n, width].
    :param follows: ids [rows, n].
    """
    wanted = one_hot(follows.flatten(), target.config.vocab_size).float()
    return torch.linalg.lstsq(known.flatten(0, 1), wanted).solution.T
