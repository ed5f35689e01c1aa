"""Whether an artifact's recipe and prompts need nothing from outside."""

import pytest

from tests.build.projects import load, write_project
from tests.trtllm.engine.projects import write_project as write_engine_project
from trtspec.build.self_contained import artifact_texts, self_contained
from trtspec.errors import UsageError
from trtspec.recipe import load_recipe


def test_references_point_at_the_artifacts_own_files(tmp_path):
    recipe = load(write_project(tmp_path, draft=True)).recipe
    own = self_contained(recipe)
    assert own.target.model == "./target"
    assert own.speculation.model == "./draft"
    assert own.workload.prompts == "workload.jsonl"


def test_revisions_go_with_the_references(tmp_path):
    recipe = load(write_project(tmp_path, draft=True)).recipe
    target = recipe.target.model_copy(update={"model": "org/a", "revision": "v1"})
    draft = recipe.speculation.model_copy(update={"model": "org/b", "revision": "v2"})
    changed = recipe.model_copy(update={"target": target, "speculation": draft})
    own = self_contained(changed)
    assert own.target.revision is None
    assert own.speculation.revision is None


def test_trained_drafter_is_part_of_the_target(tmp_path):
    recipe = load(write_engine_project(tmp_path, "medusa")).recipe
    own = self_contained(recipe)
    assert own.target.model == "./target"
    assert own.speculation.model == "./target"
    assert own.speculation.revision is None
    assert own.speculation.tree == recipe.speculation.tree


def test_engine_options_and_stated_families_stay(tmp_path):
    target = {"family": "llama", "quantization": "fp8"}
    engine = {"max_draft_length": 6, "kv_cache": "fp8"}
    path = write_engine_project(
        tmp_path, "draft_target", target=target, engine=engine, quantization="fp8"
    )
    loaded = load(path)
    own = self_contained(loaded.recipe)
    assert own.engine == loaded.recipe.engine
    assert own.target.family == "llama"
    assert own.speculation.quantization == "fp8"
    (tmp_path / "own.yaml").write_bytes(artifact_texts(loaded)["recipe.yaml"])
    assert load_recipe(tmp_path / "own.yaml").recipe == own


def test_all_other_settings_stay(tmp_path):
    recipe = load(write_project(tmp_path, dtype="bfloat16")).recipe
    own = self_contained(recipe)
    assert own.limits == recipe.limits
    assert own.sampling == recipe.sampling
    assert own.target.dtype == "bfloat16"
    assert own.speculation == recipe.speculation
    assert own.workload.output_tokens == recipe.workload.output_tokens


def test_texts_load_back(tmp_path):
    loaded = load(write_project(tmp_path, draft=True))
    texts = artifact_texts(loaded)
    assert texts["workload.jsonl"] == (tmp_path / "prompts.jsonl").read_bytes()
    (tmp_path / "own.yaml").write_bytes(texts["recipe.yaml"])
    assert load_recipe(tmp_path / "own.yaml").recipe == self_contained(loaded.recipe)


def test_recipe_without_workload_has_one_text(tmp_path):
    assert set(artifact_texts(load(write_project(tmp_path, prompts=None)))) == {
        "recipe.yaml"
    }


def test_prompts_of_nobody_are_refused(tmp_path):
    recipe = write_project(tmp_path)
    recipe.write_text(recipe.read_text().replace("prompts.jsonl", "~nouser-x/b"))
    with pytest.raises(UsageError, match="home directory of ~nouser-x"):
        artifact_texts(load(recipe))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no prompt"),
        (b"\xff\xfe\n", "UTF-8"),
        (b'{"text": 1}\n', "prompts.jsonl:1"),
        (None, "prompts.jsonl"),
    ],
)
def test_bad_prompts_are_refused(tmp_path, content, message):
    recipe = write_project(tmp_path)
    file = tmp_path / "prompts.jsonl"
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        artifact_texts(load(recipe))


def test_chat_template_comes_along_under_its_own_name(tmp_path):
    (tmp_path / "mine.jinja").write_text("{{ messages[0].content }}")
    recipe = write_engine_project(tmp_path, target={"chat_template": "mine.jinja"})
    texts = artifact_texts(load(recipe))
    assert texts["chat_template.jinja"] == b"{{ messages[0].content }}"
    assert b"chat_template: chat_template.jinja" in texts["recipe.yaml"]


def test_absent_chat_template_is_told_with_its_place(tmp_path):
    recipe = write_engine_project(tmp_path, target={"chat_template": "none.jinja"})
    with pytest.raises(UsageError, match=r"tiny\.yaml:\d+: chat_template none\.jinja"):
        artifact_texts(load(recipe))
