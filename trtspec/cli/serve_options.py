"""Which values the options of ``trtspec serve`` take: hosts and lengths of time."""

from __future__ import annotations

import math

import click


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
