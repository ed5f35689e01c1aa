"""Whether the drafter runs inside the target's engine or as a second one."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.trtllm.migrate.change import ABSENT, Change, Kind, added, removed, warned
from trtspec.trtllm.migrate.config import DRIVEN_ONLY, EARLY, Config
from trtspec.trtllm.pytorch.compile.driven import ONE_MODEL_FLAG


def engine_shape(config: Config) -> Iterator[Change]:
    """Write the choice between one engine and two where the target has it."""
    flag = ONE_MODEL_FLAG.get(config.method)
    if flag is None:
        return
    value = config.spec.get(flag)
    if config.family not in EARLY or not config.has(flag):
        if flag in config.spec:
            kind: Kind = "warned" if value is False else "removed"
            why = _why_gone(config, flag)
            yield Change(kind, config.at(flag), value, ABSENT, why)
    elif config.needs_two:
        if value is not False:
            found = next(key for key in DRIVEN_ONLY if key in config.spec)
            why = f"{config.family} follows {found} with two engines only"
            yield added(config.at(flag), False, why)
    elif value is True:
        yield removed(config.at(flag), value, "the default")
    elif value is False and config.source == "main":
        why = "main ignored it: the drafter ran inside the target's engine"
        yield removed(config.at(flag), value, why)
    elif value is False and not config.knows(flag):
        yield warned(config.at(flag), value, _why_deprecated(config))


def keeps_deprecated(config: Config, key: object) -> bool:
    """Whether a key stays though the target wants it gone.

    1.2 still runs two-model MTP, and only warns that a later release will not.
    """
    is_flag = key == ONE_MODEL_FLAG.get(config.method)
    return is_flag and config.spec.get(str(key)) is False and config.family == "1.2"


def _why_deprecated(config: Config) -> str:
    return (
        f"{config.version} still runs two models, and warns that the flag does nothing "
        "from 1.3 on"
    )


def _why_gone(config: Config, flag: str) -> str:
    if config.spec.get(flag) is not False:
        return "the default, and gone or on its way out"
    if config.family == "1.0":
        return "1.0 has no two-model MTP: the drafter runs inside the target's engine"
    fate = "ignored" if config.has(flag) else "unknown"
    if config.source == "main":
        return f"{fate} in {config.version}: the drafter runs in the target's engine"
    return (
        f"{fate} in {config.version}: two engines become one, which holds the drafter "
        "(overlap scheduler on; memory and speed differ: measure again)"
    )
