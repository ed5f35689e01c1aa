"""Which logits a target model gives after a text: what judges a difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from trtspec.errors import RunError
from trtspec.reference.attention import plain_attention
from trtspec.reference.prefill import CHUNK
from trtspec.reference.runner import ReferenceRunner
from trtspec.reference.slots import Row, SlotModel

_SLOT = 0


class Pair(NamedTuple):
    """Logits of two tokens after one text, and the token with the largest logit."""

    one: float
    other: float
    best: int


class Shortfall(NamedTuple):
    """How far a token's logit is below the largest one, which is given, too."""

    gap: float
    largest: float


class Scorer:
    """Scores with the slots and the precision in which a runner decodes.

    Nothing may be waiting or running: slot 0 is used, and emptied again.
    """

    def __init__(self, runner: ReferenceRunner) -> None:
        self._runner = runner

    def pair(self, text: Sequence[int], one: int, other: int) -> Pair:
        """Compare two tokens as continuations of a text.

        :param text: prompt and output so far, not empty.
        """
        logits = list(self._logits(text, len(text) - 1, CHUNK))[-1]
        return Pair(float(logits[one]), float(logits[other]), int(logits.argmax()))

    def spread(
        self, prompt: Sequence[int], output: Sequence[int], width: int
    ) -> list[float]:
        """Read one text in two shapes: one token per forward, and ``width``.

        Plain decoding does the first, verification the second.

        :returns: for each position of the output by how much the gap between the two
            likeliest tokens differs.
        """
        text = [*prompt, *output]
        start = len(prompt) - 1
        differences = []
        shapes = (self._logits(text, start, 1), self._logits(text, start, width))
        singles = [_likeliest_two(logits) for logits in shapes[0]]
        for (gap, first, second), logits in zip(singles, shapes[1], strict=True):
            wide = float(logits[first]) - float(logits[second])
            differences.append(abs(gap - wide))
        return differences

    def _logits(self, text: Sequence[int], start: int, width: int) -> Iterator[Tensor]:
        """Give logits [vocabulary] after each token of ``text`` from ``start`` on.

        :param width: tokens per forward from there on.
        """
        slots = self._idle_slots()
        try:
            for begin in range(0, start, CHUNK):
                part = text[begin : min(begin + CHUNK, start)]
                slots.forward(_SLOT, [Row(part)], last_only=True)
                slots.keep(_SLOT, range(len(part)))
            for begin in range(start, len(text), width):
                part = text[begin : begin + width]
                logits = slots.forward(_SLOT, [Row(part)], last_only=False)[0]
                slots.keep(_SLOT, range(len(part)))
                yield from logits
        finally:
            slots.clear(_SLOT)

    def _idle_slots(self) -> SlotModel:
        if self._runner.busy:
            raise RunError("the engine is still busy with requests")
        return self._runner.target_slots


@torch.inference_mode()
def shortfalls(
    model: nn.Module, prompt: Sequence[int], output: Sequence[int]
) -> list[Shortfall]:
    """Say of each token of an output how far it is from the likeliest one.

    One plain forward of the model over the whole text: no slots, no drafts. So every
    token is judged after the text that it really followed, behind a difference, too.
    """
    text = torch.tensor([[*prompt, *output]], device=next(model.parameters()).device)
    with plain_attention(model):
        logits: Tensor = model(input_ids=text, use_cache=False).logits[0]
    logits = logits[len(prompt) - 1 : -1].float()
    largest = logits.max(-1).values
    taken = logits.gather(1, text[0, len(prompt) :, None])[:, 0]
    pairs = zip((largest - taken).tolist(), largest.tolist(), strict=True)
    return [Shortfall(gap, most) for gap, most in pairs]


def _likeliest_two(logits: Tensor) -> tuple[float, int, int]:
    values, tokens = logits.float().topk(2)
    first, second = tokens.tolist()
    return float(values[0] - values[1]), first, second
