"""Which release an artifact was built for, and whether it means the same in another."""

from __future__ import annotations

import os

from packaging.version import InvalidVersion, Version

from trtspec.build.artifact import Artifact
from trtspec.errors import BackendUnavailableError, RunError
from trtspec.forced_acceptance import TENSORRT_LLM, refuse_forced_acceptance
from trtspec.trtllm.facts.families import family_of, why_no_family
from trtspec.trtllm.installation import Installation

_UNKNOWN = "unknown"


def built_for(artifact: Artifact) -> Version:
    """The release of TensorRT-LLM that an artifact was built for.

    :raises RunError: if it does not say.
    """
    said = artifact.manifest.versions.get("tensorrt_llm", _UNKNOWN)
    try:
        return Version(said)
    except InvalidVersion:
        raise RunError(
            f"the artifact was built for TensorRT-LLM {said}",
            where=str(artifact.path),
            action="build it again",
        ) from None


def require_family(
    found: Version, built: Version, said: str, *, where: str, action: str
) -> None:
    """Refuse a release to which an artifact's configuration means something else.

    :param found: the release that is to run the artifact.
    :param built: the release that it was built for.
    :param said: where ``found`` is, as the first half of a sentence.
    :param where: the artifact or the server, for the message.
    :raises BackendUnavailableError: if ``found`` is of no family.
    :raises RunError: if it is of another family.
    """
    family = family_of(found)
    if family is None:
        raise BackendUnavailableError(
            f"TensorRT-LLM {found} is of no family: {why_no_family(found)}", where=where
        )
    if family != family_of(built):
        raise RunError(
            f"{said}, and the artifact was built for {built}: the same configuration "
            "means different things to them",
            where=where,
            allowed=f"a release of family {family_of(built)}",
            action=action,
        )


def require_release(artifact: Artifact, installation: Installation) -> Version:
    """Give the installed version, if the artifact's configuration means the same there.

    :raises BackendUnavailableError: if there is none, or it is of no family.
    :raises RunError: if the artifact was built for another family.
    :raises UsageError: if the environment makes the text meaningless.
    """
    version = installation.version
    if version is None:
        why = installation.why_absent("version") or installation.why_absent("package")
        raise BackendUnavailableError(
            f"TensorRT-LLM is not here: {why}",
            action="run in NVIDIA's image, or give trtspec run --url of a server that "
            "trtspec serve started there",
        )
    require_family(
        version,
        built_for(artifact),
        f"TensorRT-LLM {version} is installed",
        where=str(artifact.path),
        action="build the recipe again with the installed release",
    )
    refuse_forced_acceptance(
        os.environ, (TENSORRT_LLM,), "the text would be meaningless"
    )
    return version
