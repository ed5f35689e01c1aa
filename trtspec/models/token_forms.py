"""Which text a token stands for: tokenizers spell the same token in different ways.

Byte-level BPE writes every byte as a printable character, a space as Ġ
(``bytes_to_unicode`` in https://github.com/openai/gpt-2/blob/master/src/encoder.py);
SentencePiece writes a space as ▁ and a single byte as <0x0A>; others write the text
itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Literal

Form = Literal["bytes", "pieces", "plain"]
"""Byte-level BPE, SentencePiece, or the text itself."""

_LOOKED_AT = 5000
"""Tokens by which a vocabulary is told: the space comes early in all of them."""

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
_OTHERS = [byte for byte in range(256) if byte not in frozenset(_PRINTABLE)]
BYTE_OF = {
    **{byte: byte for byte in _PRINTABLE},
    **{256 + place: byte for place, byte in enumerate(_OTHERS)},
}
"""Code point of a byte-level token's character → the byte that it stands for."""

CHARACTER_OF = {byte: chr(point) for point, byte in BYTE_OF.items()}
"""Byte → the character that byte-level BPE writes for it."""


def form_of(tokens: Iterable[str]) -> Form:
    """Tell how a vocabulary spells its tokens, by how it writes a space."""
    for token in islice(tokens, _LOOKED_AT):
        if token.startswith("Ġ"):
            return "bytes"
        if token.startswith("▁"):
            return "pieces"
    return "plain"


def text_of(token: str, form: Form) -> bytes:
    """Give the bytes that a token stands for, in UTF-8; maybe part of a character."""
    if form == "bytes":
        try:
            return token.translate(BYTE_OF).encode("latin-1")
        except UnicodeEncodeError:  # an added token, which is written as it is
            return _encoded(token)
    if form == "pieces":
        if byte := _BYTE.fullmatch(token):
            return bytes([int(byte[1], 16)])
        return _encoded(token.replace("▁", " "))
    return _encoded(token)


def spelled(text: str, form: Form) -> str:
    """Write text in the way that a vocabulary of this form spells its tokens."""
    if form == "bytes":
        return "".join(map(CHARACTER_OF.__getitem__, _encoded(text)))
    return text.replace(" ", "▁") if form == "pieces" else text


def _encoded(text: str) -> bytes:
    """A token may be half of a character that JSON writes in two halves."""
    return text.encode("utf-8", "surrogatepass")
