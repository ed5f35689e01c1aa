"""Whether the reference engine can draft with a drafter, on this target.

What its loaders settle (trtspec.reference.heads and drafters), told from headers.
"""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.rules.drafter import by_configuration, severity_of
from trtspec.check.subject import Subject
from trtspec.methods import DFlash, Medusa, Pard
from trtspec.methods.draft_length import MAX_DRAFT_LENGTH
from trtspec.models.drafter import DrafterInfo
from trtspec.models.info import FLOATS

_DFLASH_FAMILY = "qwen3"


def tree_depth(subject: Subject) -> Iterator[Finding]:
    """Refuse a tree that is deeper than there are Medusa heads."""
    method, drafter = subject.recipe.speculation, reference_drafter(subject)
    if drafter is None or drafter.heads is None or not isinstance(method, Medusa):
        return
    depth = method.shape.depth
    if depth > drafter.heads:
        yield Finding(
            "medusa-heads",
            severity_of(drafter),
            subject.where("speculation", "tree"),
            f"the tree is {depth} levels deep, and the checkpoint has {drafter.heads} "
            f"Medusa head{'s' if drafter.heads > 1 else ''}{by_configuration(drafter)}",
            f"each head drafts one level; expected: a tree of up to {drafter.heads} "
            "levels",
            "choose a flatter tree, or a checkpoint with more heads"
            + ("" if drafter.is_counted else ", unless the weights hold more"),
        )


def block_is_told(subject: Subject) -> Iterator[Finding]:
    """Refuse a DFlash drafter of another family, or whose blocks have no usable size.

    A block is filled as a whole, however few of its tokens are drafts.
    """
    drafter = reference_drafter(subject)
    if drafter is None or drafter.kind != "dflash":
        return
    where = subject.where_model("draft")
    if drafter.family != _DFLASH_FAMILY:
        yield Finding(
            "drafter-block",
            "blocking",
            where,
            f"the DFlash drafter's config.json has model_type {drafter.family}",
            f"expected: {_DFLASH_FAMILY}, which all published DFlash drafters have",
            "choose a drafter of this family",
        )
    if drafter.block_size is None:
        yield Finding(
            "drafter-block",
            "blocking",
            where,
            "the DFlash drafter's config.json names no block_size",
            "it drafts the block that it was trained to fill, whose size must be known",
            "give the configuration the drafter was trained with",
        )
    elif not 1 <= drafter.block_size - 1 <= MAX_DRAFT_LENGTH:
        yield Finding(
            "drafter-block",
            "blocking",
            where,
            f"the DFlash drafter's config.json has block_size {drafter.block_size}",
            "one place holds the token verified last, and the others are drafted; "
            f"expected: 2 to {MAX_DRAFT_LENGTH + 1}",
            "give the configuration the drafter was trained with",
        )


def mask_token_exists(subject: Subject) -> Iterator[Finding]:
    """Refuse a mask token without a row in the embedding that is read for it.

    That is a PARD draft model's own, and for DFlash the target's.
    """
    method, recipe = subject.recipe.speculation, subject.recipe
    if recipe.backend != "reference" or not isinstance(method, Pard | DFlash):
        return
    is_model = isinstance(method, Pard)
    drafter = subject.draft if is_model else subject.drafter
    reader = subject.draft if is_model else subject.target
    if drafter is None or reader is None:
        return
    mask = method.mask_token_id
    mask = drafter.mask_token if mask is None else mask
    if mask is not None and mask >= reader.vocabulary_rows:
        whose = "draft" if is_model else "target"
        yield Finding(
            "mask-token",
            "blocking",
            subject.where("speculation", "mask_token_id"),
            f"the mask token is {mask}, and the {whose} model has "
            f"{reader.vocabulary_rows} vocabulary rows",
            f"expected: an id from 0 to {reader.vocabulary_rows - 1}",
            "set speculation.mask_token_id to the id that the drafter was trained with",
        )


def drafter_context(subject: Subject) -> Iterator[Finding]:
    """Point at sequences that are longer than the drafter was made for.

    Most EAGLE-3 heads name 2048 positions. What they draft beyond that is verified all
    the same.
    """
    drafter = reference_drafter(subject)
    wanted = subject.recipe.limits.max_total_tokens
    if drafter is None or drafter.context_length is None:
        return
    if wanted > drafter.context_length:
        yield Finding(
            "drafter-context",
            "warning",
            subject.where("limits", "max_total_tokens"),
            f"max_total_tokens {wanted} is above the {drafter.context_length} tokens "
            f"that the {drafter.kind} drafter was made for",
            "beyond them the output stays right, but fewer drafts are accepted",
            f"measure it, or set limits.max_total_tokens to {drafter.context_length}",
        )


def drafter_weights(subject: Subject) -> Iterator[Finding]:
    """Refuse weights that are no plain numbers, and say how pickled ones are read."""
    drafter = reference_drafter(subject)
    if drafter is None:
        return
    where = subject.where_model("draft")
    stored = drafter.dtype or ""
    packed = stored if stored.startswith(("float8", "float4")) else ""
    how = drafter.quantization if drafter.quantization != "none" else packed
    if how:
        yield Finding(
            "stored-quantization",
            "blocking",
            where,
            f"the {drafter.kind} drafter's weights are quantized with {how}",
            "backend reference converts plain float weights only",
            "give the checkpoint as it was before quantization",
        )
    elif drafter.is_counted and stored not in FLOATS:
        yield Finding(
            "stored-quantization",
            "blocking",
            where,
            f"the {drafter.kind} drafter's weights are stored as {stored}",
            f"expected: {', '.join(sorted(FLOATS))}",
            "give the checkpoint as it was published",
        )
    elif drafter.format == "torch":
        yield Finding(
            "pickled-drafter",
            "note",
            where,
            f"the {drafter.kind} drafter's weights are pickled ({drafter.files[-1]})",
            "build reads tensors from them and nothing else (weights_only), and can "
            "tell only then whether they fit",
        )


def reference_drafter(subject: Subject) -> DrafterInfo | None:
    """Give the drafter if the reference engine is to load it."""
    return subject.drafter if subject.recipe.backend == "reference" else None
