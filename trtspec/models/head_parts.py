"""Whether a drafter's checkpoint holds each tensor of its kind, and no other.

What is looked for is what the reference engine's heads consist of
(trtspec.reference.heads), which are those of the authors. TensorRT-LLM takes what its
modules are called and leaves the rest unread (tensorrt_llm/_torch/models/
modeling_utils.py, ``_load_weights_impl``): a tensor under another name than it looks
for is lost without a word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from trtspec.methods.base import DrafterKind
from trtspec.models.drafter_signs import MEDUSA_PREFIX
from trtspec.models.head_layers import Shape, decoder_layer, is_plain
from trtspec.models.head_names import head_names
from trtspec.models.next_token_parts import next_token_parts
from trtspec.models.parts import WHOLE, Parts
from trtspec.models.tensor_header import Tensors

_MEDUSA = re.compile(r"(?:medusa_head\.)?(\d+)\.(\d+)\.(linear\.)?(?:weight|bias)")
_LAYER = re.compile(r"layers\.(\d+)\.")
_OUTPUT_LAYER = re.compile(r"lm_head\.(\d+)\.linear\.weight")
_STATE_NORM = re.compile(r"fc_norm\.\d+\.weight")
_ANY_SHAPE: Shape = ()


def parts_of(kind: DrafterKind, config: Mapping[str, Any], tensors: Tensors) -> Parts:
    """Hold a head's tensors against those that a head of its kind consists of.

    Heads whose layers are built in other ways than Llama's and Qwen3's are not judged.

    :param config: all sizes at the top.
    :param tensors: by the checkpoint's own names, not quantized.
    """
    if kind == "mtp":
        return next_token_parts(tensors)
    expected = _EXPECTED.get(kind)
    if expected is None:
        return WHOLE
    public = head_names(kind, tensors)
    given = {own: tensors[name] for name, own in public.items()}
    if not is_plain(given):
        return WHOLE
    wanted, allowed = expected(config, given)
    by_own = {own: name for name, own in public.items()}
    known = {**allowed, **wanted}
    return Parts(
        tuple(sorted(wanted.keys() - given.keys())),
        tuple(sorted(by_own[own] for own in given.keys() - known.keys())),
        tuple(
            (by_own[own], given[own].shape, known[own])
            for own in sorted(given.keys() & known.keys())
            if not _is_shaped(given[own].shape, known[own])
        ),
    )


def _is_shaped(shape: tuple[int, ...], wanted: Shape) -> bool:
    if wanted == _ANY_SHAPE:
        return True
    return len(shape) == len(wanted) and all(
        size in (given, None) for given, size in zip(shape, wanted, strict=True)
    )


_Expected = tuple[dict[str, Shape], dict[str, Shape]]
"""What must be there, and what may be; a size that nothing settles is None."""


def _medusa(_: Mapping[str, Any], given: Tensors) -> _Expected:
    """Residual layers, then each head's own LM head, or none has one."""
    found = [match for name in given if (match := _MEDUSA.fullmatch(name))]
    residual = [match for match in found if match[3]]
    if not residual:
        return {}, dict.fromkeys(given, _ANY_SHAPE)
    heads, layers = (1 + max(int(match[part]) for match in residual) for part in (1, 2))
    inside = any(name.startswith(MEDUSA_PREFIX) for name in given)
    prefix = MEDUSA_PREFIX if inside else ""
    size = _size(given, f"{prefix}0.0.linear.weight", 0)
    rows = _size(given, f"{prefix}0.{layers}.weight", 0)
    wanted: dict[str, Shape] = {}
    for head in range(heads):
        for layer in range(layers):
            wanted[f"{prefix}{head}.{layer}.linear.weight"] = (size, size)
            wanted[f"{prefix}{head}.{layer}.linear.bias"] = (size,)
        if any(not match[3] for match in found):
            wanted[f"{prefix}{head}.{layers}.weight"] = (rows, size)
    # behind the prefix heads share a checkpoint with their model
    others = (n for n in given if inside and not n.startswith(MEDUSA_PREFIX))
    return wanted, dict.fromkeys(others, _ANY_SHAPE)


