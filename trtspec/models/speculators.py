"""Whether a drafter is laid out as the speculators library has it.

There the sizes are under ``transformer_layer_config``, and what TensorRT-LLM looks for
at the top (``hidden_size``, ``vocab_size``, ``model_type``, ...) is missing:
tensorrt_llm/_torch/models/modeling_speculative.py and modeling_dflash.py read the top
only. The layout is that of https://docs.vllm.ai/projects/speculators.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trtspec.errors import UsageError
from trtspec.methods.base import DrafterKind
from trtspec.models.config import CONFIG

_KEYS = ("speculators_model_type", "speculators_config")
_INNER = "transformer_layer_config"


def refuse_speculators(
    directory: Path, config: Mapping[str, Any], kind: DrafterKind
) -> None:
    """Refuse a drafter whose sizes TensorRT-LLM would not find.

    :param kind: what the drafter is wanted as.
    :raises UsageError: naming the key that gives it away.
    """
    found = next((key for key in _KEYS if key in config), None)
    if found is None or not isinstance(config.get(_INNER), dict):
        return
    raise UsageError(
        f"is laid out for the speculators library ({found}: {_shown(config[found])}), "
        "which TensorRT-LLM does not read",
        where=str(directory / CONFIG),
        allowed=f"hidden_size and the other sizes at the top, not under {_INNER}",
        action=f"choose {_EXAMPLES.get(kind, 'the drafter')} in the layout of its "
        "authors",
    )


_EXAMPLES: dict[DrafterKind, str] = {
    "eagle3": "the head, such as yuhuili/EAGLE3-LLaMA3.1-Instruct-8B,",
    "dflash": "the drafter, such as z-lab/Qwen3-8B-DFlash-b16,",
}


def _shown(value: object) -> str:
    return value if isinstance(value, str) else "..."
