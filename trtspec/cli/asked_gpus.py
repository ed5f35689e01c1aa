"""Which GPUs a command is asked about: ``--gpu NAME[xCOUNT]``, or those here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from trtspec.build.backend import Backend
    from trtspec.gpu_kinds import GpuKind, GpuRequest
    from trtspec.recipe import Recipe
    from trtspec.trtllm.installation import Installation


def _asked(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> GpuRequest | None:
    if value is None:
        return None
    from trtspec.gpu_kinds import gpu_request

    return gpu_request(value)


gpu_option = click.option(
    "--gpu",
    metavar="NAME[xCOUNT]",
    callback=_asked,
    help="Stand-in for the GPUs here, such as h100x8; as many as the recipe needs "
    "without a count.",
)


def gpus_for(
    recipe: Recipe, backend: Backend, asked: GpuRequest | None
) -> tuple[GpuKind, ...]:
    """Give the GPUs in question: those that are asked for, else those here.

    :param asked: what the option says; None if it was not given.
    """
    from trtspec.build.backend import gpus_seen_by

    if asked is not None:
        return (asked.kind,) * _count(recipe, asked)
    return gpus_seen_by(backend)


def with_gpus(found: Installation, recipe: Recipe, asked: GpuRequest) -> Installation:
    """Put GPUs that are asked about in place of those that are here."""
    from trtspec.gpu_kinds import as_gpu

    gpus = (as_gpu(asked.kind),) * _count(recipe, asked)
    others = tuple(absence for absence in found.absences if absence.what != "gpus")
    return replace(found, gpus=gpus, absences=others)


def _count(recipe: Recipe, asked: GpuRequest) -> int:
    from trtspec.check.memory.parallel import target_parallel

    return asked.count or target_parallel(recipe).gpus
