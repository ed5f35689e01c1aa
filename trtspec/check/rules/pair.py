"""Whether target and draft model speak of the same tokens."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Role, Subject
from trtspec.errors import TrtspecError
from trtspec.models.info import ModelInfo
from trtspec.models.vocabulary import (
    VocabularyMatch,
    compare_vocabularies,
    token_map,
)

_SHOWN_CHARACTERS = 20


def token_ids(subject: Subject) -> Iterator[Finding]:
    """Refuse pairs in which an id stands for different tokens."""
    target, draft = subject.target, subject.draft
    if target is None or draft is None:
        return
    ours, theirs = _tokens(target), _tokens(draft)
    if ours is None or theirs is None:
        yield _not_comparable(subject, "target" if ours is None else "draft")
        return
    match = compare_vocabularies(ours, theirs)
    if not match.equal:
        yield Finding(
            "token-ids",
            "blocking",
            subject.where_model("draft"),
            _difference(match),
            "the target model would read other words than the draft model proposed",
            "choose a draft model of the target's family, with the same tokenizer",
        )


def vocabulary_rows(subject: Subject) -> Iterator[Finding]:
    """Tell that the checkpoints are padded to different sizes, which does no harm."""
    target, draft = subject.target, subject.draft
    if target is None or draft is None:
        return
    if target.vocabulary_rows != draft.vocabulary_rows:
        yield Finding(
            "vocabulary-rows",
            "note",
            subject.where_model("draft"),
            f"the draft model has {draft.vocabulary_rows} vocabulary rows, the target "
            f"model {target.vocabulary_rows}",
            "rows that only one of them has are never proposed; the output stays exact",
        )


def draft_is_smaller(subject: Subject) -> Iterator[Finding]:
    """Point at draft models that cost as much as the target."""
    target, draft = subject.target, subject.draft
    if target is None or draft is None:
        return
    if draft.parameters >= target.parameters:
        yield Finding(
            "draft-size",
            "warning",
            subject.where_model("draft"),
            f"the draft model has {_millions(draft.parameters)} parameters, the target "
            f"model {_millions(target.parameters)}",
            "a draft that costs as much as the target cannot make it faster",
            "choose a draft model of a tenth of the target's size or less",
        )


def _not_comparable(subject: Subject, role: Role) -> Finding:
    model = subject.target if role == "target" else subject.draft
    where = subject.where_model("draft")
    if model is not None and model.directory is None:
        what = f"token ids are compared once the {role} model is on this machine"
        return Finding("token-ids", "note", where, what)
    return Finding(
        "token-ids",
        "warning",
        where,
        f"the {role} model's files do not list its tokens, so the token ids cannot be "
        "compared",
        "with other ids the output stays right, but hardly a draft is accepted",
        "make sure that both models use one tokenizer",
    )


def _tokens(model: ModelInfo) -> dict[str, int] | None:
    if model.directory is None:  # the demo model before its download
        return None
    try:
        return token_map(model.directory)
    except TrtspecError:
        return None


def _difference(match: VocabularyMatch) -> str:
    first = "; ".join(
        f"{d.id} is {_shown(d.ours)} in the target, {_shown(d.theirs)} in the draft"
        for d in match.first
    )
    target, draft = match.entries
    return (
        f"token ids that differ: {match.differing} (the target's tokenizer has "
        f"{target} entries, the draft's {draft}). The first: {first}"
    )


def _shown(token: str | None) -> str:
    if token is None:
        return "nothing"
    text = repr(token)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}...'"


def _millions(count: int) -> str:
    return f"{count / 1e6:,.1f} million"
