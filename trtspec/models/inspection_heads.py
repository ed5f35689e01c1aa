"""What is said of a drafter that is no model of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trtspec.methods.base import DrafterKind
from trtspec.models.drafter import DrafterInfo
from trtspec.models.eagle3_shape import LAYER_IDS
from trtspec.models.inspection_facts import Fact
from trtspec.models.rope import number_text, rope_scaling, rope_theta
from trtspec.models.speculators import at_the_top
from trtspec.models.stored_record import StoredFiles
from trtspec.models.tensor_signs import FC
from trtspec.models.traits import NEXT_TOKEN_HEADS

_MEDUSA_HEAD = re.compile(r"(?:medusa_head\.)?(\d+)\.\d+\.linear\.weight")


def head_facts(
    kind: DrafterKind,
    config: Mapping[str, Any],
    stored: StoredFiles,
    info: DrafterInfo | None,
) -> Iterator[Fact]:
    """Tell how a drafter is built, and what it was made for.

    :param info: None if no loader reads it: then what the tensors alone tell.
    """
    yield from _heads(kind, config, stored, info)
    yield from _fusion(kind, stored, info)
    if info is None:
        return
    if info.layers is not None:
        named = f", called {info.layer_prefix}" if info.layer_prefix else ""
        yield Fact("layers", f"{info.layers}{named}", info.layers)
    if info.hidden_size is not None:
        own = info.width if info.width not in (None, info.hidden_size) else None
        text = f"{info.hidden_size} of the target"
        text += f", {own} of its own" if own else ""
        value = {"target": info.hidden_size, "own": info.width}
        yield Fact("hidden_size", text, value)
    yield from _vocabulary(info)
    yield from _captured(config, info)
    yield from _block(info)
    yield from _shared(info)
    yield from _copy(kind, stored)
    yield from _context(config, stored, info)
    if left := info.parts.left_over:
        more = f" and {len(left) - 1} more" if len(left) > 1 else ""
        text = f"{left[0]}{more}: of no part of such a head"
        yield Fact("left_over_tensors", text, list(left))


def _heads(
    kind: DrafterKind,
    config: Mapping[str, Any],
    stored: StoredFiles,
    info: DrafterInfo | None,
) -> Iterator[Fact]:
    """Count heads in the tensors, whatever the configuration says."""
    if kind not in ("medusa", "mtp"):
        return
    keys = ("medusa_num_heads",) if kind == "medusa" else NEXT_TOKEN_HEADS
    said = next((config[key] for key in keys if config.get(key) is not None), None)
    found = {m[1] for name in stored.tensors if (m := _MEDUSA_HEAD.fullmatch(name))}
    count = info.heads if info is not None else len(found) or None
    counted = bool(stored.tensors)
    text = f"{count or 'not known'}, counted in the tensors"
    if not counted:
        text = f"{count or 'not known'} by config.json: pickled weights are not opened"
    elif said is None:
        text += "; config.json does not say"
    elif said != count:
        text += f"; config.json says {said}"
    layers = None if info is None else info.head_layers
    if layers is not None:
        text += f"; {layers} layer{'s' * (layers != 1)} each"
    value = {"count": count, "configured": said, "layers": layers, "counted": counted}
    yield Fact("heads", text, value)


def _fusion(
    kind: DrafterKind, stored: StoredFiles, info: DrafterInfo | None
) -> Iterator[Fact]:
    """Tell how wide the first projection reads: the sign of the EAGLE family."""
    name = next((name for name in FC if name in stored.tensors), None)
    if name is None or kind not in ("eagle", "eagle3", "dflash"):
        return
    shape = stored.tensors[name].shape
    if len(shape) != 2:
        return
    states = None if info is None else info.captured_states
    size = None if info is None else info.hidden_size
    if kind == "eagle":
        text = "one embedding and one hidden state, 2 x hidden"
    elif states is not None and size is not None:
        text = f"{states} hidden states of the target, {states} x {size}"
    else:
        text = f"{shape[1]} values; how many states they are, its target tells"
    value = {"tensor": name, "shape": list(shape), "states": states}
    yield Fact("fusion", f"{name} {list(shape)}: {text}", value)


def _vocabulary(info: DrafterInfo) -> Iterator[Fact]:
    rows, target = info.vocabulary_rows, info.target_vocabulary
    if rows is None:
        return
    text = f"{rows} tokens"
    if target is not None:
        reduced = rows != target
        text += f" of the target's {target}: {'reduced' if reduced else 'full'}"
        text += ", mapped by d2t" if reduced else ", no map needed"
    yield Fact("vocabulary", text, {"drafted": rows, "target": target})


def _captured(config: Mapping[str, Any], info: DrafterInfo) -> Iterator[Fact]:
    if info.captured_states is None:
        return
    text = f"{info.captured_states}"
    if info.target_layers:
        text += f", layers {', '.join(map(str, info.target_layers))} by config.json"
    elif info.kind == "eagle3":
        text += f"; config.json names no layers ({LAYER_IDS})"
    value = {"count": info.captured_states, "layers": info.target_layers}
    yield Fact("captured_states", text, value)


def _block(info: DrafterInfo) -> Iterator[Fact]:
    if info.block_size is not None:
        text = f"{info.block_size} tokens, the last verified one included"
        yield Fact("block", text, info.block_size)
    if info.mask_token is not None:
        yield Fact("mask_token", f"id {info.mask_token}", info.mask_token)


def _context(
    config: Mapping[str, Any], stored: StoredFiles, info: DrafterInfo
) -> Iterator[Fact]:
    """Tell of positions, wherever the configuration has them."""
    whole = at_the_top(config, stored.tensors)
    length, base = info.context_length, rope_theta(whole)
    scaled = rope_scaling(whole)
    if length is None and base is None and scaled is None:
        return
    parts = ["no limit named" if length is None else f"{length} tokens"]
    if base is not None:
        parts.append(f"rotary base {number_text(base)}")
    if scaled is not None:
        parts.append(f"scaled: {scaled}")
    value = {"tokens": length, "rope_theta": base, "rope_scaling": scaled}
    yield Fact("context", "; ".join(parts), value)


def _copy(kind: DrafterKind, stored: StoredFiles) -> Iterator[Fact]:
    """Tell of an LM head beside an EAGLE head, which drafts with the target's."""
    names = ("lm_head.weight", "model.lm_head.weight")
    if kind == "eagle" and (name := next(filter(stored.tensors.get, names), None)):
        rows = stored.tensors[name].shape[0] if stored.tensors[name].shape else 0
        text = f"{name}, {rows} rows: has to be a copy of the target's, which is used"
        yield Fact("lm_head_copy", text, {"tensor": name, "rows": rows})


def _shared(info: DrafterInfo) -> Iterator[Fact]:
    """Tell what it brings itself, and what it takes from the target."""
    for key, own in (
        ("embedding", info.has_own_embedding),
        ("lm_head", info.has_own_output),
    ):
        if own is not None:
            yield Fact(key, "its own" if own else "the target's", own)
    if info.has_fc_bias is not None:
        there = info.has_fc_bias
        yield Fact("fc_bias", "there" if there else "none", there)
