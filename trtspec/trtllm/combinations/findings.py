"""How it is said that two things do not go together, or that nobody knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trtspec.check.finding import Finding, Severity
from trtspec.check.subject import Subject
from trtspec.trtllm.combinations.asked import Asked
from trtspec.trtllm.facts.combinations import (
    Case,
    Combination,
    combinations,
    features,
)
from trtspec.trtllm.installation import OPTION

UNKNOWN = "combination-unknown"
"""Rule of what no source settles."""
_COMPARE = (
    "do without it, or compare outputs and acceptance with and without speculation "
    "before it serves"
)


def findings_of(case: Case, asked: Sequence[Asked], told: bool) -> Iterator[Finding]:
    """Say what is known of each feature.

    :param told: whether the rules about the release's configuration are looked at too.
    """
    unknown = []
    for one in asked:
        found = tuple(combinations(case, one.feature, one.value))
        if all(entry.also for entry in found):
            unknown.append(one)
        for entry in found:
            if not (told and entry.told_by):
                yield from _finding_of(case, one, entry)
    yield from (_not_established(case, one) for one in unknown if one.stated)
    yield from _not_established_by_default(
        case, [one for one in unknown if not one.stated]
    )


def _finding_of(case: Case, asked: Asked, entry: Combination) -> Iterator[Finding]:
    """Say what an entry says of a feature that is asked for."""
    stated = asked.stated
    if entry.state == "refused":
        is_so = "is not supported"
        yield _made("combination-refused", "blocking", case, asked, entry, is_so=is_so)
    elif entry.state == "broken" and entry.wrong_text:
        is_so = "is reported to give wrong output"
        yield _made("combination-wrong", "blocking", case, asked, entry, is_so=is_so)
    elif entry.state == "broken":
        is_so = "is reported broken"
        yield _made("combination-broken", "blocking", case, asked, entry, is_so=is_so)
    elif entry.state == "ignored" and stated:
        is_so = "has no effect"
        yield _made("combination-ignored", "warning", case, asked, entry, is_so=is_so)
    elif entry.state == "untested":
        is_so = "is untested"
        severity: Severity = "warning" if stated else "note"
        yield _made("combination-untested", severity, case, asked, entry, is_so=is_so)
    elif entry.state == "works" and entry.says:
        is_so = "has a known weakness"
        yield _made("combination-weakness", "note", case, asked, entry, is_so=is_so)


def _made(
    rule: str,
    severity: Severity,
    case: Case,
    asked: Asked,
    entry: Combination,
    *,
    is_so: str,
) -> Finding:
    fixed = f"; fixed in: {entry.fixed_in}" if entry.fixed_in else ""
    return Finding(
        rule,
        severity,
        asked.where,
        f"{_pair(case, asked)}{_also(entry)} {is_so} on TensorRT-LLM {case.version} "
        f"({asked.shown})",
        f"{entry.says}{fixed}",
        entry.instead or _COMPARE,
        snippet=entry.snippet,
        source=entry.source,
        values=_values(case, asked) | {"state": entry.state},
    )


def _not_established(case: Case, asked: Asked) -> Finding:
    """Say that no source settles what a version does with a feature."""
    return Finding(
        UNKNOWN,
        "warning",
        asked.where,
        f"that {_pair(case, asked)} works on TensorRT-LLM {case.version} is not "
        f"established ({asked.shown})",
        "no source that was read says so for this method and version",
        _COMPARE,
        values=_values(case, asked) | {"state": "not established"},
    )


def _not_established_by_default(
    case: Case, asked: Sequence[Asked]
) -> Iterator[Finding]:
    """Say the same once of all that is on unless the recipe switches it off."""
    if not asked:
        return
    listed = ", ".join(one.shown for one in asked)
    yield Finding(
        UNKNOWN,
        "note",
        asked[0].where,
        f"what speculation ({case.method}) on TensorRT-LLM {case.version} does with "
        f"these is not established: {listed}",
        "they are so unless the recipe says otherwise, and no source that was read "
        "says that they work for this method and version",
        values={"features": [one.feature for one in asked]},
    )


def without_a_version(subject: Subject, asked: Sequence[Asked]) -> Iterator[Finding]:
    """Say that nothing can be said where it is not known which version will serve."""
    stated = [one for one in asked if one.stated]
    if not stated:
        return
    method = subject.recipe.speculation.method
    yield Finding(
        UNKNOWN,
        "warning",
        stated[0].where,
        f"whether speculation ({method}) goes together with "
        f"{', '.join(_title(one) for one in stated)} is not known",
        "it depends on the version of TensorRT-LLM, and none is here or named",
        f"name the version that will serve: {OPTION} VERSION",
        values={"features": [one.feature for one in stated]},
    )


def _pair(case: Case, asked: Asked) -> str:
    return f"speculation ({case.method}) with {_title(asked)}"


def _also(entry: Combination) -> str:
    other = features().get(entry.also)
    if other is not None:
        return f" and {other.title}"
    return " and a draft length that reaches 0" if entry.also else ""


def _title(asked: Asked) -> str:
    return features()[asked.feature].title


def _values(case: Case, asked: Asked) -> dict[str, object]:
    return {
        "feature": asked.feature,
        "value": asked.value,
        "method": case.method,
        "version": str(case.version),
    }
