"""Which places, and which releases of TensorRT-LLM, ``trtspec inspect`` speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from packaging.version import Version

    from trtspec.methods.catalogue import Place
    from trtspec.models.inspection import Inspection
    from trtspec.models.inspection_services import EngineFamilies


class Scope(NamedTuple):
    """What is asked for.

    :param version: of TensorRT-LLM; None for any.
    :param families: that backend tensorrt takes, in this release or in any.
    :param target: that is to be drafted for; None if that is not asked.
    """

    places: Sequence[Place]
    version: Version | None
    families: EngineFamilies
    target: Inspection | None


def scope_for(trtllm: str | None, target: Inspection | None) -> Scope:
    """Read ``--trtllm``, and look up what that release takes.

    :raises UsageError: if it is no version that is known.
    """
    version = None
    if trtllm is not None:
        from trtspec.trtllm.installation import assumed_for

        version = assumed_for(trtllm).version
    return Scope(_places(version), version, _families(version), target)


def _places(version: Version | None) -> Sequence[Place]:
    """Give the places to look at: all, or those that a release has."""
    from trtspec.methods.catalogue import PLACES

    if version is None:
        return PLACES
    from trtspec.trtllm import facts
    from trtspec.trtllm.facts.families import family_of

    return tuple(
        place
        for place in PLACES
        if place.backend == "reference"
        or (place.backend == "tensorrt" and facts.has_backend(version))
        or (place.family != "" and place.family == family_of(version))
    )


def _families(version: Version | None) -> EngineFamilies:
    """Give what the check rule ``family`` goes by: of a release, or of any of them."""
    from packaging.version import Version

    from trtspec.trtllm import facts

    versions = [Version(release.version) for release in facts.releases()]
    if version is not None:
        versions = [version] if facts.has_backend(version) else []
    if not versions:
        return {}
    return {
        method: frozenset[str]().union(*(facts.targets(method, v) for v in versions))
        for method in facts.architectures()
    }
