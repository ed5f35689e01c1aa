"""``trtspec doctor``: facts, absences, a verdict per backend; exit code 0."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tests.trtllm.machines import H200, bare_machine, write_examples
from trtspec.cli import verdicts
from trtspec.cli.doctor import command
from trtspec.cli.main import COMMANDS, cli
from trtspec.errors import Problem, UsageError


@pytest.fixture
def machine(monkeypatch, tmp_path):
    return bare_machine(monkeypatch, tmp_path)


@pytest.fixture
def gpu_machine(monkeypatch, tmp_path):
    machine = bare_machine(monkeypatch, tmp_path, gpus=[H200])
    machine.install("1.2.1")
    write_examples(machine.image_examples, "1.2.1")
    return machine


def text(*arguments):
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def flat(*arguments):
    """The text without its line breaks, which depend on the terminal."""
    return " ".join(text(*arguments).split())


def document(*arguments):
    return json.loads(text("--json", *arguments))


def backend(name, *arguments):
    return next(b for b in document(*arguments)["backends"] if b["backend"] == name)


def test_a_bare_machine_is_described_without_an_error(machine):
    shown = flat()
    for absent in ("TensorRT-LLM", "TensorRT", "CUDA", "driver", "GPUs", "builder"):
        assert f" {absent} none: " in shown
    assert "tensorrt not available here: TensorRT-LLM is not installed" in shown
    assert "nvcr.io/nvidia/tensorrt-llm/release:1.2.1" in shown
    assert "pytorch not available here: TensorRT-LLM is not installed" in shown


def test_text_is_at_most_80_columns_wide(machine):
    too_wide = [line for line in text().splitlines() if len(line) > 80]
    assert [line for line in too_wide if " " in line.strip()] == []  # paths may be


def test_versions_of_python_and_the_libraries_are_shown(machine):
    shown = document()
    assert shown["python"] == ".".join(map(str, sys.version_info[:3]))
    assert {"trtspec", "torch", "transformers"} <= shown.keys()


def test_a_whole_machine_is_described_with_its_gpu(gpu_machine):
    shown = flat()
    assert f"TensorRT-LLM 1.2.1 in {gpu_machine.package}" in shown
    assert "driver 580.65.06" in shown
    assert "NVIDIA H200, compute capability 9.0, " in shown
    assert f"builder {gpu_machine.bin / 'trtllm-build'}" in shown
    examples = f"{gpu_machine.image_examples} (NVIDIA's release image)"
    assert f"examples {examples}, version 1.2.1 by constraints.txt" in shown
    assert "tensorrt available: TensorRT-LLM 1.2.1" in shown
    assert "pytorch available: TensorRT-LLM 1.2.1, configured as 1.2" in shown
    assert f"server {gpu_machine.bin / 'trtllm-serve'}" in shown


def test_json_has_every_fact_and_every_absence(gpu_machine):
    shown = document()
    assert shown["tensorrt_llm"] == "1.2.1"
    assert shown["package"] == str(gpu_machine.package)
    assert shown["builder"] == str(gpu_machine.bin / "trtllm-build")
    assert shown["executor"] is True
    assert shown["examples"]["version"] == "1.2.1"
    assert shown["gpus"] == [H200.model_dump()]
    assert {absence["what"] for absence in shown["absences"]} == {"tensorrt", "cuda"}
    names = [backend["backend"] for backend in shown["backends"]]
    assert names == ["reference", "tensorrt", "pytorch"]
    assert all(backend["action"] for backend in shown["backends"])


def test_without_a_gpu_nothing_can_be_built(machine):
    machine.install("1.2.1")
    write_examples(machine.image_examples, "1.2.1")
    verdict = backend("tensorrt")
    assert not verdict["available"]
    assert "no GPU" in verdict["what"]
    assert "--gpus all" in verdict["action"]


def test_examples_of_another_version_make_it_unavailable(gpu_machine, tmp_path):
    folder = write_examples(tmp_path / "old", "0.20.0")
    verdict = backend("tensorrt", "--examples", str(folder))
    assert not verdict["available"]
    assert "are of TensorRT-LLM 0.20.0 (constraints.txt), not 1.2.1" in verdict["what"]
    assert "--branch v1.2.1" in verdict["action"]


def test_missing_examples_are_named_with_the_remedy(machine, monkeypatch, tmp_path):
    machine.install("1.1.0")
    verdict = backend("tensorrt")
    assert "no example scripts" in verdict["what"]
    assert "git clone --branch v1.1.0 --depth 1" in verdict["action"]


def test_after_the_removal_both_facts_are_told(machine):
    machine.install("1.3.0rc22", without=["trtllm-build", "commands/build.py"])
    verdict = backend("tensorrt")
    assert "removed upstream in 1.3.0rc21" in verdict["what"]
    assert "tensorrt_llm==1.2.1" in verdict["action"]
    assert "no GPU to run on" in backend("pytorch")["what"]


def test_before_1_0_there_is_no_backend_pytorch(machine):
    machine.install("0.20.0")
    verdict = backend("pytorch")
    assert "releases before 1.0 have no stable backend pytorch" in verdict["what"]
    assert "tensorrt_llm==1.0.0" in verdict["action"]


def test_a_candidate_between_two_families_is_told_the_next_that_has_one(machine):
    machine.install("1.3.0rc5")
    verdict = backend("pytorch")
    assert not verdict["available"]
    assert "1.3.0rc5 is of no release family" in verdict["what"]
    assert "draft_len_schedule means what it does in 1.2" in verdict["what"]
    assert "nvcr.io/nvidia/tensorrt-llm/release:1.4.0rc4" in verdict["action"]


def test_without_the_server_backend_pytorch_is_not_available(monkeypatch, tmp_path):
    machine = bare_machine(monkeypatch, tmp_path, gpus=[H200])
    machine.install("1.2.1", without=["trtllm-serve"])
    verdict = backend("pytorch")
    assert not verdict["available"]
    assert "no trtllm-serve on PATH" in verdict["what"]
    assert "on PATH" in verdict["action"]


def test_what_the_reference_backend_misses_is_named(machine, monkeypatch):
    install = 'pip install "trtspec[reference]"'
    missing = [Problem("torch not installed", action=install)]
    monkeypatch.setattr(verdicts.ReferenceBackend, "missing", lambda self: missing)
    verdict = backend("reference")
    assert verdict == {
        "backend": "reference",
        "available": False,
        "what": "torch not installed",
        "action": 'pip install "trtspec[reference]"',
    }


def test_the_reference_backend_is_available_with_its_libraries(machine):
    assert backend("reference")["available"]


def test_an_unknown_version_is_shown_with_its_reason(machine):
    machine.install("1.2.1")
    (machine.package / "version.py").write_text('__version__ = "oops"\n')
    assert f"TensorRT-LLM unknown version in {machine.package}" in flat()
    assert "'oops' in" in flat()


def test_a_wrong_examples_option_is_a_usage_error(machine, tmp_path):
    result = CliRunner().invoke(command, ["--examples", str(tmp_path / "none")])
    assert isinstance(result.exception, UsageError)
    assert "--examples" in str(result.exception)


def test_the_command_is_listed_and_starts_nothing_heavy(tmp_path):
    assert next(iter(COMMANDS)) == "doctor"
    assert cli.get_command(None, "doctor") is command
    statement = (
        "import sys\nfrom trtspec.cli.doctor import command\n"
        "command(args=['--json'], standalone_mode=False)\n"
        "heavy = {'torch', 'transformers', 'tensorrt_llm', 'scipy', 'numpy'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", statement],
        env={**os.environ, "TRTSPEC_TRTLLM_EXAMPLES": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stderr.strip() == "[]"
    assert json.loads(result.stdout)["examples"] is None


def test_a_driver_too_old_for_cuda_is_told_with_both(monkeypatch, tmp_path):
    old = H200.model_copy(update={"driver": "535.104.05"})
    machine = bare_machine(monkeypatch, tmp_path, gpus=[old])
    machine.install("1.2.1")
    machine.record("nvidia-cuda-runtime", "13.0.88")
    shown = flat()
    assert "driver 535.104.05 is too old for CUDA 13.0 of TensorRT-LLM 1.2.1" in shown
    assert "driver 580 or later" in shown
    assert "blocking: driver where installation what driver 535.104.05" in shown
    assert " see https://docs.nvidia.com/" in shown
    (finding,) = [f for f in document()["findings"] if f["rule"] == "driver"]
    assert finding["severity"] == "blocking"


def test_forced_acceptance_is_told_without_an_error(monkeypatch, machine):
    name = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"
    monkeypatch.setenv(name, "1.6")
    shown = flat()
    assert f"warning: forced-acceptance where ${name} what '1.6' forces" in shown
    assert f"    unset {name}" in text().splitlines()  # to be copied
