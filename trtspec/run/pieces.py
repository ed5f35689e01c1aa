"""How single tokens read: as text, and as the bytes that they stand for."""

from __future__ import annotations

import re

from tokenizers import Tokenizer

_INCOMPLETE = "\ufffd"
_BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")
_PRINTABLE = (
    *range(ord("!"), ord("~") + 1),
    *range(ord("\u00a1"), ord("\u00ac") + 1),
    *range(ord("\u00ae"), ord("\u00ff") + 1),
)
"""Bytes that byte-level BPE writes as the character of that number; the others follow
each other from 256 on (``bytes_to_unicode`` of GPT-2's encoder)."""


class TokenPieces:
    """The texts and bytes of a tokenizer's tokens.

    A token may hold a part of a character only; its text then has U+FFFD in it, and
    its bytes say what it is.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._byte_level = _is_byte_level(tokenizer)
        self._bytes = _byte_of_character()

    def text(self, token: int) -> str:
        """How a token reads behind another; special tokens as they are written.

        Not by itself: the beginning of a text loses its space in many tokenizers.
        """
        once, twice = self._decode([token]), self._decode([token, token])
        return twice.removeprefix(once) if twice.startswith(once) else once

    def bytes(self, token: int) -> bytes | None:
        """The bytes of a token; None where the tokenizer does not tell them."""
        name = self._tokenizer.id_to_token(token)
        if name is None:
            return None
        if found := _BYTE_TOKEN.fullmatch(name):
            return bytes([int(found[1], 16)])
        text = self.text(token)
        if _INCOMPLETE not in text:
            return text.encode()
        if self._byte_level and all(c in self._bytes for c in name):
            return bytes(self._bytes[c] for c in name)
        return None

    def _decode(self, tokens: list[int]) -> str:
        text: str = self._tokenizer.decode(tokens, skip_special_tokens=False)
        return text


def _is_byte_level(tokenizer: Tokenizer) -> bool:
    """Whether its tokens are written in byte-level BPE's alphabet."""
    return "ByteLevel" in repr(tokenizer.decoder)


def _byte_of_character() -> dict[str, int]:
    """Invert byte-level BPE's table of characters."""
    others = [byte for byte in range(256) if byte not in _PRINTABLE]
    table = {chr(byte): byte for byte in _PRINTABLE}
    return table | {chr(256 + place): byte for place, byte in enumerate(others)}
