"""How text becomes token ids, and which ids end the output."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from transformers import AutoTokenizer

from trtspec.errors import RunError, UsageError
from trtspec.reference.text import TextStream
from trtspec.run import Message


class TextCodec:
    """The target model's tokenizer and chat template, read from an artifact."""

    def __init__(self, directory: Path) -> None:
        """Load the tokenizer.

        :raises RunError: if the directory holds no fast tokenizer.
        """
        self._directory = directory
        path = directory / "tokenizer.json"
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises bare Exception
            raise RunError(
                f"cannot be read as a tokenizer: {error}",
                where=str(path),
                action="build the artifact again",
            ) from error
        self._full: Any = None
        self.end_tokens = _end_tokens(directory)

    def encode(self, text: str) -> tuple[int, ...]:
        """Tokenize raw text, with the special tokens the tokenizer adds."""
        return tuple(self._tokenizer.encode(text).ids)

    def encode_chat(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Tokenize a conversation, up to where the assistant answers.

        :raises UsageError: if the model has no chat template.
        """
        if self._full is None:
            self._full = AutoTokenizer.from_pretrained(
                self._directory, local_files_only=True
            )
        if not self._full.chat_template:
            raise UsageError(
                "the model has no chat template",
                where=str(self._directory),
                action="use --raw to send the prompt as it is",
            )
        text = self._full.apply_chat_template(
            [dict(m) for m in messages], tokenize=False, add_generation_prompt=True
        )
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def stream(self, stop: tuple[str, ...]) -> TextStream:
        """Begin decoding one output."""
        return TextStream(self._tokenizer, stop)


def _end_tokens(directory: Path) -> frozenset[int]:
    """``eos_token_id`` of the generation config, else of the model config."""
    for name in ("generation_config.json", "config.json"):
        path = directory / name
        ids = json.loads(path.read_text())["eos_token_id"] if _has_eos(path) else None
        if ids is not None:
            return frozenset(ids if isinstance(ids, list) else [ids])
    return frozenset()


def _has_eos(path: Path) -> bool:
    return path.is_file() and "eos_token_id" in json.loads(path.read_text())
