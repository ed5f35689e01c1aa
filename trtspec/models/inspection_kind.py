"""Of which kind a checkpoint is, by its tensors first and by its name last."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from trtspec.methods.base import DrafterKind
from trtspec.models.drafter_signs import MEDUSA_PREFIX, sign_of
from trtspec.models.speculators import SPECULATORS_TYPE
from trtspec.models.stored_record import StoredFiles
from trtspec.models.tensor_header import TensorHeader
from trtspec.models.traits import mask_token

_TITLES: dict[DrafterKind, str] = {
    "model": "causal language model",
    "medusa": "Medusa heads",
    "eagle": "EAGLE-1 or EAGLE-2 drafter",
    "eagle3": "EAGLE-3 head",
    "redrafter": "ReDrafter head",
    "dflash": "DFlash drafter",
    "mtp": "next-token heads (MTP) without a model",
}
_CAUSAL = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
_MEDUSA_FILES = ("medusa_lm_head.pt", "medusa_lm_head.safetensors")
_NOT_READ = TensorHeader("unknown", (), 0)


class Told(NamedTuple):
    """A kind, in words, and what shows it; None if nothing does."""

    kind: DrafterKind | None
    title: str
    by: str


def tell(directory: Path, config: Mapping[str, Any], stored: StoredFiles) -> Told:
    """Tell a checkpoint's kind.

    :param config: the content of ``config.json``; empty if it cannot be read.
    """
    if stored.format == "gguf":
        return Told("model", "causal language model (GGUF)", "it is a GGUF file")
    unread = (*stored.missing_tensors, *stored.names)
    tensors = {**dict.fromkeys(unread, _NOT_READ), **stored.tensors}
    sign = sign_of(config, tensors)
    if sign is not None and sign.kind != "model":
        layout = " in the speculators layout" if SPECULATORS_TYPE in config else ""
        return Told(sign.kind, _TITLES[sign.kind] + layout, sign.text)
    if inside := [name for name in tensors if name.startswith(MEDUSA_PREFIX)]:
        return _with_medusa(tensors, inside[0])
    for name in _MEDUSA_FILES:
        if (directory / name).is_file() and not stored.tensors:
            return Told("medusa", _TITLES["medusa"], f"it holds {name}")
    named = _class(config)
    if sign is None and not named.endswith(_CAUSAL):
        return Told(None, "unknown", "no tensor and no key of a known kind")
    by = f"config.json names the class {named}" if sign is None else sign.text
    return Told("model", _model_title(config), by)


def _with_medusa(tensors: Mapping[str, TensorHeader], name: str) -> Told:
    whole = any(".layers.0." in other for other in tensors)
    by = f"it holds the tensor {name}"
    if whole:
        return Told("model", "causal language model with Medusa heads inside", by)
    return Told("medusa", _TITLES["medusa"], by)


def _model_title(config: Mapping[str, Any]) -> str:
    if config.get("pard_token") is not None:
        return "PARD draft model (a causal language model trained to draft in parallel)"
    title = _TITLES["model"]
    named = mask_token(config)
    return title if named is None else f"{title} that names a mask token"


def _class(config: Mapping[str, Any]) -> str:
    classes = config.get("architectures")
    return str(classes[0]) if isinstance(classes, list) and classes else ""
