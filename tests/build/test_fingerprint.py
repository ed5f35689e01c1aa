"""Whether the fingerprint covers all that decides what an artifact does."""

import pytest

from tests.build.projects import toy_stage
from trtspec.build.fingerprint import artifact_name, fingerprint
from trtspec.recipe import Recipe

FILES = {"target": {"model.safetensors": "a" * 64}}
STAGES = (toy_stage("convert-target", folder="target"),)
BASE = {
    "schema": "trtspec/v1",
    "name": "x",
    "target": {"model": "./a", "dtype": "float32"},
    "speculation": {"method": "ngram", "draft_length": 4},
    "workload": {"prompts": "p.jsonl"},
}


def mark(changes=None, files=FILES, stages=STAGES):
    recipe = Recipe.model_validate({**BASE, **(changes or {})})
    return fingerprint(recipe, files, stages)


@pytest.mark.parametrize(
    "change",
    [
        {"target": {"model": "./a", "dtype": "bfloat16"}},
        {"target": {"model": "./a", "dtype": "float32", "quantization": "fp8"}},
        {"target": {"model": "./a", "dtype": "float32", "tensor_parallel": 2}},
        {"speculation": {"method": "ngram", "draft_length": 5}},
        {"speculation": {"method": "ngram", "draft_length": {4: 4}}},
        {"speculation": {"method": "none"}},
        {"limits": {"max_batch_size": 9}},
        {"sampling": {"temperature": 0.5}},
        {"backend": "pytorch"},
    ],
)
def test_setting_that_decides_changes_it(change):
    assert mark(change) != mark()


@pytest.mark.parametrize(
    "change",
    [
        {"name": "y"},
        {"workload": None},
        {"workload": {"prompts": "other.jsonl", "output_tokens": 3}},
        {"target": {"model": "org/name", "revision": "v1", "dtype": "float32"}},
    ],
)
def test_name_workload_and_origin_do_not_change_it(change):
    assert mark(change) == mark()


def test_draft_counts_by_content_not_by_reference():
    def with_draft(model, digest):
        speculation = {"method": "draft_target", "draft_length": 2, "model": model}
        files = {**FILES, "draft": {"model.safetensors": digest}}
        return mark({"speculation": speculation}, files)

    assert with_draft("./a", "b" * 64) == with_draft("./elsewhere", "b" * 64)
    assert with_draft("./a", "b" * 64) != with_draft("./a", "c" * 64)


def test_content_of_the_target_counts():
    assert mark(files={"target": {"model.safetensors": "b" * 64}}) != mark()


def test_only_stages_that_are_in_the_artifact_count():
    other = toy_stage("convert-target", "other", folder="target")
    assert mark(stages=(other,)) != mark()
    assert mark(stages=(*STAGES, toy_stage("check", folder=""))) == mark()


def test_directory_bears_name_and_first_twelve_digits():
    digest = mark()
    assert len(digest) == 64
    assert artifact_name("x", digest) == f"x-{digest[:12]}"


def test_chat_template_beside_the_recipe_counts_with_its_content():
    named = {"target": {"model": "./a", "dtype": "float32", "chat_template": "c"}}
    recipe = Recipe.model_validate(BASE | named)
    marks = {fingerprint(recipe, FILES, STAGES, text) for text in (b"a", b"b", None)}
    assert len(marks) == 3
    assert fingerprint(recipe, FILES, STAGES) == mark()
