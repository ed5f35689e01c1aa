"""What may go wrong on the newest releases with draft lengths by batch."""

from __future__ import annotations

from collections.abc import Mapping

from trtspec.recipe.dump import flow_text
from trtspec.trtllm.pytorch.compile.subject import Subject
from trtspec.trtllm.pytorch.settings import Remark

RULE = "draft-length"
KEY = ("speculation", "draft_length")
SCHEDULE = "draft_len_schedule"
STALE_SOURCE = "https://github.com/NVIDIA/TensorRT-LLM/pull/16888"


def in_recipe(draft_length: str) -> str:
    """Give the recipe's lines for a draft length, written on one line."""
    return f"speculation:\n  draft_length: {draft_length}"


def goes_stale(subject: Subject, length: Mapping[int, int]) -> Remark:
    """Warn that nothing is drafted for some batch, where the drafter is inside."""
    safe = flow_text({**length, subject.batch: 1})
    last = max(length)
    return Remark(
        RULE,
        "warning",
        KEY,
        f"nothing is drafted above {last} running requests, and max_batch_size is "
        f"{subject.batch}",
        "the drafter's state goes stale while nothing is drafted, and fewer tokens are "
        "accepted afterwards (pull request 16888)",
        f"write draft_length: {safe}, or lower limits.max_batch_size to {last}",
        snippet=in_recipe(safe),
        source=STALE_SOURCE,
        values={
            "draft_length": dict(length),
            "last_drafted_batch": last,
            "max_batch_size": subject.batch,
        },
    )


def may_end() -> Remark:
    """Warn that vanilla MTP may lose its schedule to a pull request."""
    return Remark(
        RULE,
        "warning",
        KEY,
        f"a later release may ignore {SCHEDULE} with vanilla MTP",
        "pull request 16888, still open, takes it from vanilla MTP",
        "write one number for speculation.draft_length, or watch the draft lengths "
        "that the server reports",
        source=STALE_SOURCE,
    )
