"""How large an EAGLE-3 head's parts are, and whether TensorRT-LLM could load them.

What must fit is what ``Eagle3DraftModel`` builds from config.json and loads
(tensorrt_llm/_torch/models/modeling_speculative.py): ``fc`` from the captured hidden
states to the head's own width, layers whose attention reads embedding and hidden state
side by side, an output weight of ``draft_vocab_size`` rows, and ``d2t`` where that is
not ``vocab_size``.
"""

from __future__ import annotations

import re
from typing import Any

from trtspec.errors import UsageError
from trtspec.models.drafter_configuration import DrafterConfiguration
from trtspec.models.eagle3 import eagle3_sign
from trtspec.models.pickled import pickled_names
from trtspec.models.tensor_header import TensorHeader, Tensors

CAPTURED = 3
"""Hidden states that EAGLE-3 (arXiv 2503.01840) reads; ``num_capture_layers``."""

FEWEST_LAYERS = 6
"""Below that many layers of a target TensorRT-LLM has no default for which three are
captured (speculative/eagle3.py), and neither has the reference engine."""

LAYER_IDS = "eagle_aux_hidden_state_layer_ids"
_LAYER = re.compile(r"(midlayer\.|layers\.|model\.layers\.)(?:(\d+)\.)?")
_EMBEDDINGS = ("embed_tokens.weight", "model.embed_tokens.weight")
_OUTPUT = "lm_head.weight"
_FC = ("fc.weight", "model.fc.weight")
_TABLE = ("d2t", "model.d2t")
_DFLASH_NORM = "hidden_norm.weight"


def eagle3_shape(
    config: DrafterConfiguration, tensors: Tensors | None
) -> dict[str, Any]:
    """Read the sizes of a head's parts.

    :param tensors: None if the weights are pickled: then the configuration counts.
    :returns: the fields of ``DrafterShape``; None is what the checkpoint does not tell.
    :raises UsageError: if it is another kind of drafter, or its parts do not fit.
    """
    width = config.required("hidden_size")
    layer_ids = config.layer_ids(LAYER_IDS, "eagle_config")
    target = config.number("target_hidden_size")
    vocabulary = config.number("vocab_size")
    shape: dict[str, Any] = {
        "layers": config.required("num_hidden_layers"),
        "width": width,
        "hidden_size": target or width,
        "target_layers": layer_ids,
        "captured_states": len(layer_ids) if layer_ids else CAPTURED,
        "vocabulary_rows": config.number("draft_vocab_size") or vocabulary,
        "target_vocabulary": vocabulary,
        "is_told_by": eagle3_sign(
            config.values,
            pickled_names(config.directory) if tensors is None else tensors,
        ),
    }
    if tensors is None:
        return shape
    _refuse_other_drafters(config, tensors, width)
    states, hidden_size = _captured(config, tensors, width)
    prefix, layers = _layers(config, tensors)
    shape |= {
        "captured_states": states,
        "hidden_size": hidden_size,
        "layers": layers,
        "layer_prefix": prefix,
        "vocabulary_rows": _vocabulary(config, tensors),
        "has_own_embedding": _first(tensors, _EMBEDDINGS) is not None,
        "has_own_output": _OUTPUT in tensors,
    }
    if hidden_size != width and not shape["has_own_embedding"]:
        raise config.lacks("embedding of the head's own width", _EMBEDDINGS[0])
    return shape


def _refuse_other_drafters(
    config: DrafterConfiguration, tensors: Tensors, width: int
) -> None:
    """Refuse what drafts in another way, by what only that has."""
    if _DFLASH_NORM in tensors:
        raise UsageError(
            f"is a DFlash drafter (it holds the tensor {_DFLASH_NORM})",
            where=str(config.directory),
            allowed="an EAGLE-3 head",
            action="write method: dflash, or give an EAGLE-3 head",
        )
    fc = _first(tensors, _FC)
    known = eagle3_sign(config.values, tensors) or _reads_two_states(tensors, width)
    if fc is None and not known:
        raise config.lacks("EAGLE-3 head", _FC[0])
    if fc is not None and not known and fc.shape[1:] == (2 * width,):
        raise UsageError(
            f"is an EAGLE-1 or EAGLE-2 drafter: fc.weight is {list(fc.shape)}, from "
            "one embedding and one hidden state",
            where=str(config.directory),
            allowed=f"an EAGLE-3 head, whose fc.weight reads {CAPTURED} hidden states",
            action="choose an EAGLE-3 head for this target; EAGLE-1 and EAGLE-2 run "
            "as method: eagle on backend tensorrt",
        )


