"""Which of the target's tokens a drafter with a small vocabulary can propose."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from trtspec.errors import UsageError
from trtspec.fit.answers import Answer

_PROMPT_WEIGHT = 0.1
"""What a token of a prompt counts beside one of an answer: answers take words up."""


def frequent_tokens(answers: Sequence[Answer], vocabulary: int, size: int) -> Tensor:
    """Choose the tokens that are most frequent in the answers, and then in prompts.

    :param vocabulary: the target's.
    :param size: how many to choose.
    :returns: ids [size], ascending.
    :raises UsageError: if the target has fewer tokens.
    """
    if not 0 < size <= vocabulary:
        raise UsageError(
            f"a draft vocabulary of {size}",
            where="--draft-vocabulary",
            allowed=f"1 to {vocabulary}, the target's tokens",
        )
    counts = torch.zeros(vocabulary, dtype=torch.float64)
    for answer in answers:
        weights = torch.full((len(answer.tokens),), _PROMPT_WEIGHT, dtype=torch.float64)
        for begin, end in answer.spans:
            weights[begin:end] = 1.0
        counts.index_add_(0, torch.tensor(answer.tokens), weights)
    # a stable order: of equally frequent tokens those with the lower id
    chosen = counts.sort(descending=True, stable=True).indices[:size]
    return chosen.sort().values


def covered(answers: Sequence[Answer], ids: Tensor) -> float:
    """Share of the answers' tokens that are among ``ids``."""
    known = set(ids.tolist())
    tokens = [t for a in answers for b, e in a.spans for t in a.tokens[b:e]]
    return sum(token in known for token in tokens) / max(len(tokens), 1)
