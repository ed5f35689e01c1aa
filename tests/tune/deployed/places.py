"""A recipe of another backend, its stand-ins, and ``trtspec tune`` on both."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.reference.artifacts import TEMPLATE
from tests.standins import StandIn, install
from tests.trtllm.pytorch.run.artifacts import checkpoint
from trtspec.cli.main import _run

PROMPTS = ("w5 w6 w7 w8 w5 w6 w7 w8", "w9 w4 w9 w4", "w3 w9 w4 w3 w9")
LIMITS = {"max_batch_size": 2, "max_input_tokens": 30, "max_total_tokens": 60}
ASK = ("--output-tokens", "10", "--concurrency", "1,2", "--longest", "3")
FEW = (*ASK, "--repeats", "3", "--threads", "1")


@dataclass
class Place:
    """One folder with everything."""

    folder: Path
    standin: StandIn

    def write(self, name="toy", *, backend="pytorch", sampling=None, **speculation):
        """Write a recipe; gives its path."""
        recipe = {
            "schema": "trtspec/v1",
            "name": name,
            "backend": backend,
            "target": {
                "model": "./target",
                # engines that are given drafts do not read float32
                "dtype": "float16" if backend == "tensorrt" else "float32",
                "chat_template": "template.jinja",
            },
            "speculation": speculation,
            "limits": LIMITS,
            "sampling": sampling or {"temperature": 0.0},
            "workload": {"prompts": "prompts.jsonl", "output_tokens": 10},
        }
        path = self.folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(recipe, sort_keys=False))
        return path

    def tune(self, recipe, output, *arguments) -> int:
        """Run the command in this process; gives its exit code."""
        engines = ("--engines", self.folder / "engines")
        words = ("tune", recipe, *engines, *FEW, "--output", self.folder / output)
        return _run([str(word) for word in (*words, *arguments)])

    def document(self, output):
        """Read a tuning back."""
        return json.loads((self.folder / output / "result.json").read_text())


def make_place(folder: Path, version="1.2.1", **options) -> Place:
    """Install the stand-ins of a version and write what recipes need."""
    folder.mkdir(parents=True, exist_ok=True)
    place = Place(folder, install(folder / "standin", version, **options))
    for seed, name in ((0, "target"), (1, "draft")):
        shutil.copytree(checkpoint(seed), folder / name)
    (folder / "template.jinja").write_text(TEMPLATE)
    lines = [json.dumps({"id": f"p{i}", "prompt": p}) for i, p in enumerate(PROMPTS)]
    (folder / "prompts.jsonl").write_text("\n".join(lines) + "\n")
    return place
