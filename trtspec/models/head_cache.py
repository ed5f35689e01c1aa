"""Which keys and values a drafter's own layers cache, from its configuration."""

from __future__ import annotations

from typing import NamedTuple

from trtspec.errors import UsageError
from trtspec.models.config import CONFIG
from trtspec.models.drafter import DrafterInfo
from trtspec.models.drafter_configuration import DrafterConfiguration
from trtspec.models.json_file import read_json_object
from trtspec.models.speculators import at_the_top

_WITH_LAYERS = ("eagle", "eagle3", "dflash")


class HeadCache(NamedTuple):
    """Layers of a drafter that attend, and their heads."""

    layers: int
    kv_heads: int
    head_size: int


def head_cache(info: DrafterInfo) -> HeadCache | None:
    """Read it; None for a drafter without attention, or if it is not told."""
    if info.kind not in _WITH_LAYERS:
        return None
    try:
        values = at_the_top(read_json_object(info.directory / CONFIG), None)
        return _of_configuration(info, DrafterConfiguration(info.directory, values))
    except UsageError:
        return None  # what is wrong with it is another rule's to say


def _of_configuration(
    info: DrafterInfo, config: DrafterConfiguration
) -> HeadCache | None:
    heads = config.number("num_attention_heads")
    width = config.number("hidden_size")
    if not info.layers or heads is None or width is None:
        return None
    size = config.number("head_dim") or width // heads
    return HeadCache(info.layers, config.number("num_key_value_heads") or heads, size)
