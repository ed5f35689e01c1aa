"""How are tensors read, cast and written without importing torch, which is slow?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "U8": 1}
STORED = {"float32": "F32", "float16": "F16", "bfloat16": "BF16"}


@dataclass(frozen=True)
class Tensor:
    """One stored tensor, in the format's own words."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    def cast(self, dtype: str) -> Tensor:
        """The tensor as ``float32``, ``float16`` or ``bfloat16``."""
        wanted = STORED[dtype]
        if self.dtype == wanted or self.dtype not in ("F64", "F32", "F16", "BF16"):
            return self
        return Tensor(wanted, self.shape, _encode(_decode(self), wanted))


def _decode(tensor: Tensor) -> np.ndarray:
    if tensor.dtype == "BF16":
        high = np.frombuffer(tensor.data, np.uint16).astype(np.uint32)
        return (high << 16).view(np.float32)
    kind = {"F64": np.float64, "F32": np.float32, "F16": np.float16}[tensor.dtype]
    return np.frombuffer(tensor.data, kind).astype(np.float32)


def _encode(values: np.ndarray, dtype: str) -> bytes:
    if dtype == "BF16":
        bits = values.astype(np.float32).view(np.uint32)
        nearest_even = bits + 0x7FFF + ((bits >> 16) & 1)
        return (nearest_even >> 16).astype(np.uint16).tobytes()
    return values.astype({"F32": np.float32, "F16": np.float16}[dtype]).tobytes()


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and metadata of a safetensors file."""
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header, data = json.loads(content[8 : 8 + size]), content[8 + size :]
    metadata = header.pop("__metadata__", {})
    tensors = {
        name: Tensor(entry["dtype"], tuple(entry["shape"]), data[slice(*span)])
        for name, entry in header.items()
        for span in [entry["data_offsets"]]
    }
    return tensors, metadata


def write(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    """Write a safetensors file."""
    header: dict[str, object] = {"__metadata__": metadata}
    end = 0
    for name, tensor in tensors.items():
        span = [end, end + len(tensor.data)]
        header[name] = {
            "dtype": tensor.dtype,
            "shape": list(tensor.shape),
            "data_offsets": span,
        }
        end = span[1]
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        stream.writelines(tensor.data for tensor in tensors.values())


def read_pickled(path: Path) -> dict[str, Tensor]:
    """Tensors of a ``.bin`` or ``.pt`` file."""
    import torch

    names = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"}
    loaded = torch.load(path, map_location="cpu", weights_only=True)
    return {
        name: Tensor(
            names[tensor.dtype],
            tuple(tensor.shape),
            tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes(),
        )
        for name, tensor in loaded.items()
        if tensor.dtype in names
    }
