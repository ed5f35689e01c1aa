"""The stages of a build, and which checkpoints are taken as they are."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.build.artifact import DRAFT, TARGET
from trtspec.build.sources import Source, StageInputs
from trtspec.build.stage import Stage
from trtspec.models.info import ModelInfo
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.pytorch.build.configure import configure_stage
from trtspec.trtllm.pytorch.build.head import head_changes, head_stage
from trtspec.trtllm.pytorch.build.quantize import is_to_be_quantized, quantize_stage


def pytorch_stages(
    inputs: StageInputs, installation: Installation
) -> tuple[Stage, ...]:
    """Plan the stages; what is not known of a checkpoint yet is left out of the keys.

    :raises BuildError: if the recipe cannot be expressed in this version.
    """
    return tuple(_stages(inputs, installation))


def _stages(inputs: StageInputs, installation: Installation) -> Iterator[Stage]:
    if quantizes(inputs):
        yield quantize_stage(inputs)
    changes = head_changes(inputs.draft)
    if inputs.draft is not None and changes:
        yield head_stage(inputs.draft, changes)
    yield configure_stage(inputs, installation)


def checkpoint_links(inputs: StageInputs) -> dict[str, Source]:
    """Say which folders of the artifact lead to a checkpoint as it is."""
    links = {} if quantizes(inputs) else {TARGET: inputs.target}
    if inputs.draft is not None and not head_changes(inputs.draft):
        links[DRAFT] = inputs.draft
    return links


def quantizes(inputs: StageInputs) -> bool:
    """Whether build makes a quantized target of the recipe's."""
    info = inputs.target.info
    target = info if isinstance(info, ModelInfo) else None
    return is_to_be_quantized(inputs.recipe, target)
