"""Where a text ends that has stop strings, whatever tokens they came in.

TensorRT-LLM looks for a stop string as the tokens that it has when it stands alone
(``SamplingParams._get_stop_words`` in tensorrt_llm/sampling_params.py), and misses it
where the output has other tokens: in the middle of one, say. So the text is searched
here as well, and the request ended at the server where it is found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trtspec.serve.proxy.events import choices_of, document_of, event_of

_DONE = b"data: [DONE]\n\n"


def stops_of(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Give the stop strings to look for; none if the client wants to see them."""
    if body.get("include_stop_str_in_output"):
        return ()
    given = body.get("stop")
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list):
        return ()
    return tuple(stop for stop in listed if isinstance(stop, str) and stop)


class TextCutter:
    """Gives a text that comes in pieces, up to the first of some stop strings.

    The first is the one that is complete first, so that pieces make no difference.
    Only what may be the beginning of one is held back.

    :ivar found: the stop string; empty as long as there was none.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
        self._held = ""
        self.found = ""

    def add(self, piece: str) -> str:
        """Take a piece; give what is known to be of the output."""
        if self.found:
            return ""
        text = self._held + piece
        places = ((text.find(stop), stop) for stop in self._stops)
        ends = [(at + len(stop), at, stop) for at, stop in places if at >= 0]
        if ends:  # that which is complete first, as the text grows
            _, place, self.found = min(ends)
            self._held = ""
            return text[:place]
        known = len(text) - self._claimed(text)
        self._held = text[known:]
        return text[:known]

    def finish(self) -> str:
        """Give what was held back: nothing comes behind it."""
        rest, self._held = self._held, ""
        return rest

    def _claimed(self, text: str) -> int:
        """Characters at the end that a stop string may begin with."""
        longest = max(map(len, self._stops)) - 1
        for count in range(min(longest, len(text)), 0, -1):
            if any(stop.startswith(text[-count:]) for stop in self._stops):
                return count
        return 0


class Stopper:
    """Cuts the answers of one request.

    :param choices: how many there are.
    :param usage_wanted: whether a client waits for token counts at the end.
    :param usage_everywhere: whether it wants them in each event.
    :ivar ended: whether all answers of a stream have met a stop string.
    """

    def __init__(
        self,
        stops: Sequence[str],
        *,
        choices: int = 1,
        usage_wanted: bool = False,
        usage_everywhere: bool = False,
    ) -> None:
        self._stops, self._choices = stops, choices
        self._usage_wanted, self._usage_everywhere = usage_wanted, usage_everywhere
        self._cutters: dict[object, TextCutter] = {}
        self._usage: object = None
        self.ended = False

    def whole(self, content: dict[str, Any]) -> dict[str, Any]:
        """Cut an answer in one piece; its token counts stay the server's."""
        for choice in choices_of(content):
            place, key = _text_of(choice)
            cutter = TextCutter(self._stops)
            text = cutter.add(place[key]) + cutter.finish() if place else ""
            if place and cutter.found:
                place[key] = text
                _mark(choice, cutter)
        return content

    def event(self, event: bytes) -> list[bytes]:
        """Give what is left of an event of a stream, and the end if this is it."""
        content = document_of(event)
        if content is None or not content.get("choices"):
            return [event]
        changed = self._take_usage(content)
        kept = []
        for choice in choices_of(content):
            keep, cut = self._cut(choice)
            changed |= cut or not keep
            kept += [choice] if keep else []
        content["choices"] = kept
        events = [event_of(content) if changed else event] if kept else []
        return [*events, *self._end(content)]

    def _take_usage(self, content: dict[str, Any]) -> bool:
        """Note the counts up to here; whether the event has them no more."""
        if content.get("usage") is not None:
            self._usage = content["usage"]
        if self._usage_everywhere or "usage" not in content:
            return False
        del content["usage"]
        return True

    def _cut(self, choice: dict[str, Any]) -> tuple[bool, bool]:
        """Cut a piece of an answer; whether to keep it, and whether it was changed."""
        index = choice.get("index")
        cutter = self._cutters.setdefault(index, TextCutter(self._stops))
        if cutter.found:
            return False, True
        place, key = _text_of(choice)
        before = place[key] if place else ""
        text = cutter.add(before)
        if cutter.found:
            _mark(choice, cutter)
        elif choice.get("finish_reason"):
            text += cutter.finish()
        if place is None:
            place, key = _place_for(choice)
        if text == before:
            return True, bool(cutter.found)
        place[key] = text
        told = choice.get("logprobs") or choice.get("token_ids")
        return bool(text or choice.get("finish_reason") or told), True

    def _end(self, content: dict[str, Any]) -> list[bytes]:
        """Give the end of a stream all of whose answers have met a stop string."""
        stopped = sum(bool(cutter.found) for cutter in self._cutters.values())
        if stopped < self._choices or self.ended:
            return []
        if self._usage is None and self._usage_wanted:
            return []  # they come at the end only: that has to be waited for
        self.ended = True
        if self._usage is None:
            return [_DONE]
        counts = {**content, "choices": [], "usage": self._usage}
        return [event_of(counts), _DONE]


def _text_of(choice: dict[str, Any]) -> tuple[Any, str]:
    """Find where a choice has its text; None if it has none."""
    for place, key in (
        (choice, "text"),
        (choice.get("delta"), "content"),
        (choice.get("message"), "content"),
    ):
        if isinstance(place, dict) and isinstance(place.get(key), str):
            return place, key
    return None, ""


def _place_for(choice: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Find where a choice without a text would have it."""
    if isinstance(choice.get("delta"), dict):
        return choice["delta"], "content"
    return choice, "text"


def _mark(choice: dict[str, Any], cutter: TextCutter) -> None:
    choice["finish_reason"], choice["stop_reason"] = "stop", cutter.found
