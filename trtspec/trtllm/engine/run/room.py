"""How much fits into an engine: prompts, and drafts behind what was emitted."""

from __future__ import annotations

from trtspec.trtllm.engine.engine_config import EngineConfig


def longest_input(engine: EngineConfig) -> int:
    """Tokens that a request's input may have.

    The runtime goes by the sequence length and by what fits into one forward, whatever
    the engine's ``max_input_len`` is (cpp/tensorrt_llm/batch_manager/trtGptModel.h);
    the smallest of the three is taken.
    """
    longest = min(engine.max_input_len, engine.max_num_tokens)
    return min(longest, engine.max_seq_len - 1)


def draft_room(engine: EngineConfig, tokens: int) -> int:
    """Draft tokens that fit behind ``tokens``; more would be cut, or refused.

    The runtime wants room for input and draft, and for input, draft and output
    (cpp/include/tensorrt_llm/batch_manager/llmRequest.h, validate).
    """
    behind_input = longest_input(engine) - tokens
    in_sequence = (engine.max_seq_len - tokens - 1) // 2
    return max(0, min(behind_input, in_sequence, engine.max_draft_len))
