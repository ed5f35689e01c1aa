"""Which GPUs the server of each pool sees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from trtspec.errors import UsageError
from trtspec.gpus import VISIBLE
from trtspec.serve.proxy.pool import OFF, ON, PoolName

OPTION = "--gpus"
FORM = "on=0,1 or off=2,3: a pool's name, and GPUs as in CUDA_VISIBLE_DEVICES"
_ENTRY = re.compile(r"\d+|(GPU|MIG)-[0-9A-Za-z./-]+")
Devices = tuple[str, ...]


def read_gpus(texts: Iterable[str]) -> dict[PoolName, Devices]:
    """Read what ``--gpus`` says; a list without a name is the on pool's.

    :raises UsageError: if it cannot be read, or names a pool or a GPU twice.
    """
    found: dict[PoolName, Devices] = {}
    for text in texts:
        name, equals, listed = text.rpartition("=")
        pool = next((p for p in (ON, OFF) if p == (name if equals else ON)), None)
        devices = tuple(entry.strip() for entry in listed.split(","))
        wrong = not all(map(_ENTRY.fullmatch, devices))
        if pool is None or wrong or len(set(devices)) < len(devices) or pool in found:
            raise UsageError(f"{text!r} names no GPUs", where=OPTION, allowed=FORM)
        found[pool] = devices
    return found


def share_out(
    needs: Mapping[PoolName, int],
    given: Mapping[PoolName, Devices],
    visible: Sequence[str],
) -> dict[PoolName, Devices]:
    """Give each pool its GPUs; empty means: those that this process sees.

    Two pools get different GPUs, on first, unless they are told.

    :param needs: GPUs that the recipe of each pool takes.
    :param given: as ``read_gpus`` read them.
    :param visible: GPUs that this process sees, as CUDA_VISIBLE_DEVICES would say it.
    :raises UsageError: if there are too few.
    """
    for name, devices in given.items():
        if name not in needs:
            raise UsageError(
                f"there is no {name} pool", where=OPTION, allowed=", ".join(needs)
            )
        if len(devices) < needs[name]:
            raise UsageError(
                f"the {name} pool needs {needs[name]} GPUs and is given {len(devices)}",
                where=OPTION,
            )
    if len(needs) == 1 or len(given) == len(needs):
        return {name: given.get(name, ()) for name in needs}
    taken = {device for devices in given.values() for device in devices}
    free = [device for device in visible if device not in taken]
    shares = dict(given)
    for name, count in needs.items():
        if name not in shares:
            shares[name], free = tuple(free[:count]), free[count:]
            if len(shares[name]) < count:
                raise _too_few(needs, visible)
    return shares


def share_gpus(shares: Mapping[PoolName, Devices]) -> bool:
    """Whether two pools have a GPU in common."""
    listed = [device for devices in shares.values() for device in devices]
    return len(set(listed)) < len(listed)


def variables(devices: Devices) -> dict[str, str]:
    """Give what a server's environment says of its GPUs."""
    return {VISIBLE: ",".join(devices)} if devices else {}


def _too_few(needs: Mapping[PoolName, int], visible: Sequence[str]) -> UsageError:
    wanted = " and ".join(f"{count} for {name}" for name, count in needs.items())
    return UsageError(
        f"two servers need {wanted}; GPUs that are seen here: {len(visible)}",
        where=OPTION,
        allowed=FORM,
        action="name them; both pools may be given the same GPUs if their models and "
        "KV caches (limits.kv_cache_fraction, of what is free then) fit side by side",
    )
