"""Recipes for engines with tiny checkpoints beside them, built with stand-ins."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.build.projects import Lines, write_draft
from tests.methods.samples import SMALLEST
from tests.models.drafters import write_eagle, write_medusa, write_redrafter
from tests.models.tiny import write_checkpoint
from tests.standins import StandIn, install
from trtspec.build.build import Built, build
from trtspec.gpus import VISIBLE
from trtspec.recipe import load_recipe
from trtspec.trtllm.engine.backend import TensorRTBackend
from trtspec.trtllm.probe import probe

TREE = [[0], [1], [0, 0]]
METHODS = {
    "none": {},
    "ngram": {"draft_length": 3},
    "draft_target": {"draft_length": 3},
    "medusa": {"tree": TREE, "num_heads": 2, "max_draft_tokens": 5},
    "eagle": {"tree": TREE, "num_layers": 2, "max_draft_tokens": 5},
    "redrafter": {"num_beams": 2, "draft_length_per_beam": 3},
    "lookahead": {"window_size": 2, "ngram_size": 2, "verification_set_size": 2},
}
"""Each method with drafts that are small enough for a context of 64 tokens."""
ROPE_THETA = 500000.0
"""Not the default of any script."""
LIMITS = {"max_batch_size": 2, "max_input_tokens": 16, "max_total_tokens": 40}
ARCHITECTURES = {
    "llama": "LlamaForCausalLM",
    "mistral": "MistralForCausalLM",
    "mixtral": "MixtralForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
}
DRAFTERS = {
    "draft_target": write_draft,
    "medusa": write_medusa,
    "eagle": write_eagle,
    "redrafter": write_redrafter,
}


def write_project(
    folder: Path,
    method="none",
    *,
    family="llama",
    target=None,
    limits=None,
    engine=None,
    sampling=None,
    name="tiny",
    **fields,
) -> Path:
    """Write a recipe with its checkpoints; gives the recipe's path."""
    model = folder / family
    if not model.exists():
        names = {"model_type": family, "architectures": [ARCHITECTURES[family]]}
        write_checkpoint(model, rope_theta=ROPE_THETA, **names)
    if method in DRAFTERS and not (folder / method).exists():
        DRAFTERS[method](folder / method)
    drafter = {"model": f"./{method}"} if method in DRAFTERS else {}
    recipe = {
        "schema": "trtspec/v1",
        "name": name,
        "backend": "tensorrt",
        "target": {"model": f"./{family}", "dtype": "float16", **(target or {})},
        "speculation": SMALLEST[method] | METHODS[method] | drafter | fields,
        "limits": LIMITS | (limits or {}),
        "sampling": sampling or {},
    }
    if engine is not None:
        recipe["engine"] = engine
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(recipe))  # JSON is YAML
    return path


@dataclass
class Workshop:
    """A stand-in's installation, and a folder for projects and engines.

    :ivar told: lines that the builds have told.
    :ivar states: what they said meanwhile.
    """

    folder: Path
    standin: StandIn
    told: Lines = field(default_factory=Lines)

    @property
    def engines(self) -> Path:
        return self.folder / "engines"

    def write(self, method="none", **keys) -> Path:
        """Write a recipe."""
        return write_project(self.folder, method, **keys)

    @contextmanager
    def open(self) -> Iterator[TensorRTBackend]:
        """Give the backend that is found while the stand-ins are on the path."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TRTSPEC_CACHE", str(self.folder / "cache"))
            patch.delenv(VISIBLE, raising=False)
            self.standin.activate(patch)
            yield TensorRTBackend(probe())

    def build(self, recipe: Path) -> Built:
        """Build a recipe with what is found here."""
        with self.open() as backend:
            return build(
                load_recipe(recipe), backend, self.engines, self.told.progress
            )  # fmt: skip


def make_workshop(folder: Path, version="1.2.1", **keys) -> Workshop:
    """Install the stand-ins of a version."""
    folder.mkdir(parents=True, exist_ok=True)
    return Workshop(folder, install(folder / "standin", version, **keys))


def actions(built: Built) -> dict[str, str]:
    """Say of each stage whether it was run or reused."""
    return {s.name: "reused" if s.reused else "run" for s in built.stages}
