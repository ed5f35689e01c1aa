"""A version that is only assumed: what NVIDIA's image of it would have."""

from __future__ import annotations

import pytest

from tests.trtllm.machines import write_examples
from trtspec.errors import UsageError
from trtspec.trtllm.facts import tensorrt_version
from trtspec.trtllm.installation import (
    Absence,
    Installation,
    assumed_for,
    is_too_old,
    supported_range,
)
from trtspec.trtllm.versions import parse


@pytest.mark.parametrize("version", ["0.17.0", "0.20.0", "1.0.0", "1.2.1", "1.3.0rc20"])
def test_a_version_with_engines_is_assumed_whole(version):
    assumed = assumed_for(version)
    assert assumed.assumed
    assert str(assumed.version) == version
    assert assumed.tensorrt == tensorrt_version(parse(version))
    assert assumed.builder.name == "trtllm-build"
    assert assumed.executor
    assert assumed.worker.name == "executorWorker"
    assert assumed.gpus == ()
    assert assumed.absences == ()


@pytest.mark.parametrize(
    ("version", "has_one"),
    [("0.20.0", False), ("1.0.0", True), ("1.2.1", True), ("1.4.0rc4", True)],
)
def test_a_version_with_backend_pytorch_is_assumed_with_its_server(version, has_one):
    server = assumed_for(version).server
    assert (server is not None) == has_one
    assert server is None or server.name == "trtllm-serve"


@pytest.mark.parametrize("version", ["1.3.0rc21", "1.3.0", "2.0", "1.3.0rc20.post1"])
def test_a_later_version_is_taken_as_it_is_without_engines(version):
    assumed = assumed_for(version)
    assert str(assumed.version) == version
    assert assumed.package is not None
    assert (assumed.builder, assumed.executor, assumed.examples) == (None, False, None)
    assert "removed upstream in 1.3.0rc21" in assumed.why_absent("builder")


def test_the_examples_of_an_assumed_version_are_the_images_unseen():
    examples = assumed_for("0.20.0").examples
    path = examples.script("llama", parse("0.20.0"))
    folder = "/app/tensorrt_llm/examples"
    assert str(path) == f"{folder}/models/core/llama/convert_checkpoint.py"


def test_the_variable_of_the_installed_version_is_not_asked(monkeypatch):
    monkeypatch.setenv("TRTSPEC_TRTLLM_EXAMPLES", "/nowhere")
    assert assumed_for("1.2.1").examples.assumed


def test_examples_that_were_told_are_looked_at(tmp_path):
    folder = write_examples(tmp_path / "examples", "0.17.0")
    examples = assumed_for("0.17.0", folder).examples
    assert examples.root == folder
    assert examples.version == "0.17.0"
    assert not examples.assumed
    with pytest.raises(UsageError, match="holds no example scripts"):
        assumed_for("0.17.0", tmp_path / "examples" / "llama")


def test_a_leading_v_and_a_local_part_are_understood():
    assert assumed_for("v1.2.1").version == parse("1.2.1")
    assert assumed_for("1.3.0rc20+cu13").builder is not None


@pytest.mark.parametrize("text", ["", "latest", "1.2.x"])
def test_what_is_no_version_is_refused_at_its_option(text):
    with pytest.raises(UsageError) as caught:
        assumed_for(text)
    (problem,) = caught.value.problems
    assert problem.where == "--trtllm"
    assert repr(text) in problem.what
    assert "1.2.1" in problem.allowed


@pytest.mark.parametrize("text", ["0.16.0", "0.11", "0.17.0rc1"])
def test_an_old_version_is_refused_with_the_range(text):
    with pytest.raises(UsageError) as caught:
        assumed_for(text)
    (problem,) = caught.value.problems
    assert problem.where == "--trtllm"
    assert problem.allowed == "0.17.0 to 1.3.0rc20"


def test_old_is_what_lies_below_the_range():
    ages = {v: is_too_old(parse(v)) for v in ("0.16", "0.17.0", "1.3.0rc20", "1.3.0")}
    assert ages == {"0.16": True, "0.17.0": False, "1.3.0rc20": False, "1.3.0": False}
    assert supported_range() == "0.17.0 to 1.3.0rc20"


def test_an_absence_has_its_reason():
    found = Installation(absences=(Absence("cuda", "no file"),))
    assert found.why_absent("cuda") == "no file"
    assert found.why_absent("gpus") == ""
