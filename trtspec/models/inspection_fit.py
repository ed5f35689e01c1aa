"""Whether a drafter fits a target, figure by figure, as their headers have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trtspec.models.drafter import DrafterInfo
from trtspec.models.info import ModelInfo, ModelShape
from trtspec.models.inspection import Inspection
from trtspec.models.stored_record import attempt
from trtspec.models.vocabulary import compare_vocabularies, token_map


@dataclass(frozen=True, slots=True)
class Fit:
    """One figure of a drafter, held against its target's.

    :param verdict: ``fits``; ``differs``, which costs acceptance or positions; or
        ``refused``, with which nothing can run.
    """

    key: str
    verdict: str
    text: str
    drafter: object
    target: object


def fits(drafter: Inspection, target: Inspection) -> tuple[Fit, ...]:
    """Hold a drafter against a target; what either does not tell is left out."""
    shape = target.shape
    if shape is None:
        return ()
    if drafter.model is not None:
        return tuple(_model(drafter.model, shape, target.directory))
    if (info := drafter.drafter) is None:
        return ()
    return (
        *_hidden_size(info, shape),
        *_vocabulary(info, shape),
        *_layers(info, shape),
        *_context(info.context_length, shape),
    )


def _hidden_size(info: DrafterInfo, target: ModelShape) -> Iterator[Fit]:
    size, fused = info.hidden_size, info.fused_values
    if fused is not None:
        whole = fused % target.hidden_size == 0
        yield Fit(
            "hidden_size",
            "fits" if whole else "refused",
            f"reads {fused} values, "
            + (f"{fused // target.hidden_size} states" if whole else "no whole states")
            + f" of the target's {target.hidden_size}",
            fused,
            target.hidden_size,
        )
    elif size is not None:
        same = size == target.hidden_size
        text = f"made for states of {size}, the target has {target.hidden_size}"
        verdict = "fits" if same else "refused"
        yield Fit("hidden_size", verdict, text, size, target.hidden_size)


def _vocabulary(info: DrafterInfo, target: ModelShape) -> Iterator[Fit]:
    made_for = info.target_vocabulary or info.vocabulary_rows
    if made_for is None:
        return
    same = made_for == target.vocabulary_rows
    text = f"made for {made_for} rows, the target has {target.vocabulary_rows}"
    if not same:
        text += ": with other token ids hardly a draft is accepted"
    verdict = "fits" if same else "differs"
    yield Fit("vocabulary", verdict, text, made_for, target.vocabulary_rows)


def _layers(info: DrafterInfo, target: ModelShape) -> Iterator[Fit]:
    named = info.target_layers
    if not named:
        return
    beyond = [layer for layer in named if layer >= target.layers]
    text = f"captures layers {', '.join(map(str, named))} of {target.layers}"
    verdict = "refused" if beyond else "fits"
    if beyond:
        text += f": there is no layer {beyond[0]}"
    yield Fit("captured_layers", verdict, text, list(named), target.layers)


def _context(length: int | None, target: ModelShape) -> Iterator[Fit]:
    if length is None or target.context_length is None:
        return
    short = length < target.context_length
    text = f"made for {length} tokens, the target for {target.context_length}"
    if short:
        text += ": beyond its own, fewer drafts are accepted"
    verdict = "differs" if short else "fits"
    yield Fit("context", verdict, text, length, target.context_length)


def _model(
    draft: ModelInfo, target: ModelShape, directory: Path | None
) -> Iterator[Fit]:
    """Hold a draft model's tokens and context against the target's."""
    rows = (draft.vocabulary_rows, target.vocabulary_rows)
    ours = attempt(lambda: _tokens(directory), [])
    theirs = attempt(lambda: _tokens(draft.directory), [])
    if ours is not None and theirs is not None:
        match = compare_vocabularies(ours, theirs)
        text = f"all {match.entries[0]} ids stand for the same tokens"
        if not match.equal:
            text = f"{match.differing} ids stand for other tokens than the target's"
        elif rows[0] != rows[1]:
            text += f"; {rows[0]} and {rows[1]} rows differ in padding only"
        verdict = "fits" if match.equal else "differs"
        yield Fit("token_ids", verdict, text, match.entries[1], match.entries[0])
    else:
        verdict = "fits" if rows[0] == rows[1] else "differs"
        text = f"{rows[0]} vocabulary rows, the target has {rows[1]}"
        yield Fit("vocabulary", verdict, text, *rows)
    yield from _context(draft.context_length, target)


def _tokens(directory: Path | None) -> dict[str, int] | None:
    return None if directory is None else token_map(directory)
