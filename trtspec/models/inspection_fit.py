"""Whether a drafter fits a target, figure by figure, as their headers have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trtspec.models.drafter import DrafterInfo
from trtspec.models.info import ModelShape
from trtspec.models.inspection import Inspection
from trtspec.models.inspection_rotary import rotary_fit
from trtspec.models.inspection_tokenizer import tokenizer_fits, tokenizer_verdicts
from trtspec.models.inspection_verdict import Fit, Verdict
from trtspec.models.tokenizer import TokenizerVerdicts


class Comparison(NamedTuple):
    """A drafter beside its target.

    :param fits: figure by figure; what either does not tell is left out.
    :param tokenizer: the verdicts behind what is said of tokens; None if a side has no
        files here.
    """

    fits: tuple[Fit, ...] = ()
    tokenizer: TokenizerVerdicts | None = None


def compare(drafter: Inspection, target: Inspection) -> Comparison:
    """Hold a drafter against a target; what is no drafter of its has no figures."""
    shape = target.shape
    if shape is None:
        return Comparison()
    model, info = drafter.model, drafter.drafter
    if model is None and info is None:
        return Comparison()
    found = tokenizer_verdicts(drafter, target)
    told = tuple(tokenizer_fits(found, drafter, target))
    if model is not None:
        return Comparison((*told, *_context(model.context_length, shape)), found)
    assert info is not None, "what is no model is a drafter here"
    figures = (
        *_hidden_size(info, shape),
        *_vocabulary(info, shape),
        *told,
        *_layers(info, shape),
        *_context(info.context_length, shape),
        *rotary_fit(info, shape),
    )
    return Comparison(figures, found)


def fits(drafter: Inspection, target: Inspection) -> tuple[Fit, ...]:
    """Give the figures alone."""
    return compare(drafter, target).fits


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
        verdict: Verdict = "fits" if same else "refused"
        yield Fit("hidden_size", verdict, text, size, target.hidden_size)


def _vocabulary(info: DrafterInfo, target: ModelShape) -> Iterator[Fit]:
    made_for = info.target_vocabulary or info.vocabulary_rows
    if made_for is None:
        return
    same = made_for == target.vocabulary_rows
    text = f"made for {made_for} rows, the target has {target.vocabulary_rows}"
    if not same:
        text += ": with other token ids hardly a draft is accepted"
    verdict: Verdict = "fits" if same else "differs"
    yield Fit("vocabulary", verdict, text, made_for, target.vocabulary_rows)


def _layers(info: DrafterInfo, target: ModelShape) -> Iterator[Fit]:
    named = info.target_layers
    if not named:
        return
    beyond = [layer for layer in named if layer >= target.layers]
    text = f"captures layers {', '.join(map(str, named))} of {target.layers}"
    verdict: Verdict = "refused" if beyond else "fits"
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
    verdict: Verdict = "differs" if short else "fits"
    yield Fit("context", verdict, text, length, target.context_length)
