"""How completions are shown: streamed text, one JSON line, a line of figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from trtspec.run.types import Chunk, Completion, Request


def json_line(
    completion: Completion, request: Request, *, drafted_known: bool = True
) -> str:
    """Give one request's result as one line; times in seconds, null where undefined.

    It is ASCII: any encoding can hold it.

    :param drafted_known: whether the engine counts drafted tokens.
    """
    known = drafted_known or completion.drafted > 0
    return json.dumps(
        {
            "id": completion.request_id,
            "speculation": request.speculate,
            "prompt_tokens": completion.prompt_tokens,
            "output_tokens": len(completion.tokens),
            "tokens": completion.tokens,
            "text": completion.text,
            "finish_reason": completion.finish_reason,
            "ttft_s": completion.ttft,
            "tpot_s": completion.tpot,
            "e2e_s": completion.e2e,
            "steps": completion.steps,
            "drafted": completion.drafted if known else None,
            "accepted": completion.accepted,
            "acceptance_rate": completion.acceptance_rate,
            "acceptance_length": completion.acceptance_length,
            "lossy": completion.lossy or None,
        }
    )


def totals(completions: Sequence[Completion], *, drafted_known: bool = True) -> str:
    """Sum up some completions in one line.

    :param drafted_known: whether the engine counts drafted tokens; if not, none counted
        does not mean that none was drafted.
    """
    tokens = sum(len(c.tokens) for c in completions)
    begin = min(c.submitted_at for c in completions)
    seconds = max(c.last_token_at for c in completions) - begin
    parts = [f"{tokens} tokens in {seconds:.2f} s"]
    if seconds > 0:
        parts.append(f"{tokens / seconds:.1f} tokens/s")
    parts += _acceptance(completions, drafted_known)
    parts += [
        f"LOSSY: {reason}" for reason in sorted({c.lossy for c in completions} - {""})
    ]
    return ", ".join(parts)


def _acceptance(completions: Sequence[Completion], drafted_known: bool) -> list[str]:
    """Give rate and length, as far as they are known."""
    steps = sum(c.steps for c in completions)
    drafted = sum(c.drafted for c in completions)
    accepted = sum(c.accepted for c in completions)
    if not (drafted or accepted) and drafted_known:
        return ["nothing drafted"]
    if not steps:
        return ["acceptance not told per request"]
    # one request whose drafts are not known spoils the rate of all
    whole = drafted_known or all(c.drafted for c in completions if c.steps)
    rate = [f"acceptance rate {accepted / drafted:.2f}"] if drafted and whole else []
    return [*rate, f"acceptance length {1 + accepted / steps:.2f}"]


class OrderedText:
    """Streams the first unfinished request; the others wait for their turn.

    :param write: takes a piece of text, without a newline added.
    """

    def __init__(
        self, requests: Sequence[Request], write: Callable[[str], None]
    ) -> None:
        self._turn = [request.id for request in requests]
        self._titles = len(requests) > 1
        self._kept: dict[str, str] = {}
        self._done: set[str] = set()
        self._write = write
        self._open(first=True)

    def add(self, chunk: Chunk) -> None:
        """Take the next chunk of any request."""
        self._kept[chunk.request_id] = self._kept.get(chunk.request_id, "") + chunk.text
        if chunk.completion:
            self._done.add(chunk.request_id)
        self._show()

    def _show(self) -> None:
        while self._turn:
            current = self._turn[0]
            if text := self._kept.pop(current, ""):
                self._write(text)
            if current not in self._done:
                return
            self._write("\n")
            self._turn.pop(0)
            self._open()

    def _open(self, first: bool = False) -> None:
        if self._titles and self._turn:
            self._write(f"{'' if first else chr(10)}[{self._turn[0]}]\n")
