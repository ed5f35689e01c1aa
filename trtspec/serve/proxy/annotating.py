"""How an answer of ``trtllm-serve`` passes through: as it is, with a word added.

Events of a stream are passed on byte for byte, but for three: the last one of each
choice gets what speculation did; the token counts are dropped if only we asked for
them; and an error is put into OpenAI's form.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import Any

from trtspec.serve.openai.errors import FAILED, RefusalError
from trtspec.serve.proxy.events import choices_of, data_of, document_of, event_of
from trtspec.serve.proxy.figures import figures

DONE = b"[DONE]"
# quotes inside of a JSON text have a backslash, so that no text looks like a field
_FINISH = re.compile(rb'"finish_reason"\s*:\s*"')
_NO_CHOICES = re.compile(rb'"choices"\s*:\s*\[\s*\]')
_ERROR = re.compile(rb'"(?:error"|object"\s*:\s*"error")')
_NOTABLE = re.compile(
    b"|".join(each.pattern for each in (_FINISH, _NO_CHOICES, _ERROR)) + rb"|\[DONE\]"
)
_CONTENT = re.compile(
    rb'"(?:text|content|reasoning_content|reasoning|arguments)"\s*:\s*"[^"]'
    rb'|"token_ids"\s*:\s*\[\s*\d'
)


@dataclass(slots=True)
class Account:
    """What is known of an answer, for the metrics and the request log.

    Times are seconds on the clock of ``time.perf_counter``; 0 is none.

    :ivar finished: the finish reason of each choice that has ended.
    :ivar steps: verification steps of all choices; None if not told.
    :ivar failed: the server's own words for a failure; empty if there was none.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finished: dict[int, str] = field(default_factory=dict)
    steps: int | None = None
    accepted: int | None = None
    first_at: float = 0.0
    last_at: float = 0.0
    done: bool = False
    failed: str = ""

    def use(self, usage: object) -> None:
        """Take token counts."""
        if isinstance(usage, dict):
            self.prompt_tokens = _count(usage.get("prompt_tokens"))
            self.completion_tokens = _count(usage.get("completion_tokens"))


class Annotator:
    """Adds to one answer; of one request.

    :param method: of the pool's recipe.
    :param lossy: why the output need not be the target model's own.
    :param choices: how many the request asked for.
    :param usage_wanted: whether the client asked for the token counts of a stream.
    """

    def __init__(
        self, method: str, lossy: str, *, choices: int = 1, usage_wanted: bool = True
    ) -> None:
        self.account = Account()
        self._method, self._lossy = method, lossy
        self._choices, self._usage_wanted = choices, usage_wanted
        self._held: list[dict[str, Any]] = []

    def whole(self, content: dict[str, Any]) -> dict[str, Any]:
        """Add to an answer in one piece."""
        account = self.account
        account.use(content.get("usage"))
        account.last_at = time.perf_counter()
        self._annotate(content)
        account.done = True
        return content

    def event(self, event: bytes) -> list[bytes]:
        """Give what to send on for one event of a stream: none, itself, or more."""
        account = self.account
        if not account.first_at and _CONTENT.search(event):
            account.first_at = time.perf_counter()
        if not _NOTABLE.search(event):
            return [event]
        if _FINISH.search(event):
            return self._last_of_choice(event)
        if _NO_CHOICES.search(event):
            return self._counts(event)
        if data_of(event).strip() == DONE:
            account.done = True
            return [*self._release(), event]
        if _ERROR.search(event) and (error := _error_text(event)):
            account.failed = error
            return [*self._release(), error_event(RefusalError(FAILED, error))]
        return [event]

    def broken(self, error: RefusalError) -> list[bytes]:
        """Give what ends a stream that broke off: what was held back, and the error."""
        self.account.failed = error.message
        return [*self._release(), error_event(error)]

    def _last_of_choice(self, event: bytes) -> list[bytes]:
        content = document_of(event)
        if content is None:
            return [event]
        self.account.last_at = time.perf_counter()
        if self._choices == 1:
            # how many tokens it has is told right behind it
            self._held.append(content)
            return []
        self._annotate(content)
        return [event_of(content)]

    def _counts(self, event: bytes) -> list[bytes]:
        content = document_of(event)
        if content is None or "usage" not in content:
            return [event]
        self.account.use(content["usage"])
        return [*self._release(), *([event] if self._usage_wanted else [])]

    def _release(self) -> list[bytes]:
        held, self._held = self._held, []
        for content in held:
            self._annotate(content)
        return [event_of(content) for content in held]

    def _annotate(self, content: dict[str, Any]) -> None:
        for choice in choices_of(content):
            if not choice.get("finish_reason"):
                continue
            tokens = self.account.completion_tokens if self._choices == 1 else None
            found = figures(self._method, self._lossy, choice, tokens)
            choice["speculation"] = found.model_dump()
            self._note(choice, found.steps, found.accepted)

    def _note(
        self, choice: dict[str, Any], steps: int | None, accepted: int | None
    ) -> None:
        account = self.account
        index = choice.get("index")
        place = index if isinstance(index, int) else len(account.finished)
        account.finished[place] = str(choice["finish_reason"])
        if steps is not None and accepted is not None:
            account.steps = (account.steps or 0) + steps
            account.accepted = (account.accepted or 0) + accepted


def error_event(error: RefusalError) -> bytes:
    """Give the event that ends a stream which failed."""
    return b"data: " + error.document.model_dump_json().encode() + b"\n\n"


def error_text(content: object) -> str:
    """Find the message in what a server says instead of an answer; empty if none.

    ``{"error": "..."}``, ``{"error": {"message": ...}}``, ``{"object": "error",
    "message": ...}`` and FastAPI's ``{"detail": ...}`` are in use.
    """
    if isinstance(content, dict):
        for key in ("error", "message", "detail"):
            if content.get(key):
                return error_text(content[key])
        return ""
    if isinstance(content, list):
        return "; ".join(filter(None, (_fault(each) for each in content)))
    return content if isinstance(content, str) else ""


def _fault(each: object) -> str:
    """Read one of FastAPI's faults: ``{"loc": [...], "msg": ...}``."""
    if not isinstance(each, dict):
        return error_text(each)
    place = each.get("loc")
    where = ".".join(str(p) for p in place[1:]) if isinstance(place, list) else ""
    said = str(each.get("msg") or error_text(each))
    return f"{where}: {said}" if where else said


def _error_text(event: bytes) -> str:
    content = document_of(event)
    if content is None or content.get("choices"):
        return ""
    return error_text(content)


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value
