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
    Loader,
    drafter_weight_files,
    drafter_weight_names,
    is_pickled,
)
from trtspec.models.drafter_shape import DrafterShape, shape_by_kind
from trtspec.models.drafter_signs import refuse_other_kind
from trtspec.models.drafter_tensors import drafter_tensors
from trtspec.models.eagle3 import refuse_eagle3
from trtspec.models.head_parts import parts_of
from trtspec.models.info import Format
from trtspec.models.json_file import read_json_object
from trtspec.models.parts import WHOLE, Parts
from trtspec.models.pickled import (
    PICKLED_INDEX,
    pickled_bytes,
    pickled_names,
    pickled_tensors,
    stored_bytes,
)
from trtspec.models.published import published_quantization
from trtspec.models.speculators import (
    at_the_top,
    refuse_speculators,
    refuse_unread_speculators,
)
from trtspec.models.tensor_header import TensorHeader, stored_dtype

_PREFIX = "model."


@dataclass(frozen=True, slots=True, kw_only=True)
class DrafterInfo(DrafterShape):
    """What a drafter's checkpoint holds; None is what it does not tell.

    :param kind: any but a model.
    :param family: ``model_type`` of the configuration.
    :param dtype: type that most weight bytes are stored in; of pickled weights, what
        the configuration names.
    :param weight_bytes: bytes of the weights; of pickled ones, of their files.
    :param format: ``torch`` for pickled weights, which are never opened.
    :param files: names of the weight files that are loaded, with their index.
    :param quantization: ``none``, or the method the stored weights are quantized with.
    :param parts: which tensors it lacks, and which belong to no part of such a drafter;
        not looked for in pickled or quantized weights.
    :param directory: where the checkpoint is; takes no part in comparisons.
    """

    kind: DrafterKind
    family: str | None
    dtype: str | None
    weight_bytes: int
    format: Format
    files: tuple[str, ...]
    quantization: str = "none"
    parts: Parts = WHOLE
    directory: Path = field(compare=False)

    @property
    def is_counted(self) -> bool:
        """Whether the shape was read from the tensors, not from ``config.json``."""
        return self.format == "safetensors"


def describe_drafter(
    directory: Path, kind: DrafterKind, loader: Loader = "tensorrt_llm"
) -> DrafterInfo:
    """Describe a drafter from its configuration and headers, never its weights.

    Where several weight files are there, the one that is loaded counts.

    :param kind: any but a model.
    :param loader: who is to load it: they read different layouts.
    :raises UsageError: if the checkpoint is incomplete or damaged, or is a drafter of
        another kind; the message names the file and what to do.
    """
    if not directory.is_dir():
        raise UsageError(
            f"{str(directory)!r} is not a directory",
            action=f"give the directory of the drafter for method {kind}",
        )
    config = read_json_object(directory / CONFIG)
    files = drafter_weight_files(directory, kind, loader)
    if not files:
        if loader == "reference":
            refuse_other_kind(directory, config, {}, kind)
        raise _no_weights(directory, kind, loader)
    tensors: Mapping[str, TensorHeader] | None = None
    if not is_pickled(files[0]):
        tensors = drafter_tensors(directory, files)
    stored = tensors
    if loader == "reference":
        config = _whole_configuration(directory, kind, config, tensors)
        tensors = _without_prefix(kind, tensors)
    else:
        _refuse_for_tensorrt_llm(directory, kind, config, tensors)
    quantization = published_quantization(directory, config).named
    return DrafterInfo(
        **shape_by_kind(directory, kind, config, tensors, loader),
        kind=kind,
        family=_text(config.get("model_type")),
        dtype=_dtype(config, tensors),
        weight_bytes=_weight_bytes(directory, files, tensors),
        format="torch" if tensors is None else "safetensors",
        files=files,
        quantization=quantization,
        parts=parts_of(kind, config, stored)
        if stored is not None and quantization == "none"
        else WHOLE,
        directory=directory,
    )


def _whole_configuration(
    directory: Path,
    kind: DrafterKind,
    config: Mapping[str, Any],
    tensors: Mapping[str, TensorHeader] | None,
) -> dict[str, Any]:
    """Give all sizes at the top, once it is the kind that the reference engine wants.

    :raises UsageError: if it is another kind of drafter.
    """
    refuse_unread_speculators(directory, config, kind)
    whole = at_the_top(config, tensors)
    known = pickled_tensors(directory) if tensors is None else tensors
    refuse_other_kind(directory, whole, known, kind)
    return whole


def _without_prefix(
    kind: DrafterKind, tensors: Mapping[str, TensorHeader] | None
) -> Mapping[str, TensorHeader] | None:
    """Name a head's tensors without ``model.``, which the reference engine skips."""
    if tensors is None or kind not in ("eagle", "eagle3", "dflash"):
        return tensors
    return {name.removeprefix(_PREFIX): tensor for name, tensor in tensors.items()}


def _refuse_for_tensorrt_llm(
    directory: Path,
    kind: DrafterKind,
    config: Mapping[str, Any],
    tensors: Mapping[str, TensorHeader] | None,
) -> None:
    if kind == "eagle":
        refuse_eagle3(directory, config, tensors or pickled_names(directory))
    if kind in ("eagle3", "dflash"):
        refuse_speculators(directory, config, kind)


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


def _no_weights(directory: Path, kind: DrafterKind, loader: Loader) -> UsageError:
    return UsageError(
        f"holds no {kind} weights",
        where=str(directory),
        allowed=f"one of {', '.join(drafter_weight_names(kind, loader))}",
        action=f"give the directory of a whole checkpoint for method {kind}",
    )
