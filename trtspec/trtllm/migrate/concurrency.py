"""What becomes of ``max_concurrency``: no drafting above so many requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trtspec.trtllm.migrate.change import Change, blocked, removed, warned
from trtspec.trtllm.migrate.config import Config
from trtspec.trtllm.migrate.pausing import (
    ends_for_vanilla,
    ignored,
    named,
    never_reached,
    no_effect,
    stale,
)

LIMIT = "max_concurrency"


def concurrency(config: Config, limit: Any) -> Iterator[Change]:
    """Write ``max_concurrency`` of a file without a schedule.

    :param limit: its value.
    """
    path = config.at(LIMIT)
    acted = config.meant.follows_max_concurrency
    acts = config.becomes.follows_max_concurrency
    if isinstance(limit, int) and limit >= config.largest_batch:
        if not acts:
            yield removed(path, limit, never_reached(config))
        return
    if not acted and not acts:
        yield removed(path, limit, ignored(config))
        return
    if not acts:
        why = f"TensorRT-LLM {config.version} drafts for every batch with "
        how = "lower max_batch_size, or delete it to draft always"
        yield blocked(path, limit, f"{why}{named(config)}: {how}")
        return
    if not acted:
        yield warned(path, limit, f"begins to act; it had {no_effect(config)}")
    if config.family == "main" and not config.becomes.is_driven:
        yield warned(path, limit, stale(limit))
    if why := ends_for_vanilla(config):
        yield warned(path, limit, why)
