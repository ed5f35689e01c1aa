"""Makes toy heads predict a toy target, so that drafts are accepted now and then."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch.nn.functional import one_hot

PROMPTS = 8
"""The text begins with the tokens 0 to 7, one a row."""

TOKENS = 24
_texts: WeakKeyDictionary = WeakKeyDictionary()


def greedy_text(target) -> tuple[Tensor, Tensor]:
    """Greedy text of the target [rows, n], and its final states [rows, n, hidden].

    Most toys share their target; it is read once.
    """
    if target not in _texts:
        _texts[target] = _greedy_text(target)
    return _texts[target]


@torch.inference_mode()
def _greedy_text(target) -> tuple[Tensor, Tensor]:
    text = torch.arange(PROMPTS)[:, None]
    for _ in range(TOKENS):
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
