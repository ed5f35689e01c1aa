"""What is asked of a server: the JSON of one request.

Names are those of OpenAI's API. ``ignore_eos`` and ``top_k`` are extensions that vLLM
(vllm/entrypoints/openai/chat_completion/protocol.py), TensorRT-LLM
(tensorrt_llm/serve/openai_protocol.py) and SGLang have in common; they are sent only
where they are asked for, because TensorRT-LLM and OpenAI refuse names they do not know.
``speculation`` is an extension of trtspec's own server, and sent to no other.
"""

from __future__ import annotations

import json
from typing import Any

from trtspec.bench.driver import BenchPrompt, Call
from trtspec.bench.http.address import Api


def request_body(
    call: Call, model: str, api: Api, *, switchable: bool = False
) -> bytes:
    """Write a request that streams, and tells its token counts at the end.

    :param model: as the server names it.
    :param switchable: whether the server lets a request decode without drafting.
    """
    body: dict[str, Any] = {
        "model": model,
        **_prompt(call.prompt, api),
        # newer as max_completion_tokens, which older servers do not know
        "max_tokens": call.output_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": call.sampling.temperature,
        "top_p": call.sampling.top_p,
        "seed": call.sampling.seed,
    }
    if call.sampling.top_k:
        body["top_k"] = call.sampling.top_k
    if call.ignore_end:
        body["ignore_eos"] = True
    if switchable and (asked := speculation_of(call)):
        body["speculation"] = asked
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def speculation_of(call: Call) -> dict[str, Any]:
    """Give what a request asks of speculation; empty for what the server does anyway.

    Of a method's parameters only the draft length can be asked for.
    """
    if not call.speculate:
        return {"enabled": False}
    length = getattr(call.speculation, "draft_length", None)
    return {"draft_length": length} if isinstance(length, int) else {}


def _prompt(prompt: BenchPrompt, api: Api) -> dict[str, Any]:
    """Give the conversation, or for completions its texts without roles."""
    if api == "chat":
        return {"messages": [dict(message) for message in prompt.messages]}
    return {"prompt": "\n\n".join(message["content"] for message in prompt.messages)}
