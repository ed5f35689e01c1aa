"""How many tokens a text has for the target, where its tokenizer is here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trtspec.advise.workload import Encode

_FILE = "tokenizer.json"


def encoder(directory: Path | None) -> Encode | None:
    """Give what encodes texts; None if there is no readable fast tokenizer.

    :param directory: of the checkpoint.
    """
    if directory is None or not (directory / _FILE).is_file():
        return None
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(directory / _FILE))
    except Exception:  # noqa: BLE001 - tokenizers raises that; check says what is wrong
        return None
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def encode(texts: Sequence[str]) -> list[list[int]]:
        return [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]

    return encode
