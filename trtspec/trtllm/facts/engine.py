"""What the config.json of a checkpoint or an engine says, per method."""

from __future__ import annotations

from functools import cache

from trtspec.trtllm.facts.read import document, entries
from trtspec.trtllm.facts.records import Architecture


def modes() -> dict[str, int]:
    """Speculative decoding modes: command-line name, and number in an engine's config.

    The number of ``none`` is 1; the others are the bits of the mode.
    """
    return dict(document("engine_config.json")["modes"]["bits"])


@cache
def architectures() -> dict[str, Architecture]:
    """What the config.json says, by method."""
    found = entries(document("engine_config.json")["architectures"], Architecture)
    return {architecture.method: architecture for architecture in found}
