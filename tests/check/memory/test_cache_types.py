"""Types of KV caches: those that quantize.py is told, and of targets not known."""

import pytest

from tests.check.memory.builders import DRAFT, recipe
from trtspec.check.memory.cache_types import engine_cache, target_cache_type
from trtspec.trtllm.engine.quantization import draft_kv_cache_of, kv_cache_of

KINDS = ["none", "fp8", "nvfp4", "int4_awq", "int8_sq", "int8_wo"]


@pytest.mark.parametrize("kv_cache", ["auto", "fp8", "int8"])
@pytest.mark.parametrize("weights", KINDS)
def test_an_engines_cache_has_the_type_that_quantize_is_told(weights, kv_cache):
    asked = recipe(
        "tensorrt",
        target={"quantization": weights},
        speculation={**DRAFT, "quantization": weights},
        engine={"kv_cache": kv_cache},
    )
    assert engine_cache(asked, weights) == kv_cache_of(asked)
    assert engine_cache(asked, weights) == draft_kv_cache_of(asked, asked.speculation)


@pytest.mark.parametrize(
    ("backend", "changes", "kind"),
    [
        ("tensorrt", {"target": {"quantization": "fp8"}}, "fp8"),
        ("tensorrt", {}, "bfloat16"),
        ("pytorch", {"pytorch": {"kv_cache": "fp8"}}, "fp8"),
        ("pytorch", {}, "bfloat16"),
    ],
)
def test_it_is_told_of_a_target_that_is_not_known(backend, changes, kind):
    assert target_cache_type(recipe(backend, **changes), None) == kind
