"""Checkpoints and engines for the stand-ins' own tests, and a way to make them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from tests.models.tiny import write_checkpoint
from tests.standins import StandIn, install

VERSIONS = ["0.17.0", "0.18.2", "0.19.0", "0.20.0", "1.0.0", "1.1.0", "1.2.1"]
TREE = [[0], [0, 0], [1], [0, 1], [0, 0, 0], [0, 0, 0, 0]]


@dataclass(frozen=True)
class Bench:
    """One installation with the folders of a test."""

    folder: Path
    standin: StandIn

    def call(self, *argv: str | Path, **environment: str) -> Any:
        """Run a command; what it printed and how it ended."""
        return subprocess.run(
            [str(word) for word in argv],
            env={**self.standin.environment(), **environment},
            cwd=self.folder,
            check=False,
            capture_output=True,
            text=True,
        )

    def script(self, program: str, *flags: str | Path, **environment: str) -> Any:
        """Run an example script, found by the folder that it lies in."""
        name = "quantization" if program == "quantize" else program
        path = next(self.standin.examples.rglob(f"{name}/*.py"))
        return self.call(sys.executable, path, *flags, **environment)

    def build(self, checkpoint: str, *flags: str, **environment: str) -> Any:
        """Build ``engine`` from a checkpoint folder."""
        given = ("--checkpoint_dir", checkpoint, "--output_dir", "engine")
        return self.build_raw(*given, *flags, **environment)

    def build_raw(self, *flags: str, **environment: str) -> Any:
        """Call trtllm-build with exactly these flags."""
        return self.call("trtllm-build", *flags, **environment)

    def config(self, folder: str) -> dict[str, Any]:
        """The config.json of a folder."""
        return json.loads((self.folder / folder / "config.json").read_text())

    def convert_plain(self, hf: Path, output: str = "plain", *flags: str) -> None:
        """Convert a Llama as it is."""
        given = ("--model_dir", hf, "--dtype", "float32", "--output_dir", output)
        succeeded(self.script("llama", *given, *flags))


def succeeded(done: Any) -> Any:
    assert done.returncode == 0, done.stderr
    return done


def make_bench(folder: Path, version: str = "1.2.1", **options: Any) -> Bench:
    folder.mkdir(parents=True, exist_ok=True)
    return Bench(folder, install(folder / "standin", version, **options))


def write_medusa(folder: Path, heads: int = 4, prefix: str = "") -> Path:
    """Medusa heads for the tiny checkpoint."""
    folder.mkdir(parents=True, exist_ok=True)
    described = {"medusa_num_heads": heads, "medusa_num_layers": 1}
    (folder / "config.json").write_text(json.dumps(described))
    tensors = {}
    for head in range(heads):
        tensors[f"{prefix}{head}.0.linear.weight"] = np.zeros((8, 8), np.float32)
        tensors[f"{prefix}{head}.0.linear.bias"] = np.zeros(8, np.float32)
        tensors[f"{prefix}{head}.1.weight"] = np.zeros((16, 8), np.float32)
    save_file(tensors, folder / "medusa_lm_head.safetensors")
    return folder


def write_eagle(folder: Path, bias: bool = True) -> Path:
    """An EAGLE head for the tiny checkpoint."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"num_hidden_layers": 1}))
    tensors = {"fc.weight": np.zeros((8, 16), np.float32)}
    if bias:
        tensors["fc.bias"] = np.zeros(8, np.float32)
    save_file(tensors, folder / "model.safetensors")
    return folder


def write_redrafter(folder: Path) -> Path:
    """A recurrent drafter."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"hidden_size": 8, "rnn": True}))
    save_file({"w": np.zeros((8, 8), np.float32)}, folder / "model.safetensors")
    return folder


def write_qwen(folder: Path) -> Path:
    """A checkpoint that says it is a Qwen2."""
    family = {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"]}
    return write_checkpoint(folder, **family)
