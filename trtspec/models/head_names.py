"""What each tensor of a head is called by its authors, whoever stored it."""

from __future__ import annotations

import re
from collections.abc import Collection

from trtspec.methods.base import DrafterKind

_PREFIX = "model."
_COMPUTED = re.compile(r".*rotary_emb\.inv_freq$")
_TRAINING_AID = "verifier_"
"""Of the speculators library (``_keys_to_ignore_on_save``)."""

_EAGLE_RENAMED = {"fusion_fc.": "fc.", "transformer.": "layers.0."}
"""speculators 0.1 to 0.3, src/speculators/models/eagle.py."""

_EAGLE3_LAYER = re.compile(r"(?:midlayer|layers)\.(?:(\d+)\.)?(.+)")
_REDRAFTER_RENAMED = {
    "lm_heads.": "lm_head.",
    "input_projs.": "input_proj.",
    "0.": "lm_head.",
}
_REDRAFTER_UNUSED = "emb_norm."
"""Some checkpoints have it; the authors' forward does not (mlx/modeling_drafter.py)."""


def head_names(kind: DrafterKind, stored: Collection[str]) -> dict[str, str]:
    """Give stored name → name of the part; without what no head reads by design."""
    if kind == "eagle":
        return _unprefixed(stored, _EAGLE_RENAMED)
    if kind == "eagle3":
        return _eagle3(stored)
    if kind == "dflash":
        return _unprefixed(stored, {})
    if kind == "redrafter":
        used = [name for name in stored if not name.startswith(_REDRAFTER_UNUSED)]
        return {name: _renamed(name, _REDRAFTER_RENAMED) for name in used}
    return {name: name for name in stored}


def _unprefixed(stored: Collection[str], renamed: dict[str, str]) -> dict[str, str]:
    return {
        name: _renamed(name.removeprefix(_PREFIX), renamed)
        for name in stored
        if not _COMPUTED.match(name)
    }


def _renamed(name: str, renamed: dict[str, str]) -> str:
    for other, own in renamed.items():
        if name.startswith(other):
            return own + name.removeprefix(other)
    return name


def _eagle3(stored: Collection[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for public in stored:
        name = public.removeprefix(_PREFIX)
        if name.startswith(_TRAINING_AID) or _COMPUTED.match(name):
            continue
        if found := _EAGLE3_LAYER.fullmatch(name):
            name = f"layers.{found[1] or 0}.{found[2]}"
        named[public] = name
    for public, name in named.items():
        # TensorRT-LLM calls the one norm of a layer that reads no embedding so
        usual = name.replace(".hidden_norm.", ".input_layernorm.")
        if usual not in named.values():
            named[public] = usual
    return named
