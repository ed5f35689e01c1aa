"""Recipes with tiny checkpoints beside them, and stages that cost nothing."""

import json
from pathlib import Path

from tests.models.tiny import TOKENS, tensors, write_checkpoint
from trtspec.build.progress import Progress
from trtspec.build.stage import Stage
from trtspec.recipe import load_recipe

PASSING = {"duration_s", "created", "reused"}
"""What a manifest says of when and how fast, not of what."""


def write_project(
    folder: Path,
    *,
    name="tiny",
    dtype="float32",
    draft=False,
    draft_tokens=TOKENS,
    prompts=("hello",),
    method=None,
    limits=None,
    target="./target-model",
) -> Path:
    """Write a recipe with its checkpoints and prompts; gives the recipe's path."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "target-model").exists():
        write_checkpoint(folder / "target-model")
    speculation = method or {"method": "ngram", "draft_length": 2}
    if draft:
        write_draft(folder / "draft-model", draft_tokens)
        speculation = {
            "method": "draft_target",
            "model": "./draft-model",
            "draft_length": 2,
        }
    recipe = {
        "schema": "trtspec/v1",
        "name": name,
        "target": {"model": target, "dtype": dtype},
        "speculation": speculation,
        "limits": {
            "max_batch_size": 2,
            "max_input_tokens": 16,
            "max_total_tokens": 48,
            **(limits or {}),
        },
    }
    if prompts is not None:
        recipe["workload"] = {"prompts": "prompts.jsonl", "output_tokens": 8}
        lines = [json.dumps({"prompt": text}) for text in prompts]
        (folder / "prompts.jsonl").write_text("\n".join(lines) + "\n")
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(recipe))  # JSON is YAML
    return path


def write_draft(directory: Path, tokens=TOKENS) -> Path:
    """Write a checkpoint that is smaller than the target."""
    weights = {name: t for name, t in tensors().items() if ".1." not in name}
    return write_checkpoint(
        directory, weights=weights, tokens=tokens, num_hidden_layers=1
    )


def load(path: Path):
    """Load a recipe that ``write_project`` wrote."""
    return load_recipe(path)


def change_weights(checkpoint: Path) -> None:
    """Make another model of the same shape."""
    from safetensors.numpy import save_file

    weights = {name: tensor + 1 for name, tensor in tensors().items()}
    save_file(weights, checkpoint / "model.safetensors")


def snapshot(folder: Path) -> dict[str, bytes | str]:
    """Content of every file but logs; a manifest without what passes."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not name.startswith("logs/"):
            found[name] = path.read_bytes()
    if "manifest.json" in found:
        found["manifest.json"] = json.dumps(
            _lasting(json.loads(found["manifest.json"]))
        )
    return found


def _lasting(value):
    if isinstance(value, dict):
        return {k: _lasting(v) for k, v in value.items() if k not in PASSING}
    if isinstance(value, list):
        return [_lasting(item) for item in value]
    return value


class Lines(list):
    """Keeps the lines that an operation tells."""

    @property
    def progress(self) -> Progress:
        return Progress(self.append)


def toy_stage(name="toy", text="content", action=None, **fields) -> Stage:
    """Give a stage that writes one file."""

    def write(context):
        context.log(f"writing {text}")
        (context.output / "file.txt").write_text(text)

    inputs = {"text": text}
    return Stage(
        name, 1, inputs, action or write, folder=fields.pop("folder", name), **fields
    )
