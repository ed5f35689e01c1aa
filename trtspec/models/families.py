"""Which ``model_type``s are of a kind that their configuration does not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trtspec.models.info import ModelShape

WITHOUT_ATTENTION = frozenset({"falcon_mamba", "mamba", "mamba2", "rwkv", "xlstm"})
"""Recurrent in every layer: they have no attention heads and no KV cache."""

RECURRENT = WITHOUT_ATTENTION | {
    "bamba", "falcon_h1", "jamba", "kimi_linear", "nemotron_h", "olmo_hybrid",
    "qwen3_next", "recurrent_gemma", "zamba", "zamba2",
}  # fmt: skip
"""Recurrent in some layers at least, whether ``layer_types`` says so or not."""

OWN_POSITIONS = frozenset({"bloom", "gpt_neo"})
"""Their attention counts positions or masks on its own, whatever it is given."""

ENCODERS = frozenset({
    "albert", "bert", "big_bird", "camembert", "canine", "convbert", "data2vec-text",
    "deberta", "deberta-v2", "distilbert", "electra", "ernie", "esm", "eurobert",
    "flaubert", "fnet", "funnel", "ibert", "layoutlm", "layoutlmv2", "layoutlmv3",
    "longformer", "luke", "markuplm", "megatron-bert", "mobilebert", "modernbert",
    "mpnet", "mra", "nezha", "nomic_bert", "nystromformer", "qdqbert", "rembert",
    "roberta", "roberta-prelayernorm", "roc_bert", "roformer", "splinter",
    "squeezebert", "tapas", "xlm-roberta", "xlm-roberta-xl", "xmod", "yoso",
})  # fmt: skip
"""Encoders, unless ``architectures`` names a class with a language model's head."""

ROLLED_BACK = frozenset({"full_attention", "sliding_attention"})
"""Layers whose state the reference engine can cut back to a length."""


def reference_refuses(shape: ModelShape) -> str:
    """Say why the reference engine cannot run a model with drafts; empty if it can.

    Which layers are listed goes before what is known of the family.
    """
    if other := sorted(set(shape.layer_types) - ROLLED_BACK):
        return (
            f"the state of its layers of type {', '.join(other)} cannot be cut back "
            "when a draft is rejected"
        )
    if shape.family in RECURRENT:
        return "its recurrent state cannot be rolled back"
    if shape.family in OWN_POSITIONS or (shape.family == "falcon" and shape.alibi):
        return "its attention does not go by the positions and mask it is given"
    return ""
