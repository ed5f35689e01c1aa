"""What the events of one stream say, put together."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trtspec.bench.http.drafts import Told, whole_number
from trtspec.bench.http.reply import Event
from trtspec.bench.http.words import message_in
from trtspec.trtllm.pytorch.run.server_events import DONE

LONGEST = 300
"""Most characters of what a server said that a message shows."""
_DONE = DONE.encode()


class AnswerError(Exception):
    """The reply is no answer that can be counted."""


@dataclass(slots=True)
class Answer:
    """What the events said so far.

    :ivar arrived: of each chunk its time, and the tokens of the output up to there;
        None if the server does not say.
    :ivar ids: token ids, if the server gives them with the text.
    """

    arrived: list[tuple[float, int | None]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    usage: Mapping[str, Any] = field(default_factory=dict)
    told: Told = field(default_factory=Told)
    finish: str = ""
    done: bool = False

    def take(self, event: Event) -> None:
        """Read the next event.

        :raises AnswerError: if it is an error, or none of this API.
        """
        if self.done:
            return
        if event.data == _DONE:
            self.done = True
            return
        content = _content(event.data)
        usage = _map(content.get("usage"))
        self.usage = usage or self.usage
        choice = _choice(content)
        self.told.take(content, choice)
        if choice:
            self._add(event.time, choice, whole_number(usage.get("completion_tokens")))

    def _add(self, time: float, choice: Mapping[str, Any], so_far: int | None) -> None:
        """Take a choice's text and end.

        :param so_far: tokens of the output up to here, where every event has the usage
            (``continuous_usage_stats`` of vLLM and TensorRT-LLM).
        """
        ids = choice.get("token_ids")
        if isinstance(ids, list) and None not in map(whole_number, ids):
            self.ids += ids
            so_far = len(self.ids) if so_far is None else so_far
        if finish := choice.get("finish_reason"):
            self.finish = str(finish)
        text = _text(choice)
        if not (text or finish):
            return
        self.texts.append(text)
        if self.arrived and self.arrived[-1][0] == time:
            self.arrived.pop()  # they came together
        self.arrived.append((time, so_far))

    def chunks(self, tokens: int) -> tuple[tuple[float, int | None], ...]:
        """Give each chunk's time and tokens; None where the counts do not add up.

        :param tokens: of the whole output, as the usage says.
        """
        totals = [so_far for _, so_far in self.arrived]
        before, counts = 0, list[int]()
        for total in totals:
            if total is None or total < before:
                break
            counts.append(total - before)
            before = total
        if len(counts) < len(totals) or before != tokens:
            return tuple((time, None) for time, _ in self.arrived)
        return tuple(zip((time for time, _ in self.arrived), counts, strict=True))


def _content(data: bytes) -> Mapping[str, Any]:
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):  # no JSON, or no UTF-8
        content = None
    if not isinstance(content, Mapping):
        raise AnswerError(
            f"the server sent an event that is no JSON object: {shown(data)}"
        )
    if content.get("error") or content.get("object") == "error":
        raise AnswerError(f"the server failed: {message_in(dict(content))[:LONGEST]}")
    return content


def _choice(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give the event's choice; empty if it has none."""
    choices = content.get("choices") or [{}]
    if not isinstance(choices, list) or not isinstance(choices[0], Mapping):
        said = repr(choices)[:LONGEST]
        raise AnswerError(f"the server sent choices that are none: {said}")
    return choices[0]


def _text(choice: Mapping[str, Any]) -> str:
    """Give what is new: of a chat also thoughts, which some servers keep apart.

    vLLM and TensorRT-LLM name them ``reasoning`` or ``reasoning_content``; a server
    that sends both sends them twice.
    """
    delta = _map(choice.get("delta"))
    thought = delta.get("reasoning_content") or delta.get("reasoning")
    parts = (thought, delta.get("content"), choice.get("text"))
    return "".join(part for part in parts if isinstance(part, str))


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def shown(data: bytes) -> str:
    """Quote what a server sent, cut if it is long."""
    text = data.decode(errors="replace")
    return repr(text[:LONGEST] + ("…" if len(text) > LONGEST else ""))
