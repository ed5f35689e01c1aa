"""The launcher scripts are accepted by bash, and start exactly what they should."""

import json
import os
import shutil
import stat
import subprocess
import sys

import pytest
from packaging.version import Version

from tests.trtllm.pytorch.launch.recipes import recipe
from trtspec.errors import BackendUnavailableError, UsageError
from trtspec.trtllm.facts.families import FAMILIES, newest_of
from trtspec.trtllm.pytorch.launch.command import serve_command
from trtspec.trtllm.pytorch.launch.scripts import LAUNCHERS, launcher_script

V1_2 = Version("1.2.1")
TELLS = f"""#!{sys.executable}
import json, os, sys
print(json.dumps({{"argv": sys.argv, "cwd": os.getcwd()}}))
"""
ROOT = ["--allow-run-as-root"] if os.getuid() == 0 else []
TWO_NODES = {"tensor_parallel": 16, "gpus_per_node": 8}


@pytest.fixture
def artifact(tmp_path):
    """A directory with a space in its name, for the scripts to be quoted well."""
    folder = tmp_path / "my engines" / "tiny-0123"
    (folder / "launch").mkdir(parents=True)
    (folder / "target").mkdir()
    (folder / "manifest.json").write_text("{}")
    (folder / "models").mkdir()
    (folder / "models" / "tiny-0123").symlink_to("../target")
    return folder


