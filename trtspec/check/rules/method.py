"""Whether the method runs on the backend, and leaves the output alone there."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.methods import ReDrafter, lossy_reason


def runs_on_backend(subject: Subject) -> Iterator[Finding]:
    """Refuse methods that the backend does not have."""
    method, backend = subject.recipe.speculation, subject.recipe.backend
    if any(entry.covers(backend, None) for entry in method.exactness()):
        return
    homes = ", ".join(entry.backend for entry in method.exactness())
    yield Finding(
        "method",
        "blocking",
        subject.where("speculation", "method"),
        f"method {method.method} does not run on backend {backend} in this version of "
        "trtspec",
        f"it runs on: {homes}",
        f"set backend: {homes}, or choose another method",
    )


def keeps_the_output(subject: Subject) -> Iterator[Finding]:
    """Refuse what would change the output, unless the recipe says that it may."""
    recipe = subject.recipe
    method, sampled = recipe.speculation, recipe.sampling.temperature > 0
    if not any(entry.covers(recipe.backend, None) for entry in method.exactness()):
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
    return (
        f"{' and '.join(steps)}, or accept it with speculation.allow_lossy: true; "
        "every output then says so"
    )
