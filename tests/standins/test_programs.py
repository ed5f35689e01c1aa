"""How every executable treats its command line."""

import sys

import pytest
from packaging.version import Version

from tests.models.tiny import write_checkpoint
from tests.standins.program_text import REPOSITORY
from tests.standins.samples import VERSIONS, make_bench, succeeded
from trtspec.trtllm import facts


@pytest.fixture
def bench(tmp_path):
    return make_bench(tmp_path)


def convert_argv(hf):
    return ("--model_dir", hf, "--output_dir", "out")


def test_a_misspelled_flag_is_refused(bench, tmp_path):
    hf = write_checkpoint(tmp_path / "hf")
    done = bench.script("llama", *convert_argv(hf), "--tp_sizes", "2")
    assert done.returncode == 2
    assert "error: unrecognized arguments: --tp_sizes" in done.stderr


def test_a_shortened_flag_is_refused(bench):
    done = bench.build("none", "--max_batch", "4")
    assert done.returncode == 2
    assert "unrecognized arguments" in done.stderr


def test_a_value_outside_the_choices_is_refused(bench):
    done = bench.build("none", "--speculative_decoding_mode", "eagle3")
    assert done.returncode == 2
    assert "invalid choice: 'eagle3'" in done.stderr


def test_a_required_flag_is_asked_for(bench):
    done = bench.script("redrafter", "--output_dir", "out")
    assert done.returncode == 2
    assert "--drafter_model_dir" in done.stderr


@pytest.mark.parametrize("version", VERSIONS)
def test_a_flag_that_the_version_lacks_is_refused(tmp_path, version):
    flag = "--cp_size"
    bench = make_bench(tmp_path, version)
    hf = write_checkpoint(tmp_path / "hf")
    done = bench.script("llama", *convert_argv(hf), flag, "1")
    known = flag in facts.flags("llama", Version(version))
    assert done.returncode == (0 if known else 2)


def test_calls_are_noted_whether_they_succeed_or_not(bench, tmp_path):
    hf = write_checkpoint(tmp_path / "hf")
    succeeded(bench.script("llama", *convert_argv(hf)))
    bench.build("out", "--no_such_flag", CUDA_VISIBLE_DEVICES="3")
    first, second = bench.standin.calls()
    assert first["program"] == "llama"
    assert first["argv"] == ["--model_dir", str(hf), "--output_dir", "out"]
    assert second["argv"][-1] == "--no_such_flag"
    assert second["cwd"] == str(tmp_path)
    assert second["environment"]["CUDA_VISIBLE_DEVICES"] == "3"


@pytest.mark.parametrize("version", ["1.0.0", "1.2.1"])
def test_late_versions_warn_and_do_not_bear_warnings_as_errors(tmp_path, version):
    bench = make_bench(tmp_path, version)
    hf = write_checkpoint(tmp_path / "hf")
    done = succeeded(bench.script("llama", *convert_argv(hf)))
    assert ("FutureWarning" in done.stderr) == (version == "1.2.1")
    strict = bench.script("llama", *convert_argv(hf), PYTHONWARNINGS="error")
    assert (strict.returncode != 0) == (version == "1.2.1")


def test_executables_start_without_torch(bench):
    modules = "tests.standins.convert, tests.standins.build, tests.standins.quantize"
    statement = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r}); import {modules}"
    done = bench.call(
        sys.executable, "-c", f"{statement}; print('torch' in sys.modules)"
    )
    assert succeeded(done).stdout == "False\n"
