"""A request in TensorRT-LLM's words: as ``SamplingParams``, and as the body of a POST.

``tensorrt_llm/sampling_params.py`` and ``tensorrt_llm/serve/openai_protocol.py``
(CompletionRequest) have the names.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from trtspec.run.types import Request, SamplingParams

GUIDED = "guided_decoding"
GUIDES: Mapping[str, tuple[str, str]] = {
    "json_object": ("json_object", ""),
    "json": ("json", "schema"),
    "regex": ("regex", "regex"),
    "grammar": ("ebnf", "ebnf"),
}
"""Field of ``GuidedDecodingParams`` → type of response_format, and its field."""


def is_greedy(sampling: SamplingParams) -> bool:
    """Whether TensorRT-LLM takes the likeliest token; top-k 1 leaves no other."""
    return sampling.greedy or sampling.top_k == 1


def sampling_arguments(request: Request, end_tokens: Collection[int]) -> dict[str, Any]:
    """The arguments of ``SamplingParams`` for a request, its text left to us.

    Greedy is said by leaving temperature, top-k and top-p unset, which every release
    takes so. Of the controls guided decoding is still a map.

    :param end_tokens: ids that end an output.
    """
    ends = sorted(end_tokens)
    arguments: dict[str, Any] = {
        "max_tokens": request.max_new_tokens,
        "detokenize": False,
        "ignore_eos": request.ignore_eos,
        **({"end_id": ends[0]} if ends else {}),
    }
    if not is_greedy(request.sampling):
        arguments |= _sampled(request.sampling)
    arguments |= request.controls
    if stops := _stop_tokens(request, ends[1:]):
        arguments["stop_token_ids"] = stops
    return arguments


def completion_body(
    request: Request, model: str, end_tokens: Collection[int]
) -> dict[str, Any]:
    """The body of POST /v1/completions that streams a request's token ids.

    ``detokenize: false`` makes the server give ids. Greedy must be said: unset, the
    server samples at temperature 1.

    :param model: as GET /v1/models names it.
    """
    greedy = is_greedy(request.sampling)
    sampling = (
        {"temperature": 0.0, "top_k": 1} if greedy else _sampled(request.sampling)
    )
    body: dict[str, Any] = {
        "model": model,
        "prompt": list(request.prompt),
        "max_tokens": request.max_new_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
        "detokenize": False,
        "ignore_eos": request.ignore_eos,
        **sampling,
    }
    body |= request.controls
    if guide := body.pop(GUIDED, None):
        body["response_format"] = _response_format(guide)
    if stops := _stop_tokens(request, sorted(end_tokens)):
        body["stop_token_ids"] = stops
    return body


def _sampled(sampling: SamplingParams) -> dict[str, Any]:
    top_k = {"top_k": sampling.top_k} if sampling.top_k else {}
    return {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
        **top_k,
    }


def _stop_tokens(request: Request, ends: list[int]) -> list[int]:
    asked: Any = request.controls.get("stop_token_ids", ())
    return [*asked, *([] if request.ignore_eos else ends)]


def _response_format(guide: Any) -> dict[str, Any]:
    """Say a guide of ``GuidedDecodingParams`` as the server's response_format."""
    kind, value = next(iter(guide.items()))
    name, field = GUIDES[kind]
    return {"type": name} | ({field: value} if field else {})
