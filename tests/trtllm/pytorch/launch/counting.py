"""A tiny model that counts: after t3 comes t4. Its text never looks broken."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.models.tiny import HIDDEN, ROWS, tensors, write_checkpoint

HEAD = "lm_head.weight"


def write_counting_model(directory: Path) -> Path:
    """Write a whole checkpoint whose greedy output goes through its vocabulary.

    Attention and MLP add nothing, so the head sees the token's own embedding, and the
    row of each token is the embedding of the one before it.
    """
    weights = tensors(**{HEAD: (ROWS, HIDDEN)})
    for name, tensor in weights.items():
        if name.endswith(("o_proj.weight", "down_proj.weight")):
            weights[name] = np.zeros_like(tensor)
        if name.endswith("norm.weight"):
            weights[name] = np.ones_like(tensor)
    embedding = weights["model.embed_tokens.weight"]
    embedding /= np.linalg.norm(embedding, axis=1, keepdims=True)
    weights[HEAD] = np.roll(embedding, 1, axis=0).copy()
    return write_checkpoint(directory, weights=weights, tie_word_embeddings=False)
