"""Published heads with published targets: what check says of each pair, and why."""

import pytest
import yaml

from tests.check.samples import content
from tests.models.public import (
    HEADS,
    TARGETS,
    with_one_expert,
    write_head,
    write_target,
)
from trtspec.check import check_recipe
from trtspec.cli.common import backend_for
from trtspec.recipe.load import load_recipe

LIMITS = {"max_batch_size": 4, "max_input_tokens": 512, "max_total_tokens": 1024}
ENGINES = ("tensorrt", "1.0.0")
HOMES = {
    "eagle3": ("pytorch", "1.2.1"),
    "dflash": ("pytorch", "1.3.0rc22"),
    "medusa": ENGINES,
    "eagle": ENGINES,
    "redrafter": ENGINES,
}
"""Kind → a backend and a version that have it."""

BLOCKED = {"yuhuili/EAGLE-LLaMA3-Instruct-8B": {"eagle-bias", "rope-scaling"}}
"""Published heads that the engine backend cannot take even with their own target."""

PAIRS = [
    (head, target)
    for head in HEADS
    for target in HEADS[head]["fits"]
    if target != "deepseek-ai/DeepSeek-R1"  # the configuration of DeepSeek-V3
]
EAGLE3, EAGLE1 = "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", "yuhuili/EAGLE-Vicuna-7B-v1.3"
MEDUSA, DFLASH = "FasterDecoding/medusa-vicuna-7b-v1.3", "z-lab/Qwen3-8B-DFlash-b16"
OSS_120B = "lmsys/EAGLE3-gpt-oss-120b-bf16"
OSS_20B = "SpecForge gpt-oss-20B-eagle3"
OWN = {OSS_120B: "openai/gpt-oss-120b", OSS_20B: "openai/gpt-oss-20b"}
REDRAFTER = "apple/ml-recurrent-drafter, its cmd/train.sh"
LLAMA, QWEN, VICUNA = "meta-llama/Llama-3.1-8B", "Qwen/Qwen3-8B", "lmsys/vicuna-7b-v1.3"


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    """What is found of a head with a target, as a method on its home."""
    base = tmp_path_factory.mktemp("pairs")
    names = {}

    def place(name):
        if name not in names:
            names[name] = f"./checkpoint-{len(names)}"
            directory = base / names[name]
            if name in HEADS:
                write_head(directory, HEADS[name])
            else:
                write_target(directory, with_one_expert(TARGETS[name]))
        return names[name]

    def check(head, target, method, home):
        backend, version = home
        dtype = TARGETS[target]["config"].get("torch_dtype", "bfloat16")
        drafted = {"draft_length": 4} if method in ("eagle3", "dflash") else {}
        recipe = content(
            backend=backend,
            limits=LIMITS,
            target={"model": place(target), "dtype": dtype},
            speculation={"method": method, "model": place(head), **drafted},
        )
        path = base / "recipe.yaml"
        path.write_text(yaml.safe_dump(recipe, sort_keys=False))
        loaded = load_recipe(path)
        there = backend_for(loaded.recipe, trtllm=version)
        return check_recipe(
            loaded, rules=there.rules, version=there.version, free_memory=2**50
        )

    return check


def blocking(found):
    return {finding.rule for finding in found if finding.severity == "blocking"}


@pytest.mark.parametrize(("head", "target"), PAIRS)
def test_a_head_with_its_own_target_is_passed(findings, head, target):
    kind = HEADS[head]["kind"]
    found = findings(head, target, HEADS[head]["method"], HOMES[kind])
    assert blocking(found) == BLOCKED.get(head, set())


@pytest.mark.parametrize(
    ("head", "target", "rules"),
    [
        (EAGLE3, "meta-llama/Llama-3.1-70B", {"drafter-hidden-size"}),
        (EAGLE3, "meta-llama/Llama-3.2-1B", {"drafter-hidden-size"}),
        ("AngelSlim/Qwen3-32B_eagle3", QWEN, {"drafter-hidden-size"}),
        (DFLASH, "Qwen/Qwen3-32B", {"drafter-hidden-size"}),
        (EAGLE1, "lmsys/vicuna-33b-v1.3", {"drafter-hidden-size"}),
        (MEDUSA, "lmsys/vicuna-13b-v1.3", {"drafter-hidden-size"}),
        (REDRAFTER, "lmsys/vicuna-13b-v1.3", {"drafter-hidden-size"}),
        (OSS_120B, "openai/gpt-oss-20b", {"captured-layers"}),
    ],
)
def test_a_head_with_another_target_is_refused_for_its_reason(
    findings, head, target, rules
):
    kind = HEADS[head]["kind"]
    assert blocking(findings(head, target, kind, HOMES[kind])) == rules


def test_heads_of_one_size_are_told_apart_by_the_layers_that_they_read(findings):
    home = HOMES["eagle3"]
    (deep,) = layers(findings(OSS_120B, "openai/gpt-oss-20b", "eagle3", home))
    assert "names layers 1, 17, 33 of its target" in deep.what
    assert "has 24" in deep.what
    assert "trained for this target model" in deep.action
    (shallow,) = layers(findings(OSS_20B, "openai/gpt-oss-120b", "eagle3", home))
    assert shallow.severity == "warning"
    for head, target in OWN.items():
        assert not layers(findings(head, target, "eagle3", home))


def test_every_published_head_reads_a_layer_deep_in_its_own_target():
    for head, target in PAIRS:
        named = HEADS[head]["expected"].get("target_layers")
        if named:
            depth = TARGETS[target]["config"]["num_hidden_layers"]
            assert 0.75 * depth <= max(named) <= depth, (head, target)


def layers(found):
    return [finding for finding in found if finding.rule == "captured-layers"]


@pytest.mark.parametrize(
    ("head", "target", "method", "right"),
    [
        (EAGLE1, VICUNA, "eagle3", "eagle"),
        (EAGLE3, LLAMA, "eagle", "eagle3"),
        (EAGLE3, LLAMA, "dflash", "eagle3"),
        (DFLASH, QWEN, "eagle3", "dflash"),
    ],
)
def test_a_head_under_another_method_is_called_what_it_is(
    findings, head, target, method, right
):
    found = findings(head, target, method, HOMES[method])
    refused = next(f for f in found if f.rule == "checkpoint")
    assert refused.severity == "blocking"
    assert f"method: {right}" in refused.action
