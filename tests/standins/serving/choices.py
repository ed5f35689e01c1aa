"""What do the answers look like, whole and as parts of a stream?"""

from __future__ import annotations

import json
import time
from typing import Any

from tests.standins.llm.request import RequestOutput


class Shape:
    """Text completions; ``ChatShape`` differs where chat does."""

    whole, part, prefix = "text_completion", "text_completion", "cmpl"

    def __init__(self, model: str, detokenize: bool = True) -> None:
        self.model, self.detokenize = model, detokenize
        self.created = int(time.time())

    def choice(self, index: int, result: RequestOutput) -> dict[str, Any]:
        output = result.outputs[0]
        return self._content(index, result, output.text, output.token_ids)

    def delta(self, index: int, result: RequestOutput) -> dict[str, Any]:
        output = result.outputs[0]
        return self._content(index, result, output.text_diff, output.token_ids_diff)

    def _content(
        self, index: int, result: RequestOutput, text: str, tokens: list[int]
    ) -> dict[str, Any]:
        return {
            "index": index,
            "text": text if self.detokenize else "",
            "token_ids": None if self.detokenize else tokens,
            "logprobs": None,
            **_common(result),
        }

    def opening(self, index: int) -> dict[str, Any] | None:
        """The choice of a part that comes before the first token, if there is one."""
        return None

    def document(self, request_id: int, choices: list[Any], **rest: Any) -> Any:
        kind = self.part if "stream" in rest else self.whole
        rest.pop("stream", None)
        return {
            "id": f"{self.prefix}-{request_id}",
            "object": kind,
            "created": self.created,
            "model": self.model,
            "choices": choices,
            **rest,
        }

    def event(self, request_id: int, choices: list[Any], **rest: Any) -> str:
        document = self.document(request_id, choices, stream=True, **rest)
        return f"data: {json.dumps(document)}\n\n"


class ChatShape(Shape):
    """Chat completions."""

    whole, part, prefix = "chat.completion", "chat.completion.chunk", "chatcmpl"

    def choice(self, index: int, result: RequestOutput) -> dict[str, Any]:
        content = result.outputs[0].text
        message = {"role": "assistant", "content": content, "tool_calls": []}
        return {"index": index, "message": message, **_common(result)}

    def delta(self, index: int, result: RequestOutput) -> dict[str, Any]:
        delta = {"content": result.outputs[0].text_diff}
        found = {"index": index, "delta": delta, **_common(result)}
        return {key: value for key, value in found.items() if value is not None}

    def opening(self, index: int) -> dict[str, Any] | None:
        return {"index": index, "delta": {"role": "assistant", "content": ""}}


def _common(result: RequestOutput) -> dict[str, Any]:
    output = result.outputs[0]
    return {
        "finish_reason": output.finish_reason,
        "stop_reason": output.stop_reason,
        "avg_decoded_tokens_per_iter": result.avg_decoded_tokens_per_iter,
    }


def usage(results: list[RequestOutput]) -> dict[str, Any]:
    """Token counts of an answer."""
    prompt = sum(len(result.prompt_token_ids) for result in results)
    completion = sum(result.outputs[0].length for result in results)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0},
    }
