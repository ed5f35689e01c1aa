"""What ``avg_decoded_tokens_per_iter`` of a response says about drafts.

TensorRT-LLM divides the generated tokens by the decoding iterations
(cpp/include/tensorrt_llm/batch_manager/llmRequest.h, ``getAvgDecodedTokensPerIter``).
The prefill is one of them and gives the first token; each later iteration is a
verification step and gives one token and the accepted draft tokens
(tensorrt_llm/_torch/pyexecutor/sampler.py and _torch/speculative, ``update_requests``:
``py_decoding_iter += 1`` once per request, context requests included). Hence, with
tokens T and mean a: iterations = T / a, steps = iterations - 1, accepted = T -
iterations, and the acceptance length is (T - 1) / steps, not a.
"""

from __future__ import annotations

import math

from trtspec.trtllm.pytorch.metrics.acceptance import Acceptance, unavailable
from trtspec.trtllm.pytorch.metrics.counts import nonsense

SOURCE = "avg_decoded_tokens_per_iter"
_WHOLE = 0.01
"""How far T / a may lie from a whole number: the mean is a 32-bit float."""


def from_response(
    average: float | None,
    tokens: int | None = None,
    *,
    where: str = "response",
) -> Acceptance:
    """Derive steps and accepted tokens of one request.

    :param average: ``avg_decoded_tokens_per_iter`` of the last chunk or the response.
    :param tokens: output tokens of the request; None if that is not known.
    :param where: the request, for messages.
    :raises RunError: if the figures make no sense.
    """
    if average is None:
        return unavailable(SOURCE, "the response has no such field")
    _require_sense(average, tokens, where)
    if not average:
        return unavailable(SOURCE, "no iteration was counted")
    iterations = _iterations(average, tokens)
    if tokens is None or iterations is None:
        return Acceptance(
            tokens=tokens,
            source=SOURCE,
            tokens_per_iteration=float(average),
            note="tokens per iteration as reported, the prefill counted as one",
        )
    steps, accepted = iterations - 1, tokens - iterations
    if not steps:
        return unavailable(SOURCE, "the output ended before the first draft")
    return Acceptance(
        accepted=accepted,
        steps=steps,
        tokens=tokens,
        source=SOURCE,
        note="derived from the mean; steps without a draft count too",
    )


def _require_sense(average: float, tokens: int | None, where: str) -> None:
    is_number = isinstance(average, int | float) and not isinstance(average, bool)
    if not is_number or not math.isfinite(average) or average < 0:
        nonsense(where, f"{SOURCE} is {average!r}", "a number of 0 or more")
    if 0 < average < 1 - 1e-6:
        nonsense(where, f"{SOURCE} is {average:g}", "1 or more: a token per iteration")
    if tokens is not None and tokens < 0:
        nonsense(where, f"the request has {tokens} tokens", "0 or more")


def _iterations(average: float, tokens: int | None) -> int | None:
    """Iterations of the request; None if the token count is another than the mean's.

    A stop string that was cut off takes tokens away which the mean still counts.
    """
    if not tokens:
        return None
    exact = tokens / average
    near = round(exact)
    return near if near >= 1 and abs(exact - near) <= _WHOLE else None
