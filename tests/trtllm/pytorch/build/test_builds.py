"""What an artifact of backend pytorch consists of, and when it is made again."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.build.projects import Lines, change_weights
from tests.trtllm.pytorch.build.projects import (
    DRAFTERS,
    FIELDS,
    MAIN,
    build_project,
    write_project,
)
from trtspec.build.artifact import Artifact
from trtspec.errors import RunError
from trtspec.trtllm.pytorch.build.configure import CONFIGURE


def of_method(folder, method):
    """Write a recipe with what the method asks of the target."""
    config = {"num_nextn_predict_layers": 1} if method == "mtp" else None
    return write_project(folder, method, config=config)


@pytest.mark.parametrize("method", ["none", "auto", *FIELDS])
def test_checkpoints_are_linked_and_the_launch_is_written(tmp_path, engines, method):
    artifact = build_project(of_method(tmp_path, method), engines, MAIN).artifact
    links = {path.name: path for path in artifact.path.iterdir() if path.is_symlink()}
    drafts = method in DRAFTERS
    assert set(links) == {"target", "draft"} if drafts else {"target"}
    assert links["target"].resolve() == tmp_path / "model"
    assert artifact.draft == (artifact.path / "draft" if drafts else None)
    assert artifact.tokenizer == artifact.target
    assert {path.name for path in (artifact.path / "launch").iterdir()} == {
        "llm_args.yaml",
        "serve.sh",
    }
    assert Artifact.open(artifact.path) == artifact


def test_configuration_names_the_drafter_by_its_folder(tmp_path, engines):
    artifact = build_project(write_project(tmp_path, "eagle3"), engines).artifact
    text = (artifact.path / "launch" / "llm_args.yaml").read_text()
    said = yaml.safe_load(text)["speculative_config"]
    assert (artifact.path / said["speculative_model"]).is_dir()
    assert said["max_draft_len"] == 3


def test_its_recipe_needs_nothing_from_outside(tmp_path, engines):
    recipe = write_project(tmp_path, "eagle3", workload=True)
    own = Artifact.open(build_project(recipe, engines).artifact.path).recipe
    assert own.target.model == "./target"
    assert own.speculation.model == "./draft"
    assert own.workload.prompts == "workload.jsonl"


def test_script_starts_the_server_in_the_artifacts_directory(tmp_path, engines):
    artifact = build_project(write_project(tmp_path), engines).artifact
    script = artifact.path / "launch" / "serve.sh"
    assert script.stat().st_mode & stat.S_IXOTH
    (tmp_path / "bin").mkdir()
    server = tmp_path / "bin" / "trtllm-serve"
    server.write_text('#!/bin/sh\npwd\necho "$@"\n')
    server.chmod(0o755)
    path = f"{server.parent}{os.pathsep}{os.environ['PATH']}"
    said = subprocess.run(
        [script], env={"PATH": path}, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert said[0] == str(artifact.path)
    name = artifact.path.name
    assert said[1].startswith(f"serve models/{name} --backend pytorch ")
    assert (artifact.path / "models" / name).resolve() == tmp_path / "model"


def test_log_says_what_the_configuration_was_held_against(tmp_path, engines):
    lines = Lines()
    recipe = write_project(tmp_path)
    artifact = build_project(recipe, engines, "1.1.0", lines.progress).artifact
    said = "llm_args.yaml: validated against the facts of 1.1"
    assert (artifact.path / "logs" / "configure.log").read_text() == said + "\n"
    assert said in lines


def test_second_build_reuses_all(tmp_path, engines):
    recipe = write_project(tmp_path, "eagle3")
    first = build_project(recipe, engines)
    second = build_project(recipe, engines)
    assert second.artifact == first.artifact
    assert [s.name for s in second.stages if not s.reused] == ["resolve"]


def test_copy_that_followed_the_links_is_kept_and_needs_no_checkpoints(
    tmp_path, engines
):
    recipe = write_project(tmp_path, "eagle3")
    first = build_project(recipe, engines).artifact
    copied = tmp_path / "copied"
    shutil.copytree(first.path, copied / first.path.name)
    again = build_project(recipe, copied).artifact
    assert not (again.path / "target").is_symlink()
    assert not (again.path / "draft").is_symlink()
    (alias,) = (again.path / "models").iterdir()
    assert alias.resolve() == again.path / "target"
    assert Artifact.open(again.path) == again


def test_missing_name_of_the_target_is_made_again(tmp_path, engines):
    recipe = write_project(tmp_path)
    artifact = build_project(recipe, engines).artifact
    shutil.rmtree(artifact.path / "models")
    build_project(recipe, engines)
    assert (artifact.path / "models" / artifact.path.name).is_dir()


def test_two_builds_at_once_make_one_artifact(tmp_path, engines):
    recipe = write_project(tmp_path, "eagle3")
    statement = (
        "import sys; from pathlib import Path\n"
        "from tests.trtllm.pytorch.build.projects import build_project\n"
        "print(build_project(Path(sys.argv[1]), Path(sys.argv[2])).artifact.path)"
    )
    builds = [
        subprocess.Popen(
            [sys.executable, "-c", statement, str(recipe), str(engines)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in "12"
    ]
    said = {build.communicate()[0].strip() for build in builds}
    assert [build.returncode for build in builds] == [0, 0]
    (path,) = map(Path, said)
    assert [p.name for p in engines.iterdir() if p.name[0] != "."] == [path.name]
    assert Artifact.open(path) == build_project(recipe, engines).artifact


def test_other_version_is_another_artifact(tmp_path, engines):
    recipe = write_project(tmp_path, "eagle3")
    made = {build_project(recipe, engines, v).artifact.path for v in ("1.2.1", MAIN)}
    assert len(made) == 2


def test_place_and_name_do_not_count_but_content_does(tmp_path, engines):
    recipe = write_project(tmp_path / "a", "eagle3")
    first = build_project(recipe, engines).artifact
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    other = write_project(tmp_path / "b", "eagle3", name="other")
    named = build_project(other, engines)
    assert named.artifact.fingerprint == first.fingerprint
    assert {s.name: s.reused for s in named.stages}[CONFIGURE]
    change_weights(tmp_path / "b" / "model")
    changed = build_project(other, engines).artifact
    assert changed.fingerprint != first.fingerprint


def test_checkpoint_that_moved_is_linked_again(tmp_path, engines):
    recipe = write_project(tmp_path, "eagle3")
    first = build_project(recipe, engines).artifact
    (tmp_path / "model").rename(tmp_path / "moved")
    with pytest.raises(RunError, match=r"target leads to .*model, where no checkpoint"):
        Artifact.open(first.path)
    moved = write_project(
        tmp_path / "elsewhere", "eagle3", target={"model": "../moved"}
    )
    again = build_project(moved, engines).artifact
    assert again.path == first.path
    assert (first.path / "target").resolve() == tmp_path / "moved"
    assert Artifact.open(first.path) == again


def test_copy_elsewhere_is_linked_while_the_first_is_still_there(tmp_path, engines):
    first = build_project(write_project(tmp_path / "a"), engines).artifact
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    again = build_project(tmp_path / "b" / "tiny.yaml", engines)
    assert again.artifact.path == first.path
    assert not again.stages[-1].reused
    assert (first.path / "target").resolve() == tmp_path / "b" / "model"


def test_changed_and_added_files_of_a_linked_checkpoint_are_named(tmp_path, engines):
    artifact = build_project(write_project(tmp_path, "eagle3"), engines).artifact
    (tmp_path / "model" / "README.md").write_text("does not decide")
    Artifact.open(artifact.path)
    change_weights(tmp_path / "model")
    with pytest.raises(
        RunError, match=r"target/model\.safetensors was changed \(in .*/model\)"
    ):
        Artifact.open(artifact.path)
    (tmp_path / "eagle3" / "config.json").unlink()
    (tmp_path / "model" / "generation_config.json").write_text("{}")
    with pytest.raises(RunError, match=r"draft/config\.json is missing.* and 2 more"):
        Artifact.open(artifact.path)


def test_users_checkpoint_is_left_as_it_was(tmp_path, engines):
    recipe = write_project(tmp_path, "eagle3")
    model = tmp_path / "model"
    model.chmod(0o555)
    before = {path: path.stat() for path in sorted(model.rglob("*"))}
    try:
        built = build_project(recipe, engines).artifact
        shutil.rmtree(built.path)
        after = {path: path.stat() for path in sorted(model.rglob("*"))}
    finally:
        model.chmod(0o755)
    assert [s.st_mtime_ns for s in after.values()] == [
        s.st_mtime_ns for s in before.values()
    ]
    assert [s.st_mode for s in after.values()] == [s.st_mode for s in before.values()]


def test_manifest_says_what_is_linked(tmp_path, engines):
    artifact = build_project(write_project(tmp_path, "eagle3"), engines).artifact
    manifest = json.loads((artifact.path / "manifest.json").read_text())
    assert manifest["links"] == {"target": "target", "draft": "draft"}
    assert manifest["source"]["draft"]["checkpoint"] == "eagle3"
    assert "model.safetensors" in manifest["source"]["target"]["files"]
    assert manifest["versions"]["tensorrt_llm"] == "1.2.1"
