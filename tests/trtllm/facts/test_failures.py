"""Known failures: what finds them, where they occur, what to do."""

import re

import pytest
from pydantic import ValidationError

from trtspec.trtllm import facts
from trtspec.trtllm.facts import KnownFailure

BY_NAME = {failure.name: failure for failure in facts.failures()}
STAGES = {"convert", "quantize", "build", "run"}


def _first(line, stage):
    """Name of the first failure that a line of a stage's log shows."""
    for failure in facts.failures():
        if stage in failure.stages and re.search(failure.pattern, line):
            return failure.name
    return None


def test_each_failure_has_a_name_of_its_own():
    assert len(BY_NAME) == len(facts.failures()) >= 18


def test_every_stage_has_failures_of_its_own():
    for stage in STAGES:
        assert sum(stage in failure.stages for failure in facts.failures()) >= 6


@pytest.mark.parametrize("failure", facts.failures(), ids=lambda f: f.name)
def test_failure_says_what_it_means_and_what_to_do(failure):
    assert failure.stages
    assert set(failure.stages) <= STAGES
    assert failure.meaning.endswith(".")
    assert failure.action.endswith(".")
    assert not re.search(failure.pattern, "")


@pytest.mark.parametrize("failure", facts.failures(), ids=lambda f: f.name)
def test_example_of_a_failure_is_taken_for_that_failure(failure):
    for stage in failure.stages:
        assert _first(failure.example, stage) == failure.name


@pytest.mark.parametrize(
    ("stage", "line", "name"),
    [
        (
            "convert",
            "convert_checkpoint.py: error: unrecognized arguments: --model_dir /m",
            "unrecognized_arguments",
        ),
        ("convert", "KeyError: 'eagle_nets.0.fc.bias'", "eagle_head_without_bias"),
        (
            "quantize",
            "ConnectionError: Couldn't reach 'abisee/cnn_dailymail' on the Hub",
            "calibration_data",
        ),
        (
            "build",
            "RuntimeError: SmoothQuant is not supported on SM>=100.",
            "quantization_not_on_gpu",
        ),
        ("build", "bash: line 1:  4711 Killed process, signal 9", "killed"),
        ("build", "Out of memory: Killed process 4711 (trtllm-build)", "killed"),
        ("build", "RuntimeError: CUDA out of memory", "gpu_out_of_memory"),
        ("build", "OSError: [Errno 28] No space left on device", "disk_full"),
        (
            "run",
            "Number of draft tokens (4) is larger than maximum number of draft"
            " tokens (0)",
            "draft_capacity_zero",
        ),
        (
            "run",
            "Draft tokens length (9) exceeds maximum draft tokens length (4).",
            "draft_too_long",
        ),
        (
            "run",
            "Assertion failed: Incompatible buffer sizes: 607744 != 608256",
            "vocabulary_rows_differ",
        ),
        ("run", "Failed to deserialize cuda engine.", "engine_of_other_version"),
    ],
)
def test_lines_of_logs_are_recognised(stage, line, name):
    assert _first(line, stage) == name


@pytest.mark.parametrize(
    "line",
    [
        "[TensorRT-LLM] TensorRT-LLM version: 0.20.0",
        "[TRT] [I] [MemUsageChange] Init CUDA: CPU +16, GPU +0, now: CPU 160, GPU 544",
        "[I] Build phase peak memory: 33010.40 MB",
        "Loading checkpoint shards: 100%|##########| 2/2 [00:01<00:00,  1.50it/s]",
        "[I] Set dtype to float16.",
        "[W] Implicitly setting LLaMAConfig.has_partial_lora_mask = False",
    ],
)
@pytest.mark.parametrize("stage", sorted(STAGES))
def test_ordinary_lines_are_no_failure(line, stage):
    assert _first(line, stage) is None


def test_pattern_that_misses_its_example_is_refused():
    failure = facts.failures()[0].model_dump()
    with pytest.raises(ValidationError, match="does not find its example"):
        KnownFailure(**failure | {"pattern": "something else"})
