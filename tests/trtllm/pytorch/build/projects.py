"""Recipes for backend pytorch with tiny checkpoints beside them."""

from __future__ import annotations

from pathlib import Path

import yaml
from packaging.version import Version

from tests.build.projects import write_draft
from tests.methods.samples import SMALLEST
from tests.models.drafters import mtp_shapes, write_dflash, write_eagle3
from tests.models.tiny import tensors, write_checkpoint
from trtspec.build.build import Built, build
from trtspec.build.progress import SILENT, Progress
from trtspec.recipe import load_recipe
from trtspec.trtllm.installation import Installation, assumed_for
from trtspec.trtllm.pytorch.build.backend import PyTorchBackend


def write_shallow_dflash(folder: Path) -> Path:
    """Write a DFlash drafter of a target with two layers."""
    layers = {"mask_token_id": 15, "target_layer_ids": [0, 1, 2]}
    return write_dflash(folder, dflash_config=layers)


LIMITS = {"max_batch_size": 2, "max_input_tokens": 16, "max_total_tokens": 40}
FIELDS = {
    "ngram": {"draft_length": 3},
    "draft_target": {"draft_length": 3},
    "eagle3": {"draft_length": 3},
    "pard": {"draft_length": 3},
    "dflash": {"draft_length": 3},
    "suffix": {"draft_length": 3},
    "mtp": {"draft_length": 1},
    "user": {"draft_length": 3},
}
DRAFTERS = {
    "draft_target": write_draft,
    "pard": write_draft,
    "eagle3": write_eagle3,
    "dflash": write_shallow_dflash,
}
MAIN = "1.4.0rc4"


def write_project(
    folder: Path,
    method="none",
    *,
    name="tiny",
    target=None,
    limits=None,
    pytorch=None,
    workload=False,
    sampling=None,
    config=None,
    **fields,
) -> Path:
    """Write a recipe with its checkpoints; gives the recipe's path.

    :param config: changes of the target's config.json.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "model").exists():
        changes = config or {}
        heads = mtp_shapes("deepseek", changes.get("num_nextn_predict_layers", 0))
        weights = tensors(**heads) if heads else None
        write_checkpoint(folder / "model", weights=weights, **changes)
    if method in DRAFTERS and not (folder / method).exists():
        DRAFTERS[method](folder / method)
    drafter = {"model": f"./{method}"} if method in DRAFTERS else {}
    recipe = {
        "schema": "trtspec/v1",
        "name": name,
        "backend": "pytorch",
        "target": {"model": "./model", "dtype": "float16", **(target or {})},
        "speculation": SMALLEST[method] | FIELDS.get(method, {}) | drafter | fields,
        "limits": LIMITS | (limits or {}),
        "sampling": sampling or {},
    }
    if pytorch is not None:
        recipe["pytorch"] = pytorch
    if workload:
        (folder / "prompts.jsonl").write_text('{"prompt": "t3"}\n')
        recipe["workload"] = {"prompts": "prompts.jsonl", "output_tokens": 8}
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(recipe, sort_keys=False))
    return path


def installed(version="1.2.1", **parts) -> Installation:
    """Give an installation of which only the version is there."""
    return Installation(
        version=Version(version), package=Path("nowhere/tensorrt_llm"), **parts
    )


def backend_of(version="1.2.1") -> PyTorchBackend:
    """Give the backend of a version that is not looked at."""
    return PyTorchBackend(assumed_for(version))


def build_project(
    recipe: Path, engines: Path, version="1.2.1", progress: Progress = SILENT
) -> Built:
    """Build a recipe for a version that is not looked at."""
    return build(load_recipe(recipe), backend_of(version), engines, progress)
