"""Why there is no engine path, and the ways on: each case says what it is."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import get_args

import pytest

from tests.methods.samples import made
from tests.trtllm.engine_recipes import EQUIVALENT, METHODS, OTHERS, recipe
from trtspec.errors import BackendUnavailableError
from trtspec.methods import Speculation
from trtspec.recipe import load_recipe
from trtspec.trtllm.installation import Absence, Installation, assumed_for
from trtspec.trtllm.removal import (
    engine_problems,
    engine_unavailable,
    recommended_version,
)
from trtspec.trtllm.rewrite import pytorch_recipe
from trtspec.trtllm.versions import parse

PIN = "pip install tensorrt_llm==1.2.1"
CONTAINER = "nvcr.io/nvidia/tensorrt-llm/release:1.2.1"
REMOVED = "the engine path was removed upstream in 1.3.0rc21"


def installed(version="1.2.1", **parts):
    parts = {"builder": Path("/bin/trtllm-build"), "executor": True, **parts}
    return Installation(
        version=version and parse(version), package=Path("/site/tensorrt_llm"), **parts
    )


def without_builder(version="1.2.1"):
    why = "/site/tensorrt_llm/commands/build.py is there, but no trtllm-build on PATH"
    return installed(version, builder=None, absences=(Absence("builder", why),))


def test_every_method_of_engines_is_tried_here():
    union, _ = get_args(Speculation)
    kinds = [kind.model_fields["method"].annotation for kind in get_args(union)]
    names = {name for kind in kinds for name in get_args(kind)}
    on_engines = {name for name in names if has_engines(made(name))}
    assert on_engines == METHODS.keys()


def has_engines(method):
    return any(entry.covers("tensorrt", None) for entry in method.exactness())


@pytest.mark.parametrize("version", ["0.17.0", "0.20.0", "1.0.0", "1.2.1", "1.3.0rc20"])
def test_a_whole_installation_has_no_problem(version):
    assert engine_problems(installed(version)) == ()
    assert engine_problems(assumed_for(version), recipe("medusa")) == ()


@pytest.mark.parametrize("method", METHODS)
def test_without_tensorrt_llm_the_ways_are_named(method):
    error = engine_unavailable(Installation(), recipe(method))
    assert isinstance(error, BackendUnavailableError)
    assert error.exit_code == 4
    (problem,) = error.problems
    assert problem.what == "TensorRT-LLM is not installed"
    assert PIN in problem.action
    assert CONTAINER in problem.action
    assert "--trtllm 1.2.1" in problem.action
    # the embedded engine has every method that TensorRT engines have
    assert "set backend: reference" in problem.action


@pytest.mark.parametrize("version", ["1.3.0rc21", "1.3.0rc22", "1.3.0", "1.4.0rc1"])
@pytest.mark.parametrize("look", [assumed_for, installed])
def test_a_version_after_the_removal_says_so_even_with_a_builder(version, look):
    (problem,) = engine_problems(look(version))
    assert f"TensorRT-LLM {version} has no engine backend" in problem.what
    assert REMOVED in problem.what
    assert PIN in problem.action
    assert CONTAINER in problem.action


def test_without_a_builder_the_missing_half_is_named():
    (problem,) = engine_problems(without_builder(), recipe("none"))
    assert "no trtllm-build on PATH" in problem.what
    assert REMOVED in problem.what
    assert "1.2.1 should have it" in problem.what
    assert problem.action.startswith(f"reinstall it: {PIN}, or put trtllm-build on")
    assert problem.action.index("reinstall") < problem.action.index("pin a release")


def test_running_takes_no_builder_but_the_executor():
    assert engine_problems(without_builder(), recipe("none"), building=False) == ()
    sources = installed(
        builder=None,
        executor=False,
        absences=(Absence("builder", "none"), Absence("executor", "no bindings")),
    )
    error = engine_unavailable(sources, recipe("none"), building=False)
    assert [p.what for p in error.problems] == [
        "TensorRT-LLM 1.2.1 cannot run: no bindings"
    ]


@pytest.mark.parametrize(("version", "said"), [("0.20.0", True), ("1.0.0", False)])
@pytest.mark.parametrize("method", ["ngram", "medusa"])
def test_a_version_without_backend_pytorch_is_told_which_has_it(version, said, method):
    (problem,) = engine_problems(without_builder(version), recipe(method))
    assert ("backend pytorch (TensorRT-LLM >=1.0)" in problem.action) == said


@pytest.mark.parametrize("found", [assumed_for("1.3.0rc22"), without_builder()])
@pytest.mark.parametrize("method", EQUIVALENT)
def test_an_equivalent_method_comes_with_its_rewritten_recipe(tmp_path, found, method):
    original = recipe(method)
    (problem,) = engine_unavailable(found, original).problems
    assert PIN in problem.action
    assert f"backend pytorch, which has method {method} too" in problem.action
    yaml = textwrap.dedent(problem.action.split(":\n", 1)[1])
    (tmp_path / "recipe.yaml").write_text(yaml)
    read = load_recipe(tmp_path / "recipe.yaml").recipe
    assert read == pytorch_recipe(original)
    assert read.backend == "pytorch"


@pytest.mark.parametrize("found", [assumed_for("1.3.0rc22"), without_builder()])
@pytest.mark.parametrize("method", OTHERS)
def test_a_method_without_equivalent_is_told_what_to_take(found, method):
    (problem,) = engine_unavailable(found, recipe(method)).problems
    assert PIN in problem.action
    assert f"method {method} has no equivalent on backend pytorch" in problem.action
    for instead in ("eagle3", "draft_target", "ngram"):
        assert instead in problem.action
    assert "schema:" not in problem.action
    assert pytorch_recipe(recipe(method)) is None


def test_eagle_weights_are_said_to_be_others():
    (problem,) = engine_problems(assumed_for("1.3.0"), recipe("eagle"))
    assert "EAGLE-3, which needs other weights" in problem.action


def test_without_anything_to_note_nothing_is_noted():
    (problem,) = engine_problems(assumed_for("1.3.0"), recipe("none"))
    assert "which has method none too:\n" in problem.action


def test_an_old_installation_is_told_the_range():
    (problem,) = engine_problems(installed("0.16.0"))
    assert "0.16.0 is older than what trtspec drives" in problem.what
    assert problem.allowed == "0.17.0 to 1.3.0rc20"
    assert PIN in problem.action


def test_a_package_of_unknown_version_or_without_bindings_is_named():
    unknown = installed(None, absences=(Absence("version", "no version.py"),))
    (problem,) = engine_problems(unknown)
    assert problem.what.endswith("unknown: no version.py")
    sources = installed(executor=False, absences=(Absence("executor", "no bindings"),))
    (problem,) = engine_problems(sources)
    assert "1.2.1 cannot run: no bindings" in problem.what
    assert PIN in problem.action


def test_the_recommended_version_has_engines():
    assert engine_problems(assumed_for(recommended_version())) == ()
