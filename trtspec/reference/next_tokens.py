"""What may come next, and how likely, after each of many texts: the target by itself.

For judging engines. The texts share a beginning, so one pass over a tree of their ends
gives all; it is compared with a plain forward of the whole text, and a model that does
not do the same in both is asked text by text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from trtspec.reference.attention import plain_attention
from trtspec.reference.probe import TOLERANCE
from trtspec.reference.sampling import distribution
from trtspec.reference.slots import Row, SlotModel
from trtspec.reference.tree import DraftTree
from trtspec.run import SamplingParams

Floats = NDArray[np.float64]
Path = tuple[int, ...]


class Next(NamedTuple):
    """What may follow a text.

    :ivar p: probabilities [vocabulary], restricted as the request asks.
    :ivar moved: total variation from ``p`` to the distribution of logits that were
        rounded anew.
    """

    p: Floats
    moved: float


class Said(NamedTuple):
    """What the model says of each token of an output.

    :ivar log: natural logarithms of its softmax, [tokens, vocabulary].
    :ivar largest: the largest logit at each place, [tokens].
    """

    log: NDArray[np.float32]
    largest: NDArray[np.float32]


@torch.inference_mode()
def next_tokens(
    model: nn.Module,
    text: Sequence[int],
    paths: Sequence[Path],
    sampling: SamplingParams,
    wobble: float = 0.0,
) -> list[Next]:
    """Give the distribution after ``text`` and each path behind it.

    :param text: token ids that all have in common, not empty.
    :param paths: token ids that follow; an empty one is the text itself.
    :param sampling: with a temperature above 0.
    :param wobble: by how much each logit moves at most when it is rounded anew; drawn
        evenly, from a seed.
    """
    rows = _rows(model, text, paths)
    generator = torch.Generator().manual_seed(0)
    found = []
    for row in rows:
        p = distribution(row, sampling)
        noise = torch.rand(row.shape, generator=generator, dtype=torch.float64)
        again = row.double() + wobble * (2 * noise - 1)
        moved = float((distribution(again, sampling) - p).abs().sum()) / 2
        found.append(Next(p.numpy(), moved if wobble else 0.0))
    return found


@torch.inference_mode()
def said_of(model: nn.Module, prompt: Sequence[int], output: Sequence[int]) -> Said:
    """Give log-probabilities at every place of an output, by one plain forward."""
    logits = _plain(model, [*prompt, *output])[len(prompt) - 1 : -1]
    return Said(logits.log_softmax(-1).numpy(), logits.max(-1).values.numpy())


def _rows(model: nn.Module, text: Sequence[int], paths: Sequence[Path]) -> list[Tensor]:
    """Logits [vocabulary] after each path, on the CPU in float32."""
    longest = max(paths, key=len)
    rows = _by_tree(model, text, paths)
    plain = _plain(model, [*text, *longest])[-1]
    row = rows[paths.index(longest)]
    error = float((row - plain).abs().max() / plain.abs().max())
    if error <= TOLERANCE[next(model.parameters()).dtype]:
        return rows
    return [_plain(model, [*text, *path])[-1] for path in paths]


def _by_tree(
    model: nn.Module, text: Sequence[int], paths: Sequence[Path]
) -> list[Tensor]:
    tree = DraftTree.of_paths(paths)
    nodes = _nodes(tree)
    slots = SlotModel(model, 1, len(text) + len(tree), len(tree) + 1)
    *before, pending = text
    with plain_attention(model):
        if before:
            slots.forward(0, [Row(before)], last_only=True)
            slots.keep(0, range(len(before)))
        row = Row((pending, *tree.tokens), tree)
        logits = slots.forward(0, [row], last_only=False)[0].float().cpu()
    return [logits[nodes[path]] for path in paths]


def _nodes(tree: DraftTree) -> dict[Path, int]:
    """Say in which row of a step the text with each path ends."""
    paths: list[Path] = [()]
    for token, parent in zip(tree.tokens, tree.parents, strict=True):
        paths.append((*paths[parent + 1], token))
    return {path: row for row, path in enumerate(paths)}


def _plain(model: nn.Module, tokens: Sequence[int]) -> Tensor:
    """Logits [tokens, vocabulary] of one forward, on the CPU in float32."""
    ids = torch.tensor([list(tokens)], device=next(model.parameters()).device)
    with plain_attention(model):
        logits: Tensor = model(input_ids=ids, use_cache=False).logits[0]
    return logits.float().cpu()
