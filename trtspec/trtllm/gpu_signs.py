"""Why no GPU is seen here, where something gives a sign of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trtspec.check.finding import Finding
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.surroundings import CAPABILITIES, VISIBLE, Surroundings

_NO_LIBRARY = ("library not found", "not found")
_NO_DRIVER = ("driver not loaded",)
_MISMATCH = ("version mismatch",)
_NO_RIGHT = ("insufficient permissions",)
_RUN = "docker run --gpus all"


class Sign(NamedTuple):
    """What was seen, and what to do."""

    what: str
    action: str


def gpu_is_hidden(
    installation: Installation, around: Surroundings
) -> Iterator[Finding]:
    """Say why no GPU is seen, if that is known; a note where none may be wanted."""
    if installation.gpus:
        return
    reason = installation.why_absent("gpus")
    sign = sign_of(reason, around)
    if sign is not None:
        wanted = installation.package or around.nvidia_smi or around.visible
        yield Finding(
            "driver-library",
            "warning" if wanted else "note",
            "installation",
            f"no GPU is seen: {sign.what}",
            reason,
            sign.action,
            values={"reason": reason},
        )


def sign_of(reason: str, around: Surroundings) -> Sign | None:
    """Give what explains it; None if nothing does: there may just be no GPU.

    :param reason: why the driver's library gave no GPU.
    """
    said = reason.lower()
    if _has(said, _MISMATCH):
        return Sign(
            "the driver's kernel module and its library are of different versions",
            "restart the machine, or reload the kernel module nvidia; in a container, "
            "remove the driver's libraries from the image: the host's are used",
        )
    if _has(said, _NO_RIGHT):
        return Sign(
            "this user may not open the driver's device files",
            "run as a user who may, or give the user access to them",
        )
    if around.stub and not around.device:
        return Sign(
            f"LD_LIBRARY_PATH begins with {around.stub}, whose libcuda is a stub "
            "for linking",
            f"take {around.stub} out of LD_LIBRARY_PATH, and see that the driver is "
            "there",
        )
    if _has(said, _NO_LIBRARY + _NO_DRIVER):
        return _without_library(around)
    return None


def _without_library(around: Surroundings) -> Sign | None:
    """Explain that the driver's library, or the driver, is not there."""
    if around.container and around.visible in ("", "void", "none"):
        what = f"{VISIBLE}={around.visible!r} gives this container no GPU"
        return Sign(what, f"start it with GPUs: {_RUN}, with {VISIBLE}=all")
    kinds = (around.capabilities or "all").split(",")
    if around.device and not {"all", "utility"} & set(kinds):
        what = f"{CAPABILITIES}={around.capabilities} leaves out the driver's libraries"
        return Sign(what, f"start the container with {CAPABILITIES}=compute,utility")
    if around.container and not around.device:
        what = "this container was started without GPUs"
        return Sign(
            what,
            f"start it with GPUs: {_RUN}; the host needs its driver and the NVIDIA "
            "Container Toolkit",
        )
    if around.nvidia_smi or around.device:
        what = "nvidia-smi is here, but the driver's library is not"
        if around.device and not around.nvidia_smi:
            what = "the driver's device files are here, but its library is not"
        return Sign(what, "install the driver's libraries again, of one version")
    return None


def _has(said: str, words: tuple[str, ...]) -> bool:
    return any(word in said for word in words)
