"""What a draft tree becomes: only main grows one, fixed ones are gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from packaging.version import Version

from trtspec.trtllm.migrate.change import Change, blocked, removed, warned
from trtspec.trtllm.migrate.config import EARLY, Config

DYNAMIC = "use_dynamic_tree"
TOTAL = "max_total_draft_tokens"
TOP_K = "dynamic_tree_max_topK"
_OF_DYNAMIC = (TOP_K, "max_non_leaves_per_layer")
_FIXED = "eagle_choices"
_NEEDS_SWITCH = Version("1.3.0rc27")
"""From here on it is known that nothing but the switch makes a tree."""


def tree(config: Config) -> Iterator[Change]:
    """Keep a dynamic tree where both releases grow it; else draft what was drafted."""
    spec = config.spec
    if spec.get(_FIXED) is not None:
        why = "fixed trees were never finished on backend pytorch: a chain is drafted"
        yield removed(config.at(_FIXED), spec[_FIXED], why)
    grows = spec.get(DYNAMIC) is True
    if grows and config.source == "main" and config.family in EARLY:
        how = f"delete it and {TOP_K} to draft a chain"
        why = f"{config.version} grows no tree on backend pytorch: {how}"
        yield blocked(config.at(DYNAMIC), True, why)
    elif DYNAMIC in spec and (not grows or config.source in EARLY):
        why = "no effect on backend pytorch up to 1.2: a chain is drafted"
        why = why if grows else "the default"
        yield removed(config.at(DYNAMIC), spec[DYNAMIC], why)
    if not grows or config.source in EARLY:
        for key in (*_OF_DYNAMIC, TOTAL):
            if key in spec:
                yield _on_a_chain(config, key, spec[key], switched=DYNAMIC in spec)


def _on_a_chain(config: Config, key: str, value: Any, *, switched: bool) -> Change:
    path, on_main = config.at(key), config.family == "main"
    if on_main and key == TOP_K and not switched and _may_have_grown(config):
        return warned(
            path,
            value,
            f"no effect without {DYNAMIC}, but around 1.3.0rc20 it made a tree by "
            f"itself: add {DYNAMIC}: true to have one, or delete it",
        )
    if on_main and key == TOTAL and config.source == "main":
        if value == config.draft_length:
            return removed(path, value, f"the same as {config.length_key} on a chain")
        why = f"without {DYNAMIC} a chain is drafted, yet main verifies so many tokens "
        return warned(path, value, f"{why}per step: delete it, or write {DYNAMIC}")
    return removed(path, value, "no effect on a chain")


def _may_have_grown(config: Config) -> bool:
    version = config.written_for
    return config.source in EARLY or (version is not None and version < _NEEDS_SWITCH)
