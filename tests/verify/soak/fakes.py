"""An engine for soaks: strict, deterministic, and with every fault scripted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from trtspec.errors import UsageError
from trtspec.methods import NGram
from trtspec.run import Chunk, Completion, Request, StepResult

SCHEDULE = {2: 4, 6: 2}
PROMPTS = [tuple(range(1 + i, 9 + i)) for i in range(8)]


def method(draft_length=None) -> NGram:
    return NGram(method="ngram", draft_length=draft_length or SCHEDULE)


@dataclass
class Going:
    """One request that runs.

    :ivar stale: whether its drafter's state was not kept up.
    """

    request: Request
    tokens: list[int] = field(default_factory=list)
    stale: bool = False
    cancelled: bool = False


@dataclass
class SoakRunner:
    """Accepts a part of each draft that follows from prompt and place.

    :param goes_stale: whether a request that ran through draft length 0 is drafted for
        badly from then on.
    :param worn: whether all drafting is bad after the engine was full once.
    :param leaks: whether a cancelled request keeps its place.
    :param forgets: whether a cancelled request ends without a word.
    """

    schedule: dict[int, int] = field(default_factory=lambda: dict(SCHEDULE))
    max_running: int = 8
    max_input_tokens: int = 40
    max_total_tokens: int = 400
    goes_stale: bool = False
    worn: bool = False
    leaks: bool = False
    forgets: bool = False
    overshoots: bool = False
    caches_prompts: bool = False
    tick: Callable[[], None] = lambda: None
    running: list[Going] = field(default_factory=list)
    waiting: list[Going] = field(default_factory=list)
    was_full: bool = False
    places_lost: int = 0
    most_seen: set[int] = field(default_factory=set)
    longest_seen: int = 0

    def submit(self, request: Request) -> None:
        taken = {g.request.id for g in (*self.waiting, *self.running)}
        if request.id in taken:
            raise UsageError(f"{request.id} waits or runs")
        length = len(request.prompt)
        if not 0 < length <= self.max_input_tokens:
            raise UsageError(f"a prompt of {length} tokens")
        if length + request.max_new_tokens > self.max_total_tokens:
            raise UsageError("prompt and output are too long")
        self.longest_seen = max(self.longest_seen, length)
        self.waiting.append(Going(request))

    def cancel(self, request_id: str) -> None:
        for going in (*self.waiting, *self.running):
            going.cancelled |= going.request.id == request_id

    @property
    def busy(self) -> bool:
        return bool(self.waiting or self.running)

    def advance(self) -> StepResult:
        self.tick()
        gone = [g for g in (*self.running, *self.waiting) if g.cancelled]
        if gone:
            return StepResult(tuple(filter(None, map(self._drop, gone))))
        free = self.max_running - self.places_lost - len(self.running)
        if self.waiting and free > 0:
            joined = self.waiting[:free]
            del self.waiting[:free]
            self.running += joined
            self.was_full |= len(self.running) == self.max_running
            return StepResult(tuple(self._emit(going, 1) for going in joined))
        self.most_seen.add(len(self.running))
        length = self._draft_length(len(self.running))
        chunks = [self._decode(going, length) for going in list(self.running)]
        return StepResult(tuple(chunks))

    def _draft_length(self, running: int) -> int:
        return next((k for most, k in self.schedule.items() if running <= most), 0)

    def _decode(self, going: Going, length: int) -> Chunk:
        going.stale |= self.goes_stale and length == 0
        bad = going.stale or (self.worn and self.was_full)
        place = sum(going.request.prompt) + len(going.tokens)
        accepted = min(length, (place * 7919 >> 3) % 4)
        return self._emit(going, 1 + (0 if bad else accepted))

    def _emit(self, going: Going, count: int) -> Chunk:
        room = going.request.max_new_tokens - len(going.tokens)
        new = [1] * (count if self.overshoots else min(count, room))
        going.tokens += new
        done = None
        if len(going.tokens) >= going.request.max_new_tokens:
            self.running.remove(going)
            done = self._completion(going, "length")
        return Chunk(going.request.id, tuple(new), "", 0.0, done)

    def _drop(self, going: Going) -> Chunk | None:
        if going in self.running:
            self.running.remove(going)
            self.places_lost += self.leaks
        else:
            self.waiting.remove(going)
        if self.forgets:
            return None
        done = self._completion(going, "cancelled")
        return Chunk(going.request.id, (), "", 0.0, done)

    def _completion(self, going: Going, reason) -> Completion:
        request = going.request
        return Completion(
            request.id,
            len(request.prompt),
            tokens=list(going.tokens),
            finish_reason=reason,
        )
