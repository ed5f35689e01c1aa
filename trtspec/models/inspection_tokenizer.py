"""Whether a drafter was made for a target's tokens: three verdicts, and settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trtspec.models.inspection import Inspection
from trtspec.models.inspection_verdict import Fit, Verdict
from trtspec.models.stored_record import attempt
from trtspec.models.tokenizer import TokenizerVerdicts, compare_tokenizers
from trtspec.models.tokenizer_settings import ENDS, NOT_SET, TEMPLATE
from trtspec.models.vocabulary import Kind, VocabularyMatch

_SHOWN = 3
_HARMLESS: dict[Kind, str] = {
    "spelled": "are spelled otherwise and stand for the same text",
    "renamed": "are special tokens with another name",
}


def tokenizer_verdicts(
    drafter: Inspection, target: Inspection
) -> TokenizerVerdicts | None:
    """Compare tokenizers; None if a side is not here, or its files are damaged.

    Rows are those of the models, wherever they are told: a head has none.
    """
    if target.directory is None or drafter.directory is None:
        return None
    directories = target.directory, drafter.directory
    found = attempt(lambda: compare_tokenizers(*directories), [])
    if found is None:
        return None
    rows = (
        None if target.shape is None else target.shape.vocabulary_rows,
        None if drafter.shape is None else drafter.shape.vocabulary_rows,
    )
    return replace(found, rows=rows)


def tokenizer_fits(
    found: TokenizerVerdicts | None, drafter: Inspection, target: Inspection
) -> Iterator[Fit]:
    """Put the verdicts in words, rows, entries and ids apart.

    A head proposes the target's ids whatever tokenizer lies beside it: of heads it only
    shows which target they were made for, and ends no answer.
    """
    is_model = drafter.model is not None
    if is_model:
        yield from _rows(found, drafter, target)
    if found is None:
        return
    if is_model:
        yield from _entries(found)
    if found.ids is not None:
        yield _ids(found.ids, is_model=is_model)
    yield from _settings(found, is_model=is_model)


def _rows(
    found: TokenizerVerdicts | None, drafter: Inspection, target: Inspection
) -> Iterator[Fit]:
    if drafter.model is None or target.shape is None:
        return
    ours, theirs = target.shape.vocabulary_rows, drafter.model.vocabulary_rows
    text = f"{theirs} vocabulary rows, the target has {ours}"
    highest = drafter.model.highest_token
    verdict: Verdict = "fits"
    if highest is not None and highest >= ours:
        verdict = "differs"
        text += f": the drafter's ids up to {highest} have no row there"
    elif ours != theirs and (found is None or found.ids is None):
        verdict = "differs"
        text += ": whether that is padding cannot be told without both token lists"
    elif ours != theirs:
        text += ": the difference is padding, and drafts are passed on as ids"
    yield Fit("rows", verdict, text, theirs, ours)


def _entries(found: TokenizerVerdicts) -> Iterator[Fit]:
    ours, theirs = found.entries
    if ours is None or theirs is None or found.ids is None:
        return
    text = f"{theirs} tokenizer entries, the target has {ours}"
    sides: dict[Kind, str] = {"only_ours": "target", "only_theirs": "drafter"}
    alone = [
        f"{count} ids are the {whose}'s alone"
        for kind, whose in sides.items()
        if (count := found.ids.count(kind))
    ]
    if alone:
        text += f": {', '.join(alone)}; what the drafter lacks is never drafted"
    yield Fit("entries", "differs" if alone else "fits", text, theirs, ours)


def _ids(match: VocabularyMatch, *, is_model: bool) -> Fit:
    """Say which ids stand for other tokens: a draft model with such is refused."""
    shared = match.entries[0] - match.count("only_ours")
    conflicts = match.count("conflict")
    if conflicts:
        verdict: Verdict = "refused" if is_model else "differs"
        text = f"{conflicts} ids stand for other tokens than the target's"
        text += f" ({_examples(match, 'conflict')})"
        if not is_model:
            text += ": it was made for another target, and hardly a draft is accepted"
    else:
        verdict, text = "fits", f"all {shared} ids that both have are the same tokens"
        for kind, how in _HARMLESS.items():
            if count := match.count(kind):
                text += f"; {count} {how} ({_examples(match, kind)})"
    return Fit("token_ids", verdict, text, shared - conflicts, shared)


def _examples(match: VocabularyMatch, kind: Kind) -> str:
    """Show the first few ids, the target's token first."""
    found = match.examples.get(kind, ())
    shown = [f"{one.id}: {one.ours!r}, {one.theirs!r}" for one in found[:_SHOWN]]
    return "; ".join(shown) + ("; ..." if match.count(kind) > _SHOWN else "")


def _settings(found: TokenizerVerdicts, *, is_model: bool) -> Iterator[Fit]:
    """Tell special tokens apart from the template; only what both tell is compared."""
    other = {one.name: one for one in found.settings if is_model or one.name != ENDS}
    compared = [n for n in found.compared if is_model or n != ENDS]
    names = [name for name in compared if name != TEMPLATE]
    plain = [one for name, one in other.items() if not name.startswith(TEMPLATE)]
    if names:
        text = "; ".join(
            f"{one.name}: {one.theirs}, the target has {one.ours}" for one in plain
        )
        yield Fit(
            "special_tokens",
            "differs" if plain else "fits",
            text or f"the same: {', '.join(names)}",
            {one.name: one.theirs for one in plain},
            {one.name: one.ours for one in plain},
        )
    if TEMPLATE in compared:
        lines = [one for name, one in other.items() if name.startswith(TEMPLATE)]
        text = "the same"
        for one in lines:
            text = f"first in {one.name.removeprefix(TEMPLATE + ', ')}: "
            text += f"{_line(one.theirs)}, the target has {_line(one.ours)}"
        verdict: Verdict = "differs" if lines else "fits"
        first = lines[0] if lines else None
        sides = (first and first.theirs, first and first.ours)
        yield Fit("chat_template", verdict, text, *sides)


def _line(text: str) -> str:
    return text if text == NOT_SET else repr(text[:_LONGEST])


_LONGEST = 60
"""Characters of a template's line that are shown."""
