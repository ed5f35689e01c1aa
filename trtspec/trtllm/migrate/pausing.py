"""What there is to say of keys that look at the batch, and of engines that do not."""

from __future__ import annotations

from collections.abc import Mapping

from trtspec.recipe.dump import flow_text
from trtspec.trtllm.migrate.config import EARLY, Config
from trtspec.trtllm.pytorch.compile.driven import ONE_MODEL_FLAG
from trtspec.trtllm.pytorch.compile.schedule import pauses, reachable

_GOES_STALE = (
    "the drafter's state goes stale meanwhile and less is accepted afterwards (pull "
    "request 16888)"
)


def ignored(config: Config) -> str:
    """Say why a key for large batches does nothing, before and after."""
    return "; ".join(filter(None, (no_effect(config), _to_have_it(config))))


def no_effect(config: Config) -> str:
    """Say why a key for large batches did nothing."""
    start = f"no effect on {config.source}"
    if config.source in EARLY:
        return (
            f"{start}: only two-model engines follow the batch size there, and this "
            "file has the drafter inside the target's engine"
        )
    if config.meant.dynamic_tree:
        return f"{start}: a dynamic tree is the same for every batch"
    return f"{start}: {named(config)} drafts the same for every batch"


def _to_have_it(config: Config) -> str:
    """Say what would make it act; empty if nothing would."""
    if config.becomes.dynamic_tree:
        return "delete use_dynamic_tree to have it, with a chain"
    flag = ONE_MODEL_FLAG.get(config.method)
    has_flag = flag is not None and config.has(flag) and not config.becomes.vanilla
    if config.family in ("1.1", "1.2") and has_flag:
        return f"add {flag}: false to have it"
    return ""


def stale(last: int) -> str:
    """Say what happens where nothing is drafted for a while.

    :param last: most requests that anything is drafted for.
    """
    return f"nothing is drafted above {last} requests; {_GOES_STALE}"


def stale_by_schedule(config: Config, length: Mapping[int, int]) -> str:
    """Say the same of a schedule, with the nearest that never pauses.

    :param length: most requests → draft length; 0 drafts nothing.
    """
    largest = config.largest_batch
    idle = " and ".join(_requests(each, largest) for each in pauses(length, largest))
    lifted = {key: max(value, 1) for key, value in length.items() if key < largest}
    last = next((value for key, value in length.items() if key >= largest), 0)
    safe = reachable({**lifted, largest: max(last, 1)}, largest)
    shown = safe if isinstance(safe, int) else dict(safe)
    return (
        f"nothing is drafted {idle}; {_GOES_STALE}. Safe where load changes: "
        f"{flow_text(shown)}"
    )


def _requests(batches: range, largest: int) -> str:
    first, last = batches.start, batches.stop - 1
    if last >= largest:
        return f"above {first - 1} requests"
    return (
        f"for {first} requests" if first == last else f"for {first} to {last} requests"
    )


def ends_for_vanilla(config: Config) -> str:
    """Say what MTP with one head per position may lose; empty if this is not that."""
    if not config.becomes.vanilla or config.family != "main":
        return ""
    return (
        "an open pull request (16888) would end it for MTP with one head per position: "
        "check it with each new release"
    )


def never_reached(config: Config) -> str:
    """Say that no batch gets as large as a limit."""
    return f"never reached: max_batch_size is {config.largest_batch}"


def named(config: Config) -> str:
    """Give the file's own word for the method."""
    return str(config.spec.get("decoding_type"))
