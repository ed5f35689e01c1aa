"""Which arguments ``tensorrt_llm.LLM`` is made with: the artifact's YAML, a drafter.

Paths in the YAML are relative to the artifact, which is the working directory of a
server, but not of this process.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from trtspec.build.artifact import Artifact
from trtspec.errors import RunError, TrtspecError
from trtspec.methods import User
from trtspec.run.entry_point import entry_point
from trtspec.trtllm.pytorch.run.package import FAILURES, imported, in_words

LLM_ARGS = "launch/llm_args.yaml"
SPECULATIVE = "speculative_config"
_DRAFT_KEYS = ("speculative_model", "speculative_model_dir")
_CLASSES = "tensorrt_llm.llmapi.llm_args"
_MERGE = "update_llm_args_with_extra_dict"
"""The vendor's own reading of such a file; where it is missing maps are taken as they
are."""


def llm_arguments(artifact: Artifact) -> dict[str, Any]:
    """Give the arguments of ``LLM`` for an artifact.

    Imports parts of tensorrt_llm, and for ``method: user`` the user's module.

    :raises BackendUnavailableError: if TensorRT-LLM's classes cannot be imported.
    :raises RunError: if the artifact's YAML cannot be read, or TensorRT-LLM refuses it.
    :raises UsageError: if the user's drafter cannot be had.
    """
    file = artifact.path / LLM_ARGS
    given = with_draft_at(artifact.path.absolute(), read_llm_args(file))
    classes = imported(_CLASSES)
    arguments = {
        "model": str(artifact.target.absolute()),
        "tokenizer": str(artifact.tokenizer.absolute()),
        "backend": "pytorch",
    }
    merge = getattr(classes, _MERGE, None)
    try:
        merged = arguments | given if merge is None else merge(arguments, given)
        method = artifact.recipe.speculation
        if isinstance(method, User):
            merged[SPECULATIVE] = _user_config(classes, method)
    except TrtspecError:
        raise
    except FAILURES as error:
        raise RunError(
            f"TensorRT-LLM refuses it: {in_words(error)}",
            where=str(file),
            action="build the artifact again with the installed release",
        ) from error
    return dict(merged)


def read_llm_args(file: Path) -> dict[str, Any]:
    """Read an artifact's configuration of the LLM API.

    :raises RunError: if it is missing, or no map.
    """
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise _unreadable(file, str(error)) from error
    if not isinstance(content, dict):
        raise _unreadable(file, "it holds no map")
    return content


def with_draft_at(artifact: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """Make the drafter's folder absolute.

    :param artifact: what it is relative to.
    """
    section = given.get(SPECULATIVE)
    if not isinstance(section, Mapping):
        return dict(given)
    places = {
        key: str(artifact / section[key])
        for key in _DRAFT_KEYS
        if isinstance(section.get(key), str)
    }
    return {**given, SPECULATIVE: {**section, **places}}


def _user_config(classes: Any, method: User) -> Any:
    """Make the configuration that holds the user's own objects.

    :raises UsageError: if they cannot be had.
    """
    key = "speculation.drafter"
    arguments: dict[str, Any] = {
        "max_draft_len": method.longest_draft,
        "drafter": entry_point(method.drafter, key),
    }
    if method.resource_manager is not None:
        key = "speculation.resource_manager"
        arguments["resource_manager"] = entry_point(method.resource_manager, key)
    return classes.UserProvidedDecodingConfig(**arguments)


def _unreadable(file: Path, why: str) -> RunError:
    return RunError(
        f"cannot be read: {why}", where=str(file), action="build the artifact again"
    )
