"""Only programs and flags that are there are called, whoever says which these are."""

from dataclasses import replace
from pathlib import Path

import pytest
from packaging.version import Version

from tests.trtllm.engine.samples import tools
from trtspec.errors import BackendUnavailableError, BuildError
from trtspec.trtllm import facts
from trtspec.trtllm.engine.toolchain import Toolchain, value_fault
from trtspec.trtllm.examples import IMAGE_FOLDER, Examples
from trtspec.trtllm.installation import Installation

LLAMA = "models/core/llama/convert_checkpoint.py"


@pytest.fixture
def here(tmp_path):
    """Programs of an installation whose llama script has two flags."""
    script = tmp_path / LLAMA
    script.parent.mkdir(parents=True)
    script.write_text('p.add_argument("--model_dir"); p.add_argument("--cp_size")\n')
    found = Installation(
        version=Version("1.0.0"),
        builder=Path("/opt/bin/trtllm-build"),
        examples=Examples(tmp_path, "1.0.0"),
    )
    return Toolchain(found)


def test_command_names_no_place_of_this_machine():
    command = tools().builder_command(["--max_batch_size", 8])
    assert command.arguments == ("{trtllm-build}", "--max_batch_size", "8")
    command = tools().script_command("llama", ["--model_dir", "{target}"])
    assert command.arguments == ("{python}", "{script}", "--model_dir", "{target}")


def test_places_of_an_assumed_installation_are_those_of_the_image():
    assert tools().paths("trtllm-build") == {"trtllm-build": "trtllm-build"}
    assert tools().paths("llama") == {
        "python": "python3",
        "script": str(IMAGE_FOLDER / LLAMA),
    }


def test_places_of_an_installation_are_those_that_were_found(here, tmp_path):
    import sys

    assert here.paths("trtllm-build") == {"trtllm-build": "/opt/bin/trtllm-build"}
    assert here.paths("llama") == {
        "python": sys.executable,
        "script": str(tmp_path / LLAMA),
    }


def test_image_is_meant_where_no_examples_were_found(here):
    bare = Toolchain(replace(here.installation, examples=None))
    assert bare.script("llama") == IMAGE_FOLDER / LLAMA


def test_script_that_the_folder_lacks_is_told(here):
    with pytest.raises(BackendUnavailableError, match=r"quantize\.py is missing"):
        here.script("quantize")


def given(made, program, *arguments):
    if program == "trtllm-build":
        return made.builder_command(arguments)
    return made.script_command(program, arguments)


@pytest.mark.parametrize("program", ["trtllm-build", "llama", "quantize"])
def test_flag_that_the_version_does_not_have_is_refused_with_those_it_has(program):
    with pytest.raises(BuildError) as caught:
        given(tools("0.17.0"), program, "--max_batch_sise", 8)
    (problem,) = caught.value.problems
    assert problem.what == (
        f"{program} of TensorRT-LLM 0.17.0 has no flag --max_batch_sise"
    )
    known = facts.flags(program, Version("0.17.0"))
    assert problem.allowed == ", ".join(known)


def test_flags_of_later_versions_are_refused_in_earlier_ones():
    tools("1.2.1").builder_command(["--tokens_per_block", 32])
    with pytest.raises(BuildError, match="no flag --tokens_per_block"):
        tools("0.17.0").builder_command(["--tokens_per_block", 32])
    tools("0.19.0").builder_command(["--auto_parallel", 2])
    with pytest.raises(BuildError, match="no flag --auto_parallel"):
        tools("1.2.0").builder_command(["--auto_parallel", 2])


def test_flag_that_the_very_script_does_not_define_is_refused(here, tmp_path):
    with pytest.raises(BuildError, match="does not define --dtype") as caught:
        here.script_command("llama", ["--model_dir", "x", "--dtype", "float16"])
    assert str(tmp_path / LLAMA) in str(caught.value)
    assert "--examples DIR" in caught.value.problems[0].action


def test_flag_that_only_the_script_has_is_refused_too(here):
    with pytest.raises(BuildError, match="has no flag --cp_size"):
        here.script_command("llama", ["--cp_size", 2])


def test_what_a_script_takes_is_read_from_it_where_it_is_here(here):
    assert here.takes("llama", "--cp_size")
    assert not here.takes("llama", "--dtype")
    assert tools("1.0.0").takes("llama", "--dtype")
    assert not tools("1.0.0").takes("llama", "--cp_size")


def flag(kind, choices=None):
    return facts.Flag(
        flag="--x", kind=kind, choices=choices, versions=">=0.17", source="a test"
    )


@pytest.mark.parametrize(
    ("fact", "values", "fault"),
    [
        (flag("switch"), [], ""),
        (flag("switch"), ["1"], "takes no value"),
        (flag("str"), ["any"], ""),
        (flag("str"), [], "needs a value"),
        (flag("int"), ["-3"], ""),
        (flag("int"), ["3.5"], "needs a number of kind int"),
        (flag("float"), ["3.5"], ""),
        (flag("float"), ["x"], "needs a number of kind float"),
        (flag("choice", ("a", "b")), ["b"], ""),
        (flag("choice", ("a", "b")), ["c"], "allowed: a, b"),
    ],
)
def test_values_of_each_kind(fact, values, fault):
    assert value_fault(fact, values) == fault
