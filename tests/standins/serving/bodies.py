"""Which request bodies are accepted, and what sampling do they ask for?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.standins.llm.sampling import SamplingParams
from trtspec.trtllm.facts.serving import RequestField

STREAM_OPTIONS = {"include_usage", "continuous_usage_stats"}
GUIDES = {"json_object", "json_schema", "json", "regex", "ebnf", "structural_tag"}


class BadRequestError(ValueError):
    """Answered with 400."""


def require_fields(body: Any, known: Mapping[str, RequestField]) -> None:
    """Refuse a body with a field that the server does not know, or without one."""
    if not isinstance(body, dict):
        raise BadRequestError("Input should be a valid dictionary")
    for field in known.values():
        if field.required and field.name not in body:
            raise BadRequestError(f"{field.name}: Field required")
    for name in sorted(set(body) - set(known)):
        raise BadRequestError(f"{name}: Extra inputs are not permitted")
    for name in sorted(set(body.get("stream_options") or {}) - STREAM_OPTIONS):
        raise BadRequestError(f"stream_options.{name}: Extra inputs are not permitted")
    if body.get("stream_options") and not body.get("stream"):
        raise BadRequestError("stream_options can only be defined with stream")


def sampling(
    body: dict[str, Any], known: Mapping[str, RequestField], guided: str | None
) -> SamplingParams:
    """Sampling parameters of a body, with the server's own defaults.

    :param guided: the guided decoding backend, if there is one.
    """
    given: dict[str, Any] = {}
    for field in known.values():
        value = body.get(field.name)
        value = field.default if value is None else value
        if field.parameter and value is not None:
            given[field.parameter] = value
    form = given.pop("guided_decoding", None)
    if form and form.get("type", "text") in GUIDES:
        if guided is None:
            raise BadRequestError("guided decoding is not enabled")
        given["guided_decoding"] = form
    if given.get("logprobs") is False:
        del given["logprobs"]
    try:
        return SamplingParams(return_perf_metrics=True, **given)
    except (TypeError, ValueError) as error:
        raise BadRequestError(str(error)) from None


def prompts(value: Any) -> list[Any]:
    """The prompts of a completion body: texts or lists of token ids."""
    if isinstance(value, str):
        return [value]
    whole = isinstance(value, list) and value
    if whole and all(isinstance(token, int) for token in value):
        return [value]
    if whole and all(isinstance(one, str | list) for one in value):
        return list(value)
    raise BadRequestError(
        "prompt: Input should be a string, tokens, or a list of these"
    )


def render(checkpoint: Any, template: str | None, body: dict[str, Any]) -> str:
    """The prompt of a chat body.

    :param template: in place of the checkpoint's own.
    """
    import jinja2

    folder = checkpoint.folder
    path, config = folder / "chat_template.jinja", folder / "tokenizer_config.json"
    text = body.get("chat_template") or template
    if text is None and path.is_file():
        text = path.read_text()
    if text is None and config.is_file():
        text = json.loads(config.read_text()).get("chat_template")
    if text is None:
        raise BadRequestError("the tokenizer has no chat template")
    made = jinja2.Environment().from_string(text)
    start = body.get("add_generation_prompt", True)
    return made.render(
        messages=body["messages"],
        add_generation_prompt=start,
        **(body.get("chat_template_kwargs") or {}),
    )
