"""How many draft tokens an engine accepted that drafts by itself.

Where drafts come from outside we count ourselves, see ``rounds``. Here the engine says:

- ``decoding_iter`` counts iterations, the one that reads the prompt included
  (cpp/tensorrt_llm/batch_manager, updateRequests), so there was one verification step
  less.
- With ``return_perf_metrics`` the last answer carries drafted and accepted tokens. A
  tree's step counts as drafted the longest path, not its nodes.
- Without, every iteration emits the accepted tokens and one more, so that accepted
  tokens are the emitted ones less ``decoding_iter``. (``avg_decoded_tokens_per_iter``
  is the same quotient, but does not count an end token.) How many were drafted is not
  known: ``drafted`` stays 0, and there is no acceptance rate.

The engine's own figures count the last step as it came out of the verification. The
derived one counts one accepted token less if the end of the output cut that step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from trtspec.run.types import Completion
from trtspec.trtllm import facts
from trtspec.trtllm.engine.run.bindings import Bindings

METRICS = "return_perf_metrics"


class Counts(NamedTuple):
    """Verification steps, drafted and accepted tokens of one request."""

    steps: int
    drafted: int
    accepted: int


def has_metrics(bindings: Bindings) -> bool:
    """Whether this version tells drafted and accepted tokens of a request."""
    told = facts.attributes("RequestPerfMetrics", bindings.version)
    return bindings.has("OutputConfig", METRICS) and "speculative_decoding" in told


def engine_counts(result: Any, emitted: int) -> Counts | None:
    """Read the counts from a request's last result; None if it has none.

    :param emitted: tokens that the engine emitted for it, the end token included.
    """
    iterations = int(getattr(result, "decoding_iter", None) or 0)
    if not iterations:
        return None
    steps = iterations - 1
    metrics = getattr(result, "request_perf_metrics", None)
    speculative = getattr(metrics, "speculative_decoding", None)
    if speculative is not None and speculative.total_draft_tokens:
        accepted = int(speculative.total_accepted_draft_tokens)
        return Counts(steps, int(speculative.total_draft_tokens), accepted)
    return Counts(steps, 0, max(0, emitted - iterations))


def count_engine(completion: Completion, result: Any, emitted: int) -> None:
    """Fill a completion's counts from the engine's; leave them 0 if it says nothing."""
    if counts := engine_counts(result, emitted):
        completion.steps, completion.drafted, completion.accepted = counts


def count_plain(completion: Completion) -> None:
    """Fill the counts of plain decoding: one step per token but the first."""
    completion.steps = max(0, len(completion.tokens) - 1)
