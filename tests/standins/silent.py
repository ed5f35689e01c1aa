"""How does a builder change what was asked for without saying so?"""

from __future__ import annotations

from typing import Any

OTHER_VERSION = "0.16.0"


def spoil(document: dict[str, Any], failure: str | None) -> dict[str, Any]:
    """Change an engine's config.json as one of the silent failures does."""
    config = document["build_config"]
    if failure == "wrong_version":
        document["version"] = OTHER_VERSION
    elif failure == "silent_change":
        config["plugin_config"]["use_paged_context_fmha"] = False
    elif failure == "silent_draft_length":
        config["max_draft_len"] = max(config["max_draft_len"] - 1, 0)
    elif failure == "silent_mode":
        config["speculative_decoding_mode"] = 1
    elif failure == "silent_lengths":
        config["max_seq_len"] -= 1
        config["max_batch_size"] = max(config["max_batch_size"] // 2, 1)
    return document
