"""Whether the requests of a workload get what they ask for, as far as any backend."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.asked_requests import (
    asked_for,
    asked_values,
    asked_where,
    workload_controls,
)
from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.methods import lossy_reason
from trtspec.recipe.asked_controls import AskedControl
from trtspec.recipe.request_names import CONTROLS, SENT_BY_TRTSPEC, misspelt

_SAMPLING = ("temperature", "top_p", "top_k")
_LARGEST = 1e9
_LENGTHS = ("max_tokens", "max_completion_tokens", "max_new_tokens")


def request_controls(subject: Subject) -> Iterator[Finding]:
    """Say of each request field of the workload that it is not what will happen.

    What becomes of a field on backend pytorch depends on the release: those rules come
    with the backend.
    """
    asked = workload_controls(subject)
    yield from _misspelt(subject, asked)
    yield from _other_sampling(subject, asked)
    yield from _too_long(subject, asked)
    if subject.recipe.backend != "pytorch":
        yield from _not_had(subject, asked)


def _misspelt(subject: Subject, asked: dict[str, AskedControl]) -> Iterator[Finding]:
    for one in asked.values():
        if meant := misspelt(one.name):
            yield Finding(
                "request-field",
                "warning",
                asked_where(subject, one),
                f"{asked_for(one)} is close to {meant}, and no field of a request",
                "a server refuses it, and nothing here reads it",
                f"write {meant}, or leave it if it is a remark",
                values=asked_values(one) | {"meant": meant},
            )


def _other_sampling(
    subject: Subject, asked: dict[str, AskedControl]
) -> Iterator[Finding]:
    """Warn of requests that sample in another way than what is measured."""
    recipe = subject.recipe
    ours = recipe.sampling.model_dump()
    numbers = {name: _numbers(asked.get(name)) for name in _SAMPLING}
    firsts = {
        name: next(v for v in values if v != ours[name])
        for name, values in numbers.items()
        if any(v != ours[name] for v in values)
    }
    if not firsts:
        return
    other = [asked[name] for name in firsts]
    sampled = any(numbers["temperature"])
    greedy = not recipe.sampling.temperature and other[0].name == "temperature"
    lossy = ""
    if greedy and sampled:
        lossy = lossy_reason(
            recipe.speculation, recipe.backend, subject.version, sampled=True
        )
    yield Finding(
        "request-sampling",
        "warning",
        asked_where(subject, other[0]),
        "; ".join(map(asked_for, other))
        + "; the recipe's sampling has "
        + ", ".join(f"{name} {ours[name]:g}" for name in firsts),
        "run and bench send the recipe's sampling, and acceptance depends on it"
        + (f"; sampled output would be lossy besides: {lossy}" if lossy else ""),
        "measure with what most requests have",
        snippet="sampling: {"
        + ", ".join(f"{name}: {value}" for name, value in firsts.items())
        + "}",
        values={"requests": firsts, "recipe": {name: ours[name] for name in firsts}},
    )


def _numbers(asked: AskedControl | None) -> list[float]:
    """The values that are finite numbers; others are no sampling at all."""
    values = asked.values if asked else []
    return [
        value
        for value in values
        if isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) <= _LARGEST
    ]


def _too_long(subject: Subject, asked: dict[str, AskedControl]) -> Iterator[Finding]:
    most = subject.recipe.limits.max_total_tokens
    for one in (asked[name] for name in _LENGTHS if name in asked):
        longest = max((v for v in one.values if isinstance(v, int)), default=0)
        if longest >= most:
            yield Finding(
                "request-length",
                "warning",
                asked_where(subject, one),
                f"{asked_for(one)}, and prompt and output have {most} tokens together",
                "such a request is refused, or cut",
                "raise limits.max_total_tokens, or ask for fewer tokens",
                values=asked_values(one) | {"max_total_tokens": most},
            )


def _not_had(subject: Subject, asked: dict[str, AskedControl]) -> Iterator[Finding]:
    backend = subject.recipe.backend
    for one in asked.values():
        if one.name in CONTROLS and one.name not in SENT_BY_TRTSPEC:
            yield Finding(
                "request-ignored",
                "warning",
                asked_where(subject, one),
                asked_for(one),
                f"backend {backend} has no {one.name}: what is run and measured is "
                "not what these requests ask for",
                "leave it out of the workload, or take backend: pytorch, where check "
                "says what a release does with it",
                values=asked_values(one),
            )
