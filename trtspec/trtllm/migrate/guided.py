"""Whether grammars and JSON schemas can be enforced under speculation."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.trtllm.migrate.change import Change, blocked
from trtspec.trtllm.migrate.config import Config
from trtspec.trtllm.pytorch.compile.driven import ONE_MODEL_FLAG

KEY = "guided_decoding_backend"


def guided(config: Config) -> Iterator[Change]:
    """Refuse guided decoding where speculation cannot have it: 1.0, 1.1 in part."""
    value = config.values.get(KEY)
    if value is None or not config.method:
        return
    how = f"delete {KEY}, or speculative_config"
    if config.family == "1.0":
        why = "1.0 has no guided decoding under speculation (since 1.1)"
        yield blocked((KEY,), value, f"{why}: {how}")
    elif config.family == "1.1" and not config.becomes.is_driven:
        why = "it is established on 1.1 for drafters outside the target's engine only"
        flag = ONE_MODEL_FLAG.get(config.method)
        if flag and config.source != "main":
            how += f", or write {flag}: false"
        yield blocked((KEY,), value, f"{why}: {how}")
