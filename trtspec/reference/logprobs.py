"""What the target says of the tokens that a step emitted, for requests that ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from trtspec.run import Chunk, Request, TokenLogprob


def with_logprobs(
    chunk: Chunk, request: Request, logits: Tensor, places: Sequence[int]
) -> Chunk:
    """Add log-probabilities to a chunk, if its request asks for them.

    :param logits: the target's in this step: [n, vocabulary].
    :param places: the row of ``logits`` that each token was chosen by; for a draft it
        is that of the node before it, so a token's value does not depend on whether it
        was drafted.
    """
    if request.logprobs is None or not chunk.tokens:
        return chunk
    rows = logits[list(places[: len(chunk.tokens)])]
    found = token_logprobs(rows, chunk.tokens, request.logprobs)
    return replace(chunk, logprobs=found)


def token_logprobs(
    logits: Tensor, tokens: Sequence[int], top: int
) -> tuple[TokenLogprob, ...]:
    """Log-probabilities of tokens under the softmax of ``logits`` [tokens, vocabulary].

    :param top: how many of the likeliest tokens are given beside each.
    """
    log = logits.float().log_softmax(-1)
    likeliest = log.topk(min(top, log.shape[-1]), dim=-1)
    return tuple(
        TokenLogprob(
            token,
            float(row[token]),
            tuple(zip(ids.tolist(), values.tolist(), strict=True)),
        )
        for token, row, ids, values in zip(
            tokens, log, likeliest.indices, likeliest.values, strict=True
        )
    )
