"""Which tensors a published drafter has, by the code that its authors train it with.

EAGLE (github.com/SafeAILab/EAGLE, eagle/model/cnets1.py), EAGLE-3 (cnets.py there, and
github.com/sgl-project/SpecForge, specforge/modeling/draft/llama3_eagle.py), Medusa
(github.com/FasterDecoding/Medusa, medusa/model/medusa_model.py), ReDrafter
(github.com/apple/ml-recurrent-drafter, recurrent_drafting/modeling_drafter.py) and
DFlash (github.com/z-lab/dflash, dflash/model.py).
"""

from tests.models.public_layouts import tensors as model_tensors


def tensors(kind, config, sizes):
    """Give name → (dtype, shape) of a drafter.

    :param sizes: what the configuration does not say, such as the number of heads.
    """
    found = _LAYOUTS[kind](config, sizes)
    dtype = {"bfloat16": "BF16"}.get(config.get("torch_dtype"), "F16")
    tables = {"d2t": "I64", "t2d": "BOOL"}
    return {name: (tables.get(name, dtype), shape) for name, shape in found.items()}


def _layer(config, width, prefix):
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    heads = config["num_attention_heads"]
    size = config.get("head_dim", hidden // heads)
    narrow = config.get("num_key_value_heads", heads) * size
    shapes = {
        "self_attn.q_proj": (heads * size, width),
        "self_attn.k_proj": (narrow, width),
        "self_attn.v_proj": (narrow, width),
        "self_attn.o_proj": (hidden, heads * size),
        "mlp.gate_proj": (inner, hidden),
        "mlp.up_proj": (inner, hidden),
        "mlp.down_proj": (hidden, inner),
        "post_attention_layernorm": (hidden,),
    }
    return {f"{prefix}{name}.weight": shape for name, shape in shapes.items()}


def _eagle(config, sizes):
    hidden, rows = config["hidden_size"], config["vocab_size"]
    shapes = {
        "embed_tokens.weight": (rows, hidden),
        "fc.weight": (hidden, 2 * hidden),
        **_layer(config, hidden, "layers.0."),
    }
    return shapes if sizes["bias"] is False else shapes | {"fc.bias": (hidden,)}


def _eagle3(config, _sizes):
    hidden, drafted = config["hidden_size"], config["draft_vocab_size"]
    target = config.get("target_hidden_size", hidden)
    norms = ("norm", "midlayer.hidden_norm", "midlayer.input_layernorm")
    return {
        "d2t": (drafted,),
        "t2d": (config["vocab_size"],),
        "fc.weight": (hidden, 3 * target),
        "lm_head.weight": (drafted, hidden),
        **{f"{name}.weight": (hidden,) for name in norms},
        **_layer(config, 2 * hidden, "midlayer."),
    }


def _medusa(_config, sizes):
    hidden, rows = sizes["hidden_size"], sizes["vocabulary_rows"]
    shapes = {}
    for head in range(sizes["heads"]):
        shapes[f"{head}.0.linear.weight"] = (hidden, hidden)
        shapes[f"{head}.0.linear.bias"] = (hidden,)
        shapes[f"{head}.1.weight"] = (rows, hidden)
    return shapes


def _redrafter(config, _sizes):
    hidden, wide = config["hidden_size"], config["exit_dim"]
    layers = config["num_draft_layers"]
    shapes = {"rnn_u.weight": (hidden, hidden), "rnn_w.weight": (hidden, hidden)}
    for layer in range(layers):
        shapes[f"lm_head.{layer}.linear.weight"] = (wide, wide)
        shapes[f"lm_head.{layer}.linear.bias"] = (wide,)
    return shapes | {
        "rnn_u.bias": (hidden,),
        f"lm_head.{layers}.weight": (config["vocab_size"], wide),
    }


def _dflash(config, _sizes):
    hidden, layers = config["hidden_size"], config["num_hidden_layers"]
    states = len(config["dflash_config"]["target_layer_ids"])
    shapes = {
        "fc.weight": (hidden, states * hidden),
        "hidden_norm.weight": (hidden,),
        "norm.weight": (hidden,),
    }
    for number in range(layers):
        prefix = f"layers.{number}."
        shapes |= _layer(config, hidden, prefix)
        shapes[f"{prefix}input_layernorm.weight"] = (hidden,)
        for part in "qk":
            shapes[f"{prefix}self_attn.{part}_norm.weight"] = (config["head_dim"],)
    return shapes


def _model(config, _sizes):
    return {name: shape for name, (_, shape) in model_tensors(config).items()}


_LAYOUTS = {
    "eagle": _eagle,
    "eagle3": _eagle3,
    "medusa": _medusa,
    "redrafter": _redrafter,
    "dflash": _dflash,
    "model": _model,
}
