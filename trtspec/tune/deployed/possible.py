"""Whether the backend can have what was chosen, and what is chosen if it cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trtspec.errors import FindingsError
from trtspec.recipe.dump import flow_text
from trtspec.tune.decide import Choice, Evidence, decide
from trtspec.tune.deployed.gather import settings_of
from trtspec.tune.deployed.shop import Shop


def possible_choices(
    choices: Sequence[Choice], shops: Mapping[str, Shop]
) -> tuple[list[Choice], tuple[str, ...]]:
    """Choose one length for all loads where a map of lengths cannot be had.

    :return: the choices, the best first, and what has to be said of them.
    """
    evidence, notes = list[Evidence](), list[str]()
    for choice in choices:
        why = why_impossible(choice, shops[choice.name])
        evidence.append(replace(choice.evidence, one_length=bool(why)))
        if why:
            lengths = flow_text(choice.draft_length)
            notes.append(
                f"{choice.name}: draft_length {lengths} cannot be had here, so that "
                f"one length is chosen for all loads: {why}"
            )
    if not notes:
        return list(choices), ()
    return decide(evidence, choices[0].question), tuple(notes)


def why_impossible(choice: Choice, shop: Shop) -> str:
    """Say why the backend cannot have a map of lengths; empty if it can."""
    if not isinstance(choice.draft_length, dict):
        return ""
    method = choice.evidence.method_with(choice.draft_length)
    try:
        shop.require_possible(settings_of(choice.evidence.candidate).with_own(method))
    except FindingsError as error:
        return error.problems[0].what
    return ""
