"""Artifacts of backend pytorch for tests: of toy models, with the YAML of a version."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path

from packaging.version import Version

from tests.standins.engines import toy
from tests.trtllm.engine.run.artifacts import write_tokenizer
from tests.trtllm.pytorch.run.fakes import END, recipe
from trtspec.build.alias import alias_links
from trtspec.build.artifact import MANIFEST, RECIPE, Artifact
from trtspec.build.fingerprint import artifact_name
from trtspec.build.links import place_links
from trtspec.build.manifest import Manifest
from trtspec.recipe.dump import dump_recipe
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.pytorch.compile import compile_args
from trtspec.trtllm.pytorch.compile.document import render

FINGERPRINT = "ab" * 32
SERVED = artifact_name("toy", FINGERPRINT)
"""What a server of the usual artifact calls its model."""
REPEATING = (5, 6, 7, 8, 5, 6, 7, 8, 5, 6)


@functools.cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


@functools.cache
def checkpoint(seed: int) -> Path:
    """A Llama of 48 words; seed 0 is the target, see ``tests.standins.engines``."""
    folder = Path(_scratch().name) / f"hf{seed}"
    toy(seed).save_pretrained(folder)
    return write_tokenizer(folder, (END,))


def write_artifact(
    folder: Path,
    version: str,
    method: str = "none",
    *,
    fingerprint: str = FINGERPRINT,
    **options,
) -> Artifact:
    """An artifact as the build lays it out; ``options`` are those of ``recipe``."""
    of = recipe(method, **options)
    (folder / "launch").mkdir(parents=True)
    (folder / "target").symlink_to(checkpoint(0))
    if of.speculation.draft_model:
        (folder / "draft").symlink_to(checkpoint(1))
    compiled = compile_args(of, Version(version))
    assert not compiled.blocked, compiled.remarks
    (folder / "launch" / "llm_args.yaml").write_text(render(compiled.args))
    place_links(folder, alias_links("pytorch", artifact_name("toy", fingerprint)))
    said = manifest(version, fingerprint=fingerprint)
    (folder / MANIFEST).write_text(said.to_json())
    (folder / RECIPE).write_text(dump_recipe(of))
    return Artifact(folder, said, of)


def manifest(version: str, *, fingerprint: str = FINGERPRINT) -> Manifest:
    """What an artifact says of itself."""
    source = {"model": "org/Toy", "kind": "hub", "revision": None, "files": {}}
    document = {
        "schema": "trtspec/artifact/v1",
        "name": "toy",
        "fingerprint": fingerprint,
        "recipe": {},
        "source": {"target": source},
        "versions": {"tensorrt_llm": version},
        "stages": [],
        "created": "2026-11-29T00:00:00+00:00",
    }
    return Manifest.model_validate_json(json.dumps(document))


def installed(version: str, **parts) -> Installation:
    """An installation of a version."""
    return Installation(version=Version(version), **parts)
