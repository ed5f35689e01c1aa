"""``trtspec serve``: an artifact as a service that speaks OpenAI's API."""

from __future__ import annotations

import os
import signal
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trtspec.cli.common import engines_option
from trtspec.cli.paths import InputPath
from trtspec.cli.serve_options import (
    address_options,
    engine_options,
    front_options,
    launch_options,
    pool_options,
)
from trtspec.errors import INTERRUPTED_EXIT_CODE, BackendUnavailableError

if TYPE_CHECKING:
    from trtspec.build.progress import Progress

_LIBRARIES = ("starlette", "uvicorn", "prometheus_client")


@click.command()
@click.argument("artifact_or_recipe", type=InputPath(path_type=Path))
@address_options
@front_options
@launch_options
@pool_options
@engine_options
@engines_option
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON line when the server is ready."
)
def command(artifact_or_recipe: Path, **asked: Any) -> int:
    """Serve an artifact, OpenAI-compatible; a recipe is built first.

    Backends reference and tensorrt run in this process. For backend pytorch
    trtllm-serve is started on a port of its own and looked after; requests reach it
    through this server, which refuses what the release would drop in silence. With
    --off or --with-off there are two of them, one that drafts and one that does not,
    and each request goes to one: where it says itself ("speculation": {"enabled":
    false}, the header x-trtspec-speculation: off, or the off artifact's name as model),
    where it is honoured, by --workload, --off-above-prompt, --off-above-load, else to
    on. The answer's header x-trtspec-pool says which it was. --direct lets clients talk
    to trtllm-serve itself.

    The server is ready (GET /ready) when it has answered a few greedy requests, the
    canary. SIGTERM and Ctrl-C end it: requests in flight get --grace seconds; a second
    signal ends them at once. SIGKILL of trtspec serve itself ends trtllm-serve too, but
    not the processes that it has started, such as one per GPU: the next trtspec serve
    ends those. With --json there is one line per start that succeeded.

    A finding that blocks may be ignored when building only: trtspec build RECIPE
    --ignore RULE gives the artifact to serve.

    \b
    Examples:
      trtspec serve recipes/smollm2-135m/ngram.yaml
      trtspec serve engines/NAME-FINGERPRINT --host 0.0.0.0 --restarts 3
      trtspec serve tuned.yaml --with-off --gpus on=0 --gpus off=1

    Exit codes: 0 ended by SIGTERM; 130 by Ctrl-C; 129 by hangup; 4 not here; 5 the
    server failed, was not ready in time, or trtllm-serve failed the canary; 7 an engine
    in this process failed it.
    """  # noqa: D301  click wants the backspace itself
    from trtspec.cli.artifact import open_or_build, terminal_progress
    from trtspec.cli.serve_off import off_artifact
    from trtspec.cli.serve_wishes import front_wish, require_options
    from trtspec.cli.unheard import unheard_progress
    from trtspec.serve.engine.thread import EngineThread
    from trtspec.trtllm.pytorch.launch.state import own_log
    from trtspec.trtllm.pytorch.launch.stop_request import stop_by_signal

    # all of it before a build, which may take hours
    backend = _backend(artifact_or_recipe)
    require_options(str(backend), asked)
    _refuse_forced_acceptance()
    if not asked["direct"]:
        _require_extra()
    front = None if asked["direct"] else front_wish(asked)
    if asked["log"] is not None:
        own_log(asked["log"])
    # a server must not end because the terminal or a pipe does
    progress = unheard_progress(terminal_progress(err=True, news_only=True))
    if front is not None and not front.keys:
        _warn_of_open_door(asked["host"], progress)
    engine = EngineThread()  # a build computes, too: see there why it must not be ours
    artifact = engine.call(
        partial(open_or_build, artifact_or_recipe, asked["engines"], progress)
    )
    off = off_artifact(artifact_or_recipe, artifact, asked, progress)
    with stop_by_signal() as stop:
        if front is None:
            from trtspec.cli.serve_direct import serve_direct

            serve_direct(artifact, asked, stop, progress)
        elif backend == "pytorch":
            from trtspec.cli.serve_proxied import pool_names, serve_proxied

            pools = pool_names(artifact, off)
            serve_proxied(pools, asked, front, stop, progress)
        else:
            from trtspec.cli.serve_in_process import serve_in_process
            from trtspec.cli.serve_wishes import in_process_wish

            wish = in_process_wish(asked, front)
            serve_in_process(artifact, wish, engine, stop, progress)
    return _exit_code(stop.signal)


def _warn_of_open_door(host: str, progress: Progress) -> None:
    if host in {"localhost", "::1"} or host.startswith("127."):
        return
    progress.line(
        f"WARNING: everyone who reaches {host} may send requests; set an API key "
        "(--api-key-file), or keep to 127.0.0.1"
    )


def _require_extra() -> None:
    """Refuse to serve without the libraries for it.

    :raises BackendUnavailableError: naming those that are missing.
    """
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    if missing:
        raise BackendUnavailableError(
            f"{', '.join(missing)} not installed",
            where="trtspec serve",
            action="pip install 'trtspec[serve]'",
        )


def _refuse_forced_acceptance() -> None:
    from trtspec.forced_acceptance import TENSORRT_LLM, refuse_forced_acceptance

    consequence = "every answer of the server would be meaningless"
    refuse_forced_acceptance(os.environ, (TENSORRT_LLM,), consequence)


def _backend(path: Path) -> object:
    """Give the backend of a recipe, or of an artifact whose files nobody compared yet.

    :raises TrtspecError: as ``read_manifest`` and ``load_recipe`` do.
    """
    if path.is_dir():
        from trtspec.build.artifact import read_manifest

        return read_manifest(path).recipe.get("backend")
    from trtspec.recipe.load import load_recipe

    return load_recipe(path).recipe.backend


def _exit_code(number: int | None) -> int:
    if number == signal.SIGINT:
        return INTERRUPTED_EXIT_CODE
    return 128 + number if number == signal.SIGHUP else 0
