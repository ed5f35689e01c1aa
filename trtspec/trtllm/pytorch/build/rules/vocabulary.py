"""Whether sampled drafts can be held against a target of another number of rows."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.padding import padding_command
from trtspec.check.subject import Subject
from trtspec.methods.draft_target import DraftTarget
from trtspec.trtllm.facts.families import Family, family_of
from trtspec.trtllm.installation import Installation

_BY_PROBABILITIES: tuple[Family, ...] = ("1.1", "1.2")
"""Two-model draft-target that keeps a sampled draft's logits; 1.0 is greedy only, and
later one-model engines bring both to one width (``full_draft_probs``)."""


def rows_for_sampled_drafts(
    installation: Installation, subject: Subject
) -> Iterator[Finding]:
    """Point at pairs whose probabilities are subtracted though they differ in width.

    ``ModelDrafter`` asks for the draft's logits of every request that samples, and
    ``sample_rejected`` subtracts them from the target's; only ``d2t`` widens them.
    """
    version, target, draft = installation.version, subject.target, subject.draft
    if version is None or family_of(version) not in _BY_PROBABILITIES:
        return
    if not isinstance(subject.recipe.speculation, DraftTarget):
        return
    if target is None or draft is None or not subject.recipe.sampling.temperature:
        return
    if target.vocabulary_rows != draft.vocabulary_rows:
        yield Finding(
            "draft-logits",
            "warning",
            subject.where_model("draft"),
            f"the draft model has {draft.vocabulary_rows} vocabulary rows, the target "
            f"model {target.vocabulary_rows}, and requests sample at temperature "
            f"{subject.recipe.sampling.temperature:g}",
            f"TensorRT-LLM {version} subtracts the draft's probabilities from the "
            "target's where a sampled draft is rejected and the overlap scheduler is "
            "off: arrays of other widths fail; greedy requests pass ids alone",
            "pad the draft model to as many rows and name the new directory as "
            "speculation.model, or sample at temperature 0",
            snippet=padding_command(subject.recipe.speculation.model, target, draft),
            source="tensorrt_llm/_torch/pyexecutor/sampler.py",
            values={
                "target_rows": target.vocabulary_rows,
                "draft_rows": draft.vocabulary_rows,
            },
        )
