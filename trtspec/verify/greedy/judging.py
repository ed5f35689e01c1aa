"""What follows from the comparisons: pass, fail or cannot tell, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trtspec.verify.greedy.records import Comparison, Kind, Verdict
from trtspec.verify.greedy.shares import ALPHA, chance_of_excess
from trtspec.verify.greedy.tolerance import Tolerance

Finding = tuple[Verdict, str]


def judge_parity(
    comparisons: Sequence[Comparison],
    floor: Sequence[Comparison],
    prompts: Sequence[str],
    tolerance: Tolerance,
) -> tuple[Verdict, tuple[str, ...]]:
    """Fold everything into one word and its reasons.

    :param comparisons: on against off.
    :param floor: off against off.
    :param prompts: their ids.
    """
    found = [
        *_divergences(comparisons, floor, prompts),
        *_unknown(comparisons),
        *_off_itself(floor, tolerance),
        *_excess(comparisons, floor, prompts),
        *_nothing_drafted(comparisons),
    ]
    words = {word for word, _ in found}
    verdict: Verdict = "pass"
    if "fail" in words:
        verdict = "fail"
    elif "cannot tell" in words:
        verdict = "cannot tell"
    return verdict, tuple(reason for _, reason in found)


def happened(comparison: Comparison, kind: Kind, prompts: Sequence[str]) -> list[bool]:
    """Say per prompt whether it parts in this way."""
    ids = {d.prompt_id for d in comparison.differences if d.kind == kind}
    return [prompt in ids for prompt in prompts]


def _divergences(
    comparisons: Sequence[Comparison],
    floor: Sequence[Comparison],
    prompts: Sequence[str],
) -> Iterator[Finding]:
    """A divergence fails, unless the off arm diverges from itself as often."""
    for one in comparisons:
        if not one.divergences.count:
            continue
        worst = max(
            (d for d in one.differences if d.kind == "divergence"),
            key=lambda d: abs(d.gap or 0.0),
        )
        text = (
            f"{named(one)}: {one.divergences.words} prompts diverge for real; the "
            f"worst is prompt {worst.prompt_id} at {worst.position}, with a gap of "
            f"{worst.gap:.3g} where {worst.tolerance:.3g} is a near tie"
        )
        own = [f for f in floor if f.divergences.count]
        here = happened(one, "divergence", prompts)
        if own and all(
            chance_of_excess(here, happened(f, "divergence", prompts)) > ALPHA
            for f in own
        ):
            yield "cannot tell", f"{text}; off diverges from itself about as often"
        else:
            yield "fail", text


def _unknown(comparisons: Sequence[Comparison]) -> Iterator[Finding]:
    for one in comparisons:
        if one.unknown.count:
            yield (
                "cannot tell",
                f"{named(one)}: {one.unknown.words} prompts differ, and neither logits "
                "nor log probabilities of off say whether that is a near tie",
            )


def _off_itself(floor: Sequence[Comparison], tolerance: Tolerance) -> Iterator[Finding]:
    for one in floor:
        if one.divergences.count:
            yield (
                "cannot tell",
                f"{named(one)}: {one.divergences.words} prompts diverge without any "
                "speculation, so off is no yardstick",
            )
    if tolerance.unsteady and tolerance.spread:
        yield (
            "cannot tell",
            f"off moves its gaps by {tolerance.spread.largest:.3g} when a text is read "
            f"in another shape, more than rounding does ({tolerance.most_at():.3g})",
        )


def _excess(
    comparisons: Sequence[Comparison],
    floor: Sequence[Comparison],
    prompts: Sequence[str],
) -> Iterator[Finding]:
    """Near ties fall either way, but not more often than without speculation."""
    if not floor:
        return
    usual = max(floor, key=lambda one: one.near_ties.count)
    level = ALPHA / max(1, len(comparisons))
    for one in comparisons:
        chance = chance_of_excess(
            happened(one, "near tie", prompts), happened(usual, "near tie", prompts)
        )
        if chance < level:
            yield (
                "cannot tell",
                f"{named(one)} parts at a near tie in {one.near_ties.words} prompts, "
                f"{named(usual)} in {usual.near_ties.words}: more than batch sizes "
                f"explain (by chance with p = {chance:.2g})",
            )


def _nothing_drafted(comparisons: Sequence[Comparison]) -> Iterator[Finding]:
    """A schedule may draft nothing at one batch size, but not at all of them."""
    if comparisons and all(one.drafted == 0 for one in comparisons):
        yield "cannot tell", "nothing was drafted, so speculation was not tried"


def named(one: Comparison) -> str:
    """Name a comparison for a reader."""
    at = f" at {one.concurrency} requests at once"
    where = "" if one.off_concurrency == 1 else f" at {one.off_concurrency}"
    return f"{one.arm}{at} against off{where}"
