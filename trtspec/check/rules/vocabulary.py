"""Whether target and draft model mean the same token by each id."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.id_text import examples, ranges
from trtspec.check.subject import Role, Subject
from trtspec.check.workload_tokens import acceptance_bound, percent
from trtspec.errors import TrtspecError
from trtspec.methods.draft_target import DraftTarget
from trtspec.models.info import ModelInfo
from trtspec.models.token_list import ListedTokens, listed_tokens
from trtspec.models.tokenizer import compare_listed
from trtspec.models.vocabulary import Kind, VocabularyMatch

_WITHOUT_DRAFT_MODEL = "speculation:\n  method: ngram\n  draft_length: 4"
_MANY = 0.01
"""Share of the entries from which on it matters that only one side has them."""


def token_ids(subject: Subject) -> Iterator[Finding]:
    """Compare what each id stands for; rows and padding are another matter."""
    target, draft = subject.target, subject.draft
    if target is None or draft is None:
        return
    ours, theirs = _listed(target), _listed(draft)
    match = compare_listed(ours, theirs)
    if ours is None or match is None:
        yield _not_comparable(subject, "target" if ours is None else "draft")
        return
    yield from _other_tokens(subject, match, ours)
    yield from _other_entries(subject, match, target)
    yield from _other_names(subject, match)


def vocabulary_rows(subject: Subject) -> Iterator[Finding]:
    """Tell that the checkpoints are padded to different sizes, which does no harm.

    TensorRT-LLM's engine backend refuses it where drafts come with their logits; that
    is a rule of its own.
    """
    target, draft = subject.target, subject.draft
    if target is None or draft is None or _passes_logits(subject):
        return
    rows = target.vocabulary_rows, draft.vocabulary_rows
    if rows[0] != rows[1]:
        yield Finding(
            "vocabulary-rows",
            "note",
            subject.where_model("draft"),
            f"the draft model has {rows[1]} vocabulary rows, the target model "
            f"{rows[0]}",
            "drafts are passed on as ids, and rows that only one of them has are never "
            "proposed; the output stays exact",
            values={"target_rows": rows[0], "draft_rows": rows[1]},
        )


def _passes_logits(subject: Subject) -> bool:
    method = subject.recipe.speculation
    by_logits = isinstance(method, DraftTarget) and method.use_draft_logits
    return by_logits and subject.recipe.backend == "tensorrt"


def _other_tokens(
    subject: Subject, match: VocabularyMatch, ours: ListedTokens
) -> Iterator[Finding]:
    """Refuse pairs in which an id stands for different tokens."""
    if not (conflicts := match.ids.get("conflict")):
        return
    same = (
        set(ours.tokens.values()) - set(conflicts) - set(match.ids.get("only_ours", ()))
    )
    bound = acceptance_bound(subject, ours.tokens, same)
    why = "the target model would read other words than the draft model proposed"
    if bound is not None:
        why += (
            f"; of the tokens in the workload's {bound.counted} "
            f"{percent(bound.share)} have one id in both, and no more could be accepted"
        )
    yield Finding(
        "token-ids",
        "blocking",
        subject.where_model("draft"),
        f"token ids that differ: {len(conflicts)} (the target's tokenizer has "
        f"{match.entries[0]} entries, the draft's {match.entries[1]}), "
        f"{ranges(conflicts)}. The first: {examples(match, 'conflict')}",
        why,
        "choose a draft model of the target's family, with the same tokenizer, or a "
        "method that needs no draft model",
        snippet=_WITHOUT_DRAFT_MODEL,
        values={
            **_values(match, "conflict"),
            "same_ids_share": len(same) / max(match.entries[0], 1),
            "workload_share": None if bound is None else bound.share,
        },
    )


def _other_entries(
    subject: Subject, match: VocabularyMatch, target: ModelInfo
) -> Iterator[Finding]:
    """Tell ids that only one of the tokenizers has a token for."""
    lone = sorted((*match.ids.get("only_ours", ()), *match.ids.get("only_theirs", ())))
    if not lone or not match.same_tokens:
        return
    many = len(lone) > _MANY * max(match.entries)
    foreign = [
        i for i in match.ids.get("only_theirs", ()) if i >= target.vocabulary_rows
    ]
    why = "a token that the draft model lacks is never drafted; the output stays exact"
    if foreign:
        why += f"; {len(foreign)} of the draft's ids have no row in the target model"
    yield Finding(
        "token-entries",
        "warning" if many or foreign else "note",
        subject.where_model("draft"),
        f"the target's tokenizer has {match.entries[0]} entries, the draft's "
        f"{match.entries[1]}; ids that only one of them has: {len(lone)}, "
        f"{ranges(lone)}. The first: {examples(match, 'only_ours', 'only_theirs')}",
        why,
        "choose a draft model of the same release, if the target's answers use them",
        values=_values(match, "only_ours", "only_theirs"),
    )


def _other_names(subject: Subject, match: VocabularyMatch) -> Iterator[Finding]:
    """Tell ids that are written differently and mean the same."""
    if count := match.count("spelled"):
        yield Finding(
            "token-names",
            "note",
            subject.where_model("draft"),
            f"ids whose token is spelled differently: {count}, such as "
            f"{examples(match, 'spelled')}",
            "the spellings stand for the same text; drafts are passed on as ids",
            values=_values(match, "spelled"),
        )
    if renamed := match.ids.get("renamed"):
        yield Finding(
            "token-names",
            "note",
            subject.where_model("draft"),
            f"special tokens with another name: {len(renamed)}, {ranges(renamed)}. The "
            f"first: {examples(match, 'renamed')}",
            "drafts are passed on as ids; what the draft model was not trained to use "
            "it drafts badly",
            values=_values(match, "renamed"),
        )


def _values(match: VocabularyMatch, *kinds: Kind) -> dict[str, object]:
    return {
        "target_entries": match.entries[0],
        "draft_entries": match.entries[1],
        "ids": [each for kind in kinds for each in match.ids.get(kind, ())][:_LISTED],
        "count": match.count(*kinds),
    }


_LISTED = 1000
"""Ids that a finding's values list; its text has them all, as ranges, or the first."""


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


def _listed(model: ModelInfo) -> ListedTokens | None:
    if model.directory is None:  # the demo model before its download
        return None
    try:
        return listed_tokens(model.directory)
    except TrtspecError:
        return None
