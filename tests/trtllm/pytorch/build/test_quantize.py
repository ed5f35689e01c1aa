"""How the target is quantized: through a package with ModelOpt's calls."""

import json
import os
from dataclasses import asdict, replace
from types import SimpleNamespace

import pytest

from tests.models.tiny import write_checkpoint, write_sharded
from tests.trtllm.pytorch.build.fake_modelopt import write_modelopt
from tests.trtllm.pytorch.build.projects import (
    backend_of,
    build_project,
    write_project,
)
from trtspec.build.artifact import Artifact
from trtspec.build.build import build
from trtspec.build.plan import make_plan
from trtspec.build.resolve import inspected_without_fetching, named
from trtspec.build.stage import StageContext
from trtspec.errors import BuildError, FindingsError
from trtspec.recipe import load_recipe
from trtspec.trtllm.pytorch.build import quantize as module
from trtspec.trtllm.pytorch.build.backend import PyTorchBackend
from trtspec.trtllm.pytorch.build.modelopt_program import (
    calibration_tokens,
    quantization_config,
)
from trtspec.trtllm.pytorch.build.quantize import quantize_stage
from trtspec.trtllm.pytorch.build.readback import CACHE_ALGORITHMS, require_quantized
from trtspec.trtllm.pytorch.build.rules import quantization

SAID = {"fp8": "FP8", "nvfp4": "NVFP4", "int4_awq": "W4A16_AWQ"}


def write(folder, wanted="fp8", kv_cache="auto", **keys):
    pytorch = {"kv_cache": kv_cache, **keys.pop("pytorch", {})}
    target = {"quantization": wanted, **keys.pop("target", {})}
    return write_project(
        folder, target=target, pytorch=pytorch, workload=True, **keys
    )  # fmt: skip


def inputs_of(recipe):
    return inspected_without_fetching(named(load_recipe(recipe)))


def stage_of(recipe):
    return quantize_stage(inputs_of(recipe))


def write_quantized(folder, algorithm="FP8", cache=None):
    """Write a checkpoint as ModelOpt exports it."""
    write_checkpoint(folder)
    said = {"quant_algo": algorithm, "kv_cache_quant_algo": cache}
    (folder / "hf_quant_config.json").write_text(json.dumps({"quantization": said}))
    return folder


