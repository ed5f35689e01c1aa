"""Whether what drafts was made for sequences as long as those that are served."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.trtllm.installation import Installation

_STOPS = "https://github.com/NVIDIA/TensorRT-LLM/pull/4879"
_FADES = "https://github.com/sgl-project/sglang/issues/6783"


def drafter_reads_that_far(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Warn of sequences that are longer than a head was made for.

    That of a draft model is held against the limits on every backend.
    """
    drafter, limits = subject.drafter, subject.recipe.limits
    made_for = drafter.context_length if drafter is not None else None
    wanted = limits.max_total_tokens
    if drafter is None or made_for is None or wanted <= made_for:
        return
    fits = made_for > limits.max_input_tokens
    two_models = getattr(subject.recipe.speculation, "two_model", None) is True
    yield Finding(
        "drafter-context",
        "warning",
        subject.where("limits", "max_total_tokens"),
        f"max_total_tokens {wanted} is above the {made_for} tokens that the "
        f"{drafter.kind} drafter was made for",
        "behind them TensorRT-LLM drafts nothing"
        if two_models
        else "behind them fewer drafts are accepted, down to none; the output stays "
        "right, but that the engine runs there at all is not established",
        f"limit what is served, or send prompts of more than {made_for} tokens to a "
        "server with method: none; to go on, measure acceptance by prompt length",
        snippet=f"limits:\n  max_total_tokens: {made_for}" if fits else "",
        source=_STOPS if two_models else _FADES,
        values={
            "max_total_tokens": wanted,
            "drafter_context": made_for,
            "target_context": subject.target and subject.target.context_length,
        },
    )
