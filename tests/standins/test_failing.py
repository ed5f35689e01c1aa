"""How stand-ins fail when asked to."""

import re
import signal
import subprocess
import time

import pytest

from tests.models.tiny import write_checkpoint
from tests.standins import failing
from tests.standins.samples import make_bench, succeeded
from trtspec.trtllm import facts

BUILT = [
    f for f in facts.failures() if set(f.stages) & {"convert", "quantize", "build"}
]
LOUD = [failure for failure in BUILT if failure.name != "killed"]


@pytest.fixture
def bench(tmp_path):
    bench = make_bench(tmp_path)
    bench.convert_plain(write_checkpoint(tmp_path / "hf"))
    return bench


@pytest.mark.parametrize("failure", LOUD, ids=lambda failure: failure.name)
def test_each_documented_failure_prints_what_the_facts_look_for(bench, failure):
    stage = next(s for s in ("convert", "quantize", "build") if s in failure.stages)
    bench.standin.fail(f"{stage}:{failure.name}")
    if stage == "build":
        done = bench.build("plain")
    else:
        done = bench.script("quantize" if stage == "quantize" else "llama")
    assert done.returncode in (1, 2)
    assert re.search(failure.pattern, done.stderr, re.MULTILINE)


@pytest.mark.parametrize("failure", facts.failures(), ids=lambda failure: failure.name)
def test_every_message_is_one_that_the_facts_look_for(failure):
    if failure.name != "killed":
        assert re.search(failure.pattern, failing.message(failure.name))


def test_a_failure_ends_when_it_is_taken_back(bench):
    bench.standin.fail("build:unknown")
    assert bench.build("plain").returncode == 1
    bench.standin.fail(None)
    succeeded(bench.build("plain"))


def test_a_failure_can_wait_for_the_nth_call(bench):
    bench.standin.fail("build#2:disk_full")
    succeeded(bench.build("plain"))
    assert "No space left" in bench.build("plain").stderr
    succeeded(bench.build("plain"))


def test_a_failure_can_be_asked_for_by_the_environment(bench):
    done = bench.build("plain", STANDIN_FAIL="build:out_of_memory")
    assert "CUDA out of memory" in done.stderr
    done = bench.build("plain", STANDIN_FAIL="llama:out_of_memory")
    assert done.returncode == 0


def test_an_unknown_failure_is_no_failure_to_be_overlooked(bench):
    done = bench.build("plain", STANDIN_FAIL="build:no_such_thing")
    assert "no failure is called 'no_such_thing'" in done.stderr


def test_killed_dies_of_a_signal(bench):
    done = bench.build("plain", STANDIN_FAIL="build:killed")
    assert done.returncode == -signal.SIGKILL


def test_slow_works_until_it_is_stopped(bench):
    bench.standin.fail("build:slow")
    process = subprocess.Popen(
        ["trtllm-build", "--checkpoint_dir", "plain"],
        env=bench.standin.environment(),
        cwd=bench.folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline().startswith("[TensorRT-LLM]")
    assert process.stdout.readline() == "working ...\n"
    time.sleep(0.2)
    assert process.poll() is None
    process.terminate()
    assert process.wait() == -signal.SIGTERM
    process.stdout.close()


@pytest.mark.parametrize(
    "name", ["silent_change", "silent_draft_length", "silent_mode", "silent_lengths"]
)
def test_silent_failures_write_another_configuration(bench, name):
    flags = ("--speculative_decoding_mode", "draft_tokens_external")
    flags = (*flags, "--max_draft_len", "5")
    succeeded(bench.build("plain", *flags))
    before = bench.config("engine")
    done = succeeded(bench.build("plain", *flags, STANDIN_FAIL=name))
    after = bench.config("engine")
    assert before["build_config"] != after["build_config"]
    assert "[W]" not in done.stdout.replace("[W] max_input_len", "")


def test_a_builder_of_another_version_says_so_in_the_config(bench):
    succeeded(bench.build("plain", STANDIN_FAIL="wrong_version"))
    assert bench.config("engine")["version"] != "1.2.1"


def test_output_can_be_missing_in_spite_of_success(bench):
    succeeded(bench.build("plain", STANDIN_FAIL="no_output"))
    assert not (bench.folder / "engine").exists()
    succeeded(bench.build("plain", STANDIN_FAIL="no_engine"))
    assert [p.name for p in (bench.folder / "engine").iterdir()] == ["config.json"]
