"""How an artifact becomes a server: what must hold here, and with what it is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from packaging.version import Version

from trtspec.build.alias import leads_to_target
from trtspec.build.artifact import Artifact
from trtspec.build.progress import SILENT, Progress
from trtspec.errors import BackendUnavailableError, RunError
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.pytorch.launch.address import Address, free_address, require_host
from trtspec.trtllm.pytorch.launch.command import (
    serve_command,
    served_name,
    served_path,
    why_no_server,
)
from trtspec.trtllm.pytorch.launch.patience import USUAL_PATIENCE, Patience
from trtspec.trtllm.pytorch.launch.ranks import ranks_of
from trtspec.trtllm.pytorch.launch.server import Server
from trtspec.trtllm.pytorch.launch.state import fresh_log, own_log, server_folder
from trtspec.trtllm.pytorch.launch.stop_request import StopRequest
from trtspec.trtllm.pytorch.release import require_release

_LOCAL = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Serving:
    """All that a server of an artifact is made with; one may be made after another.

    :param folder: keeps the note of what runs; see ``state.server_folder``.
    :param variables: of the server's environment, over ours.
    """

    artifact: Artifact
    installation: Installation
    address: Address
    log: Path
    folder: Path
    patience: Patience = USUAL_PATIENCE
    stop: StopRequest | None = None
    progress: Progress = SILENT
    variables: Mapping[str, str] = field(default_factory=dict, hash=False)

    def make(self) -> Server:
        """Give a server that was not started yet.

        The artifact's files and the checkpoints it leads to are compared with the
        manifest again: between two starts either may have changed.

        :raises TrtspecError: as ``serving_version`` and ``Artifact.open`` do.
        """
        artifact = Artifact.open(self.artifact.path, self.progress)
        _require_name(artifact)
        version = serving_version(artifact, self.installation)
        host, port = self.address.host, self.address.port
        model = served_path(artifact)
        words = serve_command(
            artifact.recipe, version, host=host, port=port, model=model
        )
        return Server(
            (str(self.installation.server), *words[1:]),
            artifact.path.resolve(),
            address=self.address,
            version=version,
            log=self.log,
            folder=self.folder,
            variables=self.variables,
            patience=self.patience,
            stop=self.stop,
            progress=self.progress,
        )


@contextmanager
def serving(
    artifact: Artifact,
    installation: Installation,
    *,
    host: str = _LOCAL,
    port: int = 0,
    log: Path | None = None,
    patience: Patience = USUAL_PATIENCE,
    stop: StopRequest | None = None,
    progress: Progress = SILENT,
    variables: Mapping[str, str] | None = None,
) -> Iterator[Serving]:
    """Prepare to serve an artifact: port, folder of notes, log.

    Nothing is started yet: ``with serving(...) as plan, plan.make() as server:``, then
    ``server.start()``.

    :param port: 0 chooses a free one.
    :param log: a file that the server's output is added to; one in the cache if None.
    :param variables: of the server's environment, over ours, such as
        CUDA_VISIBLE_DEVICES.
    :raises TrtspecError: as ``serving_version`` does.
    :raises UsageError: if another ``trtspec serve`` does it, the host is not here, or
        the log or the cache cannot be written.
    """
    serving_version(artifact, installation)
    require_host(host)
    address = Address(host, port) if port else free_address(host)
    with server_folder(artifact.path.resolve().name, address.port) as folder:
        yield Serving(
            artifact,
            installation,
            address,
            (own_log(log) if log else fresh_log(folder)).resolve(),
            folder,
            patience,
            stop,
            progress,
            variables or {},
        )


def serving_version(artifact: Artifact, installation: Installation) -> Version:
    """Give the version that serves, if the artifact can be served here.

    :raises BackendUnavailableError: if TensorRT-LLM's server is not here, cannot serve
        the recipe's method, or several nodes are needed.
    :raises RunError: if it was built for another family of releases.
    :raises UsageError: if the environment forces acceptance, which makes the text
        meaningless.
    """
    version, server = installation.version, installation.server
    if version is None or server is None:
        why = installation.why_absent("server") or installation.why_absent("version")
        raise BackendUnavailableError(
            f"trtllm-serve is not here: {why}",
            action="run it in NVIDIA's TensorRT-LLM image; trtspec doctor shows more",
        )
    require_release(artifact, installation)
    if why := why_no_server(artifact.recipe):
        raise BackendUnavailableError(why)
    if (nodes := ranks_of(artifact.recipe).nodes) > 1:
        raise BackendUnavailableError(
            f"the recipe takes {nodes} nodes, and this serves on one machine",
            action="write a script for them: trtspec plan RECIPE --launcher slurm",
        )
    return version


def _require_name(artifact: Artifact) -> None:
    """Refuse an artifact whose server could not be told from others by its name."""
    if not leads_to_target(artifact.path, served_name(artifact)):
        raise RunError(
            f"{served_path(artifact)} is no link to the artifact's target",
            where=str(artifact.path),
            action="build the recipe again, which mends it",
        )
