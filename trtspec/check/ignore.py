"""Which findings does the user want to go on in spite of, and may they."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from trtspec.check.catalogue import entries, entry, unknown_rule
from trtspec.check.finding import Finding
from trtspec.errors import UsageError

FLAG = "--ignore"


def require_ignorable(rules: Collection[str]) -> tuple[str, ...]:
    """Give the rules in order, each once.

    :raises UsageError: if one is unknown, or none of its findings may be ignored.
    """
    for rule in rules:
        if rule not in entries():
            raise unknown_rule(rule, FLAG)
        if not entry(rule).ignorable_severities:
            raise UsageError(
                f"findings of the rule {rule} cannot be ignored",
                where=FLAG,
                action=f"trtspec check --explain {rule} says what to do about them",
            )
    return tuple(sorted(set(rules)))


def ignoring(findings: Iterable[Finding], rules: Collection[str]) -> list[Finding]:
    """Mark the findings of these rules as ignored, where that is allowed.

    Of a rule whose milder findings alone may be ignored, a blocking one still blocks.

    :raises UsageError: if a rule is unknown, or none of its findings may be ignored.
    """
    wanted = require_ignorable(rules)
    return [
        replace(f, ignored=True)
        if f.rule in wanted and entry(f.rule).may_be_ignored(f.severity)
        else f
        for f in findings
    ]
