"""The installed package's own classes are asked, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.trtllm.pytorch.compile.recipes import EAGLE3, args
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.pytorch.compile.class_check import faults_of
from trtspec.trtllm.pytorch.compile.installed import faults_by_classes

STRICT = """
    from pydantic import BaseModel, ConfigDict

    class Strict(BaseModel):
        model_config = ConfigDict(extra="forbid")

    class Speculation(Strict):
        decoding_type: str
        max_draft_len: int
        speculative_model: str
        draft_len_schedule: dict[int, int] | None = None

    class TorchLlmArgs(Strict):
        model: str
        backend: str
        max_batch_size: int
        speculative_config: Speculation

    print("[TensorRT-LLM] a banner")
"""
MERGING = """
    def update_llm_args_with_extra_dict(llm_args, extra):
        if extra["speculative_config"].pop("decoding_type") != "Eagle":
            raise ValueError("Invalid decoding type")
        return {**llm_args, **extra}

    class TorchLlmArgs:
        def __init__(self, model, backend, speculative_config, max_batch_size):
            assert model == "target" and backend == "pytorch"
"""


def installation(tmp_path, llm_args):
    package = tmp_path / "site" / "tensorrt_llm"
    (package / "llmapi").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "llmapi" / "__init__.py").touch()
    (package / "llmapi" / "llm_args.py").write_text(textwrap.dedent(llm_args))
    return Installation(package=package)


RIGHT = {
    "speculative_config": {
        "decoding_type": "Eagle",
        "max_draft_len": 3,
        "speculative_model": "draft",
        "draft_len_schedule": {1: 3, 9: 0},
    },
    "max_batch_size": 8,
}


def test_the_classes_find_nothing(tmp_path):
    assert faults_by_classes(RIGHT, installation(tmp_path, STRICT)) == ()


def test_the_classes_name_each_key_that_they_refuse(tmp_path):
    wrong = {**RIGHT, "max_batch_size": "many", "nonsense": 1}
    wrong["speculative_config"] = {**RIGHT["speculative_config"], "acceptance": 2}
    found = faults_by_classes(wrong, installation(tmp_path, STRICT))
    assert {problem.where for problem in found} == {
        "max_batch_size",
        "nonsense",
        "speculative_config.acceptance",
    }
    assert all(problem.what for problem in found)


def test_the_package_s_own_merging_is_used_and_plain_errors_are_told(tmp_path):
    here = installation(tmp_path, MERGING)
    assert faults_by_classes(RIGHT, here) == ()
    wrong = {**RIGHT, "speculative_config": {"decoding_type": "Eagle3"}}
    (problem,) = faults_by_classes(wrong, here)
    assert "Invalid decoding type" in problem.what
    (problem,) = faults_by_classes({**RIGHT, "x": 1}, here)
    assert "unexpected keyword argument 'x'" in problem.what


@pytest.mark.parametrize(
    "llm_args",
    ["import no_such_library", "raise OSError('libnvinfer.so')", "import os"],
)
def test_a_package_that_cannot_answer_is_not_taken_for_a_refusal(tmp_path, llm_args):
    assert faults_by_classes(RIGHT, installation(tmp_path, llm_args)) is None


def test_nothing_is_asked_of_what_is_not_here():
    assert faults_by_classes(RIGHT, Installation()) is None
    assumed = Installation(package="tensorrt_llm", assumed=True)
    assert faults_by_classes(args("1.2.1", EAGLE3), assumed) is None


def test_a_package_that_hangs_is_given_up(tmp_path):
    here = installation(tmp_path, "import time; time.sleep(60)")
    assert faults_by_classes(RIGHT, here, seconds=0.2) is None


def test_errors_without_keys_are_told_as_they_are():
    assert faults_of(ValueError("no")) == [{"where": "", "what": "ValueError: no"}]


UNTIL_KILLED = """
    import os, time, pathlib

    pathlib.Path(os.environ["NOTE"]).write_text(str(os.getpid()))
    time.sleep(60)
"""
ASKER = """
    from trtspec.trtllm.installation import Installation
    from trtspec.trtllm.pytorch.compile.installed import faults_by_classes

    faults_by_classes({}, Installation(package=sys.argv[1]))
"""


def noted(path):
    for _ in range(3000):
        if path.exists() and (text := path.read_text()):
            return int(text)
        time.sleep(0.01)
    raise AssertionError("the process was never started")


def is_gone(process):
    for _ in range(500):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except FileNotFoundError:
            return True
        if state[0] == "Z":
            return True
        time.sleep(0.01)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can do it")
def test_the_process_ends_when_we_are_killed(tmp_path):
    package = installation(tmp_path, UNTIL_KILLED).package
    program = textwrap.dedent(ASKER).replace("sys.argv[1]", f"Path({str(package)!r})")
    asker = subprocess.Popen(
        [sys.executable, "-c", f"from pathlib import Path\n{program}"],
        env={**os.environ, "NOTE": str(tmp_path / "note")},
    )
    asked = noted(tmp_path / "note")
    asker.kill()
    asker.wait()
    assert is_gone(asked)


LEAVES_A_CHILD = """
    import os, pathlib, subprocess, sys

    child = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    pathlib.Path(os.environ["NOTE"]).write_text(str(child.pid))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")
def test_what_the_package_started_ends_with_the_question(tmp_path, monkeypatch):
    monkeypatch.setenv("NOTE", str(tmp_path / "note"))
    faults_by_classes(RIGHT, installation(tmp_path, LEAVES_A_CHILD))
    assert is_gone(noted(tmp_path / "note"))
