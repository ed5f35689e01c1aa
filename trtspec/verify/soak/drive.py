"""How a runner is kept busy, and how many tokens each step brings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from trtspec.errors import RunError
from trtspec.run import Completion, Request, Runner

Prompt = tuple[int, ...]


@dataclass(slots=True)
class Seen:
    """One request on its way.

    :ivar chunks: tokens of each chunk so far, the first and the last included.
    """

    request: Request
    chunks: list[int] = field(default_factory=list)
    completion: Completion | None = None

    @property
    def emitted(self) -> int:
        """Tokens so far."""
        return sum(self.chunks)

    @property
    def inner(self) -> list[int]:
        """Tokens of the steps that neither the prefill nor the end has a part in."""
        whole = self.chunks[1:-1] if self.completion else self.chunks[1:]
        return [count for count in whole if count]


class Driver:
    """Sends requests to one runner, and follows what comes back."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.in_flight: dict[str, Seen] = {}
        self._sent = 0

    def submit(self, prompt: Prompt, tokens: int, *, to_end: bool = True) -> Seen:
        """Send one greedy request.

        :param to_end: whether it goes on past the end-of-sequence token, so that the
            load is what it is meant to be.
        """
        self._sent += 1
        name = f"soak-{self._sent}"
        request = Request(name, prompt, tokens, ignore_eos=to_end)
        self.runner.submit(request)
        return self.in_flight.setdefault(name, Seen(request))

    def step(self) -> list[Seen]:
        """Do one step; gives the requests that ended with it.

        :raises RunError: if requests are in flight that the engine no longer knows.
        """
        if self.in_flight and not self.runner.busy:
            lost = ", ".join(list(self.in_flight)[:3])
            raise RunError(f"the engine lost requests: {lost}")
        ended = []
        for chunk in self.runner.advance().chunks:
            seen = self.in_flight.get(chunk.request_id)
            if seen is None:
                raise RunError(
                    f"the engine answers {chunk.request_id}, which has ended"
                )
            seen.chunks.append(len(chunk.tokens))
            if chunk.completion is not None:
                seen.completion = chunk.completion
                ended.append(self.in_flight.pop(chunk.request_id))
        return ended

    def drain(self) -> None:
        """Go on until nothing runs."""
        while self.in_flight:
            self.step()

    def keep(self, prompts: Sequence[Prompt], tokens: int, at_once: int) -> list[Seen]:
        """Run these prompts with so many in flight; gives them when all have ended."""
        left = list(reversed(prompts))
        sent: list[Seen] = []
        while left or self.in_flight:
            while left and len(self.in_flight) < at_once:
                sent.append(self.submit(left.pop(), tokens))
            self.step()
        return sent

    def until(self, done: Callable[[], bool]) -> None:
        """Step until something holds, or nothing is left to do."""
        while self.in_flight and not done():
            self.step()
