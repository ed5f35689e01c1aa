"""Which TensorRT-LLM version is meant, and whether it lies in a range of versions.

Ranges are PEP 440 specifiers. A pre-release counts as a version of its own: ``>=1.0``
does not hold 1.0.0rc3, ``>=1.0.0rc0`` does, and ``<1.2`` holds no release candidate of
1.2.
"""

from __future__ import annotations

import re
from functools import cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from trtspec.errors import UsageError

_NUMBER = re.compile(r"\d+(?:\.\d+)+(?:rc\d+)?(?:\.post\d+)?")


def parse(text: str, *, where: str = "") -> Version:
    """Read a version number such as ``0.20.0`` or ``v1.3.0rc20``.

    :param text: the number, with or without a leading v or a local part.
    :param where: flag or file that it came from, for the message.
    :raises UsageError: it is no version number.
    """
    try:
        return Version(text)
    except InvalidVersion:
        raise UsageError(
            f"{text!r} is not a version number",
            where=where,
            allowed="a TensorRT-LLM release such as 0.20.0, 1.2.1 or 1.3.0rc20",
            action=f"write {where} {meant}".replace("  ", " ")
            if (meant := _meant(text))
            else "",
        ) from None


def _meant(text: str) -> str:
    """Give the version number that a text has in it, with commas for points too."""
    pointed = re.sub(r"(?<=\d)\s*[,;:_]\s*(?=\d)", ".", text)
    found = _NUMBER.search(pointed)
    return found[0] if found else ""


@cache
def _specifiers(text: str) -> SpecifierSet:
    return SpecifierSet(text)


def is_specifier(text: str) -> bool:
    """Whether ``text`` is a range of versions that names at least one bound."""
    try:
        return bool(text.strip()) and bool(_specifiers(text))
    except InvalidSpecifier:
        return False


def contains(specifier: str, version: Version) -> bool:
    """Whether a version lies in a range; release candidates are not left out.

    :param specifier: PEP 440 specifiers, such as ``>=0.19,<1.2.0rc0``.
    :param version: the version asked about; its local part plays no role.
    :raises InvalidSpecifier: the range does not follow PEP 440.
    """
    public = Version(version.public)
    return _specifiers(specifier).contains(public, prereleases=True)
