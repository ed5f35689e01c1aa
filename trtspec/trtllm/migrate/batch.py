"""What draft lengths by batch size become: ``draft_len_schedule``, ``max_concurrency``.

Up to 1.2 a schedule's keys are the smallest batch of a range, on main the largest (pull
request 10860). Both are read as "up to so many requests", and written from that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trtspec.recipe.dump import flow_text
from trtspec.trtllm.migrate.change import (
    Change,
    blocked,
    converted,
    removed,
    warned,
)
from trtspec.trtllm.migrate.concurrency import LIMIT, concurrency
from trtspec.trtllm.migrate.config import EARLY, Config, count_of
from trtspec.trtllm.migrate.pausing import (
    ends_for_vanilla,
    ignored,
    named,
    never_reached,
    no_effect,
    stale_by_schedule,
)
from trtspec.trtllm.migrate.schedules import read_schedule, schedule_fault
from trtspec.trtllm.pytorch.compile.schedule import (
    DraftLength,
    from_lower_bounds,
    reachable,
    reaches_zero,
    to_lower_bounds,
)

SCHEDULE = "draft_len_schedule"


def batch(config: Config) -> Iterator[Change]:
    """Write draft lengths by batch size as the target version reads them."""
    given = config.spec.get(SCHEDULE)
    limit = config.spec.get(LIMIT)
    if given is None:
        if limit is not None:
            yield from concurrency(config, limit)
        return
    if fault := schedule_fault(config, given):
        yield blocked(config.at(SCHEDULE), given, fault)
        if limit is not None and config.source == "main":
            why = f"main refuses it next to {SCHEDULE}: keep one of the two"
            yield blocked(config.at(LIMIT), limit, why)
        return
    length = read_schedule(config, given)
    assert length is not None, "a fault otherwise"
    acts = config.meant.follows_schedule or config.becomes.follows_schedule
    if not acts or _stays(config, given):
        if not acts:
            yield removed(config.at(SCHEDULE), given, ignored(config))
        else:
            yield from _told(config, given, given, length)
        if limit is not None:
            yield from concurrency(config, limit)
        return
    yield from _changed(config, given, length, limit)


def _changed(
    config: Config, given: Mapping[int, int], length: DraftLength, limit: Any
) -> Iterator[Change]:
    """Fold a limit into a schedule, and write that as the target has it."""
    if limit is not None and count_of(limit):
        reason = never_reached(config)
        if limit < config.largest_batch:
            length = _cut(length, limit, config.largest_batch)
            reason = (
                f"folded into {SCHEDULE}: nothing is drafted above {limit} requests"
            )
        yield removed(config.at(LIMIT), limit, reason)
    yield from _schedule(config, given, length)


def _stays(config: Config, given: Mapping[int, int]) -> bool:
    """Whether the target reads a schedule as the source does, and follows it."""
    if not config.becomes.follows_schedule or not config.meant.follows_schedule:
        return False
    if config.source == "main":
        return config.family == "main"
    return config.family == "1.2"


def _cut(length: DraftLength, limit: int, largest: int) -> DraftLength:
    """Draft nothing above ``limit`` requests."""
    if limit >= largest:
        return length
    if isinstance(length, int):
        return {limit: length}
    within = {key: value for key, value in length.items() if key < limit}
    over = next((value for key, value in length.items() if key >= limit), None)
    return within if over is None else reachable({**within, limit: over}, limit + 1)


def _schedule(
    config: Config, given: Mapping[int, int], length: DraftLength
) -> Iterator[Change]:
    path = config.at(SCHEDULE)
    if isinstance(length, int):
        why = f"{length} tokens for every batch up to {config.largest_batch}: "
        yield removed(path, given, why + "the same as no schedule")
    elif not config.becomes.follows_schedule:
        yield from _without(config, given, length)
    else:
        wanted = dict(length)
        if config.family in EARLY:
            wanted = to_lower_bounds(length, config.largest_batch)
        if wanted != given:
            yield converted(path, given, wanted, _why(config, length))
        yield from _told(config, given, wanted, length)


def _why(config: Config, length: Mapping[int, int]) -> str:
    each = [f"{k} up to {key}" for key, k in length.items()]
    each[0] += " requests" if min(length) > 1 else " request"
    each += ["none above"] if max(length) < config.largest_batch else []
    how = "smallest" if config.family in EARLY else "largest"
    meaning = f"{', '.join(each)}: keys are the {how} batch of a range here"
    if config.source == config.family:
        meaning = f"{', '.join(each)}: entries that change nothing left out"
    return f"{meaning}{_assumed(config)}"


def _assumed(config: Config) -> str:
    if "max_batch_size" in config.values:
        return ""
    return f" (max_batch_size is not in the file: {config.largest_batch}, the default)"


def _told(
    config: Config,
    given: Mapping[int, int],
    written: Mapping[int, int],
    length: DraftLength,
) -> Iterator[Change]:
    """Say what else main does with a schedule, as it is written for it."""
    path = config.at(SCHEDULE)
    if config.family in EARLY:
        return
    if not config.meant.follows_schedule:
        yield warned(path, written, f"begins to act; it had {no_effect(config)}")
    if config.source == "main" and 1 in written and len(written) > 1:
        lower = flow_text(from_lower_bounds(given, config.largest_batch))
        yield warned(
            path,
            written,
            f"means {written[1]} tokens for a single request only. If it was copied "
            f"from 1.2, it meant {lower}: run again with --from 1.2",
        )
    if why := ends_for_vanilla(config):
        yield warned(path, written, why)
    if not isinstance(length, int) and reaches_zero(length, config.largest_batch):
        yield warned(path, written, stale_by_schedule(config, length))


def _without(
    config: Config, given: Mapping[int, int], length: Mapping[int, int]
) -> Iterator[Change]:
    """The target has no schedule for the method: the nearest is a cut-off."""
    path, only = config.at(SCHEDULE), next(iter(length.items()))
    pauses = config.becomes.follows_max_concurrency
    if len(length) == 1 and pauses:
        why = f"{config.version} has no schedule for {named(config)}; this says the "
        why += f"same: {only[1]} up to {only[0]} requests, above none"
        yield Change("converted", path, given, only[0], why, config.at(LIMIT))
        return
    nearest = f"write {config.length_key} {only[1]} alone"
    if pauses:
        nearest += f", or with {LIMIT} {only[0]}"
    why = f"TensorRT-LLM {config.version} has one draft length for every batch with "
    yield blocked(path, given, f"{why}{named(config)}: {nearest}")