@pytest.fixture
def run(tmp_path, artifact):
    """Run a script with programs on PATH that print how they were called."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("trtllm-serve", "mpirun", "srun"):
        (programs / name).write_text(TELLS)
        (programs / name).chmod(stat.S_IRWXU)

    def run(text, *arguments, place=artifact / "launch", directory="/", **variables):
        file = place / "serve.sh"
        file.write_text(text)
        result = subprocess.run(
            [shutil.which("bash"), str(file), *arguments],
            env={"PATH": f"{programs}:{os.environ['PATH']}", **variables},
            cwd=directory,
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            return result.returncode, result.stderr
        said = json.loads(result.stdout)
        return [os.path.basename(said["argv"][0]), *said["argv"][1:]], said["cwd"]

    return run


def served(host="0.0.0.0", port=8000, **options):
    model = "models/tiny-0123"
    return list(
        serve_command(recipe(**options), V1_2, host=host, port=port, model=model)
    )


@pytest.mark.parametrize("kind", LAUNCHERS)
@pytest.mark.parametrize("version", [newest_of(f) for f in FAMILIES], ids=str)
def test_bash_accepts_every_script(kind, version, tmp_path):
    for options in ({}, TWO_NODES, {"template": "t.jinja"}):
        for artifact in (None, "/a 'b' $c/d"):
            text = launcher_script(recipe(**options), version, kind, artifact=artifact)
            checked = subprocess.run(
                ["bash", "-n"], input=text, capture_output=True, text=True, check=False
            )
            assert (checked.returncode, checked.stderr) == (0, "")
            assert text.startswith("#!/usr/bin/env bash\n")
            assert "\nset -euo pipefail\n" in text


def test_local_script_starts_the_server_in_the_artifact(run, artifact):
    argv, cwd = run(launcher_script(recipe(), V1_2, "local"))
    assert argv == served("localhost")
    assert cwd == str(artifact)


def test_variables_change_host_and_port(run):
    text = launcher_script(recipe(), V1_2, "local")
    argv, _ = run(text, TRTSPEC_HOST="::1 x", TRTSPEC_PORT="9")
    assert argv == served("::1 x", 9)


def test_script_elsewhere_finds_the_artifact(run, artifact, tmp_path):
    text = launcher_script(recipe(), V1_2, "local", artifact=str(artifact))
    assert run(text, place=tmp_path)[1] == str(artifact)


def test_script_before_the_build_takes_the_artifact_from_a_variable(run, artifact):
    script = launcher_script(recipe(), V1_2, "mpirun", artifact="")
    _, where = run(script, TRTSPEC_ARTIFACT=str(artifact))
    assert where == str(artifact)
    code, said = run(script)
    assert code != 0
    assert "TRTSPEC_ARTIFACT: is the directory of the artifact" in said


@pytest.mark.parametrize("kind", ["mpirun", "slurm"])
@pytest.mark.parametrize("named", [True, False])
def test_script_of_an_artifact_that_is_not_built_says_so_first(
    run, tmp_path, kind, named
):
    missing = str(tmp_path / "e 1" / "tiny-0123")
    script = launcher_script(
        recipe(**TWO_NODES), V1_2, kind, artifact=missing if named else ""
    )
    assert run(script, TRTSPEC_ARTIFACT=missing) == (
        2,
        f"{missing} is no built artifact; build it first: trtspec build RECIPE\n",
    )


def test_slurm_script_that_is_submitted_elsewhere_says_so_first(run, tmp_path):
    script = launcher_script(recipe(**TWO_NODES), V1_2, "slurm")
    code, said = run(script, SLURM_SUBMIT_DIR=str(tmp_path))
    assert code == 2
    assert said.startswith(f"{tmp_path} is no built artifact; build it first")


def test_mpirun_starts_a_rank_per_gpu_through_the_vendors_launcher(run, artifact):
    text = launcher_script(recipe(**TWO_NODES), V1_2, "mpirun")
    argv, cwd = run(text, "-x", "A B", TRTSPEC_HOSTS="one:8,two:8")
    assert argv == [
        *("mpirun", "-H", "one:8,two:8", *ROOT, "-n", "16"),
        *("-wdir", str(artifact), "-x", "A B"),
        *("trtllm-llmapi-launch", *served(**TWO_NODES)),
    ]
    assert cwd == str(artifact)


def test_mpirun_takes_a_file_of_hosts(run):
    text = launcher_script(recipe(**TWO_NODES), V1_2, "mpirun")
    argv, _ = run(text, TRTSPEC_HOSTFILE="my hosts")
    assert argv[1:3] == ["--hostfile", "my hosts"]


def test_mpirun_on_several_nodes_wants_to_know_them(run):
    code, said = run(launcher_script(recipe(**TWO_NODES), V1_2, "mpirun"))
    assert code == 2
    assert "set TRTSPEC_HOSTS=node1:8,node2:8 or TRTSPEC_HOSTFILE=FILE" in said


def test_mpirun_on_one_node_needs_no_hosts(run):
    argv, _ = run(launcher_script(recipe(tensor_parallel=4), V1_2, "mpirun"))
    assert argv[: len(ROOT) + 3] == ["mpirun", *ROOT, "-n", "4"]


def test_local_script_of_several_nodes_says_what_to_use(run):
    code, said = run(launcher_script(recipe(**TWO_NODES), V1_2, "local"))
    assert (code, said) == (
        2,
        "this recipe takes 2 nodes: use the launcher for mpirun or Slurm\n",
    )


def test_slurm_directives_ask_for_the_nodes_and_tasks():
    lines = launcher_script(recipe(**TWO_NODES), V1_2, "slurm").splitlines()
    assert lines[1:7] == [
        "#SBATCH --job-name=tiny",
        "#SBATCH --nodes=2",
        "#SBATCH --ntasks=16",
        "#SBATCH --ntasks-per-node=8",
        "#SBATCH --gres=gpu:8",
        "#SBATCH --output=trtllm-serve-%j.log",
    ]


def test_slurm_mounts_the_artifact_and_its_checkpoints(run, artifact, tmp_path):
    hub = tmp_path / "hub" / "models--a--b"
    (hub / "snapshots" / "c0ffee").mkdir(parents=True)
    plain = tmp_path / "drafter"
    plain.mkdir()
    (artifact / "target").rmdir()
    (artifact / "target").symlink_to(hub / "snapshots" / "c0ffee")
    (artifact / "draft").symlink_to(plain)
    text = launcher_script(recipe(**TWO_NODES), V1_2, "slurm")
    variables = {"SLURM_SUBMIT_DIR": str(artifact), "TRTSPEC_IMAGE": "an image"}
    argv, cwd = run(text, place=tmp_path, TRTSPEC_MOUNTS="/x:/y", **variables)
    assert argv == [
        *("srun", "-l", "--ntasks=16", "--ntasks-per-node=8", "--mpi=pmix"),
        "--container-image=an image",
        f"--container-mounts={artifact}:{artifact},{hub}:{hub},{plain}:{plain},/x:/y",
        f"--container-workdir={artifact}",
        *("trtllm-llmapi-launch", *served(**TWO_NODES)),
    ]
    assert cwd == str(artifact)


@pytest.mark.parametrize("name", ["a,b", "a:b"])
def test_slurm_refuses_a_checkpoint_whose_path_cannot_be_mounted(
    run, artifact, tmp_path, name
):
    checkpoint = tmp_path / name
    checkpoint.mkdir()
    (artifact / "draft").symlink_to(checkpoint)
    text = launcher_script(recipe(), V1_2, "slurm", artifact=str(artifact))
    code, said = run(text, TRTSPEC_IMAGE="an image")
    assert code == 2
    assert said == (
        f"{checkpoint} cannot be mounted at {checkpoint}: a comma or colon in a path "
        "separates mounts; move it to a path without them\n"
    )


def test_slurm_refuses_an_artifact_whose_path_cannot_be_mounted(run, artifact):
    moved = artifact.rename(artifact.with_name("tiny:0123"))
    text = launcher_script(recipe(), V1_2, "slurm", artifact=str(moved))
    code, said = run(text, place=moved, TRTSPEC_IMAGE="an image")
    assert code == 2
    assert said.startswith(f"{moved} cannot be mounted")


def test_slurm_wants_an_image(run, artifact):
    text = launcher_script(recipe(), V1_2, "slurm", artifact=str(artifact))
    code, said = run(text)
    assert code != 0
    assert "TRTSPEC_IMAGE: set it to the container image" in said


def test_words_of_the_server_need_no_quotes():
    """TensorRT-LLM's launcher splits its command at every space."""
    words = serve_command(recipe(template="my template.jinja"), V1_2)
    assert not any(set(word) & set(" '\"$*?\\") for word in words)


@pytest.mark.parametrize("kind", LAUNCHERS)
def test_what_cannot_be_served_is_refused(kind):
    with pytest.raises(BackendUnavailableError):
        launcher_script(recipe(), Version("1.3.0rc20"), kind)
    with pytest.raises(UsageError):
        launcher_script(recipe(tensor_parallel=12, gpus_per_node=8), V1_2, kind)


@pytest.mark.parametrize("kind", LAUNCHERS)
def test_drafter_of_the_users_own_is_not_served_without_it(run, kind):
    own = {"method": "user", "drafter": "mine:make", "draft_length": 2}
    code, said = run(launcher_script(recipe(speculation=own), V1_2, kind))
    assert code == 2
    assert "run the artifact in process, with trtspec run" in said
