"""Tiny drafters of each kind, laid out as published ones are."""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from tests.models.tiny import HIDDEN, ROWS

NOT_A_PICKLE = b"whoever unpickles this fails" * 10
EAGLE_CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "hidden_size": HIDDEN,
    "intermediate_size": 12,
    "vocab_size": ROWS,
    "torch_dtype": "float16",
}
EAGLE3_CONFIG = {**EAGLE_CONFIG, "draft_vocab_size": ROWS // 2}
DFLASH_CONFIG = {
    "architectures": ["DFlashDraftModel"],
    "model_type": "qwen3",
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "hidden_size": HIDDEN,
    "intermediate_size": 12,
    "vocab_size": ROWS,
    "block_size": 16,
    "dflash_config": {"mask_token_id": 15, "target_layer_ids": [1, 8, 15]},
    "num_target_layers": 36,
}
REDRAFTER_CONFIG = {
    "model_type": "recurrent_drafting_drafter",
    "hidden_size": HIDDEN,
    "exit_dim": 2 * HIDDEN,
    "num_draft_layers": 2,
    "rnn": True,
    "vocab_size": ROWS,
}


INNER = 12


def layer_shapes(prefix, *, reads=1, first_norm=True, head_norms=False):
    """Name the tensors of one decoder layer whose attention reads so many states."""
    wide, square = (HIDDEN, reads * HIDDEN), (HIDDEN, HIDDEN)
    shapes = {f"self_attn.{name}_proj": wide for name in "qkv"}
    shapes |= {"self_attn.o_proj": square, "mlp.down_proj": (HIDDEN, INNER)}
    shapes |= dict.fromkeys(("mlp.gate_proj", "mlp.up_proj"), (INNER, HIDDEN))
    shapes["post_attention_layernorm"] = (HIDDEN,)
    if first_norm:
        shapes["input_layernorm"] = (HIDDEN,)
    if reads > 1:
        shapes["hidden_norm"] = (HIDDEN,)
    if head_norms:
        shapes |= dict.fromkeys(("self_attn.q_norm", "self_attn.k_norm"), (4,))
    return {f"{prefix}{name}.weight": shape for name, shape in shapes.items()}


def _config(directory, config):
    directory.mkdir(parents=True, exist_ok=True)
    given = {key: value for key, value in config.items() if value is not None}
    (directory / "config.json").write_text(json.dumps(given))


def _save(shapes, path):
    save_file(
        {name: np.zeros(shape, np.float16) for name, shape in shapes.items()}, path
    )


def write_medusa(
    directory,
    *,
    heads=3,
    layers=1,
    rows=ROWS,
    hidden=HIDDEN,
    output=True,
    prefix="",
    name="medusa_lm_head.safetensors",
    pickled=False,
    **config,
):
    """Write Medusa heads; the configuration names two, as published ones do."""
    _config(directory, {"medusa_num_heads": 2, "medusa_num_layers": 1, **config})
    if pickled:
        (directory / "medusa_lm_head.pt").write_bytes(NOT_A_PICKLE)
        return directory
    shapes = {}
    for head in range(heads):
        for layer in range(layers):
            shapes[f"{head}.{layer}.linear.weight"] = (hidden, hidden)
            shapes[f"{head}.{layer}.linear.bias"] = (hidden,)
        if output:
            shapes[f"{head}.{layers}.weight"] = (rows, hidden)
    _save({prefix + key: shape for key, shape in shapes.items()}, directory / name)
    return directory


def write_eagle(
    directory, *, layers=1, rows=ROWS, bias=True, pickled=False, extra=(), **config
):
    """Write an EAGLE drafter; ``extra`` names further tensors."""
    _config(directory, {**EAGLE_CONFIG, **config})
    if pickled:
        (directory / "pytorch_model.bin").write_bytes(NOT_A_PICKLE)
        return directory
    shapes = {"embed_tokens.weight": (rows, HIDDEN), "fc.weight": (HIDDEN, 2 * HIDDEN)}
    if bias:
        shapes["fc.bias"] = (HIDDEN,)
    for layer in range(layers):
        shapes |= layer_shapes(f"layers.{layer}.", first_norm=layer > 0)
    shapes |= dict.fromkeys(extra, (4,))
    _save(shapes, directory / "model.safetensors")
    return directory


def write_redrafter(
    directory, *, prefix="lm_head", rows=ROWS, pickled=False, **config
) -> Path:
    """Write a ReDrafter head of two layers under one of its names."""
    _config(directory, {**REDRAFTER_CONFIG, **config})
    if pickled:
        (directory / "model.pt").write_bytes(NOT_A_PICKLE)
        return directory
    wide = 2 * HIDDEN
    shapes = {f"{prefix}.{n}.linear.weight": (wide, wide) for n in range(2)}
    shapes[f"{prefix}.2.weight"] = (rows, wide)
    shapes |= {f"{prefix}.{n}.linear.bias": (wide,) for n in range(2)}
    shapes |= dict.fromkeys(("rnn_u.weight", "rnn_w.weight"), (HIDDEN, HIDDEN))
    shapes["rnn_u.bias"] = (HIDDEN,)
    _save(shapes, directory / "model.safetensors")
    return directory


def write_eagle3(
    directory,
    *,
    prefix="midlayer.",
    layers=1,
    captured=3,
    target=HIDDEN,
    drafted=ROWS // 2,
    table=True,
    output=True,
    embedding=False,
    pickled=False,
    **config,
):
    """Write an EAGLE-3 head; ``drafted`` tokens of the target's, under ``prefix``."""
    _config(directory, {**EAGLE3_CONFIG, **config})
    if pickled:
        (directory / "pytorch_model.bin").write_bytes(NOT_A_PICKLE)
        return directory
    shapes = {"norm.weight": (HIDDEN,)}
    if captured > 1:
        shapes["fc.weight"] = (HIDDEN, captured * target)
    for layer in range(layers):
        name = prefix if prefix == "midlayer." and layers == 1 else f"{prefix}{layer}."
        shapes |= layer_shapes(name, reads=1 if layer else 2)
    if table:
        shapes |= {"d2t": (drafted,), "t2d": (ROWS,)}
    if output:
        shapes["lm_head.weight"] = (drafted, HIDDEN)
    if embedding:
        shapes["embed_tokens.weight"] = (ROWS, HIDDEN)
    _save(shapes, directory / "model.safetensors")
    return directory


def write_dflash(
    directory,
    *,
    layers=2,
    states=3,
    prefix="layers.",
    pickled=False,
    left_out=(),
    **config,
):
    """Write a DFlash drafter; ``left_out`` names tensors that it lacks."""
    _config(directory, {**DFLASH_CONFIG, **config})
    if pickled:
        (directory / "pytorch_model.bin").write_bytes(NOT_A_PICKLE)
        return directory
    shapes = {
        "fc.weight": (HIDDEN, states * HIDDEN),
        "hidden_norm.weight": (HIDDEN,),
        "norm.weight": (HIDDEN,),
    }
    for layer in range(layers):
        shapes |= layer_shapes(f"{prefix}{layer}.", head_norms=True)
    kept = {name: shape for name, shape in shapes.items() if name not in left_out}
    _save(kept, directory / "model.safetensors")
    return directory


def write_mtp(directory, *, layout="deepseek", heads=1, layers=2, **config):
    """Write next-token heads alone, in one of their layouts."""
    _config(directory, {"hidden_size": HIDDEN, **config})
    _save(mtp_shapes(layout, heads, layers), directory / "model.safetensors")
    return directory


def mtp_shapes(layout="deepseek", heads=1, layers=2):
    """Name the tensors of next-token heads, behind ``layers`` layers."""
    wide = (HIDDEN, 2 * HIDDEN)
    if layout == "qwen":
        norms = ("pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm")
        shapes = {f"mtp.{name}.weight": (HIDDEN,) for name in norms}
        shapes["mtp.fc.weight"] = wide
        for number in range(heads):
            shapes |= layer_shapes(f"mtp.layers.{number}.")
        return shapes
    head, projection, norms = {
        "deepseek": (
            "model.layers.{}.",
            "eh_proj",
            ("enorm", "hnorm", "shared_head.norm"),
        ),
        "mimo": (
            "model.mtp_layers.{}.",
            "input_proj",
            ("token_layernorm", "hidden_layernorm", "final_layernorm"),
        ),
    }[layout]
    first = layers if layout == "deepseek" else 0
    shapes = {}
    for number in range(first, first + heads):
        prefix = head.format(number)
        shapes[f"{prefix}{projection}.weight"] = wide
        shapes |= {f"{prefix}{name}.weight": (HIDDEN,) for name in norms}
        shapes |= layer_shapes(prefix)
    return shapes


def as_speculators(directory, algorithm="eagle3", *, left_out=()):
    """Lay a drafter's configuration out as the speculators library does."""
    path = directory / "config.json"
    whole = json.loads(path.read_text())
    kept = (
        "draft_vocab_size",
        "eagle_aux_hidden_state_layer_ids",
        "target_hidden_size",
    )
    inner = {k: v for k, v in whole.items() if k not in (*kept, *left_out)}
    top = {key: whole[key] for key in kept if key in whole}
    config = {
        "architectures": [f"{algorithm.capitalize()}Speculator"],
        "speculators_model_type": algorithm,
        "speculators_config": {"algorithm": algorithm},
        "transformer_layer_config": inner,
        **top,
    }
    path.write_text(json.dumps(config))
    return directory
