"""What an installation consists of, and how it is found."""

import importlib
import re
import shutil
import sys

import pytest
from packaging.version import Version

from tests.standins import install
from tests.standins.samples import VERSIONS, make_bench
from trtspec.gpus import find_gpus
from trtspec.trtllm import facts

ARGUMENT = re.compile(r'add_argument\("(--[\w-]+)"')


@pytest.mark.parametrize("version", VERSIONS)
def test_scripts_lie_where_the_version_has_them(tmp_path, version):
    standin = install(tmp_path, version)
    for program in facts.PROGRAMS:
        path = facts.script_path(program, Version(version))
        assert path is None or (standin.examples / path).is_file()
    moved = (standin.examples / "models/core/llama/convert_checkpoint.py").exists()
    assert moved == (Version(version) >= Version("0.20"))
    assert (standin.examples / "constraints.txt").read_text() == (
        f"tensorrt_llm=={version}\n"
    )


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("program", facts.PROGRAMS)
def test_text_names_exactly_the_flags_of_the_version(tmp_path, version, program):
    standin = install(tmp_path, version)
    path = facts.script_path(program, Version(version))
    file = standin.examples / path if path else standin.bin / program
    found = ARGUMENT.findall(file.read_text())
    assert found == list(facts.flags(program, Version(version)))


def test_builder_and_examples_can_be_left_out(tmp_path):
    standin = install(tmp_path, "1.2.1", builder=False, examples=False)
    assert not (standin.bin / "trtllm-build").exists()
    assert not (standin.site / "tensorrt_llm" / "commands").exists()
    assert not standin.examples.exists()


def test_examples_can_be_of_another_version(tmp_path):
    standin = install(tmp_path, "1.2.1", examples_version="0.19.0")
    assert (standin.examples / "llama" / "convert_checkpoint.py").is_file()
    assert "0.19.0" in (standin.examples / "constraints.txt").read_text()


def test_subprocesses_find_the_builder_and_the_package(tmp_path):
    bench = make_bench(tmp_path, "0.20.0")
    path = bench.standin.environment()["PATH"]
    assert shutil.which("trtllm-build", path=path) == str(
        bench.standin.bin / "trtllm-build"
    )
    found = bench.call(
        sys.executable, "-c", "import tensorrt_llm.version as v; print(v)"
    )
    assert str(bench.standin.site) in found.stdout
    assert "[TensorRT-LLM] TensorRT-LLM version: 0.20.0" in found.stdout


def test_activation_lasts_for_one_test_and_versions_do_not_mix(tmp_path):
    for version in ("0.20.0", "1.2.1"):
        standin = install(tmp_path / version, version)
        with pytest.MonkeyPatch.context() as monkeypatch:
            standin.activate(monkeypatch)
            module = importlib.import_module("tensorrt_llm.bindings.executor")
            assert sys.modules["tensorrt_llm"].__version__ == version
            assert module.RECORDS == []
        assert [name for name in sys.modules if name.startswith("tensorrt_llm")] == []
        assert str(standin.site) not in sys.path


def test_package_has_its_version_in_the_metadata(tmp_path):
    with pytest.MonkeyPatch.context() as monkeypatch:
        install(tmp_path, "1.2.1").activate(monkeypatch)
        assert importlib.metadata.version("tensorrt_llm") == "1.2.1"
        assert importlib.metadata.version("tensorrt") == "10.14.1"


@pytest.mark.parametrize("gpus", [0, 1, 2])
def test_as_many_gpus_are_listed_as_were_asked_for(tmp_path, monkeypatch, gpus):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    install(tmp_path, "1.2.1", gpus=gpus).activate(monkeypatch)
    found, why = find_gpus()
    assert [gpu.name for gpu in found] == ["stand-in GPU"] * gpus
    assert {gpu.compute_capability for gpu in found} <= {"9.0"}
    assert why == (None if gpus else "the NVIDIA driver lists no GPU")
