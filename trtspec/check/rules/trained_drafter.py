"""Whether a recipe drafts as an EAGLE-3, DFlash or PARD drafter was trained to."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.rules.drafter import by_configuration, severity_of
from trtspec.check.subject import Subject
from trtspec.methods.dflash import DFlash
from trtspec.methods.eagle3 import Eagle3
from trtspec.methods.pard import Pard
from trtspec.models.drafter import DrafterInfo
from trtspec.models.eagle3_shape import CAPTURED


def head_is_told(subject: Subject) -> Iterator[Finding]:
    """Point at a pickled head that nothing shows to be an EAGLE-3 head.

    Of those with headers the projection's width tells the first kinds apart.
    """
    drafter = subject.drafter
    if drafter is not None and drafter.is_told_by == "" and not drafter.is_counted:
        yield Finding(
            "eagle3-head",
            "warning",
            subject.where_model("draft"),
            "nothing in the configuration shows that the head is an EAGLE-3 head",
            "its weights are pickled and not opened; EAGLE-1 and EAGLE-2 drafters look "
            "the same, and "
            + (
                "build refuses them as eagle3"
                if subject.recipe.backend == "reference"
                else "TensorRT-LLM's backend pytorch cannot take them"
            ),
            "make sure that its authors call it EAGLE-3",
        )


def captured_layers(subject: Subject) -> Iterator[Finding]:
    """Hold the layers that are captured against the states that a drafter reads.

    Of EAGLE-3 TensorRT-LLM captures three where none are named (``num_capture_layers``
    in tensorrt_llm/llmapi/llm_args.py); layers that are named are its backend's matter.
    """
    method, drafter = subject.recipe.speculation, subject.drafter
    if drafter is None or drafter.captured_states is None:
        return
    states = drafter.captured_states
    is_ours = subject.recipe.backend == "reference"
    if isinstance(method, Eagle3) and method.layers_to_capture is None and not is_ours:
        if states != CAPTURED:
            why = f"TensorRT-LLM captures {CAPTURED} where none are named"
            yield _unfit(subject, drafter, "layers_to_capture", "is unset", why)
    elif isinstance(method, DFlash) and method.target_layers is not None:
        named = len(method.target_layers)
        if named != states:
            why = "its first projection takes the states of all these layers together"
            said = f"names {named} layers"
            yield _unfit(subject, drafter, "target_layers", said, why)


def _unfit(
    subject: Subject, drafter: DrafterInfo, key: str, said: str, why: str
) -> Finding:
    return Finding(
        "captured-layers",
        severity_of(drafter),
        subject.where("speculation", key),
        f"{key} {said}, and the {drafter.kind} drafter reads "
        f"{drafter.captured_states} hidden states{by_configuration(drafter)}",
        why,
        f"name the {drafter.captured_states} layers that it was trained on",
    )


def drafter_block(subject: Subject) -> Iterator[Finding]:
    """Point at drafts longer than the block that a DFlash drafter was trained for."""
    method, drafter = subject.recipe.speculation, subject.drafter
    if drafter is None or drafter.block_size is None:
        return
    most = drafter.block_size - 1  # the first place holds the token verified last
    if most and method.longest_draft > most:
        yield Finding(
            "drafter-block",
            "warning",
            subject.where("speculation", "draft_length"),
            f"draft_length {method.longest_draft} is above the {most} tokens that the "
            f"{drafter.kind} drafter was trained to propose",
            f"config.json: block_size {drafter.block_size}, the last verified token "
            "included",
            f"set draft_length to {most} or less",
        )


def mask_token(subject: Subject) -> Iterator[Finding]:
    """Point at a drafter that names no token to draft for.

    TensorRT-LLM then takes ``vocab_size`` for its id
    (tensorrt_llm/_torch/models/modeling_speculative.py and modeling_dflash.py). The
    reference engine has no such guess.
    """
    method = subject.recipe.speculation
    if not isinstance(method, Pard | DFlash) or method.mask_token_id is not None:
        return
    drafter = subject.draft if isinstance(method, Pard) else subject.drafter
    if drafter is not None and drafter.mask_token is None:
        names = "pard_token" if isinstance(method, Pard) else "mask_token_id"
        is_ours = subject.recipe.backend == "reference"
        yield Finding(
            "mask-token",
            "blocking" if is_ours else "warning",
            subject.where_model("draft"),
            f"the drafter's config.json names no {names}",
            "it drafts for tokens of this id"
            if is_ours
            else "TensorRT-LLM takes the id behind the last token instead; with "
            "another id than in training hardly a draft is accepted",
            "set speculation.mask_token_id to the id that the drafter was trained with",
        )
