"""What TensorRT-LLM's engine backend would refuse, or quietly do differently."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from trtspec.check.finding import Finding
from trtspec.check.rules import Rule
from trtspec.check.subject import Subject
from trtspec.trtllm.combinations.engines import go_together_on_engines
from trtspec.trtllm.engine.rules import (
    flags,
    gpu,
    lengths,
    methods,
    models,
    planning,
    precision,
)
from trtspec.trtllm.environment import software_fits
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.rules.draft_precision import precision_of_each_model
from trtspec.trtllm.rules.drafter_context import drafter_reads_that_far

EngineRule = Callable[[Installation, Subject], Iterable[Finding]]

ENGINE_RULES: tuple[EngineRule, ...] = (
    models.family_is_stated_right,
    models.family_is_supported,
    models.heads_divide,
    models.rotary_scaling_is_carried,
    models.vocabulary_rows_for_logits,
    models.one_kv_pool,
    precision.quantized_eagle,
    precision.quantized_redrafter,
    precision.quantized_medusa_heads,
    precision.kv_cache_is_reusable,
    precision.blocks_are_read_in_this_type,
    precision.calibration_is_there,
    precision.calibration_has_an_effect,
    precision.format_exists,
    precision.documented_type,
    gpu.gpu_is_visible,
    gpu.gpu_has_the_type,
    gpu.gpus_suffice,
    lengths.batch_of_eagle,
    lengths.draft_capacity_holds,
    lengths.draft_has_room,
    lengths.capacity_is_settable,
    lengths.tokens_take_the_longest_input,
    lengths.tokens_are_few_enough,
    methods.tree_is_known,
    methods.lookahead_drafts,
    methods.top_k_is_sampled,
    methods.known_trouble,
    flags.flags_are_known,
    flags.flags_do_no_harm,
    planning.family_is_known,
    planning.commands_are_established,
    go_together_on_engines,
    drafter_reads_that_far,
    precision_of_each_model,
    software_fits,
)


def engine_rules(installation: Installation) -> tuple[Rule, ...]:
    """Give the rules for what is installed, or assumed to be."""
    return tuple(partial(rule, installation) for rule in ENGINE_RULES)
