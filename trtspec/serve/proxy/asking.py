"""What a client asked for, and what is sent to the server of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from packaging.version import Version
from pydantic import RootModel, ValidationError

from trtspec.serve.openai.errors import BAD_REQUEST, RefusalError, from_faults
from trtspec.serve.openai.fields import AskedSpeculation
from trtspec.serve.proxy.screening import fields_of
from trtspec.serve.proxy.stopping import stops_of
from trtspec.trtllm.facts.serving import RequestPath

SPECULATION = "speculation"
_WITHOUT_EFFECT = (
    *("metadata", "store", "service_tier", "safety_identifier"),
    *("prompt_cache_key", "user"),
)
"""Fields of OpenAI's API that decide nothing of an output."""
_ALL_TOKENS = -1
Encode = Callable[[str], tuple[int, ...]]


class Body(RootModel[dict[str, Any]]):
    """A request; which fields it may have is for the server's release to say."""


def take_speculation(body: dict[str, Any]) -> AskedSpeculation | None:
    """Take our own field out of a body: the server knows no such name.

    :raises RefusalError: if it is not of its form.
    """
    value = body.pop(SPECULATION, None)
    if value is None:
        return None
    try:
        return AskedSpeculation.model_validate(value)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        for fault in faults:
            fault["loc"] = (SPECULATION, *fault["loc"])
        raise from_faults(faults) from None


def count_choices(body: Mapping[str, Any], most: int) -> int:
    """Give how many answers a request asks for: prompts times n.

    What is no number is left for the server to refuse.

    :raises RefusalError: if they are too many.
    """
    each, prompt = body.get("n"), body.get("prompt")
    several = isinstance(prompt, list) and prompt and not isinstance(prompt[0], int)
    prompts = len(prompt) if isinstance(prompt, list) and several else 1
    is_count = isinstance(each, int) and not isinstance(each, bool) and each > 0
    count = prompts * (each if is_count and isinstance(each, int) else 1)
    if count > most:
        raise RefusalError(
            BAD_REQUEST,
            f"the request asks for {count} answers; allowed are {most}: send several "
            "requests",
            param="prompt" if prompts > 1 else "n",
        )
    return count


def require_stream_options(body: Mapping[str, Any]) -> None:
    """Refuse a ``stream`` or ``stream_options`` that cannot be read.

    :raises RefusalError: saying which.
    """
    if not isinstance(body.get("stream"), bool | None):
        raise RefusalError(BAD_REQUEST, "stream: true or false", param="stream")
    options = body.get("stream_options")
    if options is None:
        return
    if not isinstance(options, dict):
        raise RefusalError(
            BAD_REQUEST, "stream_options: an object", param="stream_options"
        )
    if not body.get("stream"):
        raise RefusalError(
            BAD_REQUEST, "stream_options needs stream: true", param="stream_options"
        )


def usage_wanted(body: Mapping[str, Any]) -> bool:
    """Whether the client asked for token counts at the end of a stream."""
    options = body.get("stream_options")
    return isinstance(options, dict) and bool(options.get("include_usage", True))


def usage_everywhere(body: Mapping[str, Any]) -> bool:
    """Whether the client asked for token counts in each event of a stream."""
    options = body.get("stream_options")
    return isinstance(options, dict) and bool(options.get("continuous_usage_stats"))


def for_server(
    body: Mapping[str, Any], path: RequestPath, model: str, version: Version
) -> dict[str, Any]:
    """Write what is sent: the same request, in the words of the server's release.

    Token counts are asked for at the end of every stream, and with stop strings in
    each event: it may end at any.

    :param model: the server's own name of it.
    """
    known = fields_of(path, version)
    sent = dict(body) | {"model": model}
    for name in _WITHOUT_EFFECT:
        if name in sent and name not in known:
            del sent[name]
    if "max_completion_tokens" in sent and "max_completion_tokens" not in known:
        newer = sent.pop("max_completion_tokens")
        sent["max_tokens"] = sent.get("max_tokens") if newer is None else newer
    if sent.get("top_k") == _ALL_TOKENS:
        sent["top_k"] = 0
    if sent.get("stream"):
        sent["stream_options"] = {**(sent.get("stream_options") or {})}
        sent["stream_options"]["include_usage"] = True
        if stops_of(body):
            sent["stream_options"]["continuous_usage_stats"] = True
    return sent


def prompt_tokens(body: Mapping[str, Any], encode: Encode) -> int:
    """Count the tokens of a request's longest prompt.

    Of a chat the messages' texts count, without what the chat template adds; what
    cannot be read counts as nothing, and is the server's to refuse.

    :param encode: gives the token ids of a text.
    """
    messages = body.get("messages")
    if isinstance(messages, list):
        return sum(len(encode(text)) for each in messages for text in _texts(each))
    prompt = body.get("prompt")
    if isinstance(prompt, list) and prompt and not isinstance(prompt[0], int):
        return max(_length(each, encode) for each in prompt)
    return _length(prompt, encode)


def _length(prompt: object, encode: Encode) -> int:
    if isinstance(prompt, str):
        return len(encode(prompt))
    return len(prompt) if isinstance(prompt, list) else 0


def _texts(message: object) -> list[str]:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return [text for text in texts if isinstance(text, str)]
