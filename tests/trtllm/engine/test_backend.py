"""What backend tensorrt needs, says of itself, and offers to build."""

from dataclasses import replace
from pathlib import Path

import pytest
from packaging.version import Version

import trtspec
from tests.trtllm.engine.rules.findings import on_gpu
from tests.trtllm.engine.samples import inputs, recipe
from tests.trtllm.machines import write_examples
from trtspec.trtllm.engine.backend import TensorRTBackend
from trtspec.trtllm.engine.rules import ENGINE_RULES
from trtspec.trtllm.examples import Examples
from trtspec.trtllm.installation import Absence, Installation, assumed_for
from trtspec.trtllm.probe import probe

WHOLE = Installation(
    version=Version("1.2.1"),
    tensorrt="10.14.1",
    builder=Path("/usr/bin/trtllm-build"),
    package=Path("/site/tensorrt_llm"),
    executor=True,
    examples=Examples(Path("/app/tensorrt_llm/examples"), "1.2.1"),
    cuda="13.0",
    driver="580.65.06",
    gpus=(on_gpu("9.0"),),
)


def missing(**parts):
    return texts(TensorRTBackend(replace(WHOLE, **parts)))


def texts(backend):
    return [f"{problem.what}: {problem.action}" for problem in backend.missing()]


def test_whole_installation_lacks_nothing():
    assert missing() == []


def test_assumed_installation_lacks_nothing():
    assert TensorRTBackend(assumed_for("0.17.0")).missing() == []


def test_bare_machine_lacks_tensorrt_llm_and_is_told_the_ways_on(machine):
    (text,) = texts(TensorRTBackend(probe()))
    assert text.startswith("TensorRT-LLM is not installed: ")
    assert "pip install tensorrt_llm==1.2.1" in text
    assert "trtspec plan RECIPE --trtllm 1.2.1" in text


def test_version_without_the_engine_path_is_told_so():
    (text,) = missing(version=Version("1.3.0rc21"), examples=None)
    assert "TensorRT-LLM 1.3.0rc21 has no engine backend" in text
    assert "removed upstream in 1.3.0rc21" in text
    assert "pin a release" in text


def test_absent_builder_is_told_with_the_reason():
    (text,) = missing(builder=None, absences=(Absence("builder", "it was not found"),))
    assert "no builder: it was not found" in text


def test_absent_examples_are_told_with_the_remedy():
    (text,) = missing(examples=None, absences=(Absence("examples", "no folder"),))
    assert text.startswith("no example scripts to convert with: no folder: git clone")
    assert "--branch v1.2.1" in text


def test_examples_of_another_version_are_told():
    (text,) = missing(examples=Examples(Path("/examples"), "1.0.0"))
    assert "in /examples are of TensorRT-LLM 1.0.0" in text
    assert "not 1.2.1: git clone" in text


def test_examples_that_name_no_version_pass():
    assert missing(examples=Examples(Path("/examples"), None)) == []


def test_versions_of_all_that_builds_and_runs():
    found = TensorRTBackend(WHOLE).versions()
    assert found.pop("python").count(".") == 2
    assert found == {
        "trtspec": trtspec.__version__,
        "tensorrt_llm": "1.2.1",
        "tensorrt": "10.14.1",
        "cuda": "13.0",
        "driver": "580.65.06",
        "gpu": "NVIDIA H200",
    }
    assert TensorRTBackend(Installation()).versions()["gpu"] == "unknown"


def test_name_version_and_rules():
    backend = TensorRTBackend(WHOLE)
    assert (backend.name, backend.version) == ("tensorrt", Version("1.2.1"))
    assert len(backend.rules) == len(ENGINE_RULES)
    assert TensorRTBackend(Installation()).version is None


def test_outline_is_what_stages_are_as_long_as_nothing_is_known():
    backend, given = TensorRTBackend(assumed_for("1.2.1")), inputs(recipe("eagle"))
    assert backend.outline(given) == backend.stages(given)


@pytest.mark.parametrize("version", ["0.17.0", "1.2.1"])
def test_assumed_version_with_a_folder_of_scripts_plans_with_these(tmp_path, version):
    root = write_examples(tmp_path / "examples", version)
    for script in root.rglob("*.py"):
        script.write_text(
            'for f in ("a",): parser.add_argument("--model_dir")\n'
            'parser.add_argument("--output_dir"); parser.add_argument("--dtype")\n'
        )
    backend = TensorRTBackend(assumed_for(version, root))
    convert = backend.outline(inputs(recipe()))[1]
    assert convert.paths["script"].startswith(str(root))
