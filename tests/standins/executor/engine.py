"""How is an engine folder opened, and what of it can be refused?"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.standins import weights
from tests.standins.executor.values import AssertionFailedError, require
from tests.standins.llm.llama import Llama, is_plain_llama
from tests.standins.machine import Machine
from trtspec.trtllm import facts

Json = dict[str, Any]
SLOTS = 8
"""Most requests that the stand-in runs at once, whatever the engine was built for."""


@dataclass(frozen=True)
class Engine:
    """A compiled engine."""

    folder: Path
    pretrained: Json
    build: Json

    @property
    def mode(self) -> int:
        return int(self.build["speculative_decoding_mode"])

    @property
    def mode_name(self) -> str:
        return next(name for name, bit in facts.modes().items() if bit == self.mode)

    @property
    def max_draft_len(self) -> int:
        if self.mode_name == "explicit_draft_tokens":
            return self.number("redrafter_num_beams") * self.number(
                "redrafter_draft_len_per_beam"
            )
        return int(self.build["max_draft_len"])

    @property
    def world_size(self) -> int:
        return int(self.pretrained["mapping"]["world_size"])

    @property
    def vocabulary(self) -> int:
        return int(self.pretrained["vocab_size"])

    @property
    def paged_context_fmha(self) -> bool:
        return bool(self.build["plugin_config"]["use_paged_context_fmha"])

    def number(self, key: str) -> int:
        return int(self.pretrained.get(key, 0))

    def logits(self, text: Sequence[int]) -> Any:
        """Logits [vocabulary] behind a text, computed in float32.

        The weights were rounded to the engine's type; computing in it too would only
        make the result depend on how many tokens are verified at once.
        """
        import torch

        return torch.from_numpy(self._model.logits(text))

    @cached_property
    def _model(self) -> Any:
        tensors, metadata = weights.read(self.folder / "rank0.engine")
        config = json.loads(metadata["hf_config"])
        if is_plain_llama(config):
            return Llama(config, tensors)
        return OtherFamily(config, tensors)


class OtherFamily:
    """A model that transformers computes; nothing is kept from one text to the next."""

    def __init__(self, config: Json, tensors: dict[str, weights.Tensor]) -> None:
        from trtspec.reference.hf import load_causal_lm

        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            (folder / "config.json").write_text(json.dumps(config))
            wide = {name: tensor.cast("float32") for name, tensor in tensors.items()}
            weights.write(folder / "model.safetensors", wide, {"format": "pt"})
            self._model = load_causal_lm(folder, "float32", "cpu")

    def logits(self, text: Sequence[int]) -> Any:
        import torch

        with torch.inference_mode():
            return self._model(torch.tensor([list(text)])).logits[0, -1].numpy()


def open_engine(folder: Path, version: str, machine: Machine) -> Engine:
    """Read an engine's configuration and check that it can be deserialised.

    :raises RuntimeError: it was made by another version or for another GPU, or a
        part is missing.
    """
    path = folder / "config.json"
    require(path.is_file(), f"Error opening json file: {path}")
    document = json.loads(path.read_text())
    engine = Engine(folder, document["pretrained_config"], document["build_config"])
    for rank in range(engine.world_size):
        file = folder / f"rank{rank}.engine"
        require(file.is_file(), f"Error opening engine file: {file}")
    _, made = weights.read(folder / "rank0.engine")
    if made["version"] != version or int(made["gpu"]) != machine.capability:
        raise AssertionFailedError(
            "Failed to deserialize cuda engine. The engine plan file is not compatible "
            f"with this version of TensorRT: built with {made['version']} for SM "
            f"{made['gpu']}, running {version} on SM {machine.capability}; please "
            "rebuild."
        )
    _require_readable(engine)
    return engine


def _require_readable(engine: Engine) -> None:
    """What the parser of config.json demands of each mode."""
    require(engine.mode in facts.modes().values(), f"mode {engine.mode} is no engine's")
    name = engine.mode_name
    if name != "none":
        require(engine.max_draft_len > 0, f"{name} needs max_draft_len > 0")
    needed = {
        "medusa": ("num_medusa_heads",),
        "eagle": ("num_eagle_layers", "max_non_leaves_per_layer"),
        "explicit_draft_tokens": ("redrafter_num_beams",),
    }
    for key in needed.get(name, ()):
        require(engine.number(key) > 0, f"{name} needs {key} > 0")
