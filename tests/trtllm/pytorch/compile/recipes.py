"""Recipes of backend pytorch, and what they compile to."""

from __future__ import annotations

from typing import Any

from packaging.version import Version

from trtspec.models import ModelInfo
from trtspec.recipe import Recipe
from trtspec.trtllm.pytorch.compile import compile_args
from trtspec.trtllm.pytorch.settings import Compiled, Remark

VERSIONS = ("1.0.0", "1.1.0", "1.2.1", "1.3.0rc22", "1.4.0rc4")
NEWEST = "1.4.0rc4"
LIMITS = {"max_batch_size": 64, "max_input_tokens": 4096, "max_total_tokens": 8192}
EAGLE3 = {"method": "eagle3", "model": "org/head", "draft_length": 3}
DRAFT_TARGET = {"method": "draft_target", "model": "org/small", "draft_length": 4}
MTP = {"method": "mtp", "draft_length": 3}
NGRAM = {"method": "ngram", "draft_length": 4, "max_matching_ngram": 5}
SUFFIX = {"method": "suffix", "draft_length": 4}
PARD = {"method": "pard", "model": "org/pard", "draft_length": 4}
DFLASH = {"method": "dflash", "model": "org/dflash", "draft_length": 7}
USER = {"method": "user", "drafter": "my_drafters:make", "draft_length": 3}
AUTO = {"method": "auto"}
NONE = {"method": "none"}
EVERY = (EAGLE3, DRAFT_TARGET, MTP, NGRAM, SUFFIX, PARD, DFLASH, USER, AUTO, NONE)


def recipe(speculation: dict[str, Any], **sections: Any) -> Recipe:
    """A recipe of backend pytorch; sections are taken as they are."""
    content = {
        "schema": "trtspec/v1",
        "name": "test",
        "backend": "pytorch",
        "target": {"model": "org/target"},
        "limits": LIMITS,
        "speculation": speculation,
        **sections,
    }
    return Recipe.model_validate(content)


def compiled(
    version: str,
    speculation: dict[str, Any],
    target_info: ModelInfo | None = None,
    **sections: Any,
) -> Compiled:
    """What a recipe compiles to."""
    made = recipe(speculation, **sections)
    return compile_args(made, Version(version), target_info)


def args(version: str, speculation: dict[str, Any], **sections: Any) -> dict[str, Any]:
    """The YAML's content, of a recipe that nothing is wrong with."""
    made = compiled(version, speculation, **sections)
    assert not made.blocked, made.remarks
    return made.args.to_dict()


def config(version: str, speculation: dict[str, Any], **sections: Any) -> Any:
    """Its ``speculative_config``."""
    return args(version, speculation, **sections).get("speculative_config")


def the_remark(made: Compiled, rule: str) -> Remark:
    """The one remark of a rule."""
    (found,) = (remark for remark in made.remarks if remark.rule == rule)
    return found


def refusal(version: str, speculation: dict[str, Any], **sections: Any) -> Remark:
    """The one blocking remark of a recipe."""
    made = compiled(version, speculation, **sections)
    (found,) = (each for each in made.remarks if each.severity == "blocking")
    return found


def target(**changes: Any) -> ModelInfo:
    """A Llama of eight billion parameters, with some changes."""
    known: dict[str, Any] = {
        "family": "llama",
        "architecture": "LlamaForCausalLM",
        "layers": 32,
        "heads": 32,
        "kv_heads": 8,
        "head_size": 128,
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "vocabulary_rows": 128256,
        "context_length": 131072,
        "tied_embeddings": False,
        "tokenizer_entries": 128256,
        "dtype": "bfloat16",
        "parameters": 8_000_000_000,
        "weight_bytes": 16_000_000_000,
        "format": "safetensors",
    }
    return ModelInfo(**{**known, **changes})
