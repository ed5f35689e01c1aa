"""How the answer to a completion is written, whole and in pieces."""

from __future__ import annotations

from collections.abc import Sequence

from trtspec.run import Chunk
from trtspec.serve.openai.answers import (
    CompletionAnswer,
    CompletionChoice,
    CompletionLogprobs,
    Usage,
)
from trtspec.serve.writing.base import Choice, Head, figures, finish_of, has_news


class CompletionWriter:
    """Writes text_completion, whole and in pieces."""

    def __init__(self, head: Head) -> None:
        self._head = head

    def whole(self, choices: Sequence[Choice], usage: Usage) -> str:
        """Write the answer in one document."""
        written = []
        for choice in choices:
            done = choice.completion
            assert done is not None, "all have ended"
            everything = Chunk(
                "", tuple(choice.tokens), choice.text, 0.0, done, (*choice.logprobs,)
            )
            written.append(self._choice(choice, everything, first=True))
        return self._answer(written, usage).model_dump_json()

    def piece(
        self, choice: Choice, chunk: Chunk, usage: Usage | None = None
    ) -> str | None:
        """Write what a chunk brought; None if it brought nothing to tell."""
        if not has_news(chunk, self._head):
            return None
        first, choice.begun = not choice.begun, True
        written = self._choice(choice, chunk, first=first)
        return self._answer([written], usage).model_dump_json()

    def last(self, usage: Usage) -> str:
        """Write the chunk that has the token counts only."""
        return self._answer([], usage).model_dump_json()

    def _answer(
        self, choices: list[CompletionChoice], usage: Usage | None = None
    ) -> CompletionAnswer:
        head = self._head
        return CompletionAnswer(
            id=head.id,
            created=head.created,
            model=head.model,
            choices=choices,
            usage=usage,
        )

    def _choice(self, choice: Choice, chunk: Chunk, *, first: bool) -> CompletionChoice:
        head, done = self._head, chunk.completion
        prompt = list(head.prompts[choice.prompt]) if first and head.token_ids else None
        return CompletionChoice(
            index=choice.index,
            text=chunk.text,
            logprobs=self._logprobs(choice, chunk) if chunk.logprobs else None,
            finish_reason=finish_of(done),
            speculation=figures(head, done) if done else None,
            token_ids=list(chunk.tokens) if head.token_ids else None,
            prompt_token_ids=prompt,
        )

    def _logprobs(self, choice: Choice, chunk: Chunk) -> CompletionLogprobs:
        read = self._head.pieces.text
        texts = [read(one.token) for one in chunk.logprobs]
        offsets = []
        for text in texts:
            offsets.append(choice.offset)
            choice.offset += len(text)
        return CompletionLogprobs(
            tokens=texts,
            token_logprobs=[one.logprob for one in chunk.logprobs],
            top_logprobs=[
                {read(token): value for token, value in reversed(one.top)}
                for one in chunk.logprobs
            ],
            text_offset=offsets,
        )
