"""Whether manifests record what decides, and are compared by that alone."""

import hashlib

from tests.build.projects import toy_stage
from trtspec.build.manifest import Manifest, StageRecord
from trtspec.build.records import (
    Description,
    assemble_record,
    resolve_record,
    says_the_same,
)
from trtspec.build.sources import Source, StageInputs
from trtspec.models.locate import ModelReference
from trtspec.recipe import Recipe

RECIPE = Recipe.model_validate(
    {
        "schema": "trtspec/v1",
        "name": "x",
        "target": {"model": "org/name", "revision": "v1"},
        "speculation": {"method": "draft_target", "draft_length": 1, "model": "./d"},
    }
)
INPUTS = StageInputs(
    RECIPE,
    Source("target", ModelReference("hub", "org/name", "v1", None), files={"w": "1"}),
    Source("draft", ModelReference("directory", "./d", None, None), files={"w": "2"}),
)
TEXTS = {"recipe.yaml": b"recipe"}


def record(**changes):
    fields = {
        "name": "convert",
        "key": "k",
        "inputs": {"a": "b"},
        "outputs": {"sub/file": "1"},
        "folder": "target",
        "duration_s": 1.0,
        "reused": False,
    }
    return StageRecord(**{**fields, **changes})


def manifest(seconds=1.0, texts=TEXTS, **changes):
    description = Description(INPUTS, {"torch": "1"}, resolve_record(INPUTS, 0), texts)
    records = [record(duration_s=seconds, **changes)]
    return description.manifest("f", records, assemble_record(records, texts, seconds))


def test_resolve_records_references_and_files_by_role():
    resolved = resolve_record(INPUTS, 1.23456)
    assert resolved.inputs == {"target": "org/name@v1", "draft": "./d"}
    assert resolved.outputs == {"target/w": "1", "draft/w": "2"}
    assert resolved.duration_s == 1.235
    assert resolved.folder == ""


def test_assemble_records_the_small_files():
    made = assemble_record([record()], TEXTS, 0)
    digest = hashlib.sha256(b"recipe").hexdigest()
    assert made.outputs == {"recipe.yaml": digest}
    assert made.inputs == {"convert": "k", "recipe.yaml": digest}


def test_assemble_has_one_key_for_planned_and_completed_stages():
    stage = toy_stage("convert", folder="target")
    done = record(name="convert", key=stage.key)
    check = toy_stage("check", folder="")
    planned = assemble_record([stage, check], TEXTS, 0)
    assert planned.key == assemble_record([done], TEXTS, 0).key


def test_assemble_key_changes_with_models_and_texts():
    key = assemble_record([record()], TEXTS, 0).key
    assert assemble_record([record(key="other")], TEXTS, 0).key != key
    assert assemble_record([record()], {"recipe.yaml": b"new"}, 0).key != key


def test_files_are_those_of_the_folders_and_the_root():
    assert manifest().files == {
        "target/sub/file": "1",
        "recipe.yaml": hashlib.sha256(b"recipe").hexdigest(),
    }


def test_manifest_reads_back_as_it_was_written():
    written = manifest()
    assert Manifest.model_validate_json(written.to_json()) == written


def test_recipe_in_the_manifest_reads_back():
    assert Recipe.model_validate(manifest().recipe) == RECIPE


def test_time_and_reuse_make_no_difference():
    later = manifest(2.0, reused=True).model_copy(update={"created": "later"})
    assert says_the_same(manifest(), later)


def test_content_makes_a_difference():
    assert not says_the_same(manifest(), manifest(key="other"))
    assert not says_the_same(manifest(), manifest(texts={"recipe.yaml": b"new"}))
    other = manifest().model_copy(update={"versions": {"torch": "2"}})
    assert not says_the_same(manifest(), other)
