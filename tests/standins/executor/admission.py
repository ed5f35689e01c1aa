"""Which requests does an executor take, and what does it cut?"""

from __future__ import annotations

from typing import Any

from tests.standins.executor.engine import Engine
from tests.standins.executor.plans import Speculation
from tests.standins.executor.records import RequestRecord
from tests.standins.executor.sampling import require_modelled
from tests.standins.executor.values import AssertionFailedError, require
from tests.standins.voice import say

NOT_MODELLED = (
    "bad_words",
    "embedding_bias",
    "prompt_tuning_config",
    "lora_config",
    "position_ids",
    "logits_post_processor_name",
    "encoder_input_token_ids",
    "context_phase_params",
    "guided_decoding_params",
    "multimodal_input",
)


class RequestError(Exception):
    """The request is answered with an error, which the engine survives."""

    def __init__(self, what: str) -> None:
        super().__init__(f"Encountered an error when fetching new request: {what}")


def require_accepted(request: Any, plan: Speculation, engine: Engine) -> None:
    """Refuse at once what the leader refuses.

    :raises RuntimeError: a lookahead configuration that the server does not allow.
    :raises NotImplementedError: the stand-in would have to ignore something.
    """
    for name in NOT_MODELLED:
        if getattr(request, name, None) is not None:
            raise NotImplementedError(f"the stand-in does not model {name}")
    require_modelled(request.sampling_config)
    own = request.lookahead_config
    if own is None:
        return
    sizes = (own.max_window_size, own.max_ngram_size, own.max_verification_set_size)
    server = plan.lookahead
    if server is None or any(a > b for a, b in zip(sizes, server, strict=True)):
        raise AssertionFailedError(
            f"Cannot set the request lookahead config {sizes}: the executor's is "
            f"{server}"
        )


def admit(
    record: RequestRecord, engine: Engine, gathers_logits: bool, may_beam: int
) -> None:
    """Check a request against the engine; cut drafts and output to what fits.

    :raises RequestError: it cannot be run.
    """
    request = record.request
    _require_sampling(request, engine, may_beam)
    output = request.output_config
    if output.return_generation_logits and not gathers_logits:
        raise RequestError("generation logits are not gathered by this engine")
    if output.return_context_logits and not engine.build["gather_context_logits"]:
        raise RequestError("context logits are not gathered by this engine")
    longest_input = int(engine.build["max_input_len"])
    size = len(record.prompt)
    if size > longest_input:
        raise RequestError(
            f"Prompt length ({size}) exceeds maximum input length ({longest_input})"
        )
    outside = [t for t in record.prompt if not 0 <= t < engine.vocabulary]
    if outside:
        raise RequestError(f"token id {outside[0]} is not in the vocabulary")
    record.external_draft = _drafts(request, engine, longest_input - size)
    room = int(engine.build["max_seq_len"]) - size
    room -= len(record.external_draft) or engine.max_draft_len
    if record.max_tokens > room:
        _warn(f"number of requested output tokens is changed to {room}")
        record.max_tokens = room
    if room <= 0:
        raise RequestError(f"Prompt length ({size}) leaves no room for output")


def _require_sampling(request: Any, engine: Engine, may_beam: int) -> None:
    sampling, mode = request.sampling_config, engine.mode_name
    if sampling.beam_width > may_beam:
        raise RequestError(f"beam width {sampling.beam_width} > {may_beam}")
    if sampling.beam_width > 1:
        raise NotImplementedError("the stand-in does not model beam search")
    if mode == "medusa" and sampling.temperature not in (None, 1.0):
        raise RequestError(
            f"Medusa supports temperature 1.0 only, not {sampling.temperature}"
        )


def _drafts(request: Any, engine: Engine, room: int) -> tuple[int, ...]:
    config = request.external_draft_tokens_config
    if config is None:
        return ()
    external = engine.mode_name == "draft_tokens_external"
    count, most = len(config.tokens), engine.max_draft_len if external else 0
    if count > most == 0:
        raise RequestError(
            f"Number of draft tokens ({count}) is larger than maximum number of draft "
            "tokens (0)"
        )
    if count > most:
        raise RequestError(
            f"Draft tokens length ({count}) exceeds maximum draft tokens length "
            f"({most})."
        )
    if config.fast_logits:
        raise NotImplementedError("the stand-in does not model fast_logits")
    rows = None if config.logits is None else int(config.logits.shape[1])
    if rows not in (None, engine.vocabulary):
        raise RequestError(
            f"Assertion failed: Incompatible buffer sizes: {rows * count} != "
            f"{engine.vocabulary * count}"
        )
    if count > room:
        _warn(
            f"draft tokens are cut from {count} to {room} by the maximum input length"
        )
    return tuple(config.tokens[: max(room, 0)])


def _warn(what: str) -> None:
    say(f"[TensorRT-LLM][WARNING] {what}")


def require_known(ids: list[int], known: set[int]) -> None:
    """Refuse to wait for requests that never were, or are answered."""
    for one in ids:
        require(one in known, f"request {one} is unknown or already terminated")
