"""``trtspec serve``: start trtllm-serve for an artifact, and look after it."""

from __future__ import annotations

import os
import shlex
import signal
from pathlib import Path

import click

from trtspec.cli.common import engines_option
from trtspec.cli.paths import InputPath, OutputPath
from trtspec.cli.serve_options import Seconds, host_name
from trtspec.errors import INTERRUPTED_EXIT_CODE, BackendUnavailableError


@click.command()
@click.argument("artifact_or_recipe", type=InputPath(path_type=Path))
@click.option(
    "--host",
    callback=host_name,
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; 0.0.0.0 for all.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port; 0 chooses a free one.",
)
@click.option(
    "--log",
    type=OutputPath(),
    help="File that the server's output is added to; one in the cache if unset.",
)
@click.option(
    "--start-timeout",
    type=Seconds(zero=False),
    default=3600.0,
    show_default=True,
    help="Seconds until the server must be ready.",
)
@click.option(
    "--stall-timeout",
    type=Seconds(zero=False),
    default=600.0,
    show_default=True,
    help="Seconds without a new line in the log, until the server is ready.",
)
@click.option(
    "--hang-timeout",
    type=Seconds(zero=True),
    default=600.0,
    show_default=True,
    help="Seconds without an answer after which a ready server counts as dead; 0: no "
    "limit.",
)
@click.option(
    "--grace",
    type=Seconds(zero=True),
    default=30.0,
    show_default=True,
    help="Seconds that requests in flight get to finish at the end.",
)
@click.option(
    "--restarts",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="How often a server that died is started again, after 1, 2, 4, ... seconds.",
)
@click.option("--no-canary", is_flag=True, help="Serve without the first request.")
@engines_option
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON line when the server is ready."
)
def command(
    *,
    artifact_or_recipe: Path,
    host: str,
    port: int,
    log: Path | None,
    start_timeout: float,
    stall_timeout: float,
    hang_timeout: float,
    grace: float,
    restarts: int,
    no_canary: bool,
    engines: str,
    as_json: bool,
) -> int:
    """Serve an artifact of backend pytorch; a recipe is built first.

    Starts TensorRT-LLM's OpenAI-compatible server, waits until it answers, sends it one
    greedy request as a canary, and looks after it. SIGTERM and Ctrl-C end it: requests
    in flight get --grace seconds, then it is killed with all that it started; a second
    signal does so at once. SIGKILL of trtspec serve itself ends the server too, but not
    the processes that the server has started, such as one per GPU: the next trtspec
    serve ends those. With --json there is one line per start that succeeded.

    A finding that blocks may be ignored when building only: trtspec build RECIPE
    --ignore RULE gives the artifact to serve.

    \b
    Examples:
      trtspec serve recipes/llama-3.1-8b/eagle3.yaml
      trtspec serve engines/NAME-FINGERPRINT --host 0.0.0.0 --restarts 3

    Exit codes: 0 ended by SIGTERM; 130 by Ctrl-C; 129 by hangup; 4 not here; 5 the
    server failed, was not ready in time, or failed the canary.
    """  # noqa: D301  click wants the backspace itself
    from trtspec.cli.artifact import open_or_build, terminal_progress
    from trtspec.cli.serve_greeting import greeter, tell_plan
    from trtspec.cli.unheard import unheard_progress
    from trtspec.trtllm.probe import probe
    from trtspec.trtllm.pytorch.launch.patience import Patience
    from trtspec.trtllm.pytorch.launch.serving import serving
    from trtspec.trtllm.pytorch.launch.state import own_log
    from trtspec.trtllm.pytorch.launch.stop_request import stop_by_signal
    from trtspec.trtllm.pytorch.launch.supervise import Restarts, supervise

    _refuse_forced_acceptance()  # before a build, which may take hours
    _require_server(artifact_or_recipe)
    if log is not None:
        own_log(log)  # before a build, which may take hours
    patience = Patience(start_timeout, stall_timeout, grace, hang=hang_timeout)
    # a server must not end because the terminal or a pipe does
    progress = unheard_progress(terminal_progress(err=True, news_only=True))
    artifact = open_or_build(artifact_or_recipe, engines, progress)
    with (
        stop_by_signal() as stop,
        serving(
            artifact,
            probe(),
            host=host,
            port=port,
            log=log,
            patience=patience,
            stop=stop,
            progress=progress,
        ) as plan,
    ):
        caveats = tell_plan(plan, progress)
        came_up = greeter(artifact, caveats, not no_canary, as_json, progress)
        supervise(plan.make, came_up, Restarts(restarts), stop, progress)
    return _exit_code(stop.signal)


def _require_server(path: Path) -> None:
    """Refuse a backend without a server before anything is built.

    :raises BackendUnavailableError: for the other backends.
    """
    backend = _backend(path)
    if backend != "pytorch":
        raise BackendUnavailableError(
            f"serve is not in this version of trtspec for backend {backend}",
            allowed="pytorch",
            action=f"generate with trtspec run {shlex.quote(str(path))}, or set "
            "backend: pytorch",
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
