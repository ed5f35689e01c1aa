"""A runner whose time, tokens and acceptance are scripted, and records to compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import JsonValue

from trtspec.bench.arms import CONTROL, OFF, ON, Arm, ArmInfo, Subject
from trtspec.bench.conditions import Conditions, Hardware
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.in_process import InProcess
from trtspec.bench.measure import Session, measure
from trtspec.bench.progress import Silent, Watcher
from trtspec.bench.records import Block, Load, Resources, Role, Sample, StepTimes
from trtspec.bench.result import Plan, PromptSet, Settings
from trtspec.bench.rundir import BenchRun, RunDirectory
from trtspec.run import (
    Chunk,
    Completion,
    DraftStep,
    Message,
    Note,
    Request,
    StepRecord,
    StepResult,
)

Steps = Callable[[bool], float]


class FakeClock:
    """Time that passes only when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class Running:
    request: Request
    completion: Completion
    output: list[int]
    cancelled: bool = False


@dataclass
class FakeRunner:
    """Emits ``output_of(request)``; every step takes the time that is scripted.

    With speculation each step drafts ``drafts`` tokens and accepts ``accepts``.
    """

    clock: FakeClock = field(default_factory=FakeClock)
    max_running: int = 8
    max_input_tokens: int = 64
    max_total_tokens: int = 128
    prefill_seconds: float = 0.5
    off_step: float = 1.0
    on_step: float = 1.25
    drafts: int = 3
    accepts: int = 1
    output_of: Callable[[Request], list[int]] = lambda request: [
        sum(request.prompt) % 50 + i for i in range(request.max_new_tokens)
    ]
    factor: Callable[[Request], float] = lambda request: 1.0
    before_advance: Callable[[FakeRunner], None] = lambda runner: None
    submitted: list[Request] = field(default_factory=list)
    in_flight_seen: list[int] = field(default_factory=list)
    closed: bool = False
    caches_prompts: bool = False
    cached_share: float = 0.1
    tells_steps: bool = True

    def __post_init__(self) -> None:
        self.waiting: list[Running] = []
        self.running: list[Running] = []
        self.cached: set[tuple[int, ...]] = set()

    def encode(self, prompt: str) -> tuple[int, ...]:
        return tuple(prompt.encode())

    def encode_chat(self, messages: Sequence[Message]) -> tuple[int, ...]:
        return tuple(len(m["content"]) for m in messages)

    def submit(self, request: Request) -> None:
        self.submitted.append(request)
        completion = Completion(
            request.id, len(request.prompt), submitted_at=self.clock.now
        )
        self.waiting.append(Running(request, completion, self.output_of(request)))

    def cancel(self, request_id: str) -> None:
        for running in (*self.waiting, *self.running):
            running.cancelled |= running.request.id == request_id

    @property
    def busy(self) -> bool:
        return bool(self.waiting or self.running)

    def advance(self) -> StepResult:
        self.before_advance(self)
        self.in_flight_seen.append(len(self.waiting) + len(self.running))
        for running in [r for r in (*self.waiting, *self.running) if r.cancelled]:
            running.completion.finish_reason = "cancelled"
            return StepResult((self._leave(running, ()),))
        if self.waiting and len(self.running) < self.max_running:
            return self._prefill()
        return self._decode() if self.running else StepResult()

    def _prefill(self) -> StepResult:
        running = self.waiting.pop(0)
        seconds = self.prefill_seconds * self.factor(running.request)
        if self.caches_prompts and running.request.prompt in self.cached:
            seconds *= self.cached_share
        self.cached.add(running.request.prompt)
        self.clock.now += seconds
        self.running.append(running)
        record = StepRecord("prefill", 1, 0, 0, 0, 1, seconds, 0.0, 0.0, seconds * 0.9)
        return StepResult((self._emit(running, 1),), (record,))

    def _decode(self) -> StepResult:
        on = self.running[0].request.speculate
        seconds = self.on_step if on else self.off_step
        seconds *= max(self.factor(r.request) for r in self.running)
        self.clock.now += seconds
        chunks, accepted, emitted = [], 0, 0
        for running in list(self.running):
            accepts = min(self.accepts if on else 0, self._left(running) - 1)
            running.completion.steps += 1
            running.completion.drafted += self.drafts if on else 0
            running.completion.accepted += accepts
            if self.tells_steps:
                drafts = self.drafts if on else 0
                seen = running.completion.draft_steps or []
                running.completion.draft_steps = [
                    *seen,
                    DraftStep(drafts, drafts, accepts),
                ]
            accepted += accepts
            emitted += accepts + 1
            chunks.append(self._emit(running, accepts + 1))
        count = len(chunks)
        drafted = self.drafts * count if on else 0
        draft_seconds = seconds * 0.1 if on else 0.0
        record = StepRecord(
            "decode",
            count,
            self.drafts if on else 0,
            drafted,
            accepted,
            emitted,
            seconds,
            draft_seconds,
            draft_seconds / 2,
            seconds * 0.8,
        )
        return StepResult(tuple(chunks), (record,))

    def _left(self, running: Running) -> int:
        return len(running.output) - len(running.completion.tokens)

    def _emit(self, running: Running, count: int) -> Chunk:
        done = running.completion
        start = len(done.tokens)
        tokens = tuple(running.output[start : start + count])
        done.tokens.extend(tokens)
        if start == 0:
            done.first_token_at = self.clock.now
        done.last_token_at = self.clock.now
        if self._left(running) == 0:
            return self._leave(running, tokens)
        return Chunk(done.request_id, tokens, "", self.clock.now)

    def _leave(self, running: Running, tokens: tuple[int, ...]) -> Chunk:
        for queue in (self.waiting, self.running):
            if running in queue:
                queue.remove(running)
        done = running.completion
        return Chunk(done.request_id, tokens, "", self.clock.now, done)

    def conditions(self) -> dict[str, object]:
        return {"device": "fake", "dtype": "float32", "threads": 1}

    def notes(self) -> tuple[Note, ...]:
        return ()

    def close(self) -> None:
        self.closed = True


