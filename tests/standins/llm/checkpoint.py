"""How is a Hugging Face checkpoint opened, and what does it say of itself?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.standins.llm.llama import Llama

MOST_SLOTS = 64
"""Most requests at once, whatever ``max_batch_size`` says."""


@dataclass
class Checkpoint:
    """A model folder; its weights are read when the first request comes.

    :ivar longest: most tokens of a sequence.
    """

    folder: Path
    slots: int
    longest: int

    @cached_property
    def config(self) -> dict[str, Any]:
        path = self.folder / "config.json"
        if not path.is_file():
            raise FileNotFoundError(f"{self.folder} has no config.json")
        return json.loads(path.read_text())

    @property
    def vocabulary(self) -> int:
        return int(self.config["vocab_size"])

    def end_tokens(self) -> frozenset[int]:
        """The ``eos_token_id`` of generation_config.json, else of config.json."""
        path = self.folder / "generation_config.json"
        found = json.loads(path.read_text()) if path.is_file() else self.config
        end = found.get("eos_token_id", self.config.get("eos_token_id"))
        return frozenset(end if isinstance(end, list) else [] if end is None else [end])

    @cached_property
    def tokenizer(self) -> Any:
        """The fast tokenizer; None if there is none."""
        path = self.folder / "tokenizer.json"
        if not path.is_file():
            return None
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(path))

    @cached_property
    def model(self) -> Llama:
        return Llama.open(self.folder)


def open_checkpoint(folder: Path, args: Any) -> Checkpoint:
    """Open a folder as the arguments ask.

    :raises FileNotFoundError: it is not one.
    """
    slots = min(args.max_batch_size or 2048, MOST_SLOTS)
    opened = Checkpoint(folder, slots, 0)
    trained = int(opened.config.get("max_position_embeddings", 2048))
    opened.longest = min(args.max_seq_len or trained, 2048)
    return opened
