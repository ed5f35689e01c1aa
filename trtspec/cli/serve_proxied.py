"""How ``trtspec serve`` answers for ``trtllm-serve``: one server, or on and off."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import trtspec
from trtspec.build.artifact import Artifact
from trtspec.build.progress import Progress
from trtspec.cli.serve_arrival import Arrival, look
from trtspec.cli.serve_options import TUNED
from trtspec.cli.serve_wishes import FrontWish, patience_of
from trtspec.errors import UsageError
from trtspec.gpus import VISIBLE
from trtspec.run.tokens import TextCodec
from trtspec.serve.http.admission import Admission
from trtspec.serve.http.server import listen
from trtspec.serve.metrics import Identity
from trtspec.serve.proxy.fleet import Fleet, Launch, PoolPlan
from trtspec.serve.proxy.front import FrontCourse, serve_pools
from trtspec.serve.proxy.gpus import read_gpus, share_gpus, share_out, variables
from trtspec.serve.proxy.pool import OFF, ON, Pool, PoolName
from trtspec.serve.proxy.rules import Rules, break_even
from trtspec.serve.proxy.screening import Screen
from trtspec.serve.proxy.service import ProxyService
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.probe import probe
from trtspec.trtllm.pytorch.launch.address import Address
from trtspec.trtllm.pytorch.launch.command import served_name
from trtspec.trtllm.pytorch.launch.ranks import ranks_of
from trtspec.trtllm.pytorch.launch.serving import serving_version
from trtspec.trtllm.pytorch.launch.stop_request import StopRequest
from trtspec.trtllm.pytorch.launch.supervise import Restarts

Artifacts = Mapping[PoolName, Artifact]


def serve_proxied(
    artifacts: Artifacts,
    asked: Mapping[str, Any],
    front: FrontWish,
    stop: StopRequest,
    progress: Progress,
) -> None:
    """Start the servers of artifacts, and answer for them until an end is asked for.

    :param artifacts: by pool.
    :raises TrtspecError: as ``serving`` and ``supervise`` do, or if the port is taken.
    """
    installation = probe()
    service = _service(artifacts, installation, asked, front)
    taken = listen(asked["host"], asked["port"])
    with closing(taken):
        address = Address(asked["host"], taken.getsockname()[1])
        arrival = Arrival(artifacts, service, address, asked["as_json"], progress)
        arrival.tell_caveats()
        launch = Launch(
            installation,
            patience_of(asked),
            Restarts(asked["restarts"]),
            arrival.pass_over if asked["no_canary"] else partial(look, arrival),
            arrival.came_up,
            progress,
        )
        plans = _plans(service, artifacts, installation, asked, progress)
        course = FrontCourse(lambda: stop.times, progress.line, asked["grace"])
        serve_pools(service, taken, Fleet(service, plans, launch), course)


def pool_names(on: Artifact, off: Artifact | None) -> Artifacts:
    """Name the pools: an artifact that does not draft is an off pool."""
    if off is not None:
        return {ON: on, OFF: off}
    return {OFF if on.recipe.speculation.method == "none" else ON: on}


def rules_of(asked: Mapping[str, Any], on: Artifact) -> Rules:
    """Read the rules by which requests are spread.

    :raises UsageError: if the break-even of a recipe is asked for that has none.
    """
    load = asked["off_above_load"]
    if load == TUNED:
        load = break_even(on.recipe)
        if load is None:
            raise UsageError(
                "the recipe has no table of trtspec tune, or one in which drafting is "
                "ahead at every load",
                where="--off-above-load",
                action="give a number of requests, or run trtspec tune on the recipe",
            )
    return Rules(
        workloads=asked["workloads"],
        off_above_prompt=asked["off_above_prompt"],
        off_above_load=load,
    )


def _service(
    artifacts: Artifacts,
    installation: Installation,
    asked: Mapping[str, Any],
    front: FrontWish,
) -> ProxyService:
    rules = rules_of(asked, next(iter(artifacts.values())))
    pools = {
        name: _pool(name, artifact, installation, front)
        for name, artifact in artifacts.items()
    }
    counts = rules.off_above_prompt is not None
    first = next(iter(artifacts.values()))
    return ProxyService(
        pools,
        {name: _identity(artifact) for name, artifact in artifacts.items()},
        rules,
        TextCodec(first.tokenizer) if counts else None,
        limits=front.limits,
        keys=front.keys,
        log=front.log,
    )


def _pool(
    name: PoolName, artifact: Artifact, installation: Installation, front: FrontWish
) -> Pool:
    recipe = artifact.recipe
    return Pool(
        name,
        served_name(artifact),
        Screen(recipe, serving_version(artifact, installation)),
        Admission(recipe.limits.max_batch_size, front.limits.waiting),
    )


def _identity(artifact: Artifact) -> Identity:
    recipe = artifact.recipe
    return Identity(
        version=trtspec.__version__,
        backend=recipe.backend,
        method=recipe.speculation.method,
        artifact=artifact.name,
        fingerprint=artifact.fingerprint,
        draft_length=str(getattr(recipe.speculation, "draft_length", "")),
    )


def _plans(
    service: ProxyService,
    artifacts: Artifacts,
    installation: Installation,
    asked: Mapping[str, Any],
    progress: Progress,
) -> list[PoolPlan]:
    needs = {name: ranks_of(a.recipe).total for name, a in artifacts.items()}
    shares = share_out(needs, read_gpus(asked["gpus"]), _visible(installation))
    for name, devices in shares.items():
        if devices:
            progress.line(f"pool {name} gets GPUs {','.join(devices)}")
    one_by_one = share_gpus(shares)
    if one_by_one:
        progress.line("the pools share GPUs: off is started when on is ready")
    return [
        PoolPlan(
            service.pools[name],
            artifact,
            _log(asked["log"], name, len(artifacts)),
            variables(shares[name]),
            after_others=one_by_one,
        )
        for name, artifact in artifacts.items()
    ]


def _visible(installation: Installation) -> list[str]:
    """Name the GPUs that this process sees, as CUDA_VISIBLE_DEVICES would."""
    given = os.environ.get(VISIBLE)
    if given is not None:
        return [entry.strip() for entry in given.split(",") if entry.strip()]
    return [str(index) for index in range(len(installation.gpus))]


def _log(log: Path | None, name: PoolName, pools: int) -> Path | None:
    if log is None or pools == 1 or name == ON:
        return log
    return log.with_name(f"{log.name}.{name}")
