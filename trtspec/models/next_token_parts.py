"""Whether next-token heads (MTP) hold what a head of their layout consists of.

Beside its projection and norms a head has one decoder layer of the target's kind, so
the target's own layers tell what must be there, whatever the family: the one that is
most like the head's counts, as layers with and without experts stand side by side.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from trtspec.models.next_token import next_token_prefixes
from trtspec.models.parts import WHOLE, Parts

_LAYER = re.compile(r"(?:model\.)?(?:language_model\.)?(?:model\.)?layers\.\d+\.")
_CACHE_SCALES = (".k_scale", ".v_scale", ".q_scale", ".kv_scale")
"""Of a quantized KV cache; they are no part of a head."""
_NORMS = frozenset({"input_layernorm", "post_attention_layernorm"})
"""What every decoder layer has, where there is no target to compare with."""


class _Layout(NamedTuple):
    """Parts of one head beside its decoder layer.

    :param shared: of all heads together, by their whole names.
    :param own: behind a head's prefix.
    :param copies: the same, but they may be missing: the target's are taken.
    """

    shared: tuple[str, ...]
    own: tuple[str, ...]
    copies: tuple[str, ...]


_DEEPSEEK = _Layout(
    (),
    ("eh_proj", "enorm", "hnorm", "shared_head.norm"),
    ("embed_tokens", "shared_head.head"),
)
_QWEN = _Layout(
    ("mtp.fc", "mtp.pre_fc_norm_embedding", "mtp.pre_fc_norm_hidden", "mtp.norm"),
    (),
    ("mtp.embed_tokens", "mtp.lm_head"),
)
_MIMO = _Layout(
    (), ("input_proj", "token_layernorm", "hidden_layernorm", "final_layernorm"), ()
)


def next_token_parts(names: Collection[str]) -> Parts:
    """Hold the heads of a checkpoint against its own layers, module by module.

    :param names: of all tensors of the checkpoint, or of one with heads alone.
    :returns: modules such as ``model.layers.61.enorm``, not tensors.
    """
    prefixes = next_token_prefixes(names)
    if not prefixes:
        return WHOLE
    modules = {n.rpartition(".")[0] for n in names if not n.endswith(_CACHE_SCALES)}
    is_qwen = prefixes == ("mtp.",)
    layout = _QWEN if is_qwen else _MIMO if "mtp_layers" in prefixes[0] else _DEEPSEEK
    heads = _qwen_heads(modules) if is_qwen else prefixes
    missing = {part for part in layout.shared if part not in modules}
    left_over: set[str] = set()
    if is_qwen:
        stray = {m for m in modules if m.startswith("mtp.") and not m.startswith(heads)}
        left_over |= stray - set(layout.shared) - set(layout.copies)
    usual = _usual_layers(modules, prefixes)
    for head in heads:
        inside = {m.removeprefix(head) for m in modules if m.startswith(head)}
        block = inside - set(layout.own) - set(layout.copies)
        wanted = min(usual, key=lambda layer: len(layer ^ block), default=None)
        lost = set(layout.own) - inside
        lost |= (_NORMS if wanted is None else wanted) - block
        missing |= {head + part for part in lost}
        if wanted is not None:
            left_over |= {head + part for part in block - wanted}
    return Parts(tuple(sorted(missing)), tuple(sorted(left_over)))


def _qwen_heads(modules: Collection[str]) -> tuple[str, ...]:
    found = (re.match(r"mtp\.layers\.\d+\.", module) for module in modules)
    return tuple(sorted({match[0] for match in found if match}))


def _usual_layers(
    modules: Collection[str], prefixes: tuple[str, ...]
) -> list[frozenset[str]]:
    """Give the modules of the target's layers, each kind of layer once."""
    layers: dict[str, set[str]] = {}
    for module in modules:
        if module.startswith(prefixes) or not (found := _LAYER.match(module)):
            continue
        layers.setdefault(found[0], set()).add(module[found.end() :])
    return list({frozenset(layer) for layer in layers.values()})
