"""Whether what is written is validated, by the facts or by the real classes."""

import json

import pytest

from tests.trtllm.pytorch.build.projects import (
    FIELDS,
    MAIN,
    backend_of,
    installed,
    write_project,
)
from trtspec.build.plan import make_plan
from trtspec.build.resolve import inspected_without_fetching, named
from trtspec.errors import BuildError, Problem
from trtspec.recipe import load_recipe
from trtspec.trtllm.facts.families import FAMILIES, newest_of
from trtspec.trtllm.installation import assumed_for
from trtspec.trtllm.pytorch.build import configure
from trtspec.trtllm.pytorch.build.configure import (
    LLM_ARGS,
    SERVE,
    configure_stage,
    read_args,
    validated,
)
from trtspec.trtllm.pytorch.compile import compile_args
from trtspec.trtllm.pytorch.compile.validate import faults

ARGS = {"max_batch_size": 2}


def stage_of(recipe, version="1.2.1"):
    inputs = inspected_without_fetching(named(load_recipe(recipe)))
    return configure_stage(inputs, assumed_for(version))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("method", ["none", "ngram", "eagle3", "draft_target"])
def test_text_is_what_was_compiled_and_is_accepted(tmp_path, family, method):
    version = newest_of(family)
    recipe = write_project(tmp_path, method)
    texts = stage_of(recipe, str(version)).texts
    args = read_args(texts)
    assert args == compile_args(load_recipe(recipe).recipe, version).args.to_dict()
    assert faults(args, version) == ()
    assert set(texts) == {LLM_ARGS, SERVE}


@pytest.mark.parametrize("method", FIELDS)
def test_every_line_of_a_key_has_its_reason(tmp_path, method):
    text = stage_of(write_project(tmp_path, method), MAIN).texts[LLM_ARGS]
    lines = text.splitlines()
    for above, line in zip(["", *lines], lines, strict=False):
        is_key = not line.lstrip().startswith("#") and not line.endswith(":")
        if is_key:
            assert "  # " in line or above.lstrip().startswith("# "), line


def test_name_is_in_no_file_so_that_it_decides_nothing(tmp_path):
    one = stage_of(write_project(tmp_path, name="one"))
    other = stage_of(write_project(tmp_path, name="other"))
    assert one.texts == other.texts
    assert one.key == other.key


@pytest.mark.parametrize(
    "change",
    [
        {"limits": {"max_batch_size": 4}},
        {"method": "ngram"},
        {"target": {"chat_template": "t.jinja"}},
        {"pytorch": {"gpus_per_node": 4}},
    ],
)
def test_text_and_command_decide_the_key(tmp_path, change):
    (tmp_path / "t.jinja").write_text("x")
    assert (
        stage_of(write_project(tmp_path)).key
        != stage_of(write_project(tmp_path, **change)).key
    )


def test_version_decides_the_key_even_where_the_text_is_the_same(tmp_path):
    recipe = write_project(tmp_path)
    assert stage_of(recipe, "1.2.0").key != stage_of(recipe, "1.2.1").key


def test_what_cannot_be_expressed_is_a_build_error(tmp_path):
    with pytest.raises(BuildError, match="has no method suffix") as caught:
        stage_of(write_project(tmp_path, "suffix"), "1.2.1")
    (problem,) = caught.value.problems
    assert problem.where == "speculation.method"
    assert "ngram" in problem.action


def test_assumed_version_is_validated_by_the_facts_alone(monkeypatch):
    monkeypatch.setattr(configure, "faults_by_classes", lambda *args: 1 / 0)
    said = validated(ARGS, assumed_for("1.0.0"))
    assert said == "llm_args.yaml: validated against the facts of 1.0"


def test_installed_classes_are_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(
        configure, "faults_by_classes", lambda *args: asked.append(args) or ()
    )
    found = installed()
    assert "against the classes of the installed TensorRT-LLM 1.2.1" in validated(
        ARGS, found
    )
    assert asked == [(ARGS, found)]


def test_package_that_cannot_be_imported_is_told(monkeypatch):
    monkeypatch.setattr(configure, "faults_by_classes", lambda *args: None)
    said = validated(ARGS, installed())
    assert said.startswith("llm_args.yaml: validated against the facts of 1.2;")
    assert "cannot be imported" in said


def test_what_the_classes_refuse_fails_the_build(monkeypatch):
    refused = (Problem("extra inputs are not permitted", "max_batch"),)
    monkeypatch.setattr(configure, "faults_by_classes", lambda *args: refused)
    with pytest.raises(BuildError, match="max_batch: extra inputs"):
        validated(ARGS, installed())


def test_what_the_facts_refuse_fails_the_build():
    with pytest.raises(BuildError, match="max_batch"):
        validated({"max_batch": 2}, assumed_for("1.2.1"))


def test_plan_carries_the_texts(tmp_path, engines):
    recipe = write_project(tmp_path)
    planned = make_plan(load_recipe(recipe), backend_of(), engines)
    (stage,) = [s for s in planned.stages if s.name == "configure"]
    assert dict(stage.texts) == stage_of(recipe).texts
    assert json.dumps(dict(stage.texts))


def test_model_that_is_not_here_is_configured_as_far_as_it_is_known(tmp_path, engines):
    recipe = write_project(tmp_path, "eagle3", target={"model": "org/name"})
    planned = make_plan(load_recipe(recipe), backend_of(), engines)
    assert planned.fingerprint is None
    (stage,) = [s for s in planned.stages if s.name == "configure"]
    assert "max_draft_len: 3" in stage.texts[LLM_ARGS]
    assert planned.links == {"draft": str(tmp_path / "eagle3")}
