"""How many heads for further tokens (MTP) are among a checkpoint's tensors.

Public layouts, by the projection that only each of them has: behind the layers as
``model.layers.<layers + n>.eh_proj`` (DeepSeek-V3 and those that follow it; vllm
model_executor/models/deepseek_mtp.py), beside the model as ``mtp.fc`` with
``mtp.layers.<n>`` (Qwen3-Next; qwen3_next_mtp.py), and as
``model.mtp_layers.<n>.input_proj`` (MiMo; mimo_mtp.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection

_LAYOUTS = (
    (r"model\.layers\.(\d+)\.eh_proj\.weight", r"model\.layers\.(\d+)\.eh_proj\."),
    (r"mtp\.fc\.weight", r"mtp\.layers\.(\d+)\."),
    (
        r"model\.mtp_layers\.(\d+)\.input_proj\.weight",
        r"model\.mtp_layers\.(\d+)\.input_proj\.",
    ),
)
"""Per layout its projection, and what counts its heads."""

EXAMPLES = ("model.layers.<n>.eh_proj", "mtp.fc", "model.mtp_layers.<n>.input_proj")


def next_token_name(names: Collection[str]) -> str | None:
    """Name a projection of embedding and hidden state; None if there is none."""
    for projection, _ in _LAYOUTS:
        if name := next(filter(re.compile(projection).fullmatch, names), None):
            return name
    return None


def stored_next_token_heads(names: Collection[str]) -> int:
    """Count the heads; 0 if there are none."""
    for projection, counted in _LAYOUTS:
        if any(map(re.compile(projection).fullmatch, names)):
            found = filter(None, map(re.compile(counted).match, names))
            return len({match[1] for match in found})
    return 0


def next_token_prefixes(names: Collection[str]) -> tuple[str, ...]:
    """Give what the heads' tensors begin with; empty if there are none."""
    for projection, counted in _LAYOUTS:
        if any(map(re.compile(projection).fullmatch, names)):
            if projection.startswith("mtp"):
                return ("mtp.",)
            found = filter(None, map(re.compile(counted).match, names))
            return tuple(
                sorted(
                    {
                        match[0].rpartition(match[1])[0] + match[1] + "."
                        for match in found
                    }
                )
            )
    return ()
