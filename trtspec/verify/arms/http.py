"""An arm that is a server which speaks OpenAI's API, chat or completions."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from trtspec.bench.driver import BenchPrompt, Call
from trtspec.bench.http.body import request_body
from trtspec.bench.http.probe import Server
from trtspec.bench.http.reply import Reply
from trtspec.bench.http.sending import closed_loop
from trtspec.bench.http.stream import AnswerError
from trtspec.bench.http.transport import SILENCE_SECONDS, open_transport
from trtspec.errors import Problem, RunError
from trtspec.verify.arm import Answer, Question
from trtspec.verify.arms.reading import read_reply

ALTERNATIVES = 5
"""Most likely tokens asked for at each place; OpenAI's completions allow no more."""
_FOUND = 200
_TRIAL = Question("trial", "Say yes.", 1)


@dataclass(frozen=True, slots=True)
class Extras:
    """What is asked for beside the text, as far as a server takes it.

    :param usage: token counts at the end of a stream (``stream_options``).
    :param logprobs: the most likely tokens at each place.
    :param ids: token ids (``return_token_ids``: an extension of vLLM, and of SGLang
        for completions: pull requests vllm 22587, sglang 30917).
    """

    usage: bool = True
    logprobs: bool = True
    ids: bool = True


class HttpArm:
    """Asks one server; an ``Arm``.

    :param off: whether it is said to decode without drafting; an answer that tells of
        drafts fails then.
    :param speculate: False asks a server that takes it from each request
        (``Server.switchable``) to decode without drafting: it is both arms then.
    :param silence: seconds without a byte after which a reply is given up.
    """

    def __init__(
        self,
        name: str,
        server: Server,
        *,
        off: bool = False,
        speculate: bool = True,
        silence: float = SILENCE_SECONDS,
    ) -> None:
        self.name = name
        self.server = server
        self.speculate = speculate
        self._off = off or not speculate
        self._silence = silence
        self._extras: Extras | None = None

    @property
    def extras(self) -> Extras:
        """What the server takes; it is tried at the first use.

        :raises RunError: if it refuses even a plain request.
        """
        if self._extras is None:
            self._extras = self._try_extras()
        return self._extras

    def answer(
        self, questions: Sequence[Question], concurrency: int
    ) -> dict[str, Answer]:
        """Answer all questions; see ``Arm``."""
        replies = self._send(questions, self.extras, concurrency)
        answers, problems = {}, []
        for question, reply in zip(questions, replies, strict=True):
            try:
                answers[question.id] = read_reply(question.id, reply, off=self._off)
            except AnswerError as error:
                what = f"arm {self.name}: the request failed: {error}"
                problems.append(Problem(what, question.id))
        if problems:
            raise RunError.from_problems(problems)
        return answers

    def _try_extras(self) -> Extras:
        """Ask for all at once, else for each alone, to keep what the server takes."""
        if self._takes(Extras()):
            return Extras()
        plain = Extras(usage=False, logprobs=False, ids=False)
        (reply,) = self._send([_TRIAL], plain, 1)
        if reply.status != _FOUND:
            told = reply.content.decode(errors="replace")[:300]
            raise RunError(
                f"the server refuses a plain request with status {reply.status}: "
                f"{told or reply.broken}",
                where=self.server.address.url,
                action="see its log; --api completions asks in another way",
            )
        names = [field.name for field in fields(Extras)]
        taken = {
            name: self._takes(Extras(**{other: other == name for other in names}))
            for name in names
        }
        return Extras(**taken)

    def _takes(self, extras: Extras) -> bool:
        (reply,) = self._send([_TRIAL], extras, 1)
        try:  # some servers refuse only once the stream has begun
            read_reply(_TRIAL.id, reply, off=False)
        except AnswerError:
            return False
        return True

    def _send(
        self, questions: Sequence[Question], extras: Extras, concurrency: int
    ) -> list[Reply]:
        bodies = [
            body_of(question, self.server, extras, speculate=self.speculate)
            for question in questions
        ]
        return asyncio.run(self._send_all(bodies, concurrency))

    async def _send_all(self, bodies: Sequence[bytes], concurrency: int) -> list[Reply]:
        address = self.server.address
        url = address.endpoint(self.server.api)
        replies = [Reply() for _ in bodies]
        clock = time.perf_counter
        async with open_transport(address, url, clock, self._silence) as post:

            async def send(index: int, due: float | None) -> None:
                reply = await post(bodies[index])
                if not reply.status:
                    # a server that closes a kept connection loses what is sent to it
                    # then (llama.cpp's does after each stream); nothing was answered
                    reply = await post(bodies[index])
                replies[index] = reply

            await closed_loop(send, len(bodies), concurrency)
        return replies


def body_of(
    question: Question, server: Server, extras: Extras, *, speculate: bool = True
) -> bytes:
    """Write a request; names that a server need not know only where it takes them.

    :param speculate: see ``HttpArm``.
    """
    messages = question.messages
    if not messages and isinstance(question.prompt, str):
        messages = ({"role": "user", "content": question.prompt},)
    prompt = BenchPrompt(question.id, "", tuple(messages))
    call = Call(question.id, prompt, question.max_tokens, question.sampling)
    body: dict[str, Any] = json.loads(request_body(call, server.model, server.api))
    if not messages:
        _require_completions(server)
        body["prompt"] = list(question.prompt)
    if question.sampling.greedy:
        del body["seed"], body["top_p"]
    if not extras.usage:
        del body["stream_options"]
    if extras.logprobs:
        body |= _logprobs(server)
    if not speculate:
        body["speculation"] = {"enabled": False}
    if extras.ids:
        body["return_token_ids"] = True
    return json.dumps(body, ensure_ascii=False).encode()


def _logprobs(server: Server) -> dict[str, Any]:
    if server.api == "chat":
        return {"logprobs": True, "top_logprobs": ALTERNATIVES}
    return {"logprobs": ALTERNATIVES}


def _require_completions(server: Server) -> None:
    if server.api != "completions":
        raise RunError(
            "a chat takes no token ids",
            where=server.address.url,
            action="use --api completions",
        )
