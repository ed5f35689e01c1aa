"""How each token of a vocabulary reads, as servers tell tokens by their text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tokenizers import Tokenizer

from trtspec.verify.oracle.symbols import Symbols, symbols_by_text

_ANCHOR = "a"


def symbols_in(directory: Path, vocabulary: int, ends: Iterable[int]) -> Symbols:
    """Tell tokens apart by text, with the tokenizer of a checkpoint.

    :param directory: with ``tokenizer.json``.
    :param vocabulary: rows of logits; ids behind the tokenizer's have no text.
    """
    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    alone = [_read(tokenizer, [token]) for token in range(vocabulary)]
    # decoders may drop the space before the first word, so each is read behind another
    anchor = tokenizer.encode(_ANCHOR, add_special_tokens=False).ids[-1:]
    before = len(_read(tokenizer, anchor))
    behind = [
        _read(tokenizer, [*anchor, token])[before:] for token in range(vocabulary)
    ]
    return symbols_by_text(behind, frozenset(ends), alone)


def _read(tokenizer: Tokenizer, tokens: list[int]) -> str:
    text: str = tokenizer.decode(tokens, skip_special_tokens=False)
    return text
