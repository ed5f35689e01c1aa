"""Whether a drafter's smaller vocabulary leads to the target's tokens, and how far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from trtspec.check.finding import Finding, Severity
from trtspec.check.subject import Subject
from trtspec.check.workload_tokens import acceptance_bound, percent
from trtspec.errors import TrtspecError
from trtspec.models.draft_vocabulary import DraftVocabulary, read_draft_vocabulary
from trtspec.models.drafter import DrafterInfo
from trtspec.models.info import ModelInfo
from trtspec.models.token_list import listed_tokens

_LITTLE = 0.9
"""Share of the workload's tokens below which a head's vocabulary costs real speed."""

_ANOTHER = "fetch the head again, or take one in its authors' layout"
_SOURCE = "https://github.com/SafeAILab/EAGLE/blob/main/eagle/model/cnets.py"
_TO_OFFSETS = """\
python - <<'END'
from os import rename

from safetensors.torch import load_file, save_file
from torch import arange

path, name = {path!r}, {name!r}
tensors = load_file(path)
tensors[name] = tensors[name] - arange(len(tensors[name])).to(tensors[name].dtype)
save_file(tensors, path + ".new", metadata={{"format": "pt"}})
rename(path, path + ".before")
rename(path + ".new", path)
END"""


def draft_tables(subject: Subject) -> Iterator[Finding]:
    """Hold the ids that ``d2t`` leads to against the target's, and against ``t2d``."""
    target, drafter = subject.target, subject.drafter
    tables = _tables(drafter)
    if target is None or drafter is None or tables is None:
        return
    if tables.holds_ids(target.vocabulary_rows):
        yield _ids_for_offsets(subject, drafter, tables)
        return
    faults = [
        *_outside(subject, tables, target.vocabulary_rows),
        *_duplicates(subject, tables),
        *_other_marks(subject, tables),
    ]
    yield from faults
    if not faults and not tables.in_order:
        yield _finding(
            subject,
            "note",
            "the ids that d2t leads to are not in rising order",
            "no harm by itself, but published tables are in order",
        )


def _outside(subject: Subject, tables: DraftVocabulary, rows: int) -> Iterator[Finding]:
    if outside := tables.outside(rows):
        yield _finding(
            subject,
            "blocking",
            f"d2t leads {len(outside)} of the {len(tables.ids)} drafted tokens to ids "
            f"that the target does not have, the first from {outside[0]} to "
            f"{tables.ids[outside[0]]} (the target has {rows} vocabulary rows)",
            "these drafts are ids without a row",
            values={"count": len(outside), "target_rows": rows},
        )


def _duplicates(subject: Subject, tables: DraftVocabulary) -> Iterator[Finding]:
    if twice := tables.duplicates:
        yield _finding(
            subject,
            "blocking" if subject.recipe.backend == "reference" else "warning",
            f"d2t leads several drafted tokens to one id: {len(twice)} such ids, the "
            f"first {twice[0]}",
            "a proposal does not tell how likely such a token is",
            values={"count": len(twice), "ids": list(twice[:1000])},
        )


def _other_marks(subject: Subject, tables: DraftVocabulary) -> Iterator[Finding]:
    led_to = frozenset(tables.ids)
    if tables.marked is not None and tables.marked != led_to:
        yield _finding(
            subject,
            "warning",
            f"t2d marks {len(tables.marked)} ids, and d2t leads to {len(led_to)}, "
            f"{len(tables.marked & led_to)} of them marked",
            "drafts go by d2t alone; one of the two is from another head",
            values={"marked": len(tables.marked), "led_to": len(led_to)},
        )


def vocabulary_overlap(subject: Subject) -> Iterator[Finding]:
    """Say how much of the target's vocabulary, and of the workload, can be drafted."""
    target, tables = subject.target, _tables(subject.drafter)
    if target is None or tables is None or tables.holds_ids(target.vocabulary_rows):
        return
    whole = target.tokenizer_entries or target.vocabulary_rows
    ids = {token for token in tables.ids if 0 <= token < target.vocabulary_rows}
    if len(ids) >= whole:
        return
    tokens = _tokens(target)
    # what a suffix automaton copies may be any token
    copies = getattr(subject.recipe.speculation, "suffix_threshold", None) is not None
    bound = acceptance_bound(subject, tokens, ids) if tokens and not copies else None
    share = tables.share(whole)
    yield Finding(
        "vocabulary-overlap",
        "warning" if bound is not None and bound.share < _LITTLE else "note",
        subject.where_model("draft"),
        f"the drafter proposes {len(ids)} of the target's {whole} tokens "
        f"({percent(share)})",
        "what it cannot propose is never accepted, and the target emits it by itself"
        + ("; what suffix_threshold copies may be any token" if copies else "")
        if bound is None
        else bound.sentence(subject.recipe.speculation.longest_draft),
        "fit a head whose vocabulary is that of this workload's answers, or take one "
        "with the whole vocabulary"
        if bound is not None and bound.share < _LITTLE
        else "",
        values={
            "drafted_tokens": len(ids),
            "target_tokens": whole,
            "share": share,
            "workload_share": None if bound is None else bound.share,
            "counted": None if bound is None else bound.counted,
        },
    )


def _ids_for_offsets(
    subject: Subject, drafter: DrafterInfo, tables: DraftVocabulary
) -> Finding:
    file = next(name for name in drafter.files if name.endswith(".safetensors"))
    single = sum(name.endswith(".safetensors") for name in drafter.files) == 1
    command = _TO_OFFSETS.format(path=str(drafter.directory / file), name=tables.name)
    return _finding(
        subject,
        "blocking",
        f"d2t holds the target's ids in place of offsets, such as {tables.offsets[-1]} "
        f"for the last of {len(tables.offsets)} drafted tokens",
        "token i is taken as i + d2t[i], so that other words would be drafted and "
        "hardly one accepted",
        snippet=command if single else "",
        values={"last": tables.offsets[-1], "drafted_tokens": len(tables.offsets)},
    )


def _finding(
    subject: Subject,
    severity: Severity,
    what: str,
    why: str,
    *,
    snippet: str = "",
    values: Mapping[str, object] = MappingProxyType({}),
) -> Finding:
    return Finding(
        "draft-vocabulary",
        severity,
        subject.where_model("draft"),
        what,
        why,
        "" if severity == "note" else _ANOTHER,
        snippet=snippet,
        source=_SOURCE,
        values=values,
    )


def _tables(drafter: DrafterInfo | None) -> DraftVocabulary | None:
    try:
        return None if drafter is None else read_draft_vocabulary(drafter)
    except (TrtspecError, OSError):
        return None


def _tokens(target: ModelInfo) -> dict[str, int]:
    if target.directory is None:
        return {}
    try:
        listed = listed_tokens(target.directory)
    except TrtspecError:
        return {}
    return {} if listed is None else dict(listed.tokens)
