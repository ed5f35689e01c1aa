"""What is known of an NVIDIA GPU by its name, where none is here to be asked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from trtspec.errors import UsageError
from trtspec.gpus import Gpu

OPTION = "--gpu"
MOST_GPUS = 1024
"""GPUs that can share a model; the recipe's own limit of tensor_parallel."""

_TABLE = Path(__file__).with_name("gpu_kinds.json")
_IGNORED = {"nvidia", "geforce", "tesla", "quadro", "gpu", "graphics"}
# the x of GTX 1080 and RTX 4090 counts nothing
_COUNTED = re.compile(
    r"^(?:(\d+)\s*[x*]\s*)?(.+?)(?:\s*(?<![rg]t)[x*]\s*(\d+))?$", re.I
)
_MARKETED = {"sxm2": "sxm", "sxm4": "sxm", "sxm5": "sxm", "sxm6": "sxm"}


class GpuKind(BaseModel):
    """One product, such as H100 SXM; None is what no source settles."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="Product name.")
    aliases: tuple[str, ...] = Field(default=(), description="Other names of it.")
    memory_bytes: int = Field(description="Device memory of one GPU.")
    memory_from: Literal["NVML", "data sheet"] = Field(
        description="Who says so: the driver, or the data sheet (GB are 10^9 bytes)."
    )
    compute_capability: str | None = Field(description="Such as 9.0 for Hopper.")
    memory_bandwidth: int | None = Field(
        default=None, description="Bytes per second, of the data sheet."
    )
    dense_flops: Mapping[str, int] = Field(
        default={},
        description="Operations per second of the tensor cores without sparsity, by "
        "type of the factors, of the data sheet.",
    )
    source: str = Field(description="Where the memory is from.")
    sources: Mapping[str, str] = Field(
        default={}, description="Where the other facts are from, by field."
    )

    @property
    def capability(self) -> int | None:
        """Compute capability as a number: 90 for 9.0, 103 for 10.3."""
        found = self.compute_capability
        return None if found is None else int(found.replace(".", ""))


@dataclass(frozen=True, slots=True)
class GpuRequest:
    """GPUs that somebody asks about.

    :param count: None for as many as the recipe needs.
    """

    kind: GpuKind
    count: int | None = None


@cache
def gpu_kinds() -> tuple[GpuKind, ...]:
    """Give all kinds of the table, oldest first."""
    content = json.loads(_TABLE.read_text(encoding="utf-8"))
    return tuple(GpuKind.model_validate(entry) for entry in content["kinds"])


def gpu_kind(name: str) -> GpuKind:
    """Give the kind of this name; case, dashes and NVIDIA before it do not matter.

    :raises UsageError: if there is no such kind, with near names, or if it may be one
        of several.
    """
    wanted = _words(name)
    by_name = {_words(n): kind for kind in gpu_kinds() for n in _names(kind)}
    if wanted in by_name:
        return by_name[wanted]
    found = [kind for kind in gpu_kinds() if _may_be(wanted, kind)]
    if len(found) == 1:
        return found[0]
    raise _ambiguous(name, found) if found else _unknown(name)


def gpu_request(text: str) -> GpuRequest:
    """Read a name with a count or without: ``h100``, ``H100 SXM x8``, ``8x l40s``.

    :raises UsageError: as ``gpu_kind``, or if the count makes no sense.
    """
    match = _COUNTED.match(text.strip())
    if match is None:
        raise _unknown(text)
    before, name, behind = match.groups()
    if before and behind:
        raise _unknown(text)
    counted = before or behind
    if counted is None:
        return GpuRequest(gpu_kind(name))
    count = int(counted)
    if not 1 <= count <= MOST_GPUS:
        raise UsageError(
            f"{text!r} asks for {count} GPUs",
            where=OPTION,
            allowed=f"a count from 1 to {MOST_GPUS}, such as 'H100 SXM x8'",
        )
    return GpuRequest(gpu_kind(name), count)


def kind_of(gpu: Gpu) -> GpuKind:
    """Describe a GPU that is here by what its driver says."""
    return GpuKind(
        name=gpu.name,
        memory_bytes=gpu.memory_bytes,
        memory_from="NVML",
        compute_capability=gpu.compute_capability,
        source="NVML on this machine",
    )


def as_gpu(kind: GpuKind) -> Gpu:
    """Give a GPU of a kind, for what asks the driver; nothing is measured."""
    facts: dict[str, Any] = {"sm_clock_mhz": None, "power_limit_watts": None}
    return Gpu(
        name=kind.name,
        memory_bytes=kind.memory_bytes,
        driver="unknown",
        compute_capability=kind.compute_capability,
        **facts,
    )


def _names(kind: GpuKind) -> tuple[str, ...]:
    return (kind.name, *kind.aliases)


def _words(name: str) -> frozenset[str]:
    """Split a name: letters, digits and units apart, what says nothing left out."""
    text = re.sub(r"\brtx(?=\d)", "rtx ", name.lower()).replace(" gb", "gb")
    words = re.findall(r"[a-z0-9]+", text)
    return frozenset(_MARKETED.get(word, word) for word in words) - _IGNORED


def _may_be(wanted: frozenset[str], kind: GpuKind) -> bool:
    """Whether a name is part of a kind's; a word without a number names none."""
    numbered = any(char.isdigit() for word in wanted for char in word)
    return numbered and any(wanted <= _words(name) for name in _names(kind))


def _ambiguous(name: str, found: list[GpuKind]) -> UsageError:
    return UsageError(
        f"{name!r} may be one of several GPUs",
        where=OPTION,
        allowed=", ".join(kind.name for kind in found),
        action=f"write {OPTION} '{found[0].name}', or another of them",
    )


def _unknown(name: str) -> UsageError:
    by_text = {n.lower(): kind for kind in gpu_kinds() for n in _names(kind)}
    near = get_close_matches(name.strip().lower(), by_text, n=3, cutoff=0.5)
    names = list(dict.fromkeys(by_text[text].name for text in near))
    return UsageError(
        f"no GPU named {name!r} is known",
        where=OPTION,
        allowed=", ".join(kind.name for kind in gpu_kinds()),
        action=f"did you mean {' or '.join(names)}?" if names else "",
    )
