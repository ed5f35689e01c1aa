"""What the machine does while a block runs: processor, memory, GPU energy, clocks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psutil

from trtspec.bench.gpu_reader import GpuReader, open_gpus
from trtspec.bench.records import Resources

SECONDS = 0.25
"""Between two looks."""


@contextmanager
def watching_resources() -> Iterator[Callable[[], Resources]]:
    """Watch the machine; the function given tells what was seen, once it is over."""
    with open_gpus() as gpus:
        watch = _Watch(gpus)
        watch.start()
        try:
            yield watch.result
        finally:
            watch.stop()


@dataclass
class _Watch:
    """Looks at the machine from a thread of its own.

    Child processes are looked for at both ends of the block only: finding them reads
    the whole process table, which would cost the measured block something.
    """

    gpus: GpuReader | None
    stopped: threading.Event = field(default_factory=threading.Event)
    processes: list[Any] = field(default_factory=list)
    memory: int | None = None
    gpu_memory: list[int] = field(default_factory=list)
    clocks: list[tuple[int, int]] = field(default_factory=list)
    throttled: list[set[str]] = field(default_factory=list)
    cpu: list[float | None] = field(default_factory=list)
    energy: list[list[float] | None] = field(default_factory=list)

    def start(self) -> None:
        self._look_at_ends()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self.stopped.set()
        self._thread.join()
        self._look_at_ends()

    def result(self) -> Resources:
        return Resources(
            cpu_seconds=_difference(*self.cpu),
            memory_bytes=self.memory,
            gpu_memory_bytes=tuple(self.gpu_memory) or None,
            gpu_energy_joules=_differences(*self.energy),
            gpu_clock_mhz=tuple(self.clocks) or None,
            gpu_throttled=tuple(tuple(sorted(t)) for t in self.throttled) or None,
        )

    def _run(self) -> None:
        while not self.stopped.wait(SECONDS):
            self._look()

    def _look_at_ends(self) -> None:
        self.processes = _processes()
        self._look()
        self.cpu.append(_cpu_seconds(self.processes))
        self.energy.append(self.gpus.energy_joules() if self.gpus else None)

    def _look(self) -> None:
        if (memory := _memory_bytes(self.processes)) is not None:
            self.memory = max(self.memory or 0, memory)
        if self.gpus:
            self._look_at_gpus(self.gpus)

    def _look_at_gpus(self, gpus: GpuReader) -> None:
        if used := gpus.memory_bytes():
            before = self.gpu_memory or [0] * len(used)
            self.gpu_memory = [max(*pair) for pair in zip(before, used, strict=True)]
        if now := gpus.clock_mhz():
            seen = self.clocks or [(clock, clock) for clock in now]
            self.clocks = [
                (min(low, clock), max(high, clock))
                for (low, high), clock in zip(seen, now, strict=True)
            ]
        if reasons := gpus.throttle_reasons():
            self.throttled = self.throttled or [set() for _ in reasons]
            for seen_reasons, told in zip(self.throttled, reasons, strict=True):
                seen_reasons.update(told)


def _processes() -> list[Any]:
    own = psutil.Process()
    with suppress(psutil.Error):
        return [own, *own.children(recursive=True)]
    return [own]


def _cpu_seconds(processes: list[Any]) -> float | None:
    """Add up CPU time, that of children which have ended included."""
    total = 0.0
    for process in processes:
        with suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system
            # a child that ended and was waited for is in its parent's account;
            # only some systems keep one
            total += getattr(times, "children_user", 0.0)
            total += getattr(times, "children_system", 0.0)
    return total or None


def _memory_bytes(processes: list[Any]) -> int | None:
    """Add up resident memory; pages that processes share count once for each."""
    total = 0
    for process in processes:
        with suppress(psutil.Error):
            total += process.memory_info().rss
    return total or None


def _difference(before: float | None, after: float | None) -> float | None:
    if before is None or after is None:
        return None
    return max(0.0, after - before)


def _differences(
    before: list[float] | None, after: list[float] | None
) -> tuple[float, ...] | None:
    if not before or not after:
        return None
    return tuple(b - a for a, b in zip(before, after, strict=True))
