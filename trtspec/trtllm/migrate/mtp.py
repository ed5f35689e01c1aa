"""What keys of MTP that changed their case are called."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.trtllm.migrate.change import Change, renamed
from trtspec.trtllm.migrate.config import Config

_TOKENS = ("begin_thinking_phase_token", "end_thinking_phase_token")


def thinking_tokens(config: Config) -> Iterator[Change]:
    """Write the thinking tokens' keys in upper case up to 1.1, in lower since 1.2."""
    if config.method != "mtp":
        return
    upper = config.family in ("1.0", "1.1")
    for name in _TOKENS:
        wanted, other = (name.upper(), name) if upper else (name, name.upper())
        if other in config.spec:
            case = "upper case up to 1.1" if upper else "lower case since 1.2"
            value = config.spec[other]
            yield renamed(config.at(other), value, wanted, f"{case}")
