"""An artifact means the same only in releases of the family it was built for."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.trtllm.pytorch.run.artifacts import installed, manifest
from tests.trtllm.pytorch.run.fakes import recipe
from trtspec.build.artifact import Artifact
from trtspec.errors import BackendUnavailableError, RunError, UsageError
from trtspec.trtllm.installation import Absence, Installation
from trtspec.trtllm.pytorch.release import (
    built_for,
    require_family,
    require_release,
)

VARIABLE = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"


def built(tmp_path, version="1.2.1"):
    return Artifact(tmp_path, manifest(version), recipe())


def test_an_artifact_knows_its_release(tmp_path):
    assert built_for(built(tmp_path)) == Version("1.2.1")
    with pytest.raises(RunError, match="built for TensorRT-LLM unknown"):
        built_for(built(tmp_path, "unknown"))


@pytest.mark.parametrize("version", ["1.2.0", "1.2.1"])
def test_a_release_of_the_family_will_do(tmp_path, version):
    assert require_release(built(tmp_path), installed(version)) == Version(version)


@pytest.mark.parametrize(
    ("version", "error", "words"),
    [
        ("1.1.0", RunError, "1.1.0 is installed, and the artifact was built for 1.2.1"),
        ("1.4.0rc4", RunError, "allowed: a release of family 1.2"),
        ("1.3.0rc5", BackendUnavailableError, "1.3.0rc5 is of no family"),
    ],
)
def test_any_other_is_refused(tmp_path, version, error, words):
    with pytest.raises(error, match=words.replace(".", r"\.")):
        require_release(built(tmp_path), installed(version))


def test_no_release_is_told_with_its_reason(tmp_path):
    nothing = Installation(absences=(Absence("version", "not installed"),))
    with pytest.raises(BackendUnavailableError, match=r"(?s)not installed.*--url"):
        require_release(built(tmp_path), nothing)


def test_forced_acceptance_makes_the_text_meaningless(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "2")
    with pytest.raises(UsageError, match=rf"\${VARIABLE}: '2' forces"):
        require_release(built(tmp_path), installed("1.2.1"))


def test_a_servers_release_is_told_as_the_servers():
    with pytest.raises(RunError, match=r"there: the server is TensorRT-LLM 1\.1, and "):
        require_family(
            Version("1.1"),
            Version("1.2.1"),
            "the server is TensorRT-LLM 1.1",
            where="there",
            action="start another",
        )
