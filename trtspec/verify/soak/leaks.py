"""Whether an engine still has all its slots, and no more memory than it had."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle, islice
from statistics import median

from trtspec.verify.soak.drive import Driver, Prompt
from trtspec.verify.soak.record import Check

MIB = 1024 * 1024
Memory = Callable[[], float]
"""Gives what a process and its children hold, in MiB."""

FEWEST = 4
"""Readings; with fewer nothing can be said of a trend."""
GROWN, GROWN_MIB = 0.05, 64.0
"""Share and MiB by which the last third of the readings exceeds the first."""
LATE = 0.2
"""Part of the growth that lies behind the middle third. A leak has about half of it
there; an allocator that keeps what it had at its peak grows once."""


def memory_now(pid: int | None = None) -> float:
    """Give the resident memory of a process and its children in MiB.

    :param pid: None for this process.
    :raises psutil.Error: if there is no such process, or it is not shown.
    """
    import psutil

    this = psutil.Process(pid)
    held = this.memory_info().rss
    for child in this.children(recursive=True):
        try:
            held += child.memory_info().rss
        except psutil.Error:
            continue  # it has just ended
    return held / MIB


def look_at_memory(readings: Sequence[float]) -> Check:
    """Fail if memory goes up and up.

    :param readings: in MiB, each while nothing was running; the first is left out,
        because it was taken before the engine had been full.
    """
    later = readings[1:]
    if len(later) < FEWEST:
        what = f"{len(later)} readings do not show a trend"
        return Check(name="memory", verdict="cannot tell", what=what)
    third = max(1, len(later) // 3)
    begin, end = median(later[:third]), median(later[-third:])
    middle = median(later[third:-third] or later)
    what = f"{begin:.0f} MiB at first, {end:.0f} MiB at last, nothing running"
    grown = end - begin
    goes_on = end - middle > LATE * grown
    if goes_on and grown > max(GROWN * begin, GROWN_MIB):
        return Check(name="memory", verdict="fail", what=f"it grows: {what}")
    return Check(name="memory", verdict="pass", what=what)


def look_at_slots(driver: Driver, prompts: Sequence[Prompt]) -> Check:
    """Fail if fewer requests run at once than the engine has places for.

    As many as there are places are sent together, long enough that none ends before
    the last has begun.
    """
    most = driver.runner.max_running
    longest = max(len(prompt) for prompt in prompts)
    widest = driver.runner.max_total_tokens - longest
    sent = [driver.submit(p, widest) for p in islice(cycle(prompts), most)]
    driver.until(lambda: any(s.completion for s in sent) or all(s.chunks for s in sent))
    begun = sum(bool(seen.chunks) for seen in sent)
    for seen in sent:
        driver.runner.cancel(seen.request.id)
    driver.drain()
    what = f"{begun} of {most} requests ran at once"
    verdict = "pass" if begun == most else "fail"
    return Check.model_validate({"name": "slots", "verdict": verdict, "what": what})
