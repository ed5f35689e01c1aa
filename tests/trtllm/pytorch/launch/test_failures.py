"""A server's failure is explained where its log tells a known one."""

import re
from pathlib import Path

import pytest
from packaging.version import Version

from trtspec.trtllm.pytorch.launch.failures import (
    known_failure,
    server_failure,
    serving_failures,
)

V1_2 = Version("1.2.1")


@pytest.mark.parametrize("failure", serving_failures(), ids=lambda f: f.name)
def test_example_is_found_among_other_lines(failure):
    lines = ["[TRT-LLM] [I] Starting", failure.example, "RuntimeError: it failed"]
    assert known_failure(lines, V1_2) == failure


def test_names_are_unique_and_nothing_matches_a_healthy_log():
    names = [failure.name for failure in serving_failures()]
    assert len(set(names)) == len(names)
    healthy = (
        "INFO:     Uvicorn running on http://localhost:8000 (Press CTRL+C to quit)"
    )
    assert not any(re.search(f.pattern, healthy) for f in serving_failures())


def test_the_cause_goes_before_what_follows_from_it():
    lines = [
        "RuntimeError: Executor creation failed due to insufficient GPU memory.",
        "mpi4py.MPI.Exception: MPI_ERR_SPAWN: could not spawn processes",
    ]
    assert known_failure(lines, V1_2).name == "executor_memory"


def test_unknown_failure_shows_its_last_lines_alone():
    tail = [f"line {number}" for number in range(30)]
    error = server_failure("trtllm-serve ended", tail, Path("a.log"), V1_2)
    assert known_failure(tail, V1_2) is None
    assert str(error).splitlines() == [
        "trtllm-serve ended",
        *(f"  | line {number}" for number in range(18, 30)),
        "  do: see the log a.log",
    ]
