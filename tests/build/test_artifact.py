"""Whether only a complete, undamaged artifact can be opened."""

import json

import pytest

from tests.build.projects import load, write_project
from tests.trtllm.engine.projects import make_workshop
from trtspec.build.artifact import Artifact, read_manifest
from trtspec.build.build import build
from trtspec.errors import RunError, UsageError
from trtspec.files import sha256_file
from trtspec.reference.backend import ReferenceBackend


@pytest.fixture
def path(tmp_path, engines):
    recipe = write_project(tmp_path, draft=True)
    return build(load(recipe), ReferenceBackend(), engines).artifact.path


def test_opened_artifact_names_its_parts(path):
    artifact = Artifact.open(path)
    assert artifact.name == "tiny"
    assert path.name.endswith(artifact.fingerprint[:12])
    assert artifact.target == path / "target"
    assert artifact.draft == path / "draft"
    assert artifact.workload == path / "workload.jsonl"


def test_models_of_the_reference_engine_have_their_own_tokenizer(path):
    artifact = Artifact.open(path)
    assert artifact.tokenizer == artifact.target


def test_engines_have_their_tokenizer_beside_them(tmp_path):
    workshop = make_workshop(tmp_path)
    artifact = workshop.build(workshop.write("medusa")).artifact
    assert artifact.tokenizer == artifact.path / "tokenizer"
    # the heads are in the target engine
    assert artifact.draft is None
    (artifact.tokenizer / "added.json").write_text("{}")
    with pytest.raises(RunError, match=r"tokenizer/added\.json was added"):
        Artifact.open(artifact.path)


def test_its_recipe_needs_nothing_from_outside(path):
    recipe = Artifact.open(path).recipe
    assert recipe.target.model == "./target"
    assert recipe.speculation.model == "./draft"
    assert recipe.workload.prompts == "workload.jsonl"


def test_moved_artifact_opens(path, tmp_path):
    moved = path.rename(tmp_path / "elsewhere")
    assert Artifact.open(moved).path == moved


def test_directory_without_manifest_is_no_artifact(path):
    (path / "manifest.json").unlink()
    with pytest.raises(UsageError, match="not an artifact") as caught:
        Artifact.open(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("kind", ["absent", "file"])
def test_what_is_no_directory_is_no_artifact(tmp_path, kind):
    if kind == "file":
        (tmp_path / "x").write_text("")
    with pytest.raises(UsageError, match="not an artifact"):
        Artifact.open(tmp_path / "x")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": "trtspec/artifact/v9"}'])
def test_manifest_that_cannot_be_understood_is_refused(path, text):
    (path / "manifest.json").write_text(text)
    with pytest.raises(RunError, match=r"manifest\.json") as caught:
        Artifact.open(path)
    assert "trtspec/artifact/v1" in str(caught.value)
    assert caught.value.exit_code == 5


@pytest.mark.parametrize("text", ["", "zz: 1\n"])
def test_recipe_that_this_version_cannot_read_is_no_file_to_correct(path, text):
    """As in an artifact of another version of trtspec, whose hashes are right."""
    (path / "recipe.yaml").write_text(text)
    manifest = (path / "manifest.json").read_text()
    stages = json.loads(manifest)["stages"]
    (old,) = (s["outputs"]["recipe.yaml"] for s in stages if s["folder"] == ".")
    new = sha256_file(path / "recipe.yaml")
    (path / "manifest.json").write_text(manifest.replace(old, new))
    with pytest.raises(RunError, match="cannot read the artifact's recipe: ") as caught:
        Artifact.open(path)
    assert caught.value.problems[0].action == "build it again: trtspec build RECIPE"


def test_manifest_with_an_unknown_key_is_refused(path):
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps({**manifest, "more": 1}))
    with pytest.raises(RunError, match="more"):
        read_manifest(path)


@pytest.mark.parametrize(
    "name",
    ["target/model.safetensors", "draft/config.json", "recipe.yaml", "workload.jsonl"],
)
def test_changed_or_missing_file_is_refused(path, name):
    file = path / name
    content = file.read_bytes()
    file.unlink()
    with pytest.raises(RunError, match=f"damaged: {name} is missing"):
        Artifact.open(path)
    file.write_bytes(content + b" ")
    with pytest.raises(RunError, match=f"damaged: {name} was changed"):
        Artifact.open(path)
    file.write_bytes(content)
    Artifact.open(path)


def test_several_damaged_files_are_counted(path):
    for file in (path / "target").iterdir():
        file.unlink()
    with pytest.raises(RunError, match="and 2 more"):
        Artifact.open(path)


def test_file_added_to_a_model_is_refused(path):
    (path / "draft" / "chat_template.jinja").write_text("x")
    with pytest.raises(RunError, match=r"draft/chat_template\.jinja was added"):
        Artifact.open(path)


def test_files_beside_the_models_do_not_matter(path):
    (path / "notes.txt").write_text("x")
    (path / "logs" / "serve.log").write_text("x")
    assert Artifact.open(path).name == "tiny"
