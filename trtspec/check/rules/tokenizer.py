"""Whether what drafts was made for the target's special tokens and chat template."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from trtspec.check.finding import Finding
from trtspec.check.id_text import examples, ranges, shown
from trtspec.check.subject import Subject
from trtspec.errors import TrtspecError
from trtspec.models.token_list import listed_tokens
from trtspec.models.tokenizer import compare_listed
from trtspec.models.tokenizer_settings import (
    ENDS,
    NOT_SET,
    START,
    TEMPLATE,
    SettingDifference,
    compare_settings,
)

_FELT = ("eos_token", START, ENDS)
"""Settings that decide which tokens stand in the texts that a model was trained on."""

_OTHERS = (
    "prompts are written with the target's tokenizer, and the output stays exact; "
)


def special_tokens(subject: Subject) -> Iterator[Finding]:
    """Tell special tokens and end tokens that the target has otherwise.

    A head ends no answer: what its configuration names is copied from some target's.
    """
    is_head = subject.drafter is not None
    found = [
        difference
        for difference in _settings(subject)
        if not difference.name.startswith(TEMPLATE)
        and not (is_head and difference.name == ENDS)
    ]
    if not found:
        return
    felt = any(d.name in _FELT for d in found)
    yield Finding(
        "special-tokens",
        "warning" if felt else "note",
        subject.where_model("draft"),
        "special tokens differ: "
        + "; ".join(
            f"{d.name}: {_value(d.ours)} in the target, {_value(d.theirs)} in the draft"
            for d in found
        ),
        f"{_OTHERS}but a drafter that was trained with others drafts worse at the "
        "start and the end of an answer"
        if felt
        else f"{_OTHERS}these stand in no prompt and no answer",
        "take a drafter made for this very target (instruct for instruct, base for "
        "base), or correct its tokenizer files"
        if felt
        else "",
        values=_values(found),
    )


def chat_templates(subject: Subject) -> Iterator[Finding]:
    """Tell that the drafter was trained on conversations written otherwise.

    A template of the recipe's own is nothing that a drafter could have been trained on.
    """
    if subject.recipe.target.chat_template is not None:
        return
    settings = _settings(subject)
    difference = next((d for d in settings if d.name.startswith(TEMPLATE)), None)
    if difference is not None:
        yield Finding(
            "chat-template-differs",
            "note",
            subject.where_model("draft"),
            f"the chat templates differ, first in {difference.name}: "
            f"{_line(difference.ours)} in the target, {_line(difference.theirs)} in "
            "the draft",
            f"{_OTHERS}a drafter that knows another template may draft worse",
            "take a drafter made for this very target, if acceptance is low",
            values=_values([difference]),
        )


def drafters_own_tokenizer(subject: Subject) -> Iterator[Finding]:
    """Point at a head that comes with another tokenizer than the target's.

    It is not used: a head reads and proposes the target's ids. It shows which target
    the head was trained for.
    """
    directories = _directories(subject)
    if subject.drafter is None or directories is None:
        return
    try:
        match = compare_listed(*map(listed_tokens, directories))
    except TrtspecError:
        return
    if match is None or match.same_tokens:
        return
    conflicts = match.ids["conflict"]
    yield Finding(
        "token-ids",
        "warning",
        subject.where_model("draft"),
        f"the {subject.drafter.kind} drafter comes with a tokenizer in which "
        f"{len(conflicts)} token ids differ from the target's, {ranges(conflicts)}. "
        f"The first: {examples(match, 'conflict')}",
        "it was made for another target: the output stays right, but hardly a draft is "
        "accepted",
        "choose the drafter that was trained for this target model",
        values={"count": len(conflicts), "ids": list(conflicts[:1000])},
    )


def _settings(subject: Subject) -> Sequence[SettingDifference]:
    directories = _directories(subject)
    if directories is None:
        return ()
    try:
        return compare_settings(*directories)
    except (TrtspecError, OSError):
        return ()


def _directories(subject: Subject) -> tuple[Path, Path] | None:
    """Give the directories of the target and of what drafts for it."""
    maker = subject.drafter or subject.draft
    if subject.target is None or maker is None:
        return None
    ours, theirs = subject.target.directory, maker.directory
    return None if ours is None or theirs is None or ours == theirs else (ours, theirs)


def _values(found: Sequence[SettingDifference]) -> dict[str, object]:
    return {d.name: {"target": d.ours, "draft": d.theirs} for d in found}


def _value(value: str) -> str:
    return "not set" if value == NOT_SET else value


def _line(value: str) -> str:
    return "nothing" if value == NOT_SET else shown(value)
