"""Where backend pytorch is not to be had, and the ways on."""

import pytest

from tests.methods.samples import made
from tests.trtllm.pytorch.build.projects import installed, write_project
from trtspec.errors import BackendUnavailableError
from trtspec.recipe import load_recipe
from trtspec.trtllm.facts.families import FAMILIES, newest_of
from trtspec.trtllm.installation import Absence, Installation, assumed_for
from trtspec.trtllm.pytorch.build.availability import (
    nearest_releases,
    pytorch_problems,
    pytorch_unavailable,
    release_for,
)
from trtspec.trtllm.versions import parse


def recipe(folder, method="ngram"):
    return load_recipe(write_project(folder, method)).recipe


@pytest.mark.parametrize("family", FAMILIES)
def test_a_version_of_a_family_has_no_problem(family):
    version = str(newest_of(family))
    assert pytorch_problems(installed(version)) == ()
    assert pytorch_problems(assumed_for(version)) == ()


def test_without_tensorrt_llm_the_ways_are_named(tmp_path):
    error = pytorch_unavailable(Installation(), recipe(tmp_path))
    assert isinstance(error, BackendUnavailableError)
    (problem,) = error.problems
    assert problem.what == "TensorRT-LLM is not installed"
    assert "pip install tensorrt_llm==1.2.1" in problem.action
    assert "nvcr.io/nvidia/tensorrt-llm/release:1.2.1" in problem.action
    assert "set backend: reference" in problem.action
    assert "trtspec plan RECIPE --trtllm 1.2.1" in problem.action


def test_backend_reference_is_offered_only_to_what_it_runs(tmp_path):
    (problem,) = pytorch_problems(Installation(), recipe(tmp_path, "eagle3"))
    assert "backend: reference" in problem.action
    (problem,) = pytorch_problems(Installation(), recipe(tmp_path, "auto"))
    assert "backend: reference" not in problem.action


def test_method_of_the_newest_releases_is_sent_there(tmp_path):
    (problem,) = pytorch_problems(Installation(), recipe(tmp_path, "suffix"))
    assert "--trtllm 1.4.0rc4" in problem.action
    assert release_for(made("suffix")) == newest_of("main")
    assert release_for(made("eagle3")) == newest_of("1.2")


def test_a_package_of_unknown_version_is_named():
    unknown = Installation(
        package=installed().package, absences=(Absence("version", "no version.py"),)
    )
    (problem,) = pytorch_problems(unknown)
    assert problem.what == "the version of TensorRT-LLM is unknown: no version.py"
    assert "1.2.1" in problem.action


@pytest.mark.parametrize(
    ("version", "why", "near"),
    [
        ("0.20.0", "releases before 1.0", ["1.0.0"]),
        ("1.1.0rc3", "candidates of 1.1 mix", ["1.0.0", "1.1.0"]),
        ("1.2.0rc2", "candidates of 1.2 mix", ["1.1.0", "1.2.1"]),
        ("1.3.0rc5", "means what it does in 1.2", ["1.2.1", "1.4.0rc4"]),
        ("1.3.0rc20", "the new meaning", ["1.2.1", "1.4.0rc4"]),
        ("2.0", "newer than every release", ["1.4.0rc4"]),
    ],
)
def test_a_version_of_no_family_is_told_why_and_those_beside_it(version, why, near):
    (problem,) = pytorch_problems(installed(version))
    assert f"TensorRT-LLM {version} is of no release family" in problem.what
    assert why in problem.what
    assert all(f"tensorrt_llm=={one}," in problem.action for one in near)
    assert "1.0.0, 1.1.0, 1.2.1, 1.4.0rc4" in problem.allowed
    assert nearest_releases(parse(version)) == tuple(map(parse, near))
