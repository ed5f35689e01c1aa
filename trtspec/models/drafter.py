"""What a drafter's checkpoint is: Medusa heads, one of EAGLE's, or another's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trtspec.errors import UsageError
from trtspec.methods.base import DrafterKind
from trtspec.models.config import CONFIG
from trtspec.models.drafter_files import (
    DRAFTER_WEIGHTS,
    drafter_weight_files,
    is_pickled,
)
from trtspec.models.drafter_shape import DrafterShape, shape_by_kind
from trtspec.models.eagle3 import refuse_eagle3
from trtspec.models.info import Format
from trtspec.models.json_file import read_json_object
from trtspec.models.pickled import (
    PICKLED_INDEX,
    pickled_bytes,
    pickled_names,
    stored_bytes,
)
from trtspec.models.safetensors_header import read_header
from trtspec.models.speculators import refuse_speculators
from trtspec.models.tensor_header import TensorHeader, stored_dtype
from trtspec.models.weights import read_tensors


@dataclass(frozen=True, slots=True, kw_only=True)
class DrafterInfo(DrafterShape):
    """What a drafter's checkpoint holds; None is what it does not tell.

    :param kind: any but a model.
    :param family: ``model_type`` of the configuration.
    :param dtype: type that most weight bytes are stored in; of pickled weights, what
        the configuration names.
    :param weight_bytes: bytes of the weights; of pickled ones, of their files.
    :param format: ``torch`` for pickled weights, which are never opened.
    :param files: names of the weight files that TensorRT-LLM loads, with their index.
    :param directory: where the checkpoint is; takes no part in comparisons.
    """

    kind: DrafterKind
    family: str | None
    dtype: str | None
    weight_bytes: int
    format: Format
    files: tuple[str, ...]
    directory: Path = field(compare=False)

    @property
    def is_counted(self) -> bool:
        """Whether the shape was read from the tensors, not from ``config.json``."""
        return self.format == "safetensors"


def describe_drafter(directory: Path, kind: DrafterKind) -> DrafterInfo:
    """Describe a drafter from its configuration and headers, never its weights.

    Where several weight files are there, the one that TensorRT-LLM loads counts.

    :param kind: any but a model.
    :raises UsageError: if the checkpoint is incomplete or damaged, or is a drafter of
        another kind; the message names the file and what to do.
    """
    if not directory.is_dir():
        raise UsageError(
            f"{str(directory)!r} is not a directory",
            action=f"give the directory of the drafter for method {kind}",
        )
    config = read_json_object(directory / CONFIG)
    files = drafter_weight_files(directory, kind)
    if not files:
        raise _no_weights(directory, kind)
    tensors = None if is_pickled(files[0]) else _tensors(directory, files)
    if kind == "eagle":
        refuse_eagle3(directory, config, tensors or pickled_names(directory))
    if kind in ("eagle3", "dflash"):
        refuse_speculators(directory, config, kind)
    return DrafterInfo(
        **shape_by_kind(directory, kind, config, tensors),
        kind=kind,
        family=_text(config.get("model_type")),
        dtype=_dtype(config, tensors),
        weight_bytes=_weight_bytes(directory, files, tensors),
        format="torch" if tensors is None else "safetensors",
        files=files,
        directory=directory,
    )


def _tensors(directory: Path, files: tuple[str, ...]) -> dict[str, TensorHeader]:
    name = files[0]
    one = name.endswith(".safetensors")
    return read_header(directory / name) if one else read_tensors(directory)


def _weight_bytes(
    directory: Path, files: tuple[str, ...], tensors: Mapping[str, TensorHeader] | None
) -> int:
    if tensors is not None:
        return sum(tensor.nbytes for tensor in tensors.values())
    if PICKLED_INDEX in files:
        return pickled_bytes(directory)
    return sum(stored_bytes(directory / name) for name in files)


def _dtype(
    config: Mapping[str, Any], tensors: Mapping[str, TensorHeader] | None
) -> str | None:
    if tensors is not None:
        return stored_dtype(tensors.values())
    named = _text(config.get("dtype") or config.get("torch_dtype"))
    return None if named is None else named.removeprefix("torch.")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _no_weights(directory: Path, kind: DrafterKind) -> UsageError:
    return UsageError(
        f"holds no {kind} weights",
        where=str(directory),
        allowed=f"one of {', '.join(DRAFTER_WEIGHTS[kind])}",
        action=f"give the directory of a whole checkpoint for method {kind}",
    )
