"""Command lines and argument dumps of SGLang."""

from __future__ import annotations

import json

import pytest

from tests.verify.gate.asking import of, read

LINE = "python -m sglang.launch_server --model-path m --speculative-algorithm EAGLE3"


def sglang(more: str = "", temperature: float | None = 0.7, **options):
    given = {"environment": {}, "accelerator": "nvidia", **options}
    return read(f"{LINE} {more}", temperature, **given)


def test_nvidia_gpus_keep_the_distribution():
    result = sglang("--speculative-num-steps 3 --speculative-eagle-topk 4")

    assert result.verdict == "pass"
    assert of(result, "speculative_accept_threshold_acc").value == "unset"


@pytest.mark.parametrize("accelerator", ["", "amd", "npu"])
def test_elsewhere_sampled_requests_may_be_greedy(accelerator):
    assert sglang(accelerator=accelerator).verdict == "cannot tell"
    assert sglang(temperature=0.0, accelerator=accelerator).verdict == "pass"


@pytest.mark.parametrize("flag", ["single", "acc"])
@pytest.mark.parametrize(
    ("value", "temperature", "verdict"),
    [
        ("0.9", 0.7, "fail"),
        ("1.0", 0.7, "pass"),
        ("1", 0.7, "pass"),
        ("0.9", 0.0, "pass"),
        ("half", 0.7, "fail"),
    ],
)
def test_thresholds_loosen_acceptance_of_sampled_requests(
    flag, value, temperature, verdict
):
    more = f"--speculative-accept-threshold-{flag} {value}"

    result = sglang(more, temperature)
    assert result.verdict == verdict
    assert of(result, f"speculative_accept_threshold_{flag}").value == value


def test_a_dump_of_server_args_is_read():
    args = {
        "model_path": "m",
        "speculative_algorithm": "EAGLE",
        "speculative_accept_threshold_single": 1.0,
        "speculative_accept_threshold_acc": 0.8,
        "speculative_num_steps": 3,
    }

    result = read(json.dumps(args), environment={}, accelerator="nvidia")
    assert (result.engine, result.verdict) == ("SGLang", "fail")


def test_a_shell_script_over_several_lines_is_read():
    text = """#!/bin/bash
    # speculation with a loose threshold
    python3 -m sglang.launch_server \\
        --model-path m \\
        --speculative-algo=EAGLE \\
        --speculative-accept-threshold-acc=0.5
    """

    result = read(text, environment={}, accelerator="nvidia")
    assert result.verdict == "fail"


@pytest.mark.parametrize("algorithm", ["DSPARK", "OF_A_PLUGIN"])
def test_an_algorithm_that_was_not_read_is_not_passed(algorithm):
    line = LINE.replace("EAGLE3", algorithm)

    assert read(line, 0.0, environment={}).verdict == "cannot tell"


def test_an_argument_that_was_not_read_is_not_passed():
    assert sglang("--speculative-something-new 2").verdict == "cannot tell"


def test_rejection_sampling_is_exact():
    assert sglang("--speculative-use-rejection-sampling").verdict == "pass"


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_penalties_are_weaker_than_asked_for(temperature):
    result = sglang("", temperature, controls={"frequency_penalty": 0.5})

    assert result.verdict == "fail"
    assert "33643" in of(result, "frequency_penalty").source


def test_without_speculation_nothing_is_lost():
    line = "python -m sglang.launch_server --model-path m"

    result = read(line, environment=None, controls={"frequency_penalty": 0.5})
    assert result.verdict == "pass"
