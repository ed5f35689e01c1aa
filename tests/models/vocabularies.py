"""Tokenizer files and checkpoints whose rows and entries a test chooses."""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from tests.models.tiny import HIDDEN, shapes, write_config


def numbered(count, stem="t"):
    """Give so many tokens."""
    return [f"{stem}{index}" for index in range(count)]


def write_tokens(directory, tokens, added=(), *, special=True, **more) -> Path:
    """Write ``tokenizer.json`` in byte-level BPE's layout.

    ``added`` get the ids behind ``tokens``; a pair of token and id gives its own.
    """
    directory.mkdir(parents=True, exist_ok=True)
    placed = [
        entry if isinstance(entry, tuple) else (entry, len(tokens) + place)
        for place, entry in enumerate(added)
    ]
    content = {
        "version": "1.0",
        "added_tokens": [
            {"id": index, "content": token, "special": special}
            for token, index in placed
        ],
        **more,
        "model": {
            "type": "BPE",
            "vocab": {token: index for index, token in enumerate(tokens)},
            "merges": [["t", "0"]],
        },
    }
    (directory / "tokenizer.json").write_text(json.dumps(content))
    return directory


def write_model(directory, tokens, added=(), *, rows=None, layers=2, **config) -> Path:
    """Write a checkpoint with these tokens; ``rows`` are as many by default."""
    write_tokens(directory, tokens, added)
    rows = len(tokens) + len(added) if rows is None else rows
    write_config(directory, vocab_size=rows, num_hidden_layers=layers, **config)
    wanted = shapes(layers) | {"model.embed_tokens.weight": (rows, HIDDEN)}
    weights = {name: np.zeros(shape, np.float16) for name, shape in wanted.items()}
    save_file(weights, directory / "model.safetensors")
    return directory


def write_json(directory, name, **content):
    """Write another of a tokenizer's files."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_text(json.dumps(content))


def set_tables(directory, offsets=None, marked=None, dtype=np.int64, name="d2t"):
    """Put tables between draft and target vocabulary into a head's weights."""
    from safetensors.numpy import load_file

    path = directory / "model.safetensors"
    tensors = load_file(path)
    if offsets is not None:
        tensors.pop("d2t", None)
        tensors[name] = np.array(offsets, dtype)
    if marked is None:
        tensors.pop("t2d", None)
    else:
        tensors["t2d"] = np.array(marked, bool)
    save_file(tensors, path)
    return directory
