"""``--gpu NAME[xCOUNT]`` stands in for the GPUs here, on check and plan."""

import json

import pytest
import yaml
from click.testing import CliRunner

from tests.check.memory.builders import LLAMA_1B, LLAMA_8B, LLAMA_70B
from tests.models.public import TARGETS, write_target
from trtspec.check.memory.for_recipe import ENGINE_DRAFT_SHARE
from trtspec.cli.main import cli
from trtspec.errors import TrtspecError

DRAFT = {"method": "draft_target", "model": "draft", "draft_length": 4}


@pytest.fixture
def project(tmp_path):
    write_target(tmp_path / "target", TARGETS[LLAMA_8B])
    write_target(tmp_path / "draft", TARGETS[LLAMA_1B])
    return tmp_path


def write(project, **changes):
    content = {
        "schema": "trtspec/v1",
        "name": "sample",
        "backend": "pytorch",
        "target": {"model": "target", "family": "llama"},
        "speculation": {"method": "none"},
        "limits": {"max_batch_size": 4},
        **changes,
    }
    path = project / "recipe.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return str(path)


def run(*arguments):
    """Give what is written, and the error that ends it, if one does."""
    found = CliRunner().invoke(cli, [*arguments, "--trtllm", "1.2.1"])
    known = found.exception is None or isinstance(found.exception, TrtspecError)
    assert known, found.exception
    return found.stdout, found.exception


def check(*arguments):
    return json.loads(run("check", *arguments, "--json")[0])


def test_check_plans_the_memory_of_a_gpu_that_is_not_here(project):
    document = check(write(project, speculation=DRAFT), "--gpu", "l4")
    (note,) = [f for f in document["findings"] if f["rule"] == "memory-plan"]
    assert note["values"]["gpu"] == "L4"
    assert note["values"]["bytes_per_token"] == 131072 + 32768


def test_without_a_gpu_nothing_is_planned(project):
    rules = [f["rule"] for f in check(write(project))["findings"]]
    assert "memory-plan" not in rules


@pytest.mark.parametrize(
    ("backend", "target", "gpu", "refused"),
    [
        ("tensorrt", {"quantization": "fp8"}, "a100 sxm 80gb", True),
        ("tensorrt", {"quantization": "fp8"}, "l4", False),
        ("tensorrt", {"quantization": "nvfp4"}, "h100", True),
        ("tensorrt", {"quantization": "nvfp4"}, "b200", False),
        ("tensorrt", {"quantization": "int4_awq"}, "b200", True),
        ("pytorch", {"quantization": "fp8"}, "a30", True),
        ("pytorch", {"quantization": "nvfp4"}, "h200", True),
    ],
)
def test_rules_on_types_go_by_it(project, backend, target, gpu, refused):
    model = {"model": "target", "family": "llama", **target}
    path = write(project, backend=backend, target=model)
    rules = [f["rule"] for f in check(path, "--gpu", gpu)["findings"]]
    assert ("gpu-type" in rules) is refused


@pytest.mark.parametrize(("gpu", "warned"), [("h100x2", True), ("h100", False)])
def test_without_a_count_there_are_as_many_as_it_takes(project, gpu, warned):
    model = {"model": "target", "tensor_parallel": 4}
    rules = [f["rule"] for f in check(write(project, target=model), "--gpu", gpu)[
        "findings"
    ]]  # fmt: skip
    assert ("tensor-parallel" in rules) is warned


def test_what_does_not_fit_ends_with_exit_code_3_unless_ignored(project):
    write_target(project / "target", TARGETS[LLAMA_70B])
    path = write(project)
    text, error = run("check", path, "--gpu", "h100")
    assert error.exit_code == 3
    assert "do not fit" in text
    _, error = run("check", path, "--gpu", "h100", "--ignore", "memory")
    assert error is None


@pytest.mark.parametrize("command", ["check", "plan"])
def test_an_ambiguous_name_lists_the_choices(project, command):
    _, error = run(command, write(project), "--gpu", "a100")
    assert error.exit_code == 2
    assert "A100 SXM 80GB" in str(error)
    assert "A100 PCIe 40GB" in str(error)


def test_plan_shows_the_table_and_the_document(project):
    path = write(project, backend="tensorrt", speculation=DRAFT)
    text, _ = run("plan", path, "--gpu", "h100")
    assert "memory       the fullest GPU:" in text
    assert "per token, draft model (bfloat16)" in text
    document = json.loads(run("plan", path, "--gpu", "h100", "--json")[0])
    memory = document["memory"]
    assert memory["kv_cache_bytes"] > 0
    target = memory["kv_cache_bytes"] * (1 - ENGINE_DRAFT_SHARE) // 131072
    assert memory["tokens"] <= target


def test_plan_without_a_gpu_has_no_memory(project):
    document = json.loads(run("plan", write(project), "--json")[0])
    assert "memory" not in document


def test_a_build_here_is_not_taken_for_impossible_on_other_gpus(project):
    rules = [f["rule"] for f in check(write(project), "--gpu", "h100")["findings"]]
    assert "gpu" not in rules
