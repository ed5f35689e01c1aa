"""What a written recipe says about itself: why this method, and what is not known."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.advise.advice import Advice
from trtspec.advise.candidates import Candidate
from trtspec.advise.writing import recipe_text
from trtspec.recipe.dump import flow_text

NOTHING_KNOWN = (
    "Nothing is known about speed until trtspec bench has measured it: the order of "
    "methods is reasoned, and every number of the recipe is a starting point."
)


def written_recipe(advice: Advice, chosen: Candidate) -> str:
    """Write the recipe that begins with a way to speculate, with its reasons.

    :param chosen: one that can be written.
    """
    draft = chosen.draft
    assert draft is not None, "it can be written"
    comments = {
        **draft.comments,
        ("sampling", "temperature"): _sampling(advice, chosen),
    }
    comments["speculation", "method"] = chosen.why[0]
    return recipe_text(draft.content, comments, tuple(_header(advice, chosen)))


def _header(advice: Advice, chosen: Candidate) -> Iterator[str]:
    release = f" of TensorRT-LLM {advice.version}" if advice.version else ""
    where = f"backend {chosen.backend}"
    if chosen.backend != "reference":
        where += release
    yield f"{advice.target.name}: a start with {chosen.method} on {where}."
    draft = chosen.draft
    assert draft is not None, "it can be written"
    yield f"{NOTHING_KNOWN} The parameters of speculation begin as in {draft.source}."
    if draft.lengths.cut:
        yield f"Too long for these limits: {draft.lengths.cut}."


def _sampling(advice: Advice, chosen: Candidate) -> str:
    """Say why it is greedy, and what the target's publisher recommends."""
    told = "greedy, which stays the target's own output"
    exact = "sampled output is exact here too"
    if chosen.sampled:
        exact = f"not so above 0: {chosen.sampled}"
    asked = advice.target.sampling
    if not asked:
        return f"{told}; {exact}"
    values = ", ".join(f"{key}: {flow_text(value)}" for key, value in asked.items())
    return f"{told}; {exact}. Its generation_config.json recommends {values}"
