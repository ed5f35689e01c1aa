"""Whether driver, CUDA, TensorRT and TensorRT-LLM fit one another on this machine."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import InvalidVersion, Version

from trtspec.check.finding import Finding, Severity
from trtspec.check.subject import Subject
from trtspec.trtllm import facts
from trtspec.trtllm.facts.drivers import (
    built_with,
    driver_source,
    least_driver,
    newest_for,
    own_driver,
)
from trtspec.trtllm.gpu_signs import gpu_is_hidden
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.surroundings import Surroundings, look_around

_WHERE = "installation"


def software_fits(installation: Installation, _: Subject) -> Iterator[Finding]:
    """Look at driver, CUDA and TensorRT, where TensorRT-LLM is installed at all.

    A rule of both backends.
    """
    if installation.package is not None:
        yield from environment_findings(installation, look_around())


def environment_findings(
    installation: Installation, around: Surroundings
) -> Iterator[Finding]:
    """Say all that does not fit, in one pass.

    Of an installation that is assumed for a plan there is nothing to say.
    """
    if installation.assumed:
        return
    yield from _driver(installation, around)
    yield from gpu_is_hidden(installation, around)
    yield from _cuda(installation)
    yield from _tensorrt(installation)


def _driver(installation: Installation, around: Surroundings) -> Iterator[Finding]:
    driver, cuda = _number(installation.driver), _wanted_cuda(installation)
    if driver is None or cuda is None:
        return
    least, own = least_driver(cuda), own_driver(cuda)
    if least is not None and driver < Version(least):
        yield _too_old(installation, around, driver, cuda, least)
    elif own is not None and driver < Version(own):
        yield Finding(
            "driver",
            "note",
            _WHERE,
            f"driver {installation.driver}, and CUDA {_short(cuda)} came with {own}",
            "programs start by minor version compatibility, with a limited feature "
            "set: code that is compiled at run time may be refused",
            f"install driver {own} or later if something fails to load",
            source=driver_source("own"),
            values={
                "driver": installation.driver,
                "cuda": str(cuda),
                "own_driver": own,
            },
        )


def _too_old(
    installation: Installation,
    around: Surroundings,
    driver: Version,
    cuda: Version,
    least: str,
) -> Finding:
    """Name driver and CUDA together: to change one of them only may bring nothing."""
    version = installation.version
    release = f" of TensorRT-LLM {version}" if version else ""
    why = f"CUDA {cuda.major} starts on driver {least} or later only"
    severity: Severity = "blocking"
    if around.compatibility:
        severity = "warning"
        why += (
            f"; the forward compatibility package in {around.compatibility} makes up "
            "for that on data center GPUs, on no other"
        )
    older = newest_for(driver)
    other = f", or take TensorRT-LLM {older[0]}, with CUDA {older[1]}" if older else ""
    return Finding(
        "driver",
        severity,
        _WHERE,
        f"driver {installation.driver} is too old for CUDA {_short(cuda)}{release}",
        why,
        f"install driver {least} or later on the host; a container takes the host's, "
        f"and a newer CUDA inside changes nothing{other}",
        source=driver_source("minimum"),
        values={
            "driver": installation.driver,
            "cuda": str(cuda),
            "least_driver": least,
        },
    )


def _wanted_cuda(installation: Installation) -> Version | None:
    """The CUDA that is here, else the oldest that the release was built with."""
    if installation.cuda:
        return _number(installation.cuda)
    known = built_with(installation.version) if installation.version else None
    return Version(known.cuda[0]) if known else None


def _cuda(installation: Installation) -> Iterator[Finding]:
    here = _number(installation.cuda)
    known = built_with(installation.version) if installation.version else None
    if here is None or known is None:
        return
    if here.major not in {Version(cuda).major for cuda in known.cuda}:
        version, wanted = installation.version, " or ".join(known.cuda)
        yield Finding(
            "cuda-version",
            "warning",
            _WHERE,
            f"the CUDA runtime here is {installation.cuda}, and TensorRT-LLM {version} "
            f"was built with {wanted}",
            "its libraries are looked for by major version, and are not found",
            "install torch and the CUDA packages for that version, or run in NVIDIA's "
            f"image nvcr.io/nvidia/tensorrt-llm/release:{version}",
            source=known.source,
            values={"cuda": installation.cuda, "built_with": list(known.cuda)},
        )


def _tensorrt(installation: Installation) -> Iterator[Finding]:
    version, here = installation.version, installation.tensorrt
    wanted = facts.tensorrt_version(version) if version else None
    found = _number(here)
    if wanted is None or found is None:
        return
    release = Version(wanted).release
    if found.release[: len(release)] != release:
        yield Finding(
            "tensorrt-version",
            "warning",
            _WHERE,
            f"TensorRT {here} is here, and TensorRT-LLM {version} was built on "
            f"{wanted}",
            "the package may not import, and engines do not carry over from one "
            "TensorRT to another",
            f"pip install 'tensorrt=={wanted}.*', or run in NVIDIA's image "
            f"nvcr.io/nvidia/tensorrt-llm/release:{version}",
            source="trtspec/trtllm/facts/versions.json",
            values={"tensorrt": here, "built_on": wanted},
        )


def _number(text: str | None) -> Version | None:
    try:
        return Version(text) if text else None
    except InvalidVersion:
        return None


def _short(cuda: Version) -> str:
    return f"{cuda.major}.{cuda.minor}"
