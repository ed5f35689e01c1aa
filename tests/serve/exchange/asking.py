"""Requests of every kind, as bodies for the server and for a bare runner."""

from __future__ import annotations

from dataclasses import dataclass

from tests.serve.serving import MODEL
from trtspec.run import Request, SamplingParams, generate
from trtspec.run.inputs import own_speculation


@dataclass(frozen=True)
class Ask:
    """What a client wants.

    :param prompt: text, or token ids.
    :param speculation: as in the body.
    :param joins: steps before which it is sent, streamed and whole.
    :param leaves: steps after which its client goes away; None if it stays.
    """

    prompt: str | tuple[int, ...] = "the cat"
    tokens: int = 12
    temperature: float = 0.0
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 0
    n: int = 1
    stop: tuple[str, ...] = ()
    logprobs: int | None = None
    ignore_eos: bool = False
    speculation: tuple[tuple[str, object], ...] | None = None
    chat: bool = False
    joins: tuple[int, int] = (0, 0)
    leaves: int | None = None

    @property
    def by_chat(self) -> bool:
        """Whether it goes to the chat endpoint, which takes text only."""
        return self.chat and isinstance(self.prompt, str)

    @property
    def path(self) -> str:
        return "/v1/chat/completions" if self.by_chat else "/v1/completions"

    def body(self, stream: bool) -> dict:
        """The request's document."""
        body = {
            "model": MODEL,
            "max_tokens": self.tokens,
            "temperature": self.temperature,
            "seed": self.seed,
            "n": self.n,
            "stop": list(self.stop),
            "ignore_eos": self.ignore_eos,
            "return_token_ids": True,
            "stream": stream,
        }
        for name in ("top_k", "top_p"):
            if (value := getattr(self, name)) is not None:
                body[name] = value
        if self.speculation is not None:
            body["speculation"] = dict(self.speculation)
        if stream:
            body["stream_options"] = {"include_usage": True}
        return body | (self._chat() if self.by_chat else self._completion())

    def _chat(self) -> dict:
        body = {"messages": [{"role": "user", "content": self.prompt}]}
        if self.logprobs is not None:
            body |= {"logprobs": True, "top_logprobs": self.logprobs}
        return body

    def _completion(self) -> dict:
        text = isinstance(self.prompt, str)
        body = {"prompt": self.prompt if text else list(self.prompt)}
        return body if self.logprobs is None else {**body, "logprobs": self.logprobs}

    def prompt_tokens(self, runner) -> tuple[int, ...]:
        """Token ids of the prompt."""
        if not isinstance(self.prompt, str):
            return self.prompt
        if self.by_chat:
            return runner.encode_chat([{"role": "user", "content": self.prompt}])
        return runner.encode(self.prompt)

    def alone(self, runner, method):
        """The completions of a bare runner, one request after the other."""
        said = dict(self.speculation or {})
        own = own_speculation(method, said.get("draft_length"), None)
        found = []
        for index in range(self.n):
            request = Request(
                f"alone-{index}",
                self.prompt_tokens(runner),
                self.tokens,
                SamplingParams(
                    self.temperature,
                    self.top_k or 0,
                    1.0 if self.top_p is None else self.top_p,
                    self.seed + index,
                ),
                self.stop,
                self.ignore_eos,
                said.get("enabled", True),
                own,
                logprobs=self.logprobs,
            )
            found.append(list(generate(runner, [request])))
        return found
