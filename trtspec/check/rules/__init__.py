"""Which rules there are, in the order in which their findings are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from trtspec.check.finding import Finding
from trtspec.check.rules import (
    code,
    draft_vocabulary,
    drafter,
    drafter_parts,
    entry_point,
    forced_acceptance,
    gpu_support,
    limits,
    machine,
    memory,
    method,
    model,
    next_token,
    pair,
    reference_drafter,
    reference_layers,
    reference_settings,
    requests,
    rotary,
    sections,
    tokenizer,
    trained_drafter,
    vocabulary,
    workload,
)
from trtspec.check.subject import Subject

Rule = Callable[[Subject], Iterable[Finding]]

MODEL_RULES: tuple[Rule, ...] = (
    method.runs_on_backend,
    method.keeps_the_output,
    model.wanted_options,
    model.stored_format,
    model.tokenizer,
    model.layers_roll_back,
    model.family_is_supported,
    code.own_code,
    model.stored_quantization,
    vocabulary.token_ids,
    vocabulary.vocabulary_rows,
    tokenizer.special_tokens,
    tokenizer.chat_templates,
    tokenizer.drafters_own_tokenizer,
    pair.draft_is_smaller,
    drafter.hidden_size,
    drafter.drafter_vocabulary,
    rotary.rotary_encoding,
    draft_vocabulary.draft_tables,
    draft_vocabulary.vocabulary_overlap,
    trained_drafter.head_is_told,
    trained_drafter.captured_layers,
    trained_drafter.drafter_block,
    trained_drafter.mask_token,
    drafter.medusa_heads,
    drafter.eagle_bias,
    drafter_parts.drafter_tensors,
    reference_drafter.tree_depth,
    reference_layers.captured_by_head,
    reference_layers.captured_by_block,
    reference_drafter.block_is_told,
    reference_drafter.mask_token_exists,
    reference_drafter.drafter_weights,
    reference_drafter.drafter_context,
    next_token.target_has_heads,
    next_token.heads_are_stored,
    next_token.heads_suffice,
    reference_settings.ignored_settings,
    reference_settings.ignored_sizes,
    limits.context_length,
    limits.draft_fits,
)
"""Rules about a recipe and its models, true on any machine."""

RULES: tuple[Rule, ...] = (
    *MODEL_RULES,
    sections.sections_of_others,
    limits.schedule_reached,
    limits.concurrency,
    limits.output_tokens,
    workload.prompts,
    workload.chat_template,
    requests.request_controls,
    forced_acceptance.forced_acceptance,
    entry_point.own_code_is_there,
    machine.installation,
    machine.memory,
    gpu_support.gpu_is_supported,
    memory.gpu_memory,
    memory.host_cache,
)
"""All rules."""
