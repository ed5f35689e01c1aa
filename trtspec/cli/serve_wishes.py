"""From the options of ``trtspec serve`` to what each way of serving wants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trtspec.cli.unheard import unheard
from trtspec.errors import Problem, UsageError
from trtspec.serve.http.api_key import ApiKeys, read_keys
from trtspec.serve.http.request_log import RequestLog
from trtspec.serve.limits import ServeLimits
from trtspec.trtllm.pytorch.launch.patience import Patience

if TYPE_CHECKING:
    from trtspec.cli.serve_in_process import Wish

_LIMITS = {
    "max_waiting": "waiting",
    "max_connections": "connections",
    "max_body": "body_bytes",
    "request_timeout": "request_seconds",
}
"""Option → field of ``ServeLimits``."""
_FRONT = (
    *("api_key_file", "request_log", "no_request_log", "log_prompts"),
    *_LIMITS,
)
_RULES = ("workloads", "off_above_prompt", "off_above_load")
_POOLS = ("off", "with_off", "gpus", *_RULES)
_LAUNCH = ("direct", "log", "restarts")
_ENGINE = ("device", "threads")
_OPTIONS = {"workloads": "--workload"}


@dataclass(frozen=True, slots=True)
class FrontWish:
    """What a server that we answer with ourselves is like."""

    limits: ServeLimits
    keys: ApiKeys
    log: RequestLog


def require_options(backend: str, asked: Mapping[str, Any]) -> None:
    """Refuse options that would be without effect.

    :raises UsageError: listing them.
    """
    problems = []
    if backend != "pytorch":
        why = f"backend {backend} is served in this process"
        problems += _given(asked, (*_LAUNCH, *_POOLS), why)
    else:
        problems += _given(asked, _ENGINE, "backend pytorch takes it from the recipe")
    if asked["direct"]:
        why = "with --direct clients talk to trtllm-serve itself"
        problems += _given(asked, (*_FRONT, *_POOLS), why)
    pooled = asked["off"] is not None or asked["with_off"]
    if not pooled:
        problems += _given(asked, _RULES, "there is no off pool: --off or --with-off")
    if asked["off"] is not None and asked["with_off"]:
        problems.append(Problem("--off names an off pool already", "--with-off"))
    if asked["no_request_log"] and (asked["request_log"] or asked["log_prompts"]):
        problems.append(Problem("there would be no log", "--no-request-log"))
    if problems:
        raise UsageError.from_problems(problems)


def front_wish(asked: Mapping[str, Any]) -> FrontWish:
    """Read limits, keys and the log of a server of ours.

    :raises UsageError: if the file of keys or the log cannot be opened.
    """
    given = {field: asked[name] for name, field in _LIMITS.items() if asked[name]}
    if asked["max_waiting"] is not None:
        given["waiting"] = asked["max_waiting"]
    file = asked["api_key_file"]
    return FrontWish(
        ServeLimits(**given),
        read_keys(None if file is None else Path(file)),
        RequestLog(_writer(asked), with_prompts=asked["log_prompts"]),
    )


def patience_of(asked: Mapping[str, Any]) -> Patience:
    """Say how long ``trtllm-serve`` is waited for."""
    return Patience(
        asked["start_timeout"],
        asked["stall_timeout"],
        asked["grace"],
        hang=asked["hang_timeout"],
    )


def in_process_wish(asked: Mapping[str, Any], front: FrontWish) -> Wish:
    """Say how an engine in this process is served."""
    from trtspec.cli.serve_in_process import Wish

    return Wish(
        host=asked["host"],
        port=asked["port"],
        device=asked["device"],
        threads=asked["threads"],
        grace=asked["grace"],
        canary=not asked["no_canary"],
        as_json=asked["as_json"],
        limits=front.limits,
        keys=front.keys,
        log=front.log,
    )


def _writer(asked: Mapping[str, Any]) -> Callable[[str], None] | None:
    """Give what takes a line of the request log; None for no log."""
    if asked["no_request_log"]:
        return None
    path: Path | None = asked["request_log"]
    if path is None:
        return unheard(lambda line: click.echo(line, err=True))
    try:
        stream = path.open("a", encoding="utf-8", buffering=1)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}", where="--request-log"
        ) from error
    return lambda line: _append(stream, line)


def _append(stream: Any, line: str) -> None:
    stream.write(f"{line}\n")


def _given(asked: Mapping[str, Any], names: tuple[str, ...], why: str) -> list[Problem]:
    """Give a problem for each option that was given, and does nothing."""
    found = []
    for name in names:
        if not _is_default(name, asked[name]):
            option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
            found.append(Problem(f"it does nothing: {why}", option))
    return found


def _is_default(name: str, value: object) -> bool:
    """Whether an option was not given; 0 is a value, but for ``--restarts``."""
    if value is None or value is False or value in ((), {}):
        return True
    return name == "restarts" and value == 0
