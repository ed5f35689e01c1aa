"""Installations with the backend pytorch, and a checkpoint for them."""

from __future__ import annotations

import functools
import importlib
import tempfile
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

from tests.standins import StandIn, install
from tests.standins.engines import toy

VERSIONS = ["1.0.0", "1.1.0", "1.2.1", "1.3.0rc22", "1.4.0rc4"]
MAIN = ["1.3.0rc22", "1.4.0rc4"]
PROMPTS = [[3, 9, 4], [7, 7, 7, 7], [11, 2, 30, 5, 11, 2]]
TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}"


@functools.cache
def scratch() -> Any:
    """A folder that lasts as long as the tests."""
    return tempfile.TemporaryDirectory()


@functools.cache
def checkpoint() -> Path:
    """A Llama with a tokenizer and a chat template."""
    folder = Path(scratch().name) / "hf"
    toy().save_pretrained(folder)
    words = WordLevel({f"t{number}": number for number in range(48)}, unk_token="t0")
    tokenizer = Tokenizer(words)
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    return folder


def standin(folder: Path, version: str, **options: Any) -> StandIn:
    return install(folder / "standin", version, pytorch=True, **options)


def activated(folder: Path, version: str, monkeypatch: Any) -> tuple[StandIn, Any]:
    """An installation that this process imports, and its module."""
    made = standin(folder, version)
    made.activate(monkeypatch)
    return made, importlib.import_module("tensorrt_llm")


def draft_model(version: str, length: int = 4, **options: Any) -> dict[str, Any]:
    """A configuration of a drafter that is a model, as a version spells it."""
    kind = "Eagle3" if version in MAIN else "Eagle"
    return {
        "decoding_type": kind,
        "max_draft_len": length,
        "speculative_model_dir": str(checkpoint()),
        **options,
    }
