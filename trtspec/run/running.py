"""One request while it runs: its tokens, its text, its counts, and when it ends."""

from __future__ import annotations

from collections.abc import Iterable

from trtspec.methods import Method
from trtspec.run.text import TextStream
from trtspec.run.types import Chunk, Completion, DraftStep, FinishReason, Request


class Running:
    """The state of a running request.

    :param request: what was asked for.
    :param end_tokens: ids that end the output, unless the request ignores them.
    :param submitted_at: ``time.perf_counter`` seconds of submission.
    """

    def __init__(
        self,
        request: Request,
        stream: TextStream,
        end_tokens: frozenset[int],
        submitted_at: float,
    ) -> None:
        self.request = request
        self.tokens = list(request.prompt)
        self.cancelled = False
        self.completion = Completion(
            request.id, len(request.prompt), submitted_at=submitted_at
        )
        self._stream = stream
        self._end_tokens = frozenset() if request.ignore_eos else end_tokens
        self._finish: FinishReason | None = None

    @property
    def finished(self) -> bool:
        """Whether nothing more will be emitted."""
        return self._finish is not None

    @property
    def room(self) -> int:
        """Tokens that may still be emitted."""
        return self.request.max_new_tokens - len(self.completion.tokens)

    def draft_limit(self, method: Method, running: int) -> int:
        """Most tokens worth proposing: the last one that fits is never a draft.

        :param method: the recipe's; the request's own parameters go before.
        :param running: requests in the batch.
        """
        if not self.request.speculate:
            return 0
        chosen = self.request.speculation or method
        return min(chosen.draft_length_at(running), self.room - 1)

    def count_step(self, drafted: int, accepted: int, depth: int) -> None:
        """Count one verification step of this request.

        :param depth: longest path offered; for a chain the same as ``drafted``.
        """
        done = self.completion
        done.steps += 1
        done.drafted += drafted
        done.accepted += accepted
        done.draft_steps = done.draft_steps or []
        done.draft_steps.append(DraftStep(drafted, depth, accepted))

    def emit(self, tokens: Iterable[int], now: float) -> Chunk:
        """Take a step's tokens up to the one that ends the request.

        :param now: ``time.perf_counter`` seconds at which the tokens were there.
        """
        emitted: list[int] = []
        for token in tokens:
            emitted.append(token)
            self._finish = self._ends_with(token, len(emitted))
            if self._finish:
                break
        self.tokens += emitted
        self.completion.tokens += emitted
        if len(self.completion.tokens) == len(emitted):
            self.completion.first_token_at = now
        self.completion.last_token_at = now
        return self._chunk(tuple(emitted), now)

    def cancel(self, now: float) -> Chunk:
        """End the request as it is."""
        self._finish = "cancelled"
        return self._chunk((), now)

    def _ends_with(self, token: int, emitted: int) -> FinishReason | None:
        if token in self._end_tokens or self._stream.add(token):
            return "stop"
        return "length" if emitted >= self.room else None

    def _chunk(self, tokens: tuple[int, ...], now: float) -> Chunk:
        if self._finish is None:
            text = self._stream.release()
            return Chunk(self.request.id, tokens, text, now)
        text = self._stream.finish()
        self.completion.text = self._stream.text
        self.completion.finish_reason = self._finish
        return Chunk(self.request.id, tokens, text, now, self.completion)
