"""An artifact is judged by its recipe, its configuration and its versions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.verify.gate.asking import SAMPLED, of, recipe
from trtspec.build.artifact import WORKLOAD, Artifact
from trtspec.build.manifest import Manifest, StageRecord
from trtspec.recipe import Recipe
from trtspec.verify.gate import gate_artifact

YAML = """speculative_config:
  decoding_type: Eagle
  max_draft_len: 4
  speculative_model: draft
"""


def artifact(path: Path, made: Recipe, versions: dict[str, str]) -> Artifact:
    """Give one as if it had been opened; its files are those in the folder."""
    files = {str(f.relative_to(path)): "0" for f in path.rglob("*") if f.is_file()}
    stage = StageRecord(
        name="all",
        key="k",
        inputs={},
        outputs=files,
        folder=".",
        duration_s=0.0,
        reused=False,
    )
    manifest = Manifest(
        schema="trtspec/artifact/v1",
        name=made.name,
        fingerprint="f" * 64,
        recipe={},
        source={},
        versions=versions,
        stages=(stage,),
        created="2026-01-01T00:00:00Z",
    )
    return Artifact(path, manifest, made)


def pytorch_artifact(path: Path, yaml: str, version: str, **given) -> Artifact:
    (path / "launch").mkdir()
    (path / "launch" / "llm_args.yaml").write_text(yaml)
    return artifact(
        path, recipe("pytorch", "eagle3", **given), {"tensorrt_llm": version}
    )


def test_the_version_it_was_built_for_decides(tmp_path):
    told = {"tensorrt_llm": "1.1.0"}
    made = artifact(tmp_path, recipe("pytorch", "eagle3", sampling=SAMPLED), told)

    result = gate_artifact(made, environment={})
    assert (result.verdict, result.version) == ("fail", "1.1.0")


def test_what_the_server_starts_with_decides_not_what_would_be_compiled(tmp_path):
    yaml = YAML + "  allow_advanced_sampling: true\n"
    lacking = pytorch_artifact(tmp_path, YAML, "1.2.1", sampling=SAMPLED)

    result = gate_artifact(lacking, environment={})
    assert result.verdict == "fail"
    assert "launch" in of(result, "speculative_config.decoding_type").where
    (tmp_path / "launch" / "llm_args.yaml").write_text(yaml)
    assert gate_artifact(lacking, environment={}).verdict == "pass"


def test_its_workload_says_what_requests_ask_for(tmp_path):
    (tmp_path / WORKLOAD).write_text(json.dumps({"prompt": "a", "min_p": 0.1}) + "\n")
    made = pytorch_artifact(tmp_path, YAML, "1.2.1")

    result = gate_artifact(made, environment={})
    assert result.verdict == "fail"
    assert of(result, "min_p").effect == "lossy"


@pytest.mark.parametrize("version", ["unknown", "not a version"])
def test_a_version_that_is_none_is_not_known(tmp_path, version):
    made = pytorch_artifact(tmp_path, YAML, version, sampling=SAMPLED)

    result = gate_artifact(made, environment={})
    assert (result.verdict, result.version) == ("cannot tell", None)


def test_the_reference_engine_has_no_version_of_tensorrt_llm(tmp_path):
    made = artifact(tmp_path, recipe("reference", "ngram"), {"torch": "2.9"})

    result = gate_artifact(made, environment=None)
    assert (result.verdict, result.engine) == ("pass", "reference")
