"""Does a method leave the target's output distribution alone, and on which version."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.version import Version

    from trtspec.methods.base import Method


@dataclass(frozen=True, slots=True)
class Exactness:
    """What one backend, in a range of its versions, does to the output.

    Exact is meant up to near ties, which low precision can turn in any batched
    verification.

    :param backend: the backend's name; ``*`` is any.
    :param versions: PEP 440 specifier of the versions; empty is any.
    :param greedy: why greedy output is not the target's own; empty if it is.
    :param sampled: why sampled output does not follow the target's distribution;
        empty if it does.
    :param source: where that is known from.
    """

    backend: str
    versions: str = ""
    greedy: str = ""
    sampled: str = ""
    source: str = ""

    def covers(self, backend: str, version: Version | None) -> bool:
        """Whether this is about the backend in this version; None is any version."""
        if self.backend not in ("*", backend):
            return False
        if not self.versions or version is None:
            return True
        from packaging.specifiers import SpecifierSet

        return SpecifierSet(self.versions, prereleases=True).contains(version)


EXACT_EVERYWHERE = (Exactness("*", source="nothing is proposed"),)

NOT_ESTABLISHED = "whether it keeps the target's distribution is not established"


def lossy_reason(
    method: Method, backend: str, version: Version | None, *, sampled: bool
) -> str:
    """Say why the output would not be the target's own; empty if it would be.

    :param version: of TensorRT-LLM; None where there is none, or any: then it is the
        target's own only if that holds for all of them.
    :param sampled: for temperature above 0, else for greedy decoding.
    """
    entries: Iterable[Exactness] = method.exactness()
    reasons = [
        entry.sampled if sampled else entry.greedy
        for entry in entries
        if entry.covers(backend, version)
    ]
    if not reasons:
        return f"with {method.method} on backend {backend} {NOT_ESTABLISHED}"
    return next(filter(None, reasons), "") if version is None else reasons[0]