def prompts(count: int) -> tuple[BenchPrompt, ...]:
    """Prompts p1, p2, ... of 1, 2, ... tokens."""
    return tuple(
        BenchPrompt(
            f"p{i}",
            "chat",
            ({"role": "user", "content": "x" * i},),
            tuple(range(1, i + 1)),
        )
        for i in range(1, count + 1)
    )


SPECULATION: dict[str, JsonValue] = {
    "method": "ngram",
    "draft_length": 3,
    "max_matching_ngram": 2,
}


def arm_info(
    name: str, role: Role, engine: dict[str, JsonValue] | None = None
) -> ArmInfo:
    """One arm of the toy artifact."""
    drafts = role == "candidate"
    return ArmInfo(
        name=name,
        role=role,
        artifact=Subject(
            name="toy", fingerprint="ab" * 32, recipe={"speculation": SPECULATION}
        ),
        speculation=SPECULATION if drafts else {"method": "none"},
        engine=engine or {"device": "fake", "dtype": "float32", "threads": 1},
    )


def plan(
    count: int = 8,
    *,
    concurrency: tuple[int, ...] = (1,),
    loads: tuple[Load, ...] = (),
    busy: float = 0.0,
    **changes: object,
) -> Plan:
    """A plan over ``count`` prompts: off, on, and off again if ``control``."""
    values: dict[str, object] = {
        "loads": loads or tuple(Load(concurrency=c) for c in concurrency),
        "repeats": 3,
        "control": False,
        "output_tokens": 5,
        "temperature": 0.0,
        "top_k": 0,
        "top_p": 1.0,
        "seed": 7,
    }
    settings = Settings.model_validate(values | changes)
    arms = [arm_info(OFF, "baseline")]
    if settings.control:
        arms.append(arm_info(CONTROL, "control"))
    return Plan(
        name="toy",
        started="2026-11-29T00:00:00+00:00",
        arms=(*arms, arm_info(ON, "candidate")),
        prompts=PromptSet(file="toy.jsonl", sha256="cd" * 32, count=count),
        settings=settings,
        conditions=conditions(
            {"device": "fake", "dtype": "float32", "threads": 1}, busy=busy
        ),
    )


def arms(runner: FakeRunner, of: Plan, count: int | None = None) -> list[Arm]:
    """The plan's arms on one runner."""
    driver = InProcess(runner, clock=runner.clock, sleep=runner.clock.sleep)
    asked = prompts(count or of.prompts.count)
    return [Arm(i, driver, asked, speculate=i.role == "candidate") for i in of.arms]


def conditions(runner: dict[str, JsonValue], *, busy: float = 0.0) -> Conditions:
    """Conditions of an invented machine."""
    return Conditions(
        hardware=Hardware(
            cpu="Toy CPU",
            physical_cores=2,
            logical_cores=4,
            usable_cores=2,
            cpu_quota=None,
            memory_bytes=16 << 30,
            available_bytes=8 << 30,
            load_average=(0.1, 0.2, 0.3),
            busy_cores=busy,
            gpus=(),
            no_gpus_because="none in a toy",
        ),
        system="Toy OS",
        python="3.11.2",
        versions={"trtspec": "0.1.0", "torch": "2.13.0", "tensorrt_llm": None},
        environment={},
        runner=runner,
    )


@contextmanager
def no_resources() -> Iterator[Callable[[], Resources]]:
    """See nothing of the machine."""
    yield Resources


def run(
    runner: FakeRunner,
    of: Plan,
    path: Path | None = None,
    watcher: Watcher | None = None,
) -> BenchRun:
    """Measure with the fake clock.

    :param path: where the records go; None for a place that is forgotten.
    """
    with TemporaryDirectory() as forgotten:
        directory = RunDirectory.create(path or Path(forgotten) / "run", of)
        session = Session(
            directory, arms(runner, of), watcher or Silent(), no_resources
        )
        return measure(session)


def sample(**changes: object) -> Sample:
    """A sample with plain values, changed as told."""
    values: dict[str, object] = {
        "arm": "on",
        "block": 1,
        "load": "c1",
        "prompt_id": "p1",
        "category": "chat",
        "prompt_tokens": 4,
        "output_tokens": 5,
        "submitted": 0.0,
        "ttft": 0.5,
        "tpot": 1.0,
        "e2e": 4.5,
        "steps": 4,
        "drafted": 0,
        "accepted": 0,
        "finish_reason": "length",
        "output_sha256": "00",
    }
    return Sample.model_validate(values | changes)


def block(**changes: object) -> Block:
    """A block with plain values, changed as told."""
    values: dict[str, object] = {
        "arm": "on",
        "block": 1,
        "load": "c1",
        "order": 0,
        "started": "2026-11-29T00:00:00+00:00",
        "wall_seconds": 10.0,
        "requests": 1,
        "output_tokens": 5,
        "prefill": StepTimes(),
        "decode": StepTimes(),
    }
    return Block.model_validate(values | changes)
