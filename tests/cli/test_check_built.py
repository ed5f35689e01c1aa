"""``trtspec check DIRECTORY``: whether what was built would run."""

import json
from types import SimpleNamespace

import pytest
import yaml
from click.testing import CliRunner

from tests.trtllm.engine.projects import make_workshop
from tests.trtllm.engine.run.artifacts import engine, write_engine
from tests.trtllm.machines import bare_machine
from trtspec.build.artifact import Artifact
from trtspec.cli.main import cli
from trtspec.errors import FindingsError, UsageError
from trtspec.recipe import Recipe, load_recipe
from trtspec.trtllm.built import _engines, built_findings
from trtspec.trtllm.installation import Installation, assumed_for
from trtspec.trtllm.runtime import Runtime


def check(*arguments):
    result = CliRunner().invoke(cli, ["check", *map(str, arguments), "--json"])
    return result.exception, result.stdout


def findings_of(*arguments):
    _, stdout = check(*arguments)
    return {f["rule"]: f for f in json.loads(stdout)["findings"]}


@pytest.fixture
def engine_recipe(tmp_path):
    content = {
        "schema": "trtspec/v1",
        "name": "toy",
        "backend": "tensorrt",
        "target": {"model": "./target"},
        "speculation": {"method": "ngram", "draft_length": 6},
        "limits": {"max_batch_size": 2, "max_input_tokens": 20, "max_total_tokens": 50},
    }
    path = tmp_path / "recipe.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def test_engines_made_elsewhere_are_held_against_a_recipe(tmp_path, engine_recipe):
    old = engine(version="0.17.0", max_draft_len=0, paged_context_fmha=False)
    folder = write_engine(tmp_path / "engine", old)
    arguments = (folder, "--for", engine_recipe, "--trtllm", "0.18.0")
    error, _ = check(*arguments)
    assert isinstance(error, FindingsError)
    found = findings_of(*arguments)
    blocking = [rule for rule, f in found.items() if f["severity"] == "blocking"]
    assert blocking == ["engine-version", "engine-drafts", "engine-cache"]
    assert list(found)[-1] == "engine-rebuild"
    assert "--max_draft_len 6" in found["engine-rebuild"]["snippet"]


def test_without_a_release_all_but_the_version_is_looked_at(
    monkeypatch, tmp_path, engine_recipe
):
    bare_machine(monkeypatch, tmp_path)
    old = engine(version="0.17.0", max_draft_len=0, paged_context_fmha=False)
    folder = write_engine(tmp_path / "engine", old)
    found = findings_of(folder, "--for", engine_recipe)
    blocking = [rule for rule, f in found.items() if f["severity"] == "blocking"]
    assert blocking == ["engine-drafts", "engine-cache"]
    assert found["installation"]["severity"] == "warning"


def test_engines_say_what_they_lack(tmp_path, engine_recipe):
    folder = write_engine(tmp_path / "engine", engine("ngram"))
    error, _ = check(folder)
    assert isinstance(error, UsageError)
    assert f"trtspec check {folder} --for RECIPE" in str(error)
    error, _ = check(tmp_path)
    assert "neither manifest.json nor config.json" in str(error)
    error, _ = check(engine_recipe, "--for", engine_recipe, "--trtllm", "1.2.1")
    assert "leave --for out" in str(error)


def test_a_config_that_is_none_is_damage(tmp_path, engine_recipe):
    folder = write_engine(tmp_path / "engine", engine("ngram"))
    (folder / "config.json").write_text("{")
    found = findings_of(folder, "--for", engine_recipe, "--trtllm", "1.2.1")
    assert found["artifact-damaged"]["severity"] == "blocking"


def test_an_artifact_of_engines_runs_on_its_own_version_only(tmp_path):
    workshop = make_workshop(tmp_path)
    artifact = workshop.build(workshop.write("medusa")).artifact
    built = artifact.manifest.versions["tensorrt_llm"]
    kind = [f.rule for f in built_findings(artifact.path, None, assumed(built))]
    assert kind == []
    other = built_findings(artifact.path, None, assumed("0.18.0"))
    assert [f.rule for f in other] == ["engine-version", "engine-rebuild"]
    found = findings_of(artifact.path, "--trtllm", built, "--gpu", "a100-sxm-80gb")
    assert found["engine-gpu"]["values"] == {"built_with": "9.0", "wanted": "8.0"}
    with pytest.raises(UsageError, match="leave --for out"):
        built_findings(artifact.path, tmp_path / "r.yaml", assumed(built))
    (artifact.target / "config.json").write_text("{}")
    damaged = built_findings(artifact.path, None, assumed(built))
    assert [f.rule for f in damaged] == ["artifact-damaged"]


@pytest.fixture
def on_pytorch(monkeypatch, tmp_path):
    """An artifact of backend pytorch, built for 1.2.1."""
    (tmp_path / "manifest.json").write_text("{}")
    content = {
        "schema": "trtspec/v1",
        "name": "toy",
        "backend": "pytorch",
        "target": {"model": "./target"},
        "speculation": {"method": "ngram", "draft_length": 4},
    }
    made = Artifact(
        tmp_path,
        SimpleNamespace(versions={"tensorrt_llm": "1.2.1"}),
        Recipe.model_validate(content),
    )
    monkeypatch.setattr(Artifact, "open", lambda path: made)
    return tmp_path


@pytest.mark.parametrize(
    ("version", "rules"),
    [
        ("1.2.0", []),
        ("1.1.0", ["artifact-release"]),
        ("1.3.0rc9", ["artifact-release"]),
    ],
)
def test_an_artifact_of_pytorch_means_the_same_in_its_family(
    on_pytorch, version, rules
):
    found = built_findings(on_pytorch, None, assumed(version))
    assert [f.rule for f in found] == rules


def test_without_a_release_it_is_a_warning_not_silence(on_pytorch):
    found = built_findings(on_pytorch, None, Runtime(Installation()))
    assert [(f.rule, f.severity) for f in found] == [("installation", "warning")]
    assert "--trtllm VERSION" in found[0].action


def assumed(version):
    return Runtime(assumed_for(version))


def test_a_damaged_target_hides_no_damaged_draft(tmp_path, engine_recipe):
    made = load_recipe(engine_recipe).recipe
    folders = tmp_path / "first", tmp_path / "second"
    for folder in folders:
        folder.mkdir()
        (folder / "config.json").write_text("{")
    damaged = list(_engines(made, tmp_path, folders, None, assumed("1.2.1")))
    assert [f.rule for f in damaged] == ["artifact-damaged"] * 2
    for folder, finding in zip(folders, damaged, strict=True):
        assert str(folder) in finding.where + finding.what


def test_engines_made_elsewhere_are_not_to_be_falsified_either(
    tmp_path, engine_recipe, monkeypatch
):
    folder = write_engine(tmp_path / "engine", engine("ngram"))
    monkeypatch.setenv("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS", "3")
    found = findings_of(folder, "--for", engine_recipe, "--trtllm", "1.2.1")
    assert found["forced-acceptance"]["severity"] == "note"
