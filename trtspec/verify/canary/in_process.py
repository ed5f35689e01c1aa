"""How a canary talks to an engine in this process."""

from __future__ import annotations

from collections.abc import Sequence

from trtspec.errors import RunError
from trtspec.run import Completion, Request, Runner
from trtspec.verify.canary.talk import Ask, Heard


class RunnerTalker:
    """Talks to one runner; a ``Talker``.

    Streamed is what the chunks bring; whole is what the completion says at the end.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def say(self, asks: Sequence[Ask], concurrency: int) -> dict[str, Heard]:
        """Give all answers; see ``Talker``."""
        left = list(reversed(asks))
        asked: dict[str, Ask] = {}
        pieces: dict[str, list[str]] = {ask.id: [] for ask in asks}
        ids: dict[str, list[int]] = {ask.id: [] for ask in asks}
        heard: dict[str, Heard] = {}
        while len(heard) < len(asks):
            while left and len(asked) - len(heard) < concurrency:
                ask = left.pop()
                self._runner.submit(self._request(ask))
                asked[ask.id] = ask
            for chunk in self._runner.advance().chunks:
                name = chunk.request_id
                pieces[name].append(chunk.text)
                ids[name] += chunk.tokens
                if chunk.completion is not None:
                    heard[name] = _heard(
                        asked[name], chunk.completion, pieces[name], ids[name]
                    )
            if len(heard) < len(asked) and not self._runner.busy:
                raise RunError("the engine lost a request", where=next(iter(asked)))
        return heard

    def _request(self, ask: Ask) -> Request:
        prompt = ask.prompt
        if ask.messages:
            prompt = self._runner.encode_chat(ask.messages)
        elif isinstance(prompt, str):
            prompt = self._runner.encode(prompt)
        assert not isinstance(prompt, str), "it was encoded"
        return Request(ask.id, prompt, ask.max_tokens, stop=ask.stop)


def _heard(
    ask: Ask, done: Completion, pieces: Sequence[str], ids: Sequence[int]
) -> Heard:
    count = len(done.tokens)
    return Heard(
        id=ask.id,
        pieces=tuple(pieces) if ask.stream else (done.text,),
        finish=done.finish_reason,
        tokens=tuple(ids) if ask.stream else tuple(done.tokens),
        prompt_tokens=done.prompt_tokens,
        completion_tokens=count,
    )
