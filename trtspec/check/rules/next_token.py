"""Whether the reference engine finds next-token heads (MTP) for its target."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.methods import Mtp
from trtspec.methods.draft_length import longest_draft
from trtspec.models.next_token import EXAMPLES

_RULE = "mtp-heads"


def target_has_heads(subject: Subject) -> Iterator[Finding]:
    """Refuse MTP for a target without heads, or whose heads would be lost."""
    method, target = subject.recipe.speculation, subject.target
    if not _concerns(subject) or target is None or method.draft_model is not None:
        return
    where = subject.where_model("target")
    another = "choose a checkpoint that has them, name one of heads alone as "
    if target.format == "gguf":
        yield Finding(
            _RULE,
            "blocking",
            where,
            "the target model is stored as GGUF, from which next-token heads are not "
            "read",
            "method mtp drafts with the heads of the target's checkpoint",
            f"{another}speculation.model, or choose another method",
        )
    elif target.stored_next_token_heads == 0:
        yield Finding(
            _RULE,
            "blocking",
            where,
            "the target's checkpoint holds no next-token heads: no tensors named as in "
            + ", ".join(EXAMPLES),
            "method mtp drafts with the heads of the target's checkpoint",
            f"{another}speculation.model, or choose another method",
        )


def heads_are_stored(subject: Subject) -> Iterator[Finding]:
    """Refuse heads that the configuration names and the weights do not hold.

    TensorRT-LLM goes by the configuration (tensorrt_llm/_torch/models/
    modeling_deepseekv3.py); checkpoints that were quantized or converted may have lost
    what it names.
    """
    method, target = subject.recipe.speculation, subject.target
    if not isinstance(method, Mtp) or method.draft_model is not None or target is None:
        return
    lost = target.next_token_heads and target.stored_next_token_heads == 0
    if lost and subject.recipe.backend != "reference":
        count = target.next_token_heads
        yield Finding(
            _RULE,
            "blocking",
            subject.where_model("target"),
            f"config.json names {count} next-token head{'s' * (count > 1)}, and the "
            "weights hold none",
            "they were left out when the checkpoint was converted or quantized",
            "get a checkpoint that was published with its heads, or choose another "
            "method",
            values={"configured": count, "stored": 0},
        )


def heads_suffice(subject: Subject) -> Iterator[Finding]:
    """Hold draft length and tree against the number of heads.

    One head is applied again and again, unless ``vanilla`` is set; of several each
    drafts one position, and they take turns beyond that
    (trtspec.reference.drafters.mtp).
    """
    method = subject.recipe.speculation
    count = _heads(subject)
    if not _concerns(subject) or not isinstance(method, Mtp) or not count:
        return
    repeated = count == 1 and not method.vanilla
    if method.tree is not None and count > 1:
        yield Finding(
            _RULE,
            "blocking",
            subject.where("speculation", "tree"),
            f"tree {method.tree} with {count} next-token heads, one per position",
            "a dynamic tree grows where one head drafts all positions",
            "delete tree",
        )
    length = longest_draft(method.draft_length)
    if length > count:
        how = (
            "applied again and again"
            if repeated
            else "taken in turn, and then from the first again"
        )
        yield Finding(
            _RULE,
            "note" if repeated else "warning",
            subject.where("speculation", "draft_length"),
            f"draft_length {length} is above the {count} next-token "
            f"head{'s' * (count > 1)}, which {'are' if count > 1 else 'is'} {how}",
            "a head was trained to see its own number of tokens ahead: later tokens "
            "are accepted less often",
            ""
            if repeated
            else f"set draft_length to {count}" + " or less" * (count > 1),
        )


def _concerns(subject: Subject) -> bool:
    is_mtp = isinstance(subject.recipe.speculation, Mtp)
    return is_mtp and subject.recipe.backend == "reference"


def _heads(subject: Subject) -> int | None:
    """Give the number of heads that would draft; None if it is not known."""
    if subject.recipe.speculation.draft_model is not None:
        return None if subject.drafter is None else subject.drafter.heads
    return None if subject.target is None else subject.target.stored_next_token_heads