@pytest.mark.slow
def test_target_is_quantized_calibrated_and_comes_with_its_tokenizer(
    tmp_path, engines, monkeypatch
):
    site = write_modelopt(tmp_path / "site")
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)
    built = build_project(write(tmp_path, kv_cache="fp8"), engines)
    artifact = Artifact.open(built.artifact.path)
    assert [s.name for s in built.stages[1:3]] == ["quantize-target", "configure"]
    assert not artifact.target.is_symlink()
    said = json.loads((artifact.target / "hf_quant_config.json").read_text())
    assert said == {"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}}
    assert json.loads((artifact.target / "seen.json").read_text()) == [[[3]]]
    tokenizer = (tmp_path / "model" / "tokenizer.json").read_bytes()
    assert (artifact.target / "tokenizer.json").read_bytes() == tokenizer
    assert artifact.manifest.links == {}
    log = (artifact.path / "logs" / "quantize-target.log").read_text()
    assert "calibrating with 1 prompts" in log


@pytest.mark.slow
@pytest.mark.parametrize(
    ("template", "tokens"),
    [(None, [[3], [5]]), ("t{{ messages[0].content[1:] | int + 1 }}", [[4], [6]])],
)
def test_prompts_are_tokenized_as_they_will_be_sent(tmp_path, template, tokens):
    write_checkpoint(tmp_path / "model")
    lines = [json.dumps({"prompt": text}) for text in ("t3", "t5", "t7")]
    (tmp_path / "prompts.jsonl").write_text("\n".join(lines))
    if template is not None:
        (tmp_path / "t.jinja").write_text(template)
    task = module.Task(
        source=str(tmp_path / "model"),
        output="",
        settings=(),
        quantization="fp8",
        kv_cache="auto",
        dtype="float32",
        prompts=str(tmp_path / "prompts.jsonl"),
        samples=2,
        max_tokens=8,
        chat_template=template and str(tmp_path / "t.jinja"),
    )
    assert calibration_tokens(task) == tokens


@pytest.mark.parametrize("wanted", SAID)
def test_task_says_what_the_recipe_asks_for(tmp_path, monkeypatch, wanted):
    tasks = []

    def run(arguments, **keys):
        tasks.append(json.loads(arguments[-1]))
        write_quantized(output, SAID[wanted], "FP8")

    output = tmp_path / "output"
    output.mkdir()
    monkeypatch.setattr(module, "run_command", run)
    pytorch = {"calibration_samples": 7}
    stage = stage_of(write(tmp_path, wanted, "fp8", pytorch=pytorch))
    stage.action(StageContext(output, {}, tmp_path / "log"))
    (task,) = tasks
    assert task == {
        "source": str(tmp_path / "model"),
        "output": str(output),
        "settings": ["config.json", "tokenizer.json"],
        "quantization": wanted,
        "kv_cache": "fp8",
        "dtype": "float16",
        "prompts": str(tmp_path / "prompts.jsonl"),
        "samples": 7,
        "max_tokens": 16,
        "chat_template": None,
    }
    assert set(task) == set(asdict(module.Task(**task)))


def test_neither_index_nor_pickled_weights_are_settings(tmp_path):
    write_sharded(tmp_path / "model")
    files = inputs_of(write(tmp_path)).target.files
    assert "model.safetensors.index.json" in files
    assert module._settings(inputs_of(write(tmp_path)).target) == (
        "config.json",
        "tokenizer.json",
    )


def test_own_prompts_go_before_the_workloads(tmp_path):
    (tmp_path / "calibration.jsonl").write_text('{"prompt": "t4"}\n')
    plain = write(tmp_path)
    own = write(
        tmp_path, name="own", pytorch={"calibration_prompts": "calibration.jsonl"}
    )
    prompts = {r: stage_of(r).inputs["prompts"] for r in (plain, own)}
    assert prompts[plain] != prompts[own]
    recipe = load_recipe(own)
    found = module.calibration_prompts(recipe.recipe, recipe.base)
    assert found == tmp_path / "calibration.jsonl"


def test_where_the_prompts_lie_does_not_change_the_fingerprint(tmp_path, engines):
    prints = []
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text('{"prompt": "t4"}\n')
        recipe = write(tmp_path, pytorch={"calibration_prompts": f"{name}.jsonl"})
        prints.append(make_plan(load_recipe(recipe), backend_of(), engines).fingerprint)
    assert prints[0] == prints[1]


@pytest.mark.parametrize(
    "change",
    [
        {"wanted": "nvfp4"},
        {"kv_cache": "fp8"},
        {"target": {"dtype": "bfloat16"}},
        {"pytorch": {"calibration_samples": 3}},
        {"limits": {"max_input_tokens": 8}},
    ],
)
def test_what_decides_the_weights_decides_the_key(tmp_path, change):
    before = stage_of(write(tmp_path)).key
    assert stage_of(write(tmp_path)).key == before
    assert stage_of(write(tmp_path, **change)).key != before


def test_method_and_batch_do_not_quantize_again(tmp_path):
    before = stage_of(write(tmp_path)).key
    assert stage_of(write(tmp_path, method="ngram")).key == before
    assert stage_of(write(tmp_path, limits={"max_batch_size": 4})).key == before


def test_plan_says_so_and_does_not_link(tmp_path, engines):
    planned = make_plan(load_recipe(write(tmp_path)), backend_of(), engines)
    (stage,) = [s for s in planned.stages if s.name == "quantize-target"]
    assert stage.summary == ("quantize the target to fp8 with NVIDIA ModelOpt",)
    assert stage.needs_bytes > 0
    assert planned.links == {}


def test_what_is_quantized_already_is_linked(tmp_path, engines):
    write_quantized(tmp_path / "model")
    built = build_project(write(tmp_path), engines)
    assert [s.name for s in built.stages] == ["resolve", "configure", "assemble"]
    assert built.artifact.target.is_symlink()


def test_model_that_is_not_here_is_planned_both_ways(tmp_path, engines):
    recipe = write(tmp_path, target={"model": "org/name"})
    planned = make_plan(load_recipe(recipe), backend_of(), engines)
    (stage,) = [s for s in planned.stages if s.name == "quantize-target"]
    assert stage.summary[0].endswith("unless it is quantized already")


@pytest.mark.parametrize(
    ("algorithm", "cache", "words"),
    [
        ("NVFP4", None, "quant_algo NVFP4, where the recipe asks for FP8"),
        (None, None, "quant_algo None"),
        ("FP8", "FP8", "kv_cache_quant_algo FP8, where the recipe asks for None"),
    ],
)
def test_something_else_than_was_asked_for_is_refused(
    tmp_path, algorithm, cache, words
):
    output = write_quantized(tmp_path / "output", algorithm, cache)
    with pytest.raises(BuildError, match=words):
        require_quantized(output, "fp8", "auto")


def test_no_weights_are_refused(tmp_path):
    output = write_quantized(tmp_path / "output")
    (output / "model.safetensors").unlink()
    with pytest.raises(BuildError, match="wrote no weights"):
        require_quantized(output, "fp8", "auto")


@pytest.mark.parametrize(("cache", "algorithm"), CACHE_ALGORITHMS.items())
@pytest.mark.parametrize("wanted", SAID)
def test_what_was_asked_for_passes(tmp_path, wanted, cache, algorithm):
    output = write_quantized(tmp_path / "output", SAID[wanted], algorithm)
    require_quantized(output, wanted, cache)


def test_without_modelopt_a_build_does_not_begin(tmp_path, engines, monkeypatch):
    monkeypatch.setattr(quantization, "find_spec", lambda name: None)
    backend = PyTorchBackend(replace(backend_of().installation, assumed=False))
    with pytest.raises(FindingsError, match="nvidia-modelopt is not installed"):
        build(load_recipe(write(tmp_path)), backend, engines)
    assert not engines.exists()


QUANTIZATION = SimpleNamespace(
    FP8_KV_CFG={"quant_cfg": {"*kv": {}, "default": {"enable": False}}},
    NVFP4_KV_CFG={"quant_cfg": [{"quantizer_name": "*kv"}]},
)


def test_scales_of_the_cache_are_added_whatever_form_the_configuration_has():
    by_pattern = {"quant_cfg": {"*weight": {}, "default": {}}}
    found = quantization_config(QUANTIZATION, by_pattern, "fp8")
    assert found == {"quant_cfg": {"*weight": {}, "default": {}, "*kv": {}}}
    listed = {"quant_cfg": [{"quantizer_name": "*weight"}]}
    found = quantization_config(QUANTIZATION, listed, "nvfp4")
    assert [q["quantizer_name"] for q in found["quant_cfg"]] == ["*weight", "*kv"]
    assert quantization_config(QUANTIZATION, listed, "auto") == listed
    assert QUANTIZATION.FP8_KV_CFG["quant_cfg"]["default"] == {"enable": False}
