"""What is found by looking, and the reason for each thing that is not."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import get_args

import pytest

from tests.trtllm.machines import H200, bare_machine, write, write_examples
from trtspec.errors import UsageError
from trtspec.trtllm.examples import VARIABLE
from trtspec.trtllm.installation import Part
from trtspec.trtllm.probe import probe
from trtspec.trtllm.versions import parse


def test_a_bare_machine_has_only_absences(machine):
    found = probe()
    assert found.version is None
    assert found.package is None
    assert not found.assumed
    # without a package, nobody asks for its runtime
    parts = set(get_args(Part)) - {"runtime"}
    assert {absence.what for absence in found.absences} == parts
    assert all(absence.why for absence in found.absences)
    assert "no package tensorrt_llm" in found.why_absent("package")
    assert found.why_absent("gpus") == "no NVIDIA driver: library not found"


def test_a_whole_installation_has_no_absences(monkeypatch, tmp_path):
    machine = bare_machine(monkeypatch, tmp_path, gpus=[H200])
    machine.install("1.2.1")
    machine.record("tensorrt", "10.14.1.48")
    machine.record("nvidia-cuda-runtime", "13.0.96")
    write_examples(machine.image_examples, "1.2.1")
    found = probe()
    assert found.absences == ()
    assert found.version == parse("1.2.1")
    assert found.package == machine.package
    assert found.tensorrt == "10.14.1.48"
    assert found.builder == machine.bin / "trtllm-build"
    assert found.server == machine.bin / "trtllm-serve"
    assert found.executor
    assert found.worker == machine.package / "bin" / "executorWorker"
    assert found.examples.version == "1.2.1"
    assert found.cuda == "13.0.96"
    assert found.driver == "580.65.06"
    assert found.gpus == (H200,)


def test_looking_imports_nothing_of_tensorrt_llm(machine):
    """With Python's own search; the package's __init__ raises when imported."""
    machine.install("1.2.1")
    statement = (
        "import sys\nfrom trtspec.trtllm.probe import probe\n"
        "print(probe().version, sorted({'tensorrt_llm', 'torch'} & set(sys.modules)))"
    )
    output = subprocess.run(
        [sys.executable, "-c", statement],
        env={"PYTHONPATH": f"{machine.site}:{':'.join(sys.path)}", "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert output.stdout.strip() == "1.2.1 []"


def test_the_record_tells_the_version_where_version_py_does_not(machine):
    machine.install("1.0.0", without=["version.py"])
    assert probe().version == parse("1.0.0")


@pytest.mark.parametrize("text", ["__version__ = get()\n", '__version__ = "oops"\n'])
def test_a_version_that_cannot_be_told_is_an_absence(machine, text):
    machine.install("1.0.0")
    write(machine.package / "version.py", text)
    (machine.site / "tensorrt_llm-1.0.0.dist-info" / "METADATA").unlink()
    (machine.site / "tensorrt_llm-1.0.0.dist-info").rmdir()
    found = probe()
    assert found.version is None
    assert str(machine.package / "version.py") in found.why_absent("version")


def test_a_folder_without_init_is_no_package(machine):
    machine.install(without=["__init__.py"])
    found = probe()
    assert found.package is None
    assert "has no __init__.py" in found.why_absent("package")


@pytest.mark.parametrize(
    ("without", "words"),
    [
        (["trtllm-build"], ["commands/build.py is there", "no trtllm-build on PATH"]),
        (["commands/build.py"], ["builds nothing", "commands/build.py"]),
        (["trtllm-build", "commands/build.py"], ["no trtllm-build", "has no"]),
    ],
)
def test_half_a_builder_is_none_and_the_other_half_is_named(machine, without, words):
    machine.install(without=without)
    found = probe()
    assert found.builder is None
    assert all(word in found.why_absent("builder") for word in words)


def test_an_executable_without_a_package_is_no_builder(machine):
    program = machine.program("trtllm-build")
    found = probe()
    assert found.builder is None
    assert found.why_absent("builder").startswith(str(program))
    assert "TensorRT-LLM is not installed" in found.why_absent("builder")


def test_the_builder_may_lie_beside_python(machine):
    machine.install(without=["trtllm-build"])
    program = machine.program("trtllm-build", machine.root / "scripts")
    assert probe().builder == program


def test_the_server_lies_on_the_path_or_beside_python(machine):
    machine.install(without=["trtllm-serve"])
    found = probe()
    assert found.server is None
    assert "no trtllm-serve on PATH or in " in found.why_absent("server")
    beside = machine.program("trtllm-serve", machine.root / "scripts")
    assert probe().server == beside
    assert probe().server != machine.program("trtllm-serve")
    assert probe().server == machine.bin / "trtllm-serve"


def test_a_server_without_a_package_is_none(machine):
    machine.program("trtllm-serve")
    found = probe()
    assert found.server is None
    assert found.why_absent("server") == "TensorRT-LLM is not installed"


BINDINGS = "bindings.cpython-312-x86_64-linux-gnu.so"


def test_a_stub_of_the_bindings_is_no_executor(machine):
    machine.install(without=[BINDINGS])
    found = probe()
    assert not found.executor
    assert "no compiled bindings" in found.why_absent("executor")


@pytest.mark.parametrize(
    "name",
    ["executor.py", "executor/__init__.py", "executor.cpython-312-x86_64-linux-gnu.so"],
)
def test_a_bindings_folder_with_an_executor_counts(machine, name):
    machine.install(without=[BINDINGS])
    write(machine.package / "bindings" / name)
    assert probe().executor


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("worker", "bin/executorWorker"),
        ("runtime", "runtime/model_runner_cpp.py"),
    ],
)
def test_a_missing_file_is_named(machine, part, name):
    machine.install(without=[name])
    assert str(machine.package / name) in probe().why_absent(part)


def test_cuda_is_read_from_the_toolkit_where_no_package_has_it(machine):
    text = json.dumps({"cuda": {"name": "CUDA SDK", "version": "12.9.1"}})
    write(machine.root / "cuda" / "version.json", text)
    assert probe().cuda == "12.9.1"
    machine.record("nvidia-cuda-runtime-cu12", "12.9.79")
    assert probe().cuda == "12.9.79"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cuda": 1}'])
def test_a_damaged_cuda_file_is_an_absence(machine, text):
    path = write(machine.root / "cuda" / "version.json", text)
    found = probe()
    assert found.cuda is None
    assert f"{path} cannot be read" in found.why_absent("cuda")


def test_tensorrt_is_found_under_its_cuda_name(machine):
    machine.record("tensorrt_cu13", "10.14.1")
    assert probe().tensorrt == "10.14.1"


def test_examples_come_from_the_folder_that_was_told(machine, tmp_path):
    folder = write_examples(tmp_path / "examples", "0.20.0")
    assert probe(folder).examples.root == folder


def test_a_wrong_option_is_an_error_and_a_wrong_variable_an_absence(
    machine, monkeypatch, tmp_path
):
    with pytest.raises(UsageError, match="--examples"):
        probe(tmp_path / "none")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    found = probe()
    assert found.examples is None
    assert f"${VARIABLE}" in found.why_absent("examples")
    assert "is no folder" in found.why_absent("examples")
