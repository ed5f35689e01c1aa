"""Layouts of public heads at their real sizes, as headers only."""

from tests.models.large import write_headers

LLAMA_8B = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "rope_theta": 500000.0,
}
"""https://huggingface.co/meta-llama/Llama-3.1-8B-Instruct, config.json."""


def layer(prefix, width, inner, *, keys=1024, reads=1, first_norm=True):
    """Name the tensors of one Llama layer."""
    read = reads * width
    shapes = {
        "self_attn.q_proj": (width, read),
        "self_attn.k_proj": (keys, read),
        "self_attn.v_proj": (keys, read),
        "self_attn.o_proj": (width, width),
        "mlp.gate_proj": (inner, width),
        "mlp.up_proj": (inner, width),
        "mlp.down_proj": (width, inner),
        "post_attention_layernorm": (width,),
    }
    if first_norm:
        shapes["input_layernorm"] = (width,)
    if reads == 2:
        shapes["hidden_norm"] = (width,)
    return {f"{prefix}{name}.weight": shape for name, shape in shapes.items()}


def eagle3_tensors(
    width=4096,
    *,
    states=3,
    target=None,
    inner=14336,
    drafted=32000,
    rows=128256,
    table=True,
    prefix="midlayer.",
):
    """Name the tensors of an EAGLE-3 head of one layer."""
    tensors = {
        "fc.weight": (width, states * (target or width)),
        "norm.weight": (width,),
        "lm_head.weight": (drafted, width),
        **layer(prefix, width, inner, reads=2),
    }
    if table:
        tensors |= {"d2t": ("I64", (drafted,)), "t2d": ("U8", (rows,))}
    if target and target != width:
        tensors["embed_tokens.weight"] = (rows, width)
    return tensors


def eagle_tensors(width=4096, *, rows=128256, inner=14336, bias=False, output=False):
    """Name the tensors of an EAGLE-1 or EAGLE-2 drafter of one layer."""
    tensors = {
        "embed_tokens.weight": (rows, width),
        "fc.weight": (width, 2 * width),
        **layer("layers.0.", width, inner, first_norm=False),
    }
    if bias:
        tensors["fc.bias"] = (width,)
    if output:
        tensors["lm_head.weight"] = (rows, width)
    return tensors


def medusa_tensors(heads, *, layers=1, width=4096, rows=32000, output=True, prefix=""):
    """Name the tensors of Medusa heads."""
    tensors = {}
    for head in range(heads):
        for number in range(layers):
            tensors[f"{prefix}{head}.{number}.linear.weight"] = (width, width)
            tensors[f"{prefix}{head}.{number}.linear.bias"] = (width,)
        if output:
            tensors[f"{prefix}{head}.{layers}.weight"] = (rows, width)
    return tensors


def write_target(directory, *, width=4096, layers=2, rows=128256, **config):
    """Write a target of few layers and real widths, as headers only."""
    tensors = {"model.embed_tokens.weight": (rows, width)}
    for number in range(layers):
        tensors |= layer(f"model.layers.{number}.", width, 14336)
    tensors |= {"model.norm.weight": (width,), "lm_head.weight": (rows, width)}
    shape = {"hidden_size": width, "vocab_size": rows, "num_hidden_layers": layers}
    return write_headers(directory, {**LLAMA_8B, **shape, **config}, tensors)


def eagle3_config(width=4096, **config):
    """Give an EAGLE-3 configuration; a key of None is left out."""
    whole = {**LLAMA_8B, "num_hidden_layers": 1, "hidden_size": width, **config}
    return {key: value for key, value in whole.items() if value is not None}