def _eagle(_: Mapping[str, Any], given: Tensors) -> _Expected:
    """``fc`` and layers, of which the first has no norm before its attention."""
    width = _size(given, "fc.weight", 0)
    wanted: dict[str, Shape] = {"fc.weight": (width, width and 2 * width)}
    allowed: dict[str, Shape] = {
        "fc.bias": (width,),
        "embed_tokens.weight": (None, width),
        "lm_head.weight": (None, width),  # a copy of the target's, in some
    }
    for layer in range(_layers(given)):
        must, may = decoder_layer(f"layers.{layer}.", given, width)
        if layer == 0:
            del must["layers.0.input_layernorm.weight"]
        wanted |= must
        allowed |= may
    return wanted, allowed


def _eagle3(config: Mapping[str, Any], given: Tensors) -> _Expected:
    """``fc`` unless one state is read, layers that may read the embedding, tables."""
    stated = config.get("hidden_size")
    width = _size(given, "norm.weight", 0) or (stated if type(stated) is int else None)
    drafted = _size(given, "lm_head.weight", 0) or _size(given, "d2t", 0)
    wanted: dict[str, Shape] = {"norm.weight": (width,)}
    allowed: dict[str, Shape] = {
        "fc.weight": (width, None),
        "fc.bias": (width,),
        "embed_tokens.weight": (None, width),
        "lm_head.weight": (drafted, width),
        "lm_head.bias": (drafted,),
        "d2t": (drafted,),
        "t2d": (None,),
        "input_norm.weight": (None,),
        **{name: (None,) for name in given if _STATE_NORM.fullmatch(name)},
    }
    for layer in range(_layers(given)):
        prefix = f"layers.{layer}."
        columns = _size(given, f"{prefix}self_attn.q_proj.weight", 1)
        norm = f"{prefix}hidden_norm.weight"
        reads = norm in given or (width is not None and columns == 2 * width)
        must, may = decoder_layer(prefix, given, width, reads=2 if reads else 1)
        wanted |= must | ({norm: (width,)} if reads else {})
        allowed |= may
    return wanted, allowed


def _dflash(config: Mapping[str, Any], given: Tensors) -> _Expected:
    """``fc`` from captured states, and Qwen3's layers."""
    width = _size(given, "norm.weight", 0) or _size(given, "hidden_norm.weight", 0)
    wanted: dict[str, Shape] = {
        "fc.weight": (width, None),
        "hidden_norm.weight": (width,),
        "norm.weight": (width,),
    }
    allowed: dict[str, Shape] = {}
    for layer in range(_layers(given)):
        must, may = decoder_layer(f"layers.{layer}.", given, width, head_norms=True)
        wanted |= must
        allowed |= may if config.get("attention_bias") else {}
    return wanted, allowed


def _redrafter(config: Mapping[str, Any], given: Tensors) -> _Expected:
    """Residual layers and an output, and recurrent weights unless they are off."""
    stated = config.get("hidden_size")
    size = stated if type(stated) is int else None
    numbers = [int(m[1]) for name in given if (m := _OUTPUT_LAYER.fullmatch(name))]
    layers = 1 + max(numbers, default=-1)
    width = _size(given, f"lm_head.{layers}.weight", 1)
    wanted: dict[str, Shape] = {f"lm_head.{layers}.weight": (None, width)}
    for layer in range(layers):
        wanted[f"lm_head.{layer}.linear.weight"] = (width, width)
        wanted[f"lm_head.{layer}.linear.bias"] = (width,)
    if config.get("rnn", any(name.startswith("rnn_") for name in given)):
        wanted |= {"rnn_u.weight": (size, size), "rnn_u.bias": (size,)}
        wanted["rnn_w.weight"] = (size, size)
    if size is not None and width not in (None, 2 * size):
        wanted["input_proj.weight"] = (width, 2 * size)
        wanted["input_proj.bias"] = (width,)
    return wanted, {}


_EXPECTED: dict[DrafterKind, Callable[[Mapping[str, Any], Tensors], _Expected]] = {
    "medusa": _medusa,
    "eagle": _eagle,
    "eagle3": _eagle3,
    "dflash": _dflash,
    "redrafter": _redrafter,
}


def _layers(given: Tensors) -> int:
    found = (int(match[1]) for name in given if (match := _LAYER.match(name)))
    return 1 + max(found, default=-1)


def _size(given: Tensors, name: str, dimension: int) -> int | None:
    shape = given[name].shape if name in given else ()
    return shape[dimension] if len(shape) > dimension else None
