"""What ``trtspec plan`` prints for backend pytorch: the YAML, the command, scripts."""

import json
import shlex
import subprocess
import sys

import pytest
import yaml
from click.testing import CliRunner

from tests.build.projects import write_project as write_reference_project
from tests.trtllm.pytorch.build.projects import build_project, write_project
from trtspec.cli.plan import command
from trtspec.errors import BackendUnavailableError, FindingsError, UsageError

NODES = {"target": {"tensor_parallel": 2}, "pytorch": {"gpus_per_node": 1}}


@pytest.fixture(autouse=True)
def _own_caches(caches, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(caches / "trtspec"))
    monkeypatch.setenv("HF_HUB_CACHE", str(caches / "hub"))


@pytest.fixture
def plan(tmp_path):
    def plan(recipe, *options, version="1.2.1"):
        engines = ["--engines", str(tmp_path / "e")]
        arguments = [str(recipe), "--trtllm", version, *engines, *map(str, options)]
        result = CliRunner().invoke(command, arguments)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.stdout

    return plan


def yaml_of(text):
    """Give the lines of the YAML, as they would be in the file."""
    lines = text.splitlines()
    start = lines.index("launch/llm_args.yaml") + 1
    inside = [line for line in lines[start:] if line.startswith(" " * 6)]
    end = next(i for i, line in enumerate(inside) if "trtllm-serve" in line)
    return "\n".join(line[6:] for line in inside[:end]) + "\n"


def test_yaml_and_command_are_those_that_build_writes(plan, tmp_path):
    recipe = write_project(tmp_path, "eagle3")
    text = plan(recipe)
    artifact = build_project(recipe, tmp_path / "e").artifact
    assert yaml_of(text) == (artifact.path / "launch" / "llm_args.yaml").read_text()
    assert "decoding_type: Eagle  " in text
    served = next(line for line in text.splitlines() if "trtllm-serve serve" in line)
    script = (artifact.path / "launch" / "serve.sh").read_text()
    written = shlex.split(script.partition("exec ")[2])
    shown = shlex.split(served)
    assert [*shown[:2], *shown[3:5]] == [*written[:2], *written[3:5]]
    assert "FINGERPRINT" not in served
    assert (artifact.path / shown[2]).resolve() == tmp_path / "model"


def test_links_are_shown_and_nothing_is_written(plan, tmp_path):
    lines = plan(write_project(tmp_path, "eagle3")).splitlines()
    assert f"link         target -> {tmp_path / 'model'}" in lines
    assert f"link         draft -> {tmp_path / 'eagle3'}" in lines
    assert not (tmp_path / "e").exists()


def test_after_a_build_the_plan_reuses(plan, tmp_path):
    recipe = write_project(tmp_path)
    build_project(recipe, tmp_path / "e")
    actions = [line.split()[1] for line in plan(recipe).splitlines()[1:4]]
    assert actions == ["run", "reuse", "reuse"]
    moved = (tmp_path / "model").rename(tmp_path / "moved")
    again = write_project(tmp_path / "x", target={"model": f"{moved}"})
    actions = [line.split()[1] for line in plan(again).splitlines()[1:4]]
    assert actions == ["run", "reuse", "run"]


@pytest.mark.parametrize("name", ["plan", "check"])
def test_neither_torch_nor_tensorrt_llm_is_imported(tmp_path, name):
    recipe = write_project(tmp_path, "eagle3")
    statement = (
        "import sys\nfrom trtspec.cli.main import cli\n"
        f"words = [{name!r}, {str(recipe)!r}, '--trtllm', '1.2.1']\n"
        "cli(words, standalone_mode=False)\n"
        "heavy = {'torch', 'transformers', 'tensorrt_llm', 'numpy', 'httpx'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", statement], capture_output=True, text=True, check=True
    )
    assert result.stderr.strip() == "[]"


def test_version_decides_the_spelling(plan, tmp_path):
    recipe = write_project(tmp_path, "eagle3")
    assert "decoding_type: Eagle3" in plan(recipe, version="1.4.0rc4")
    assert "speculative_model_dir: draft" in plan(recipe, version="1.0.0")


