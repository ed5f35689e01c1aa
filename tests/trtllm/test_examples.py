"""The example scripts: where, of which version, with which flags."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.trtllm.machines import write, write_examples
from trtspec.errors import BackendUnavailableError, UsageError
from trtspec.trtllm.examples import (
    VARIABLE,
    Examples,
    assumed_examples,
    find_examples,
    script_flags,
    script_sha256,
    version_fault,
)
from trtspec.trtllm.versions import parse

V = parse("1.2.1")


def test_nothing_told_and_no_image_is_none(machine):
    assert find_examples(None, V) is None


def test_the_option_goes_before_the_variable_and_that_before_the_image(
    machine, monkeypatch, tmp_path
):
    write_examples(machine.image_examples, "1.2.1")
    assert find_examples(None, V).told_by == "NVIDIA's release image"
    monkeypatch.setenv(VARIABLE, str(write_examples(tmp_path / "b", "1.1.0")))
    by_variable = find_examples(None, V)
    assert (by_variable.told_by, by_variable.version) == (f"${VARIABLE}", "1.1.0")
    by_option = find_examples(write_examples(tmp_path / "c", "1.0.0"), V)
    assert (by_option.told_by, by_option.version) == ("--examples", "1.0.0")


def test_a_clone_is_as_good_as_its_examples_folder(machine, tmp_path):
    write_examples(tmp_path / "clone" / "examples", "0.20.0")
    assert find_examples(tmp_path / "clone", V).root == tmp_path / "clone" / "examples"


def test_a_relative_folder_becomes_absolute(machine, monkeypatch, tmp_path):
    write_examples(tmp_path / "examples", "1.2.1")
    monkeypatch.chdir(tmp_path)
    assert find_examples(Path("examples"), V).root == tmp_path / "examples"


@pytest.mark.parametrize(("name", "what"), [("no", "is no folder"), (".", "holds no")])
def test_a_folder_without_scripts_is_refused_where_it_was_told(
    machine, monkeypatch, name, what
):
    write_examples(machine.image_examples, "1.2.1")  # no reason to go on silently
    folder = machine.root / name
    monkeypatch.setenv(VARIABLE, str(folder))
    for explicit, where in ((folder, "--examples"), (None, f"${VARIABLE}")):
        with pytest.raises(UsageError) as caught:
            find_examples(explicit, V)
        (problem,) = caught.value.problems
        assert what in problem.what
        assert problem.where == where
        assert "git clone --branch v1.2.1 --depth 1" in problem.action


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("constraints.txt", "evaluate~=0.4\ntensorrt_llm==1.0.0rc4\n"),
        ("../tensorrt_llm/version.py", '# licence\n__version__ = "1.0.0rc4"\n'),
        ("medusa/requirements.txt", "-c x\ntensorrt-llm == 1.0.0rc4 ; x\n"),
        ("requirements.txt", "tensorrt_llm==1.0.0rc4"),
    ],
)
def test_the_version_is_read_from_the_files(machine, tmp_path, name, text):
    root = write_examples(tmp_path / "examples", "1.0.0", names_version=False)
    write(root / name, text)
    found = find_examples(root, V)
    assert (found.version, found.version_file) == ("1.0.0rc4", name)


@pytest.mark.parametrize("text", ["", "tensorrt_llm>=1.0\n", "tensorrt_llm==oops\n"])
def test_a_version_that_no_file_pins_is_unknown(machine, tmp_path, text):
    root = write_examples(tmp_path / "examples", "1.0.0", names_version=False)
    write(root / "constraints.txt", text)
    assert find_examples(root, V).version is None


def test_constraints_go_before_version_py(machine, tmp_path):
    root = write_examples(tmp_path / "examples", "1.0.0")
    write(tmp_path / "tensorrt_llm" / "version.py", '__version__ = "1.1.0"\n')
    assert find_examples(root, V).version == "1.0.0"


@pytest.mark.parametrize(
    ("version", "path"),
    [
        ("0.17.0", "llama/convert_checkpoint.py"),
        ("1.2.1", "models/core/llama/convert_checkpoint.py"),
    ],
)
def test_a_script_lies_where_its_version_has_it(tmp_path, version, path):
    examples = Examples(write_examples(tmp_path, version))
    assert examples.script("llama", parse(version)) == tmp_path / path


def test_a_missing_script_is_told_with_folder_layout_and_remedy(tmp_path):
    examples = Examples(write_examples(tmp_path, "0.17.0"), "0.17.0")
    with pytest.raises(BackendUnavailableError) as caught:
        examples.script("llama", V)
    (problem,) = caught.value.problems
    assert problem.where == f"{tmp_path} (--examples)"
    assert "models/core/llama/convert_checkpoint.py is missing" in problem.what
    assert "the folder has llama/convert_checkpoint.py" in problem.what
    assert ">=0.17,<0.20" in problem.what
    assert "layout of TensorRT-LLM 1.2.1" in problem.allowed
    assert "git clone --branch v1.2.1 --depth 1" in problem.action
    assert "--examples" in problem.action


def test_an_assumed_folder_is_not_looked_at():
    path = assumed_examples().script("quantize", V)
    assert str(path) == "/app/tensorrt_llm/examples/quantization/quantize.py"


def test_a_version_without_the_script_has_no_path():
    with pytest.raises(
        BackendUnavailableError, match="1\\.4\\.0 has no example script"
    ):
        assumed_examples().script("llama", parse("1.4.0"))


@pytest.mark.parametrize(
    ("theirs", "installed"),
    [
        ("1.2.1", "1.2.1"),
        ("1.2", "1.2.0"),
        ("0.17.0", "0.17.0.post1"),
        ("1.2.1", "1.2.1+cu13"),
        (None, "1.2.1"),
    ],
)
def test_the_same_version_is_no_fault(theirs, installed):
    assert version_fault(Examples(Path("x"), theirs), parse(installed)) == ""


@pytest.mark.parametrize(
    ("theirs", "installed"),
    [("1.2.0", "1.2.1"), ("1.3.0rc3", "1.3.0rc4"), ("1.0.0rc4", "1.0.0")],
)
def test_another_version_is_a_fault_with_both_numbers(theirs, installed):
    fault = version_fault(Examples(Path("/ex"), theirs), parse(installed))
    assert "/ex" in fault
    assert theirs in fault
    assert f"not {installed}" in fault


SCRIPT = '''
"""Mentions --in_words only."""
parser.add_argument("--model_dir", type=str, default="--not_a_flag")
parser.add_argument(
    '--smoothquant',
    "-sq",  # a comment
    type=float,
    help="see --in_help",
)
group.add_argument("--split" "_name", choices=["--no"])
# parser.add_argument("--commented")
parser.add_argument("positional")
parser.set_defaults(**{"--other": 1})
other("--not_an_argument")
'''


def test_flags_are_those_that_add_argument_defines(tmp_path):
    path = write(tmp_path / "convert_checkpoint.py", SCRIPT)
    assert script_flags(path) == {"--model_dir", "--smoothquant", "-sq", "--split_name"}


@pytest.mark.parametrize("text", [None, "def (:\n", "x = 1\0\n"])
def test_a_script_that_cannot_be_read_is_refused_by_name(tmp_path, text):
    path = tmp_path / "quantize.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match="cannot be read") as caught:
        script_flags(path)
    assert caught.value.problems[0].where == str(path)


def test_a_script_is_known_by_its_sha256(tmp_path):
    path = write(tmp_path / "quantize.py", SCRIPT)
    assert script_sha256(path) == hashlib.sha256(SCRIPT.encode()).hexdigest()
