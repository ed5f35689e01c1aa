"""Which tokens become siblings of a draft tree, and what each was drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from trtspec.errors import RunError
from trtspec.reference.chance import Chance
from trtspec.reference.sampling import distribution
from trtspec.run import SamplingParams


class Candidate(NamedTuple):
    """A draft token and the distribution it was drawn from, None for a point mass."""

    token: int
    proposal: Tensor | None


@dataclass(frozen=True, slots=True)
class VocabularyMap:
    """The target's ids of a drafter's own, smaller vocabulary.

    :param ids: the target's token id of each draft token, int64 [draft vocabulary];
        each is another one, or mass would be lost.
    :param size: rows of the target's logits.
    """

    ids: Tensor
    size: int

    def spread(self, probabilities: Tensor) -> Tensor:
        """Give probabilities [draft vocabulary] their places among [size]."""
        spread = probabilities.new_zeros(self.size)
        return spread.index_add_(0, self.ids, probabilities)


def likeliest(
    logits: Tensor, count: int, vocabulary: VocabularyMap | None = None
) -> list[Candidate]:
    """Choose the ``count`` likeliest tokens without chance, in falling order.

    :param logits: [own vocabulary].
    """
    if count == 1:
        chosen = [int(logits.max(-1).indices)]
    else:
        chosen = logits.topk(min(count, logits.shape[0])).indices.tolist()
    if vocabulary is not None:
        chosen = vocabulary.ids[chosen].tolist()
    return [Candidate(token, None) for token in chosen]


def drawn(q: Tensor, count: int, chance: Chance) -> list[Candidate]:
    """Draw up to ``count`` different tokens, one after the other.

    Each is drawn from what is left of q without the earlier ones, renormalised; that
    is its proposal. Fewer come out where q has fewer possible tokens.

    :param q: probabilities [vocabulary].
    """
    candidates: list[Candidate] = []
    left = q
    while len(candidates) < count:
        token = chance.draw(left)
        candidates.append(Candidate(token, left))
        left = left.clone()
        left[token] = 0
        total = left.sum()
        if not total > 0:
            break
        left = left / total
    return candidates


def siblings(
    logits: Tensor,
    count: int,
    sampling: SamplingParams,
    chance: Chance,
    vocabulary: VocabularyMap | None = None,
) -> list[Candidate]:
    """Choose siblings as the request decodes: the likeliest, or drawn ones.

    :param logits: [own vocabulary] of the drafter.
    :raises RunError: if they mean nothing, and so tell no distribution.
    """
    if sampling.greedy:
        return likeliest(logits, count, vocabulary)
    q = distribution(logits, sampling)
    if not bool(q.isfinite().all()):
        raise RunError(
            "the drafter's logits are not finite",
            action="use target.dtype bfloat16 or float32 if it is float16; else get "
            "the drafter's checkpoint again",
        )
    return drawn(q if vocabulary is None else vocabulary.spread(q), count, chance)


def in_target_vocabulary(logits: Tensor, size: int) -> Tensor:
    """Cut or extend [..., own rows] to the target's: padding rows differ."""
    missing = size - logits.shape[-1]
    if missing > 0:
        return torch.nn.functional.pad(logits, (0, missing), value=-torch.inf)
    return logits[..., :size]
