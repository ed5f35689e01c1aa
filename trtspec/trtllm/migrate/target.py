"""Which version a user means by ``--to`` and ``--from``."""

from __future__ import annotations

from packaging.version import Version

from trtspec.errors import UsageError
from trtspec.trtllm.facts.families import (
    FAMILIES,
    Family,
    family_of,
    family_ranges,
    newest_of,
    why_no_family,
)
from trtspec.trtllm.versions import parse


def version_meant(text: str, option: str) -> Version:
    """Read a version, or a family's name, which stands for its newest version.

    :param option: the flag that it came from, for messages.
    :raises UsageError: if it is neither.
    """
    family = next((name for name in FAMILIES if name == text), None)
    return newest_of(family) if family else parse(text, where=option)


def family_meant(version: Version, option: str) -> Family:
    """Give the family of a version.

    :raises UsageError: if it belongs to none, saying why.
    """
    if family := family_of(version):
        return family
    ranges = ", ".join(f"{name} ({held})" for name, held in family_ranges().items())
    raise UsageError(
        f"no configuration can be written for TensorRT-LLM {version}: "
        f"{why_no_family(version)}",
        where=option,
        allowed=ranges,
        action="take a release of one of these families",
    )
