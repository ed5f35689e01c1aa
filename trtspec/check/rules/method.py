"""Whether the method runs on the backend, and leaves the output alone there."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.methods import ReDrafter, lossy_reason
from trtspec.methods.catalogue import METHODS, settings
from trtspec.methods.pytorch_rules import ANY, exact

METHOD = "method"
"""Name of the rule; a backend's own rule of this name says the same of its versions."""


def runs_on_backend(subject: Subject) -> Iterator[Finding]:
    """Refuse methods that the backend does not have, in any version or in this one."""
    method, backend = subject.recipe.speculation, subject.recipe.backend
    where = subject.where("speculation", "method")
    if not _covered(subject, None):
        homes = list(dict.fromkeys(entry.backend for entry in method.exactness()))
        others = _that_run(backend, subject.version)
        yield Finding(
            METHOD,
            "blocking",
            where,
            f"method {method.named} does not run on backend {backend}",
            f"it runs on: {_listed(homes, 'and')}",
            f"set {_listed([f'backend: {home}' for home in homes], 'or')}, or choose "
            f"another method; {backend} has {', '.join(others)}",
            snippet=f"backend: {homes[0]}",
            values={"method": method.method, "runs_on": homes, "methods_here": others},
        )
    elif not _is_established(subject) and _is_of_a_family(subject):
        ranges = (e.versions for e in method.exactness() if e.backend == backend)
        yield Finding(
            METHOD,
            "blocking",
            where,
            f"method {method.named} is not established for TensorRT-LLM "
            f"{subject.version}",
            f"on backend {backend} it is for {' or '.join(ranges)}",
            "choose another method, or another version of TensorRT-LLM",
        )


def _listed(words: list[str], last: str) -> str:
    *first, final = words
    return f"{', '.join(first)} {last} {final}" if first else final


def _that_run(backend: str, version: Version | None) -> list[str]:
    """Name the methods that draft something on a backend, as they are by default."""
    return [
        name
        for name in METHODS
        if name != "none" and settings(name)[0].method.covered(backend, version)
    ]


def _covered(subject: Subject, version: Version | None) -> bool:
    """Whether anything is known of the method on the backend in a version, or any."""
    return subject.recipe.speculation.covered(subject.recipe.backend, version)


def _is_established(subject: Subject) -> bool:
    """Whether this version is known to have the method; true if no version is given.

    Only of backend pytorch do the entries name each release that has a method.
    """
    if subject.recipe.backend != "pytorch":
        return True
    return _covered(subject, subject.version)


def _is_of_a_family(subject: Subject) -> bool:
    """Whether some method is established there; the backend's rules refuse the rest."""
    return any(exact(family).covers("pytorch", subject.version) for family in ANY)


def keeps_the_output(subject: Subject) -> Iterator[Finding]:
    """Refuse what would change the output, unless the recipe says that it may."""
    recipe = subject.recipe
    method, sampled = recipe.speculation, recipe.sampling.temperature > 0
    if not _covered(subject, None) or not _is_established(subject):
        return
    reason = lossy_reason(method, recipe.backend, subject.version, sampled=sampled)
    if not reason:
        return
    how = f"temperature {recipe.sampling.temperature:g}" if sampled else "greedy"
    allowed = method.lossy_allowed
    yield Finding(
        "lossless",
        "warning" if allowed else "blocking",
        subject.where("speculation", "method"),
        f"lossy: {method.method} on backend {recipe.backend}, {how}",
        reason,
        "" if allowed else _way_on(subject, sampled=sampled),
    )


def _way_on(subject: Subject, *, sampled: bool) -> str:
    """Say what keeps the output: greedy decoding, unless that is lossy itself."""
    recipe, method = subject.recipe, subject.recipe.speculation
    steps = []
    if lossy_reason(method, recipe.backend, subject.version, sampled=False):
        is_beam = isinstance(method, ReDrafter)
        steps.append(
            "set speculation.greedy_search: true"
            if is_beam
            else "choose another method"
        )
    if sampled and steps != ["choose another method"]:
        steps.append("set sampling.temperature to 0")
    steps = [" and ".join(steps)]
    if exact := _exact_releases(subject, sampled=sampled):
        steps.append(f"take TensorRT-LLM {exact}, where it is exact")
    return (
        f"{', '.join(steps)}, or accept it with speculation.allow_lossy: true; "
        "every output then says so"
    )


def _exact_releases(subject: Subject, *, sampled: bool) -> str:
    """Give the other versions of TensorRT-LLM that keep the output, as specifiers."""
    method, backend = subject.recipe.speculation, subject.recipe.backend
    found = [
        entry.versions
        for entry in method.exactness()
        if entry.versions
        and entry.covers(backend, None)
        and not (entry.sampled if sampled else entry.greedy)
    ]
    return " or ".join(found)
