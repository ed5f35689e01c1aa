"""Only what decides an output is part of a key, and all of that is."""

from dataclasses import replace

import pytest

from tests.trtllm.engine.rules.findings import on_gpu
from tests.trtllm.engine.samples import inputs, recipe, source, tools
from trtspec.build.command_line import Command
from trtspec.trtllm import libraries
from trtspec.trtllm.engine.stage_keys import (
    FORCED_PROFILES,
    command_inputs,
    file_inputs,
    machine_inputs,
)
from trtspec.trtllm.engine.stages import engine_stages
from trtspec.trtllm.installation import Installation

FILES = {
    "config.json": "1",
    "model.safetensors": "2",
    "model.safetensors.index.json": "3",
    "tokenizer.json": "4",
    "tokenizer_config.json": "5",
    "chat_template.jinja": "6",
    "generation_config.json": "7",
    "hf_quant_config.json": "8",
}


def test_number_of_workers_does_not_count():
    command = Command(("trtllm-build", "--tp_size", "2", "--workers", "4", "--x"))
    assert command_inputs(command) == {"command": "trtllm-build --tp_size 2 --x"}
    assert command_inputs(Command(("a", "--workers", "1"))) == {"command": "a"}


def test_variables_of_the_command_count():
    plain, other = Command(("a",)), Command(("a",), {"B": "1", "A": "2"})
    assert "environment" not in command_inputs(plain)
    assert command_inputs(other)["environment"] == '{"A": "2", "B": "1"}'


def test_scripts_that_convert_read_weights_and_configuration():
    found = file_inputs([replace(source("target"), files=FILES)], calibrates=False)
    assert {name.partition("/")[2] for name in found} == {
        "config.json",
        "model.safetensors",
        "model.safetensors.index.json",
        "hf_quant_config.json",
    }


def test_script_that_quantizes_reads_all():
    found = file_inputs([replace(source("target"), files=FILES)], calibrates=True)
    assert found == {f"file target/{name}": digest for name, digest in FILES.items()}
    assert file_inputs([source("target")], calibrates=True) == {}


def keys(made, **parts):
    found = engine_stages(tools(), replace(inputs(made), **parts))
    return {stage.name: stage.key for stage in found}


@pytest.mark.parametrize(
    ("made", "changed"),
    [
        (recipe(), ["convert-target", "build-target"]),
        (
            recipe(target={"quantization": "fp8"}),
            ["quantize-target", "build-target"],
        ),
    ],
)
@pytest.mark.parametrize("name", ["nvidia-modelopt", "torch", "transformers"])
def test_other_libraries_convert_again(made, changed, name, monkeypatch):
    before = keys(made)
    monkeypatch.setattr(libraries, "version", lambda n: "9" if n == name else "1")
    after = keys(made)
    monkeypatch.setattr(libraries, "version", lambda n: "1")
    other = keys(made)
    assert before.keys() == other.keys()
    assert [n for n in other if other[n] != after[n]] == changed


def test_engine_is_bound_to_the_gpus_that_share_it():
    names = ("H200", "H100", "L40S")
    gpus = tuple(on_gpu("9.0").model_copy(update={"name": n}) for n in names)
    found = machine_inputs(Installation(tensorrt="10.1", gpus=gpus), 2)
    assert found == {
        "tensorrt": "10.1",
        "gpu": "H200, H100",
        "compute capability": "9.0, 9.0",
    }
    assert machine_inputs(Installation(), 2) == {
        "tensorrt": "unknown",
        "gpu": "none",
        "compute capability": "none",
    }


def test_variable_that_the_builder_goes_by_counts(monkeypatch):
    monkeypatch.delenv(FORCED_PROFILES, raising=False)
    before = keys(recipe())
    monkeypatch.setenv(FORCED_PROFILES, "1")
    after = keys(recipe())
    assert [name for name in before if before[name] != after[name]] == ["build-target"]


def test_order_of_further_flags_does_not_count():
    flags = {"multiple_profiles": "enable", "fast_build": True}
    other = dict(reversed(flags.items()))
    made = [recipe(engine={"build_flags": given}) for given in (flags, other)]
    assert keys(made[0]) == keys(made[1])


def test_other_chat_template_only_copies_the_tokenizer_again(tmp_path):
    (tmp_path / "chat_template.jinja").write_text("")
    target = replace(source("target"), directory=tmp_path, files=FILES)
    changed = replace(target, files=FILES | {"chat_template.jinja": "9"})
    made = recipe(target={"quantization": "none"})
    before, after = keys(made, target=target), keys(made, target=changed)
    assert [name for name in before if before[name] != after[name]] == ["tokenizer"]
