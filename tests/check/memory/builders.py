"""Models of headers only, and recipes on them, for the tests of the memory plan."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.check.samples import content
from tests.models.public import HEADS, TARGETS, write_head, write_target
from trtspec.check.memory.for_recipe import Models
from trtspec.models.describe import describe
from trtspec.models.drafter import describe_drafter
from trtspec.models.head_cache import head_cache
from trtspec.recipe.schema import Recipe

LLAMA_8B = "meta-llama/Llama-3.1-8B"
LLAMA_70B = "meta-llama/Llama-3.1-70B"
LLAMA_70B_FP8 = "nvidia/Llama-3.1-70B-Instruct-FP8"
LLAMA_1B = "meta-llama/Llama-3.2-1B"
EAGLE3_8B = "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B"
DEEPSEEK = "deepseek-ai/DeepSeek-V3"
GPT_OSS = "openai/gpt-oss-120b"
QWEN_8B = "Qwen/Qwen3-8B"
QWEN_SMALL = "Qwen/Qwen3-0.6B"
LIMITS = {"max_batch_size": 8, "max_input_tokens": 4096, "max_total_tokens": 8192}
DRAFT = {"method": "draft_target", "model": "./draft", "draft_length": 4}
EAGLE3 = {"method": "eagle3", "model": "./head", "draft_length": 4}


@cache
def target(name):
    """Describe a published model."""
    with TemporaryDirectory() as folder:
        return describe(write_target(Path(folder), TARGETS[name], tokenizer=False))


@cache
def head(name):
    """Describe a published drafter, with what its layers cache."""
    with TemporaryDirectory() as folder:
        record = HEADS[name]
        info = describe_drafter(write_head(Path(folder), record), record["kind"])
        return info, head_cache(info)


def models(name, *, draft=None, drafter=None):
    """Give a target with a draft model, or with a drafter."""
    info, cached = head(drafter) if drafter else (None, None)
    return Models(target(name), target(draft) if draft else None, info, cached)


def recipe(backend="pytorch", **changes):
    """Make a recipe for TensorRT-LLM; sections are merged into the sample's."""
    changes = {"backend": backend, "speculation": {"method": "none"}, **changes}
    changes["limits"] = {**LIMITS, **changes.get("limits", {})}
    return Recipe.model_validate(content(**changes))
