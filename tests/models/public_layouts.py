"""Which tensors a published model has, by the rule of its family's layers.

Names and shapes are those of the public model code: transformers
(src/transformers/models/<family>/modeling_<family>.py), and for DeepSeek-V3 and its
next-token head README_WEIGHTS.md of github.com/deepseek-ai/DeepSeek-V3.
"""

from math import ceil

FP8_BLOCK = 128
FP4_BLOCK = 32


def tensors(config):
    """Give name → (dtype, shape) of a whole model."""
    rows, hidden = config["vocab_size"], config["hidden_size"]
    shapes = {
        "model.embed_tokens.weight": (rows, hidden),
        "model.norm.weight": (hidden,),
    }
    if not config.get("tie_word_embeddings", config["model_type"].startswith("gemma")):
        shapes["lm_head.weight"] = (rows, hidden)
    heads = config.get("num_nextn_predict_layers", 0)
    layers = config["num_hidden_layers"]
    for number in range(layers + heads):
        found = {**_attention(config), **_feed(config, number), **_norms(config)}
        if number >= layers:
            found |= _next_token(config)
        prefix = f"model.layers.{number}."
        shapes |= {prefix + name: shape for name, shape in found.items()}
    return _typed(config, shapes)


def _attention(config):
    if "kv_lora_rank" in config:
        return _latent_attention(config)
    hidden, heads = config["hidden_size"], config["num_attention_heads"]
    size = config.get("head_dim", hidden // heads)
    wide = heads * size
    narrow = config.get("num_key_value_heads", heads) * size
    if config["model_type"] == "phi3":
        parts = {"qkv": wide + 2 * narrow}
    else:
        parts = {"q": wide, "k": narrow, "v": narrow}
    shapes = {f"self_attn.{part}_proj.weight": (n, hidden) for part, n in parts.items()}
    shapes["self_attn.o_proj.weight"] = (hidden, wide)
    family = config["model_type"]
    if family == "qwen2" or config.get("attention_bias"):
        shapes |= {f"self_attn.{part}_proj.bias": (n,) for part, n in parts.items()}
    if family.startswith(("qwen3", "gemma3")) or config.get("use_qk_norm"):
        shapes |= {f"self_attn.{part}_norm.weight": (size,) for part in "qk"}
    if family == "gpt_oss":
        shapes |= {"self_attn.o_proj.bias": (hidden,), "self_attn.sinks": (heads,)}
    return shapes


def _latent_attention(config):
    hidden, heads = config["hidden_size"], config["num_attention_heads"]
    queries, values = config["q_lora_rank"], config["kv_lora_rank"]
    plain, turned = config["qk_nope_head_dim"], config["qk_rope_head_dim"]
    out = config["v_head_dim"]
    return {
        "self_attn.q_a_proj.weight": (queries, hidden),
        "self_attn.q_a_layernorm.weight": (queries,),
        "self_attn.q_b_proj.weight": (heads * (plain + turned), queries),
        "self_attn.kv_a_proj_with_mqa.weight": (values + turned, hidden),
        "self_attn.kv_a_layernorm.weight": (values,),
        "self_attn.kv_b_proj.weight": (heads * (plain + out), values),
        "self_attn.o_proj.weight": (hidden, heads * out),
    }


def _feed(config, number):
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    family = config["model_type"]
    if family == "phi3":
        return {
            "mlp.gate_up_proj.weight": (2 * inner, hidden),
            "mlp.down_proj.weight": (hidden, inner),
        }
    if family == "mixtral":
        shapes = {"block_sparse_moe.gate.weight": (config["num_local_experts"], hidden)}
        for expert in range(config["num_local_experts"]):
            for name, shape in zip(
                ("w1", "w2", "w3"), _three(hidden, inner), strict=True
            ):
                shapes[f"block_sparse_moe.experts.{expert}.{name}.weight"] = shape
        return shapes
    if family == "gpt_oss":
        return _gpt_oss_experts(config)
    experts = config.get("num_experts", config.get("n_routed_experts"))
    if experts is None or number < config.get("first_k_dense_replace", 0):
        return _gated("mlp.", hidden, inner)
    shapes = {"mlp.gate.weight": (experts, hidden)}
    for expert in range(experts):
        name = f"mlp.experts.{expert}."
        shapes |= _gated(name, hidden, config["moe_intermediate_size"])
    if shared := config.get("n_shared_experts"):
        wide = shared * config["moe_intermediate_size"]
        shapes |= _gated("mlp.shared_experts.", hidden, wide)
        shapes["mlp.gate.e_score_correction_bias"] = (experts,)
    return shapes


def _three(hidden, inner):
    return (inner, hidden), (hidden, inner), (inner, hidden)


def _gated(prefix, hidden, inner):
    names = ("gate_proj", "down_proj", "up_proj")
    shapes = zip(names, _three(hidden, inner), strict=True)
    return {f"{prefix}{name}.weight": shape for name, shape in shapes}


def _gpt_oss_experts(config):
    """Experts in MXFP4: two values a byte, and a scale for each block of 32."""
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    experts = config["num_local_experts"]
    shapes = {"mlp.router.weight": (experts, hidden), "mlp.router.bias": (experts,)}
    for name, rows, columns in (
        ("gate_up_proj", 2 * inner, hidden),
        ("down_proj", hidden, inner),
    ):
        blocks = (experts, rows, columns // FP4_BLOCK)
        shapes[f"mlp.experts.{name}_blocks"] = (*blocks, FP4_BLOCK // 2)
        shapes[f"mlp.experts.{name}_scales"] = blocks
        shapes[f"mlp.experts.{name}_bias"] = (experts, rows)
    return shapes


def _norms(config):
    names = ["input_layernorm", "post_attention_layernorm"]
    if config["model_type"].startswith(("gemma2", "gemma3")):
        names += ["pre_feedforward_layernorm", "post_feedforward_layernorm"]
    return {f"{name}.weight": (config["hidden_size"],) for name in names}


def _next_token(config):
    """What a next-token head of DeepSeek's layout has beside a layer of the model."""
    hidden, rows = config["hidden_size"], config["vocab_size"]
    shapes = {
        "eh_proj.weight": (hidden, 2 * hidden),
        **{
            f"{name}.weight": (hidden,)
            for name in ("enorm", "hnorm", "shared_head.norm")
        },
    }
    if config["model_type"] == "deepseek_v3":
        shapes |= dict.fromkeys(
            ("embed_tokens.weight", "shared_head.head.weight"), (rows, hidden)
        )
    return shapes


def _typed(config, shapes):
    method = config.get("quantization_config", {}).get("quant_method")
    plain = {"float16": "F16"}.get(config.get("torch_dtype", "bfloat16"), "BF16")
    if method != "fp8":
        return {
            name: ("U8" if name.endswith(("_blocks", "_scales")) else plain, shape)
            for name, shape in shapes.items()
        }
    found = {}
    for name, shape in shapes.items():
        blocks = len(shape) == 2 and "_proj" in name and "eh_proj" not in name
        found[name] = ("F8_E4M3" if blocks else plain, shape)
        if blocks:
            scales = tuple(ceil(size / FP8_BLOCK) for size in shape)
            found[name + "_scale_inv"] = ("F32", scales)
    return found
