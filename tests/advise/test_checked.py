"""Every recipe that init would write passes check, on the release it is written for."""

from __future__ import annotations

import pytest

from tests.advise.asking import ask, findings, head, prompts, target
from trtspec.advise.explaining import written_recipe
from trtspec.advise.published import published_targets
from trtspec.advise.verdict import MACHINE_RULES
from trtspec.recipe.load import load_recipe

RELEASES = {"0.20.0": ("tensorrt",), "1.0.0": ("pytorch", "tensorrt"),
            "1.2.1": ("pytorch", "tensorrt"), "1.3.0rc25": ("pytorch",)}  # fmt: skip
HEADS = {
    "Llama-3.1-8B": "EAGLE3-LLaMA3.1-Instruct-8B",
    "Qwen3-8B": "Tengyunw/qwen3_8b_eagle3",
    "vicuna-7b-v1.3": "medusa-vicuna-7b-v1.3",
    "gpt-oss-120b": "EAGLE3-gpt-oss-120b-bf16",
    "Qwen2.5-72B-Instruct": None,
    "Mixtral-8x7B-v0.1": None,
    "phi-4": None,
}


def assert_written_recipes_pass(directory, advice, trtllm=None, gpu=None):
    """Write what can be written, load it, and hold it against check."""
    path = directory / "recipe.yaml"
    written = [c for c in advice.candidates if c.can_be_written]
    for candidate in written:
        path.write_text(written_recipe(advice, candidate))
        loaded = load_recipe(path)
        assert loaded.recipe.speculation.method == candidate.method
        blocking = [f for f in findings(loaded, trtllm, gpu) if f.blocks]
        assert [f for f in blocking if f.rule not in MACHINE_RULES] == []
        assert not any(f.rule == "lossless" for f in findings(loaded, trtllm, gpu))
    return len(written)


@pytest.mark.parametrize("trtllm", RELEASES)
@pytest.mark.parametrize("name", HEADS)
def test_recipes_for_targets_that_are_here(tmp_path, name, trtllm):
    model = target(tmp_path, name)
    given = (str(head(tmp_path, HEADS[name])),) if HEADS[name] else ()
    load = prompts(tmp_path, {"prompt": "t1 t2 t3 " * 40, "answer": "t4 t5"})
    advice = ask(
        tmp_path, model, trtllm=trtllm, backends=RELEASES[trtllm], drafts=given,
        workload=load,
    )  # fmt: skip
    written = assert_written_recipes_pass(tmp_path, advice, trtllm)
    assert written or RELEASES[trtllm] == ("tensorrt",)


@pytest.mark.parametrize("trtllm", ["1.2.1", "1.3.0rc25"])
def test_recipes_for_every_target_of_the_table(tmp_path, trtllm):
    for known in published_targets():
        advice = ask(tmp_path, known.model, trtllm=trtllm, backends=RELEASES[trtllm])
        written = assert_written_recipes_pass(tmp_path, advice, trtllm)
        assert written or RELEASES[trtllm] == ("tensorrt",), known.model


def test_recipes_for_the_reference_backend(tmp_path):
    for model in ("demo:smollm2-135m-instruct", "Qwen/Qwen3-8B"):
        advice = ask(tmp_path, model)
        assert assert_written_recipes_pass(tmp_path, advice) >= 3


@pytest.mark.parametrize(
    ("name", "gpu", "gpus"),
    [
        ("Llama-3.3-70B-Instruct", "h100 sxm", 2),
        ("Llama-3.3-70B-Instruct", "l40s", 4),
        ("Qwen3-8B", "h100 sxm", 1),
    ],
)
def test_a_recipe_takes_the_fewest_gpus_that_hold_it(tmp_path, name, gpu, gpus):
    model = target(tmp_path, name, folder="mine")
    advice = ask(tmp_path, model, trtllm="1.2.1", gpu=gpu, most_gpus=8)
    section = advice.chosen.draft.content["target"]
    assert section.get("tensor_parallel", 1) == gpus
    assert_written_recipes_pass(tmp_path, advice, "1.2.1", gpu)
    (tmp_path / "recipe.yaml").write_text(written_recipe(advice, advice.chosen))
    found = findings(load_recipe(tmp_path / "recipe.yaml"), "1.2.1", gpu)
    told = [f for f in found if f.rule.startswith("memory")]
    assert {f.severity for f in told} == {"note"}


def test_what_no_gpu_of_the_machine_holds_is_not_usable(tmp_path):
    model = target(tmp_path, "Llama-3.3-70B-Instruct", folder="mine")
    advice = ask(tmp_path, model, trtllm="1.2.1", gpu="l4 x2", most_gpus=2)
    assert advice.chosen is None
    ngram = next(c for c in advice.candidates if c.method == "ngram")
    assert ngram.state == "no"
    assert any("(memory)" in text for text in ngram.needs)


def test_a_variable_that_forces_acceptance_keeps_no_recipe_from_being_written(
    tmp_path, monkeypatch
):
    name = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"
    monkeypatch.setenv(name, "1.6")
    advice = ask(tmp_path, "Qwen/Qwen3-8B", trtllm="1.2.1", backends=("pytorch",))
    assert advice.chosen.state == "get"
    assert any(f"unset {name}" in text for text in advice.chosen.needs)
    assert assert_written_recipes_pass(tmp_path, advice, "1.2.1") >= 3
