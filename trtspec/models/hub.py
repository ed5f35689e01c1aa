"""Where a Hugging Face model is on this machine, and how it gets here."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection
from pathlib import Path

from trtspec.errors import TrtspecError, UsageError
from trtspec.methods.base import DrafterKind
from trtspec.models.drafter_files import (
    DRAFTER_SETTINGS,
    Loader,
    drafter_weight_names,
    is_pickled,
)
from trtspec.models.files import is_complete
from trtspec.models.pickled import PICKLED, PICKLED_INDEX
from trtspec.models.weights import INDEX, SINGLE

_WANTED = ["*.json", "*.model", "*.jinja", "*.txt"]
_UNWANTED = ["*/*", "consolidated*.safetensors"]
"""Only what transformers loads: other folders and the original layout hold copies."""

_ID = re.compile(r"[\w][\w.-]{0,95}(/[\w][\w.-]{0,95})?", re.ASCII)


def is_hub_id(text: str) -> bool:
    """Whether a text has the form ``org/name`` or ``name`` of a hub name."""
    return _ID.fullmatch(text) is not None


def cached_snapshot(
    name: str,
    revision: str | None,
    kind: DrafterKind = "model",
    loader: Loader = "tensorrt_llm",
) -> Path | None:
    """Find a complete copy in the local hub cache, without importing huggingface_hub.

    :returns: the snapshot's directory; None if it is absent or incomplete.
    """
    snapshot = snapshot_directory(name, revision)
    try:
        whole = snapshot.is_dir() and is_complete(snapshot, kind, loader)
        return snapshot if whole else None
    except TrtspecError:
        return None


def snapshot_directory(name: str, revision: str | None) -> Path:
    """Say where the local hub cache has a model, or would have it, whole or not."""
    repository = _cache() / f"models--{name.replace('/', '--')}"
    revision = revision or "main"
    try:
        commit = (repository / "refs" / revision).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        commit = revision
    return repository / "snapshots" / commit


def download_snapshot(
    name: str,
    revision: str | None,
    progress: Callable[[str], None],
    kind: DrafterKind = "model",
    loader: Loader = "tensorrt_llm",
) -> Path:
    """Download configuration, tokenizer and weights from the hub.

    Pickled weights only come where the hub has no safetensors of the checkpoint.

    :param kind: what the checkpoint is; of a drafter no tokenizer is fetched.
    :param loader: who loads it, if it is a drafter.
    :raises UsageError: if the hub cannot be reached, does not have the model, or does
        not give it out; or if huggingface_hub is not installed.
    """
    from huggingface_hub import model_info, snapshot_download

    progress(f"downloading {_named(name, revision)} from the Hugging Face hub")
    try:
        listed = model_info(name, revision=revision).siblings or ()
        wanted = wanted_patterns({file.rfilename for file in listed}, kind, loader)
        snapshot = snapshot_download(
            name, revision=revision, allow_patterns=wanted, ignore_patterns=_UNWANTED
        )
    # the errors of its HTTP client, which has changed twice, have no common root
    except Exception as error:
        raise _unavailable(name, revision, error) from error
    if not is_complete(Path(snapshot), kind, loader):
        tokenizer = "tokenizer " if kind == "model" else ""
        raise UsageError(
            f"{_named(name, revision)} is not complete: configuration, {tokenizer}or "
            f"{kind} weights are missing",
            where=snapshot,
            action="run again with the hub in reach; if the hub has the weights in "
            "another format only, convert them and give the directory",
        )
    return Path(snapshot)


def wanted_patterns(
    names: Collection[str], kind: DrafterKind, loader: Loader
) -> list[str]:
    """Choose which files of a repository to download, as patterns.

    :param names: all files of the repository.
    :param kind: what the checkpoint is.
    :param loader: who loads it, if it is a drafter.
    """
    settings = [*_WANTED] if kind == "model" else [*DRAFTER_SETTINGS]
    if kind in ("medusa", "redrafter"):
        looked_for = drafter_weight_names(kind, loader)
        offered = [name for name in looked_for if name in names]
        chosen = sorted(offered, key=is_pickled)[:1]
        if loader == "tensorrt_llm" or not {*chosen} & {INDEX, PICKLED, PICKLED_INDEX}:
            return settings + chosen
    if SINGLE in names or INDEX in names:
        return [*settings, "*.safetensors", INDEX]
    # neither optimizer.bin nor training_args.bin
    return [*settings, "pytorch_model*.bin", PICKLED_INDEX]


def _unavailable(name: str, revision: str | None, error: Exception) -> UsageError:
    """Say in one line why the hub did not give a model, and what leads on."""
    from huggingface_hub import errors

    named = _named(name, revision)
    elsewhere = (
        "or download it elsewhere and give its directory as the model; a path "
        "starting with ./ is always a directory"
    )
    if isinstance(error, errors.GatedRepoError):
        return UsageError(
            f"{named} is gated on the Hugging Face hub",
            action=f"accept its terms on https://huggingface.co/{name}, then `hf auth "
            f"login`; {elsewhere}",
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return UsageError(
            f"the Hugging Face hub has {name!r}, but no revision {revision!r}",
            action="set revision to a branch, tag or commit of the model",
        )
    if isinstance(error, errors.RepositoryNotFoundError | errors.HFValidationError):
        return UsageError(
            f"the Hugging Face hub has no model {name!r}, or it is private",
            action=f"correct the name, or `hf auth login`; {elsewhere}",
        )
    return _unreachable(named, error, elsewhere)


def _unreachable(named: str, error: Exception, elsewhere: str) -> UsageError:
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return UsageError(
            f"{named} is not in the local hub cache, and HF_HUB_OFFLINE is set",
            action=f"unset HF_HUB_OFFLINE to download it, {elsewhere}",
        )
    reason = str(error).strip().splitlines()[0] if str(error).strip() else ""
    return UsageError(
        f"{named} is not complete in the local hub cache and cannot be downloaded: "
        f"{type(error).__name__}: {reason}",
        action=f"check the network connection and the free disk space, {elsewhere}",
    )


def _named(name: str, revision: str | None) -> str:
    return f"model {name!r}" + (f" at revision {revision!r}" if revision else "")


def _cache() -> Path:
    """Find the hub cache by the variables that huggingface_hub itself reads."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    home = Path(os.environ.get("HF_HOME") or home)
    cache = os.environ.get("HUGGINGFACE_HUB_CACHE") or home / "hub"
    cache = os.environ.get("HF_HUB_CACHE") or cache
    return Path(os.path.expandvars(cache)).expanduser()
