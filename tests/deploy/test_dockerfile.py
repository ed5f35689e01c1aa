"""The Dockerfile: linted, and what docs/deploy.md says of it is so."""

import fnmatch
import json
import re
import subprocess

import pytest

from tests.deploy.shipped import ROOT, stages, tool

FINAL = ("gpu", "gpu-nodes", "cpu")
BASE = {"gpu": "gpu-base", "gpu-nodes": "gpu-base"}


@pytest.fixture(scope="module")
def found():
    return stages()


def inherited(found, stage):
    """Give a stage's instructions behind those of the stage it is made from."""
    return [*found.get(BASE.get(stage, ""), ()), *found[stage]]


def last(found, stage, instruction):
    return [v for i, v in inherited(found, stage) if i == instruction][-1]


def test_hadolint_and_the_shellcheck_in_it_find_nothing():
    done = subprocess.run(
        [
            tool("hadolint"),
            "--no-color",
            "--failure-threshold",
            "style",
            ROOT / "Dockerfile",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout + done.stderr, done.returncode) == ("", 0)


def test_hadolint_would_find_something(tmp_path):
    (tmp_path / "Dockerfile").write_text("FROM debian\nRUN cd /tmp && sudo ls $x\n")
    done = subprocess.run(
        [tool("hadolint"), tmp_path / "Dockerfile"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "DL3004" in done.stdout  # sudo
    assert "SC2086" in done.stdout  # shellcheck's: an unquoted variable


def test_the_default_target_is_the_gpu_image(found):
    assert list(found)[-1] == "gpu"


def test_the_base_image_is_a_build_argument(found):
    arguments = dict(v.partition("=")[::2] for i, v in found[""] if i == "ARG")
    assert arguments["TRTLLM_VERSION"] == "1.2.1"
    assert (
        arguments["TRTLLM_IMAGE"]
        == "nvcr.io/nvidia/tensorrt-llm/release:${TRTLLM_VERSION}"
    )
    assert found["gpu-base"][0] == ("FROM", "${TRTLLM_IMAGE} AS gpu-base")
    assert "torch" not in str(found["gpu-base"])  # NVIDIA's stays as it is


@pytest.mark.parametrize("stage", FINAL)
def test_an_image_runs_as_a_user_that_kubernetes_can_tell_from_root(found, stage):
    assert last(found, stage, "USER") == "10001:10001"


@pytest.mark.parametrize("stage", FINAL)
def test_the_process_gets_signals_and_orphans_are_reaped(found, stage):
    words = json.loads(last(found, stage, "ENTRYPOINT"))  # exec form: no shell between
    assert words == ["tini", "--", "/opt/trtspec/entrypoint.sh"]
    assert "-g" not in words  # serve ends its servers itself, in order
    runs = " ".join(v for i, v in inherited(found, stage) if i == "RUN")
    assert re.search(r"install [^&]*\btini\b", runs)


@pytest.mark.parametrize("stage", FINAL)
def test_volumes_and_caches_belong_to_the_user(found, stage):
    volumes = json.loads(last(found, stage, "VOLUME"))
    assert volumes == ["/trtspec/models", "/trtspec/engines", "/trtspec/cache"]
    made = " ".join(v for i, v in inherited(found, stage) if i == "RUN")
    owned = re.search(r"install -d -o 10001 -g 10001 ([^&]+)", made)[1].split()
    assert set(volumes) <= set(owned)
    environment = " ".join(v for i, v in inherited(found, stage) if i == "ENV")
    for name in ("HOME", "HF_HOME", "TRTSPEC_CACHE"):
        value = re.search(rf"\b{name}=(\S+)", environment)[1]
        assert any(value.startswith(volume) for volume in volumes), name
    # commands write to engines/ below where they are: into the volume
    assert last(found, stage, "WORKDIR") == "/trtspec"


@pytest.mark.parametrize("stage", FINAL)
def test_health_is_asked_through_the_script(found, stage):
    value = last(found, stage, "HEALTHCHECK")
    options = dict(re.findall(r"--([a-z-]+)=(\S+)", value))
    assert json.loads(value[value.index("CMD") + 3 :]) == [
        "python3",
        "/opt/trtspec/healthcheck.py",
    ]
    # what every builder knows: --start-interval ends a build with buildah 1.28
    assert set(options) == {"interval", "timeout", "start-period", "retries"}
    assert options["timeout"] == "5s"  # more than the script's own
    assert options["start-period"] == "1h"  # that of --start-timeout


@pytest.mark.parametrize("stage", ["gpu-base", "cpu"])
def test_labels_are_those_of_oci(found, stage):
    value = next(v for i, v in found[stage] if i == "LABEL")
    names = re.findall(r"(\S+?)=", re.sub(r'"[^"]*"', '""', value))
    assert {
        f"org.opencontainers.image.{n}"
        for n in ("title", "description", "version", "revision", "licenses")
    } <= set(names)


def test_nothing_is_installed_into_nvidias_environment_without_constraints(found):
    for instruction, value in inherited(found, "gpu-nodes"):
        for command in (
            re.findall(r"pip3? install[^&;]*", value) if instruction == "RUN" else ()
        ):
            assert "--constraint /opt/trtspec/image-packages.txt" in command


def test_what_is_copied_exists_and_reaches_the_builder(found):
    lines = [
        line
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line and line[0] != "#"
    ]
    assert lines[0] == "*"  # nothing, but for what follows
    let_in = [line[1:] for line in lines if line.startswith("!")]
    sources = [
        word
        for steps in found.values()
        for instruction, value in steps
        if instruction == "COPY" and "--from=" not in value
        for word in [w for w in value.split() if not w.startswith("--")][:-1]
    ]
    assert len(sources) > 8
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(
            source == name or source.startswith(f"{name}/") for name in let_in
        ), source
    for name in let_in:  # and nothing else
        assert any(s == name or s.startswith(f"{name}/") for s in sources), name


def test_the_wheel_has_what_a_build_of_it_needs(found):
    copied = " ".join(v for i, v in found["wheel"] if i == "COPY").split()
    text = (ROOT / "pyproject.toml").read_text()
    assert {"pyproject.toml", "README.md", "LICENSE", "trtspec"} <= set(copied)
    assert 'readme = "README.md"' in text


def test_scripts_of_the_image_can_be_run():
    for script in (
        "deploy/image/entrypoint.sh",
        "deploy/kubernetes/several-nodes/node.sh",
    ):
        assert (ROOT / script).stat().st_mode & 0o111, script
        assert (ROOT / script).read_text().startswith("#!/bin/bash\n")


def test_shell_scripts_pass_shellcheck():
    scripts = list((ROOT / "deploy").rglob("*.sh"))
    assert len(scripts) == 2
    done = subprocess.run(
        [tool("shellcheck"), *scripts], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("", 0)


def test_dockerignore_keeps_secrets_and_artifacts_out():
    lines = (ROOT / ".dockerignore").read_text().split()
    for path in (".git", "engines", "tests", ".env"):
        assert not any(
            fnmatch.fnmatch(path, line[1:]) for line in lines if line[0] == "!"
        ), path
