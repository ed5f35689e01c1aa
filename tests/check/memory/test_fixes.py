"""What lets more fit: in order, with what it brings, and lines that load."""

import pytest
import yaml

from tests.check.memory.builders import (
    DRAFT,
    EAGLE3,
    EAGLE3_8B,
    LLAMA_1B,
    LLAMA_8B,
    LLAMA_70B,
    LLAMA_70B_FP8,
    models,
    recipe,
)
from tests.check.samples import content
from trtspec.check.memory.fixes import fixes
from trtspec.check.memory.for_recipe import plan_for
from trtspec.gpu_kinds import gpu_kind
from trtspec.recipe.schema import Recipe

PAIR = {"target": {"tensor_parallel": 2}, "speculation": DRAFT}


def found(gpu, *, name=LLAMA_70B, draft=LLAMA_1B, backend="pytorch", **changes):
    asked = recipe(backend, **{**PAIR, **changes})
    return fixes(asked, models(name, draft=draft), gpu_kind(gpu))


def test_the_smallest_changes_come_first():
    whats = [fix.what.split(" (")[0] for fix in found("h100")]
    assert whats == [
        "an FP8 KV cache",
        "a smaller draft model, or a head",
        "tensor_parallel 4 in place of 2",
        "the target in fp8",
    ]


@pytest.mark.parametrize("gpu", ["h100", "l40s", "b200"])
def test_each_change_brings_what_it_says(gpu):
    asked = recipe(**PAIR)
    now = plan_for(asked, models(LLAMA_70B, draft=LLAMA_1B), gpu_kind(gpu))
    for fix in found(gpu):
        assert fix.plan.requests > now.requests or fix.plan.free > now.free


@pytest.mark.parametrize("backend", ["pytorch", "tensorrt"])
def test_the_lines_give_the_plan_that_is_promised(backend):
    gpu, pair = gpu_kind("h100"), models(LLAMA_70B, draft=LLAMA_1B)
    given = content(backend=backend, **{**PAIR, "limits": {"max_total_tokens": 8192}})
    asked = Recipe.model_validate(given)
    written = [fix for fix in fixes(asked, pair, gpu) if fix.snippet]
    assert written
    for fix in written:
        changed = dict(given)
        for section, lines in yaml.safe_load(fix.snippet).items():
            changed[section] = {**changed.get(section, {}), **lines}
        assert plan_for(Recipe.model_validate(changed), pair, gpu) == fix.plan


@pytest.mark.parametrize("gpu", ["a100 sxm 80gb", "a30", "a10"])
def test_no_fp8_where_the_gpu_has_none(gpu):
    assert not any("fp8" in fix.what.lower() for fix in found(gpu))


def test_fp4_is_for_blackwell():
    assert any("nvfp4" in fix.what for fix in found("b200"))
    assert not any("nvfp4" in fix.what for fix in found("h200"))


def test_what_is_quantized_is_not_quantized_again():
    whats = [fix.what for fix in found("h100", name=LLAMA_70B_FP8)]
    assert not any("the target in" in what or "FP8" in what for what in whats)


def test_more_gpus_are_as_many_as_it_takes():
    fix = next(
        fix
        for fix in found("l4", target={"tensor_parallel": 1})
        if "tensor_parallel" in fix.what
    )
    assert fix.what == "tensor_parallel 8 in place of 1"
    assert fix.plan.requests >= 1


def test_shorter_limits_are_those_with_which_two_requests_fit():
    asked = recipe(limits={"max_total_tokens": 65536}, speculation=EAGLE3)
    pair = models(LLAMA_8B, drafter=EAGLE3_8B)
    (fix,) = [f for f in fixes(asked, pair, gpu_kind("l4")) if "limits" in f.what]
    assert fix.plan.requests == pytest.approx(2, abs=0.01)
    assert fix.plan.requests >= 2


def test_a_fix_says_what_it_brings():
    text = str(found("h100")[0])
    assert text.startswith("an FP8 KV cache: ")
    assert "tokens" in text
    assert "full requests" in text


def test_where_nothing_helps_nothing_is_listed():
    asked = recipe(pytorch={"kv_cache": "nvfp4"}, target={"tensor_parallel": 64})
    assert [f.what for f in fixes(asked, models(LLAMA_70B_FP8), gpu_kind("h200"))] == []
