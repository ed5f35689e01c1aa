"""Which options ``trtspec serve`` has, in groups, and which values they take."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from trtspec.cli.paths import InputPath, OutputPath

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]


def host_name(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Take what can be a host; whether it is of this machine shows later.

    An empty text would mean every interface.
    """
    from trtspec.trtllm.pytorch.launch.hosts import HOSTS, is_host

    if not is_host(value):
        raise click.BadParameter(f"{value!r} names no host; allowed: {HOSTS}")
    return value


class Seconds(click.FloatRange):
    """A finite length of time; NaN would pass every comparison with a limit.

    :param zero: whether it may be 0.
    """

    def __init__(self, *, zero: bool) -> None:
        super().__init__(0, min_open=not zero)

    def convert(
        self,
        value: str | float,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Take a number of seconds."""
        seconds = float(super().convert(value, param, ctx))  # type: ignore[arg-type]
        if not math.isfinite(seconds):
            self.fail(f"{seconds} is no length of time", param, ctx)
        return seconds


class LoadLimit(click.ParamType):  # type: ignore[type-arg]
    """A number of requests, or the break-even of a tuned recipe."""

    name = "N|tuned"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """Take a whole number of 0 or more, or the word."""
        if value == TUNED:
            return TUNED
        try:
            number = int(value)
        except ValueError:
            number = -1
        if number < 0:
            self.fail(f"{value!r} is no number of requests, and not tuned", param, ctx)
        return number


TUNED = "tuned"


def _workloads(
    ctx: click.Context, param: click.Parameter, value: Sequence[str]
) -> dict[str, str]:
    """Read NAME=on and NAME=off."""
    found: dict[str, str] = {}
    for text in value:
        name, _, pool = text.rpartition("=")
        if pool not in ("on", "off") or not name or name in found:
            raise click.BadParameter(f"{text!r}; allowed: NAME=on or NAME=off, once")
        found[name] = pool
    return found


def _all(options: Sequence[Decorator]) -> Callable[[FunctionT], FunctionT]:
    def add(function: FunctionT) -> FunctionT:
        for option in reversed(options):
            function = option(function)
        return function

    return add


address_options = _all(
    [
        click.option(
            "--host",
            callback=host_name,
            default="127.0.0.1",
            show_default=True,
            help="Address to listen on; 0.0.0.0 for all.",
        ),
        click.option(
            "--port",
            type=click.IntRange(0, 65535),
            default=8000,
            show_default=True,
            help="Port; 0 chooses a free one.",
        ),
        click.option(
            "--grace",
            type=Seconds(zero=True),
            default=30.0,
            show_default=True,
            help="Seconds that requests in flight get to finish at the end.",
        ),
        click.option(
            "--no-canary", is_flag=True, help="Serve without a look at the first texts."
        ),
    ]
)

front_options = _all(
    [
        click.option(
            "--api-key-file",
            type=InputPath(),
            help="File of API keys, one a line; without it $TRTSPEC_API_KEY, and "
            "without that everyone is let in.",
        ),
        click.option(
            "--max-waiting",
            type=click.IntRange(0),
            help="Requests that may wait beside those that run; then 429.  "
            "[default: 64]",
        ),
        click.option(
            "--max-connections",
            type=click.IntRange(1),
            help="Open connections; then 503.  [default: 1024]",
        ),
        click.option(
            "--max-body",
            type=click.IntRange(1),
            help="Bytes of a request's body; then 413.  [default: 4000000]",
        ),
        click.option(
            "--request-timeout",
            type=Seconds(zero=False),
            help="Seconds that a request may take in all.  [default: 600]",
        ),
        click.option(
            "--request-log",
            type=OutputPath(),
            help="File that a JSON line per request is added to; stderr if unset.",
        ),
        click.option(
            "--no-request-log", is_flag=True, help="Write no line per request."
        ),
        click.option(
            "--log-prompts", is_flag=True, help="Write prompts and outputs there, too."
        ),
    ]
)

launch_options = _all(
    [
        click.option(
            "--direct",
            is_flag=True,
            help="Clients talk to trtllm-serve itself: no keys, no limits, nothing "
            "refused that the release drops.",
        ),
        click.option(
            "--log",
            type=OutputPath(),
            help="File that the server's output is added to; one in the cache if "
            "unset. The off pool's has .off behind its name.",
        ),
        click.option(
            "--start-timeout",
            type=Seconds(zero=False),
            default=3600.0,
            show_default=True,
            help="Seconds until the server must be ready.",
        ),
        click.option(
            "--stall-timeout",
            type=Seconds(zero=False),
            default=600.0,
            show_default=True,
            help="Seconds without a new line in the log, until the server is ready.",
        ),
        click.option(
            "--hang-timeout",
            type=Seconds(zero=True),
            default=600.0,
            show_default=True,
            help="Seconds without an answer after which a ready server counts as dead; "
            "0: no limit.",
        ),
        click.option(
            "--restarts",
            type=click.IntRange(0),
            default=0,
            show_default=True,
            help="How often a server that died is started again, after 1, 2, 4, ... "
            "seconds.",
        ),
    ]
)

pool_options = _all(
    [
        click.option(
            "--off",
            type=InputPath(),
            help="Artifact or recipe of method none, served beside the first.",
        ),
        click.option(
            "--with-off",
            is_flag=True,
            help="The same: the recipe itself with method none, built if need be.",
        ),
        click.option(
            "--gpus",
            multiple=True,
            metavar="POOL=LIST",
            help="GPUs of a pool, such as --gpus on=0,1 --gpus off=2,3; without it "
            "the first ones for on, the next for off.",
        ),
        click.option(
            "--workload",
            "workloads",
            multiple=True,
            metavar="NAME=POOL",
            callback=_workloads,
            help="Pool of requests with the header x-trtspec-workload: NAME.",
        ),
        click.option(
            "--off-above-prompt",
            type=click.IntRange(0),
            metavar="TOKENS",
            help="Longer prompts go to the off pool.",
        ),
        click.option(
            "--off-above-load",
            type=LoadLimit(),
            metavar="N|tuned",
            help="With more answers than that under way in the on pool, a new request "
            "goes to the off pool; tuned: the break-even of the tuned recipe.",
        ),
    ]
)

engine_options = _all(
    [
        click.option("--device", help="Torch device, for backend reference."),
        click.option(
            "--threads",
            type=click.IntRange(1),
            help="CPU threads of torch, for backend reference.",
        ),
    ]
)
