"""What TensorRT-LLM's backend pytorch would refuse, or quietly do differently."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from trtspec.check.finding import Finding
from trtspec.check.rules import Rule
from trtspec.check.subject import Subject
from trtspec.trtllm.combinations.served import go_together_served
from trtspec.trtllm.environment import software_fits
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.pytorch.build.rules import (
    configuration,
    gpus,
    head_target,
    heads,
    latent,
    quantization,
    requests,
    serving,
    streaming,
    vocabulary,
)
from trtspec.trtllm.rules.draft_precision import precision_of_each_model
from trtspec.trtllm.rules.drafter_context import drafter_reads_that_far

PyTorchRule = Callable[[Installation, Subject], Iterable[Finding]]

PYTORCH_RULES: tuple[PyTorchRule, ...] = (
    configuration.can_be_expressed,
    heads.head_is_read,
    heads.captured_layers_fit,
    head_target.layers_are_the_targets,
    heads.target_has_heads,
    heads.heads_suffice,
    quantization.is_readable,
    quantization.is_as_stored,
    quantization.draft_is_taken_as_it_is,
    quantization.can_be_made_here,
    quantization.calibration_has_an_effect,
    gpus.gpu_is_visible,
    gpus.gpu_has_the_type,
    gpus.gpus_suffice,
    latent.features_of_latent_attention,
    serving.heads_divide,
    serving.chat_template_is_served,
    serving.server_is_here,
    serving.float32_is_unsettled,
    requests.requests_are_honoured,
    streaming.streams_are_whole,
    streaming.stream_options_have_a_stream,
    vocabulary.rows_for_sampled_drafts,
    software_fits,
    go_together_served,
    drafter_reads_that_far,
    precision_of_each_model,
)


def pytorch_rules(installation: Installation) -> tuple[Rule, ...]:
    """Give the rules for what is installed, or assumed to be."""
    return tuple(partial(rule, installation) for rule in PYTORCH_RULES)
