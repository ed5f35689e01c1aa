"""How the answer to a chat is written, whole and in pieces."""

from __future__ import annotations

from collections.abc import Sequence

from trtspec.run import Chunk, TokenLogprob
from trtspec.serve.openai.answers import (
    AnswerMessage,
    ChatAnswer,
    ChatChoice,
    ChatChunk,
    ChatChunkChoice,
    ChatLogprob,
    ChatLogprobs,
    Delta,
    TopLogprob,
    Usage,
)
from trtspec.serve.writing.base import Choice, Head, figures, finish_of, has_news


class ChatWriter:
    """Writes chat.completion and chat.completion.chunk."""

    def __init__(self, head: Head) -> None:
        self._head = head

    def whole(self, choices: Sequence[Choice], usage: Usage) -> str:
        """Write the answer in one document."""
        head = self._head
        return ChatAnswer(
            id=head.id,
            created=head.created,
            model=head.model,
            choices=[self._choice(choice) for choice in choices],
            usage=usage,
            prompt_token_ids=list(head.prompts[0]) if head.token_ids else None,
        ).model_dump_json()

    def piece(
        self, choice: Choice, chunk: Chunk, usage: Usage | None = None
    ) -> str | None:
        """Write what a chunk brought; None if it brought nothing to tell."""
        if not has_news(chunk, self._head):
            return None
        first, choice.begun = not choice.begun, True
        written = ChatChunkChoice(
            index=choice.index,
            delta=Delta(role="assistant" if first else None, content=chunk.text),
            logprobs=self._logprobs(chunk.logprobs) if chunk.logprobs else None,
            finish_reason=finish_of(chunk.completion),
            speculation=figures(self._head, chunk.completion)
            if chunk.completion
            else None,
            token_ids=list(chunk.tokens) if self._head.token_ids else None,
        )
        prompt = list(self._head.prompts[0]) if first and self._head.token_ids else None
        return self._chunk([written], usage, prompt)

    def last(self, usage: Usage) -> str:
        """Write the chunk that has the token counts only."""
        return self._chunk([], usage)

    def _chunk(
        self,
        choices: list[ChatChunkChoice],
        usage: Usage | None = None,
        prompt: list[int] | None = None,
    ) -> str:
        head = self._head
        return ChatChunk(
            id=head.id,
            created=head.created,
            model=head.model,
            choices=choices,
            usage=usage,
            prompt_token_ids=prompt,
        ).model_dump_json()

    def _choice(self, choice: Choice) -> ChatChoice:
        done = choice.completion
        assert done is not None, "all have ended"
        return ChatChoice(
            index=choice.index,
            message=AnswerMessage(content=choice.text),
            logprobs=self._logprobs(choice.logprobs) if choice.logprobs else None,
            finish_reason=finish_of(done) or "stop",
            speculation=figures(self._head, done),
            token_ids=choice.tokens if self._head.token_ids else None,
        )

    def _logprobs(self, found: Sequence[TokenLogprob]) -> ChatLogprobs:
        return ChatLogprobs(
            content=[
                ChatLogprob(
                    **self._token(one.token, one.logprob).model_dump(),
                    top_logprobs=[self._token(*pair) for pair in one.top],
                )
                for one in found
            ]
        )

    def _token(self, token: int, logprob: float) -> TopLogprob:
        pieces = self._head.pieces
        known = pieces.bytes(token)
        return TopLogprob(
            token=pieces.text(token),
            logprob=logprob,
            bytes=None if known is None else list(known),
        )
