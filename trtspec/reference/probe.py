"""Whether a model does in slots what it does by itself: tried before anything runs.

transformers has models whose attention does not go by the positions and the mask that
it is given (ALiBi, recurrent state, masks of their own making). Their output would be
wrong without a word, so every loaded model is compared with plain forwards.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from trtspec.errors import RunError
from trtspec.reference.attention import plain_attention
from trtspec.reference.slots import Row, SlotModel
from trtspec.reference.tree import ROOT, DraftTree

TOLERANCE = {torch.float32: 1e-3, torch.bfloat16: 0.1, torch.float16: 0.05}
"""Largest difference of any logit, relative to the largest logit."""

_REFUSALS = (
    RuntimeError,
    ValueError,
    TypeError,
    AttributeError,
    IndexError,
    KeyError,
)
"""What transformers' models raise for arguments that they do not take."""

_TREE = DraftTree((8, 5, 7, 6), (ROOT, ROOT, 1, 2))
_KEPT = (0, 2, 3)  # of pending token and tree: the pending token, 5 and 7


def require_faithful(slots: SlotModel, model: nn.Module) -> None:
    """Compare ragged rows, a tree and a kept branch with plain forwards.

    :param slots: unused slots around ``model``; empty again afterwards.
    :raises RunError: if the model fails or its logits differ.
    """
    try:
        worst = max(_error(*pair) for pair in _comparisons(slots, model))
    except _REFUSALS as error:
        if "memory" in str(error):
            raise  # that is not about the model
        raise _unfaithful(f"it does not take positions and mask: {error}") from error
    for slot in range(_rows(slots)):
        slots.clear(slot)
    if not worst <= TOLERANCE[slots.dtype]:  # NaN is no "less or equal" either
        raise _unfaithful(f"its logits differ by {worst:.2g} of the largest")


def _comparisons(slots: SlotModel, model: nn.Module) -> list[tuple[Tensor, Tensor]]:
    texts = [[3, 9, 4, 8, 2, 7, 5, 6, 4], [6, 2, 8, 3]][: _rows(slots)]
    logits = slots.forward(0, [Row(text) for text in texts], last_only=True)
    pairs = [(logits[i], _plain(model, text)) for i, text in enumerate(texts)]
    for slot, text in enumerate(texts):
        slots.keep(slot, range(len(text)))

    rows = [Row((3, *_TREE.tokens), _TREE), Row((9,))][: _rows(slots)]
    logits = slots.forward(0, rows, last_only=False)
    text, (first, second, third, fourth) = texts[0], _TREE.tokens
    paths = [[], [first], [second], [second, third], [second, third, fourth]]
    pairs += [
        (logits[0, i], _plain(model, [*text, 3, *p])) for i, p in enumerate(paths)
    ]
    slots.keep(0, _KEPT)

    logits = slots.forward(0, [Row((4,))], last_only=True)
    pairs.append((logits[0], _plain(model, [*text, 3, second, third, 4])))
    return pairs


def _rows(slots: SlotModel) -> int:
    return min(2, len(slots.lengths))


@torch.inference_mode()
def _plain(model: nn.Module, tokens: list[int]) -> Tensor:
    """Logits [vocabulary] after the last token, by a forward of the whole text."""
    ids = torch.tensor([tokens], device=next(model.parameters()).device)
    with plain_attention(model):
        logits: Tensor = model(input_ids=ids, use_cache=False).logits[0, -1]
    return logits


def _error(got: Tensor, expected: Tensor) -> float:
    scale = expected.float().abs().max()
    return float((got.float() - expected.float()).abs().max() / scale)


def _unfaithful(reason: str) -> RunError:
    return RunError(
        f"the reference backend cannot run this model exactly: {reason}",
        allowed="causal LMs whose attention goes by the given positions and mask, "
        "such as Llama, Mistral, Qwen, Gemma, Phi-3, GPT-2, GPT-NeoX",
    )
