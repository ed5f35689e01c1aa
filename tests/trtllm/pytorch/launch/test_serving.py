"""An artifact is served only where that can work and means what it says."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.trtllm.pytorch.build.projects import build_project, installed, write_project
from trtspec.build.artifact import Artifact
from trtspec.errors import BackendUnavailableError, RunError, UsageError
from trtspec.methods import User
from trtspec.recipe.pytorch import PyTorchOptions
from trtspec.trtllm.installation import Absence
from trtspec.trtllm.pytorch.launch.command import served_name, served_path
from trtspec.trtllm.pytorch.launch.serving import serving, serving_version

SERVER = Path("/somewhere/trtllm-serve")
HERE = installed("1.2.1", server=SERVER)


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serving")
    recipe = write_project(folder, "ngram")
    return build_project(recipe, folder / "engines", "1.2.1").artifact


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(tmp_path / "cache"))


def test_server_is_made_of_artifact_address_and_the_program_found(artifact):
    with serving(artifact, HERE, host="127.0.0.1") as plan:
        server = plan.make()
        assert server._command[:3] == (
            *(str(SERVER), "serve"),
            f"models/{artifact.path.name}",
        )
        assert server._command[5:9] == (
            *("--host", "127.0.0.1"),
            *("--port", str(plan.address.port)),
        )
        assert server._directory == artifact.path.resolve()
        assert plan.log == plan.folder / "server.log"
        assert artifact.path.name in plan.folder.name


def test_log_of_ones_own_is_added_to(artifact, tmp_path):
    log = tmp_path / "mine.log"
    log.write_text("before\n")
    with serving(artifact, HERE, log=log) as plan:
        assert plan.log == log
    assert log.read_text() == "before\n"


def test_log_that_cannot_be_written_names_its_option(artifact, tmp_path):
    log = tmp_path / "none" / "mine.log"
    with (
        pytest.raises(UsageError, match="cannot be written: No such file") as caught,
        serving(artifact, HERE, log=log),
    ):
        pass
    assert caught.value.problems[0].where == "--log"
    assert "a directory that is there" in caught.value.problems[0].action


def test_cache_that_cannot_be_written_names_its_variable(
    artifact, tmp_path, monkeypatch
):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRTSPEC_CACHE", str(tmp_path / "file" / "cache"))
    with (
        pytest.raises(UsageError, match="cannot write in ") as caught,
        serving(artifact, HERE),
    ):
        pass
    assert caught.value.problems[0].where == "$TRTSPEC_CACHE"
    assert caught.value.problems[0].action.startswith("set TRTSPEC_CACHE to")


@pytest.mark.parametrize("port", [0, 8000])
def test_host_that_would_mean_every_interface_is_refused(artifact, port):
    with (
        pytest.raises(UsageError, match="'' names no host") as caught,
        serving(artifact, HERE, host="", port=port),
    ):
        pass
    assert caught.value.problems[0].where == "--host"


def test_version_of_the_same_family_will_do(artifact):
    assert str(serving_version(artifact, installed("1.2.0", server=SERVER))) == "1.2.0"


def copy_of(artifact, folder):
    """Give a copy that may be damaged."""
    path = shutil.copytree(artifact.path, folder / "renamed", symlinks=True)
    return Artifact.open(path)


def test_name_tells_the_artifact_even_in_a_renamed_directory(artifact, tmp_path):
    copy = copy_of(artifact, tmp_path)
    assert served_name(copy) == served_name(artifact) == artifact.path.name
    with serving(copy, HERE) as plan:
        assert plan.make()._command[2] == f"models/{artifact.path.name}"
    assert (copy.path / served_path(copy)).resolve() == artifact.target.resolve()


@pytest.mark.parametrize("to", [None, "../launch"])
def test_artifact_whose_name_leads_elsewhere_is_refused(artifact, tmp_path, to):
    copy = copy_of(artifact, tmp_path)
    link = copy.path / served_path(copy)
    link.unlink()
    if to:
        link.symlink_to(to)
    with (
        serving(copy, HERE) as plan,
        pytest.raises(RunError, match="is no link to the artifact's target"),
    ):
        plan.make()


def test_file_that_changed_since_is_not_served_again(artifact, tmp_path):
    copy = copy_of(artifact, tmp_path)
    with serving(copy, HERE) as plan:
        plan.make()
        (copy.path / "launch" / "llm_args.yaml").write_text("max_batch_size: 1\n")
        with pytest.raises(RunError, match=r"launch/llm_args\.yaml was changed"):
            plan.make()


@pytest.mark.parametrize("version", ["1.1.0", "1.3.0rc25"])
def test_artifact_of_another_family_is_refused(artifact, version):
    with pytest.raises(RunError, match=r"was built for 1\.2\.1") as caught:
        serving_version(artifact, installed(version, server=SERVER))
    assert "build the recipe again" in caught.value.problems[0].action


def test_missing_server_is_told_with_the_reason(artifact):
    absent = replace(installed(), absences=(Absence("server", "no such program"),))
    with pytest.raises(BackendUnavailableError, match="not here: no such program"):
        serving_version(artifact, absent)


def test_recipe_of_several_nodes_is_sent_to_the_launchers(artifact):
    recipe = artifact.recipe.model_copy(
        update={
            "target": artifact.recipe.target.model_copy(update={"tensor_parallel": 16}),
            "pytorch": PyTorchOptions(gpus_per_node=8),
        }
    )
    with pytest.raises(BackendUnavailableError, match="takes 2 nodes") as caught:
        serving_version(replace(artifact, recipe=recipe), HERE)
    assert "--launcher slurm" in caught.value.problems[0].action


def test_drafter_of_the_users_own_is_refused(artifact):
    own = User(method="user", drafter="mine:make", draft_length=2)
    recipe = artifact.recipe.model_copy(update={"speculation": own})
    with pytest.raises(BackendUnavailableError, match="is a Python object"):
        serving_version(replace(artifact, recipe=recipe), HERE)


def test_forced_acceptance_is_refused_by_name(artifact, monkeypatch):
    monkeypatch.setenv("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS", "1.6")
    with pytest.raises(
        UsageError, match=r"'1\.6' forces the number of accepted"
    ) as err:
        serving_version(artifact, HERE)
    assert err.value.problems[0].where == "$TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"