def test_json_carries_text_data_and_command(plan, tmp_path):
    document = json.loads(plan(write_project(tmp_path, "eagle3"), "--json"))
    launch = document["launch"]
    assert yaml.safe_load(launch["yaml"]) == launch["llm_args"]
    assert launch["command"][:3] == [
        *("trtllm-serve", "serve"),
        f"models/{document['artifact'].rpartition('/')[2]}",
    ]
    assert document["links"] == {
        "target": str(tmp_path / "model"),
        "draft": str(tmp_path / "eagle3"),
    }


def test_version_of_no_family_is_exit_4_with_the_ways_on(plan, tmp_path):
    with pytest.raises(BackendUnavailableError, match=r"1\.3\.0rc5 is of no") as caught:
        plan(write_project(tmp_path), version="1.3.0rc5")
    assert "1.4.0rc4" in str(caught.value)
    assert caught.value.exit_code == 4


def test_what_cannot_be_expressed_is_exit_3(plan, tmp_path):
    with pytest.raises(FindingsError, match="has no method suffix"):
        plan(write_project(tmp_path, "suffix"))


@pytest.mark.parametrize(
    ("launcher", "words"),
    [("mpirun", "exec mpirun"), ("slurm", "#SBATCH --nodes=2")],
)
def test_launcher_prints_a_script_that_bash_reads(plan, tmp_path, launcher, words):
    recipe = write_project(tmp_path, **NODES)
    script = plan(recipe, "--launcher", launcher)
    assert script.startswith("#!/usr/bin/env bash\n")
    assert words in script
    assert 'trtllm-llmapi-launch trtllm-serve serve "$model"' in script
    artifact = build_project(recipe, tmp_path / "e").artifact
    assert f"artifact={artifact.path}\n" in script
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_output_gets_the_script(plan, tmp_path):
    recipe = write_project(tmp_path, **NODES)
    script = plan(recipe, "--launcher", "slurm")
    file = tmp_path / "serve.sbatch"
    said = plan(recipe, "--launcher", "slurm", "--output", file)
    assert file.read_text() == script
    assert file.stat().st_mode & 0o111
    assert said.startswith(f"wrote {file}, which serves ")


def test_launcher_in_json(plan, tmp_path):
    recipe = write_project(tmp_path, **NODES)
    document = json.loads(plan(recipe, "--launcher", "mpirun", "--json"))
    assert document["launcher"] == "mpirun"
    assert document["script"] == plan(recipe, "--launcher", "mpirun")
    assert document["artifact"].startswith(str(tmp_path / "e" / "tiny-"))


def test_output_that_cannot_be_written_is_a_usage_error(plan, tmp_path):
    recipe = write_project(tmp_path)
    (tmp_path / "none").touch()
    file = tmp_path / "none" / "serve.sh"
    with pytest.raises(UsageError, match="cannot be written"):
        plan(recipe, "--launcher", "mpirun", "--output", file)


def test_output_without_a_launcher_is_a_usage_error(plan, tmp_path):
    with pytest.raises(UsageError, match="--output") as caught:
        plan(write_project(tmp_path), "--output", tmp_path / "x")
    assert "add --launcher" in str(caught.value)


def test_launcher_of_another_backend_is_a_usage_error(plan, tmp_path):
    with pytest.raises(UsageError, match="--launcher") as caught:
        plan(write_reference_project(tmp_path), "--launcher", "mpirun")
    assert "backend reference is not served through a launcher" in str(caught.value)


def test_launcher_takes_an_artifact_that_is_not_known_yet_from_a_variable(
    plan, tmp_path
):
    recipe = write_project(tmp_path, target={"model": "org/name"})
    for launcher in ("mpirun", "slurm"):
        assert 'artifact="${TRTSPEC_ARTIFACT:?' in plan(recipe, "--launcher", launcher)
    said = plan(recipe, "--launcher", "mpirun", "--output", tmp_path / "serve.sh")
    assert "which serves the artifact that TRTSPEC_ARTIFACT names" in said
