"""A recipe for engines with each method that they have."""

from trtspec.recipe import Recipe

DRAFT_MODEL = {"model": "org/draft", "draft_length": {8: 4, 32: 2}}
METHODS = {
    "none": {},
    "ngram": {"draft_length": {8: 4, 32: 6}, "max_matching_ngram": 2},
    "draft_target": {
        **DRAFT_MODEL,
        "quantization": "fp8",
        "use_draft_logits": True,
        "tensor_parallel": 2,
    },
    "medusa": {"model": "org/heads"},
    "eagle": {"model": "org/eagle"},
    "redrafter": {"model": "org/redrafter"},
    "lookahead": {},
}
EQUIVALENT = ("none", "ngram", "draft_target")
OTHERS = tuple(sorted(METHODS.keys() - set(EQUIVALENT)))


def recipe(method, quantization="none"):
    return Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "llama",
            "backend": "tensorrt",
            "target": {
                "model": "org/llama",
                "family": "llama",
                "quantization": quantization,
                "tensor_parallel": 4,
            },
            "speculation": {"method": method, **METHODS[method]},
            "engine": {"gemm_plugin": "auto", "build_flags": {"workers": 2}},
            "limits": {"max_batch_size": 3},
        }
    )
