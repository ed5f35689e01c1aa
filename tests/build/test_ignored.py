"""A build goes on in spite of what it is told to ignore, and its manifest says so."""

import json

import pytest

from tests.build.projects import load, write_project
from tests.models.tiny import CONTEXT, TOKENS
from trtspec.build.artifact import MANIFEST, Artifact
from trtspec.build.build import build
from trtspec.build.plan import make_plan
from trtspec.errors import FindingsError, UsageError
from trtspec.reference.backend import CHECK_PAIR, ReferenceBackend

OTHER_IDS = tuple(reversed(TOKENS))
PAIR = {"draft": True, "draft_tokens": OTHER_IDS}
LONG = {"limits": {"max_total_tokens": CONTEXT + 1}}


@pytest.fixture
def made(tmp_path, lines):
    """Builds a project."""

    def made(*ignored, **project):
        recipe = load(write_project(tmp_path, **project))
        backend, engines = ReferenceBackend(), tmp_path / "engines"
        return build(recipe, backend, engines, lines.progress, ignored=ignored)

    return made


def manifest(built):
    return json.loads((built.artifact.path / MANIFEST).read_text())


def test_a_finding_that_is_ignored_is_told_and_the_manifest_lists_the_rule(made, lines):
    built = made("context-length", **LONG)
    (line,) = [line for line in lines if line.startswith("ignored: ")]
    assert f"max_total_tokens {CONTEXT + 1} is above" in line
    assert manifest(built)["ignored"] == ["context-length"]
    assert Artifact.open(built.artifact.path).manifest.ignored == ("context-length",)


def test_without_it_the_same_build_is_refused(made):
    with pytest.raises(FindingsError, match="max_total_tokens"):
        made(**LONG)


def test_nothing_is_ignored_by_default(made):
    assert manifest(made())["ignored"] == []


def test_a_manifest_from_before_there_was_such_a_list_is_read(made):
    built = made()
    content = manifest(built)
    del content["ignored"]
    (built.artifact.path / MANIFEST).write_text(json.dumps(content))
    assert Artifact.open(built.artifact.path).manifest.ignored == ()


def test_the_artifact_is_the_same_one_and_is_told_anew(made):
    plain, ignoring = made(), made("draft-size", "concurrency")
    assert plain.artifact.path == ignoring.artifact.path
    assert manifest(ignoring)["ignored"] == ["concurrency", "draft-size"]
    assert all(stage.reused for stage in ignoring.stages[1:-1])
    assert manifest(made())["ignored"] == []


def test_a_pair_that_passed_in_spite_of_a_finding_has_not_passed_for_others(made):
    built = made("token-ids", **PAIR)
    (checked,) = [s for s in built.artifact.manifest.stages if s.name == CHECK_PAIR]
    assert checked.inputs["ignored"] == "token-ids"
    with pytest.raises(FindingsError, match="token"):
        made(**PAIR)


@pytest.mark.parametrize("rule", ["lossless", "contextlength"])
def test_what_cannot_be_ignored_is_refused_before_anything_is_built(made, rule):
    with pytest.raises(UsageError, match=rule):
        made(rule)


def test_plan_and_build_agree_on_the_artifact(made, tmp_path):
    built = made("token-ids", **PAIR)
    recipe = load(write_project(tmp_path, **PAIR))
    plan = make_plan(
        recipe, ReferenceBackend(), tmp_path / "engines", ignored=["token-ids"]
    )
    assert plan.ignored == ("token-ids",)
    assert plan.fingerprint == built.artifact.fingerprint
    assert {s.name: s.action for s in plan.stages}[CHECK_PAIR] == "reuse"
