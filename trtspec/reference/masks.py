"""What each new token may attend to, with ragged rows, trees and sliding windows."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from trtspec.reference.tree import DraftTree


def visible(starts: Tensor, size: int, columns: int) -> Tensor:
    """Causal visibility for rows that are plain continuations.

    :param starts: committed tokens of each row, int64 [rows].
    :param size: new tokens of the longest row, n.
    :param columns: length of the longest row with its new tokens.
    :returns: bool [rows, n, columns].
    """
    last_seen = starts[:, None] + torch.arange(size, device=starts.device)
    return torch.arange(columns, device=starts.device) <= last_seen[..., None]


def hide_other_branches(
    seen: Tensor,
    starts: Sequence[int],
    trees: Sequence[DraftTree | None],
    fed: Sequence[int],
) -> None:
    """Restrict each tree's tokens to their ancestors; changes ``seen`` in place.

    :param seen: bool [rows, n, columns], as ``visible`` gives it.
    :param starts: where each row's new tokens are stored from.
    :param fed: how many of each step's tokens are stored right before that.
    """
    for row, (start, tree, before) in enumerate(zip(starts, trees, fed, strict=True)):
        if tree is None or tree.is_chain:
            continue
        end = min(before + seen.shape[1], len(tree) + 1)
        allowed = tree.visibility()[before:end, :end].to(seen.device)
        seen[row, : end - before, start - before : start - before + end] = allowed


def within_window(seen: Tensor, keys: Tensor, queries: Tensor, window: int) -> Tensor:
    """Hide what lies further back than a sliding window.

    :param keys: position of each column [rows, columns].
    :param queries: position of each new token [rows, n].
    """
    return seen & (queries[..., None] - keys[:, None, :] < window)


def additive(seen: Tensor, dtype: torch.dtype) -> Tensor:
    """Turn visibility [rows, n, columns] into an additive mask, one axis longer.

    :returns: [rows, 1, n, columns].
    """
    mask = torch.zeros(seen.shape, dtype=dtype, device=seen.device)
    return mask.masked_fill_(~seen, torch.finfo(dtype).min)[:, None]