def _reads_two_states(tensors: Tensors, width: int) -> bool:
    """Whether an attention reads embedding and hidden state side by side."""
    return any(
        tensor.shape[1:] == (2 * width,)
        for name, tensor in tensors.items()
        if name.endswith(("self_attn.q_proj.weight", "self_attn.qkv_proj.weight"))
    )


def _captured(
    config: DrafterConfiguration, tensors: Tensors, width: int
) -> tuple[int, int]:
    """Give the number of hidden states that ``fc`` reads, and their size."""
    fc = _first(tensors, _FC)
    target = config.number("target_hidden_size")
    if fc is None:
        return 1, target or width
    if len(fc.shape) != 2 or fc.shape[0] != width:
        raise config.contradicts(
            f"hidden_size is {width}, and fc.weight is {list(fc.shape)}",
            f"fc.weight with {width} rows",
        )
    columns = fc.shape[1]
    layer_ids = config.layer_ids(LAYER_IDS, "eagle_config")
    states = (
        len(layer_ids)
        if layer_ids
        else columns // target
        if target
        else _states_by_width(columns, width)
    )
    size = target or (columns // states if states else 0)
    if not states or states * size != columns:
        raise config.contradicts(
            f"fc.weight reads {columns} values, which is no {states or CAPTURED} "
            f"hidden states{f' of {target}' if target else ''}",
            f"{LAYER_IDS} and target_hidden_size that give {columns}",
        )
    return states, size


def _states_by_width(columns: int, width: int) -> int:
    """Number of states where the configuration tells neither number nor size."""
    if columns in (width, 2 * width):
        return columns // width
    if columns % CAPTURED == 0:
        return CAPTURED
    return 0 if columns % width else columns // width


def _layers(config: DrafterConfiguration, tensors: Tensors) -> tuple[str, int]:
    """Give the layers' prefix and their number by the highest index."""
    found = [match for name in tensors if (match := _LAYER.match(name))]
    if not found:
        raise config.lacks("layer", "midlayer.self_attn.q_proj.weight")
    return found[0][1], 1 + max(int(match[2] or 0) for match in found)


def _vocabulary(config: DrafterConfiguration, tensors: Tensors) -> int | None:
    """Give the number of tokens that the head proposes; all sources must agree."""
    table, output = _first(tensors, _TABLE), tensors.get(_OUTPUT)
    whole = config.number("vocab_size")
    sizes = {
        "draft_vocab_size": config.number("draft_vocab_size"),
        "the length of d2t": _rows(table),
        f"the rows of {_OUTPUT}": _rows(output),
    }
    known = {name: size for name, size in sizes.items() if size is not None}
    if len(set(known.values())) > 1:
        raise config.contradicts(
            ", ".join(f"{name} is {size}" for name, size in known.items()),
            "one number for all of them",
        )
    drafted = next(iter(known.values()), whole)
    if drafted != whole and whole is not None:
        if table is None:
            raise config.lacks(f"table from {drafted} to {whole} tokens", _TABLE[0])
        if output is None:
            raise config.lacks(f"output weight for {drafted} tokens", _OUTPUT)
    return drafted


def _first(tensors: Tensors, names: tuple[str, ...]) -> TensorHeader | None:
    return next((tensors[name] for name in names if name in tensors), None)


def _rows(tensor: TensorHeader | None) -> int | None:
    return tensor.shape[0] if tensor is not None and tensor.shape else None
