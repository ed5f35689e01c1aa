"""Heads, chunks and completions to be written."""

from __future__ import annotations

from tests.reference.engines import word_tokenizer
from trtspec.run import Chunk, Completion, TokenLogprob
from trtspec.run.pieces import TokenPieces
from trtspec.serve.writing.base import Choice, Head

PIECES = TokenPieces(word_tokenizer())


def head(**fields) -> Head:
    values = {
        "id": "cmpl-1",
        "created": 5,
        "model": "toy",
        "method": "ngram",
        "enabled": True,
        "pieces": PIECES,
        "token_ids": False,
        "prompts": [(3, 4), (5,)],
    }
    return Head(**{**values, **fields})


def logprob(token: int, value: float = -0.5, *top) -> TokenLogprob:
    return TokenLogprob(token, value, tuple(top))


def done(tokens=(7, 8), finish="stop", **fields) -> Completion:
    values = {"steps": 2, "drafted": 4, "accepted": 1, **fields}
    return Completion("r", 2, list(tokens), "", finish, **values)


def chunk(tokens=(7,), text=" w7", completion=None, logprobs=()) -> Chunk:
    return Chunk("r", tuple(tokens), text, 0.0, completion, tuple(logprobs))


def taken(*chunks: Chunk, index: int = 0, prompt: int = 0) -> Choice:
    choice = Choice(index, prompt)
    for one in chunks:
        choice.take(one)
    return choice
