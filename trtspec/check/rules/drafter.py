"""Whether a drafter that is no model of its own fits the target and the recipe."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding, Severity
from trtspec.check.subject import Subject
from trtspec.methods.medusa import Medusa
from trtspec.models.drafter import DrafterInfo
from trtspec.models.info import ModelInfo

_OTHER_IDS = (
    "with other token ids the output stays right, but hardly a draft is accepted"
)
_OTHER_TARGET = "choose the drafter that was trained for this target model"


def hidden_size(subject: Subject) -> Iterator[Finding]:
    """Refuse a drafter that was trained on hidden states of another size."""
    target, drafter = subject.target, subject.drafter
    if target is None or drafter is None:
        return
    if drafter.fused_values is not None and drafter.fused_values % target.hidden_size:
        yield Finding(
            "drafter-hidden-size",
            "blocking",
            subject.where_model("draft"),
            f"the {drafter.kind} drafter reads {drafter.fused_values} values, no whole "
            f"number of the target model's hidden states of {target.hidden_size}",
            "its first projection takes states of the target side by side",
            _OTHER_TARGET,
        )
    if drafter.hidden_size is not None and drafter.hidden_size != target.hidden_size:
        yield Finding(
            "drafter-hidden-size",
            "blocking",
            subject.where_model("draft"),
            f"the {drafter.kind} drafter has hidden_size {drafter.hidden_size}, the "
            f"target model {target.hidden_size}",
            "it reads the target's hidden states, so that both must be equal",
            _OTHER_TARGET,
        )


def drafter_vocabulary(subject: Subject) -> Iterator[Finding]:
    """Hold the tokens that a drafter can propose against the target's.

    TensorRT-LLM gives the drafter the target's ``vocab_size`` and loads the drafter's
    rows into that (tensorrt_llm/models/{medusa,eagle}/config.py). The reference engine
    leaves out rows that the target does not have.
    """
    target, drafter = subject.target, subject.drafter
    if target is None or drafter is None or drafter.vocabulary_rows is None:
        return
    if drafter.target_vocabulary is not None:
        yield from _made_for_vocabulary(subject, target, drafter)
    elif drafter.vocabulary_rows != target.vocabulary_rows:
        is_ours = subject.recipe.backend == "reference"
        yield Finding(
            "drafter-vocabulary",
            "warning" if is_ours else severity_of(drafter),
            subject.where_model("draft"),
            f"the {drafter.kind} drafter has {drafter.vocabulary_rows} vocabulary "
            f"rows{by_configuration(drafter)}, the target model "
            f"{target.vocabulary_rows}",
            _OTHER_IDS
            if is_ours
            else "TensorRT-LLM loads the drafter's rows into those of the target",
            _OTHER_TARGET,
        )


def _made_for_vocabulary(
    subject: Subject, target: ModelInfo, drafter: DrafterInfo
) -> Iterator[Finding]:
    """Point at a drafter whose configuration names another target's vocabulary.

    No more than a warning: padding alone makes such a difference, and what the drafter
    proposes is verified all the same.
    """
    if drafter.target_vocabulary != target.vocabulary_rows:
        yield Finding(
            "drafter-vocabulary",
            "warning",
            subject.where_model("draft"),
            f"the {drafter.kind} drafter was made for {drafter.target_vocabulary} "
            f"vocabulary rows, the target model has {target.vocabulary_rows}",
            _OTHER_IDS,
            _OTHER_TARGET,
        )


def medusa_heads(subject: Subject) -> Iterator[Finding]:
    """Hold the heads and layers that a recipe takes against those that are there.

    ``config.json`` proves neither: that of FasterDecoding/medusa-vicuna-7b-v1.3 names 2
    heads, and TensorRT-LLM's own example takes 4 from its weights
    (examples/medusa/README.md).
    """
    method, drafter = subject.recipe.speculation, subject.drafter
    if not isinstance(method, Medusa) or drafter is None:
        return
    if subject.recipe.backend == "reference":  # it takes as many as the tree is deep
        return
    there = f"of the checkpoint{by_configuration(drafter)}"
    if drafter.heads is not None and method.num_heads > drafter.heads:
        yield Finding(
            "medusa-heads",
            severity_of(drafter),
            subject.where("speculation", "num_heads"),
            f"num_heads {method.num_heads} is above the {drafter.heads} heads {there}",
            "the conversion fails at the first head that is not there",
            f"write num_heads: {drafter.heads}{_fewer_levels(method, drafter.heads)}"
            + ("" if drafter.is_counted else ", unless the weights hold more"),
        )
    if drafter.head_layers is not None and method.num_layers != drafter.head_layers:
        yield Finding(
            "medusa-heads",
            severity_of(drafter),
            subject.where("speculation", "num_layers"),
            f"num_layers {method.num_layers} is not the {drafter.head_layers} layer(s) "
            f"per head {there}",
            "the conversion looks for each head's output weight behind its last layer",
            f"set num_layers to {drafter.head_layers}",
        )


def _fewer_levels(method: Medusa, heads: int) -> str:
    """Ask for a tree that so many heads can fill, one level each."""
    if method.shape.depth <= heads:
        return ""
    return f", and keep only the paths of tree that have {heads} numbers or fewer"


def eagle_bias(subject: Subject) -> Iterator[Finding]:
    """Point at EAGLE weights without the bias that the conversion reads.

    Seen with yuhuili/EAGLE-LLaMA3-Instruct-8B: KeyError on fc.bias
    (https://github.com/NVIDIA/TensorRT-LLM/issues/2588).
    """
    drafter = subject.drafter
    if drafter is None or drafter.has_fc_bias is not False:
        return
    if subject.recipe.backend == "reference":
        return
    known = "its weights hold none" if drafter.is_counted else "config.json: bias false"
    yield Finding(
        "eagle-bias",
        severity_of(drafter),
        subject.where_model("draft"),
        f"the EAGLE drafter's projection has no bias fc.bias ({known})",
        "TensorRT-LLM's engine has one, and its conversion fails without: KeyError",
        "choose an EAGLE drafter with fc.bias, such as those for Vicuna and Llama 2",
    )


def severity_of(drafter: DrafterInfo) -> Severity:
    """What the tensors say is certain; a published configuration may be wrong."""
    return "blocking" if drafter.is_counted else "warning"


def by_configuration(drafter: DrafterInfo) -> str:
    """Say where a figure is from, unless the tensors tell it."""
    return "" if drafter.is_counted else " by its config.json"
