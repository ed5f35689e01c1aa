"""How the options of ``trtspec bench`` are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

T = TypeVar("T", int, float)

ARRIVALS = ("poisson", "fixed")
GOODPUT = ("ttft", "tpot", "e2e")


def numbers(
    kind: Callable[[str], T], least: T, example: str
) -> Callable[[click.Context, click.Parameter, str | None], tuple[T, ...]]:
    """Give a reader of lists such as 1,4; a number given twice counts once.

    :param least: the smallest number that is allowed; exclusive for fractions.
    """

    def read(
        ctx: click.Context, param: click.Parameter, value: str | None
    ) -> tuple[T, ...]:
        if value is None:
            return ()
        try:
            found = tuple(dict.fromkeys(kind(part) for part in value.split(",")))
        except ValueError:
            found = ()
        if not found or not all(_allowed(number, least) for number in found):
            what = "above 0" if kind is float else f"from {least}"
            raise click.BadParameter(
                f"{value!r} is not a list of numbers {what}, as in {example}"
            )
        return found

    return read


def _allowed(number: float, least: float) -> bool:
    if isinstance(number, float):
        return least < number < float("inf")
    return number >= least


def goodput(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> dict[str, float]:
    """Read limits such as ttft=0.5,tpot=0.05, in seconds."""
    limits: dict[str, float] = {}
    for part in value.split(",") if value else ():
        tag, _, seconds = part.partition("=")
        try:
            limit = float(seconds)
        except ValueError:
            limit = 0.0
        if tag not in GOODPUT or not 0 < limit < float("inf"):
            raise click.BadParameter(
                f"{part!r} is no limit in seconds: {', '.join(GOODPUT)}, as in "
                "ttft=0.5,tpot=0.05"
            )
        limits[tag] = limit
    return limits


def urls(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> dict[str, str]:
    """Read addresses such as off=http://HOST:8000; one alone needs no name."""
    found: dict[str, str] = {}
    for entry in value:
        name, equals, address = entry.partition("=")
        if not equals or "://" in name:
            name, address = "on", entry
        if not address.startswith(("http://", "https://")):
            raise click.BadParameter(
                f"{address!r} is no address: http://HOST:PORT, or NAME=http://HOST:PORT"
            )
        if name in found:
            raise click.BadParameter(
                f"there are two addresses for arm {name!r}; name them apart, as in "
                "off=http://... on=http://..."
            )
        found[name] = address
    return found
