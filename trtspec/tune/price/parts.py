"""What has to be computed in a step, in sizes that any way of pricing understands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from trtspec.check.memory.parallel import Parallel
from trtspec.methods import Quantization
from trtspec.models.config import CONFIG
from trtspec.models.info import ModelInfo
from trtspec.models.json_file import read_json_object


class NoPriceError(Exception):
    """This way of pricing has nothing for this; the message says what."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A whole model as it would lie on the GPUs.

    :param dtype: of what is not quantized.
    :param quantization: the recipe's word; a checkpoint that is stored quantized
        decides for itself.
    :param cache: type of its KV cache.
    """

    model: ModelInfo
    dtype: str
    quantization: Quantization
    cache: str
    parallel: Parallel


@dataclass(frozen=True, slots=True)
class Matrix:
    """``count`` weights [rows, columns] that hidden states are multiplied with."""

    name: str
    rows: int
    columns: int
    count: int = 1

    @property
    def values(self) -> int:
        """Weights in all of them."""
        return self.rows * self.columns * self.count


@dataclass(frozen=True, slots=True)
class Attention:
    """Attention of a few layers over what they have cached."""

    layers: int
    heads: int
    kv_heads: int
    head_size: int

    @property
    def cached_values(self) -> int:
        """Keys and values of one token, in all layers."""
        return 2 * self.layers * self.kv_heads * self.head_size


@dataclass(frozen=True, slots=True)
class Head:
    """A drafter that is no model of its own.

    :param fusion: what joins the target's hidden states, once a round.
    :param body: its layers; one forward per token of a chain.
    :param output: rows of its vocabulary.
    :param attention: None if it has none.
    """

    fusion: tuple[Matrix, ...]
    body: tuple[Matrix, ...]
    output: Matrix
    attention: Attention | None
    dtype: str
    cache: str
    tensor_parallel: int = 1


@dataclass(frozen=True, slots=True)
class Forward:
    """One forward of a head.

    :param body: tokens of each request that go through its layers.
    :param output: tokens of each request that it proposes from.
    """

    body: int
    output: int = 1
    fused: int = 0


class Pricer(Protocol):
    """One way of pricing."""

    def forward(
        self, placed: Placed, requests: int, width: int, context: int, *, once: bool
    ) -> float:
        """Give the seconds of a model's forward.

        :param width: tokens of each request.
        :param once: whether each request's cache is read once, else once per token.
        :raises NoPriceError: if it has no data for that.
        """
        ...

    def reading(self, placed: Placed, tokens: int) -> float:
        """Give the seconds per token in which a prompt of so many is read."""
        ...

    def head(
        self, head: Head, requests: int, forwards: Sequence[Forward], context: int
    ) -> float:
        """Give the seconds of some forwards of a head."""
        ...


_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")


def experts(directory: Path | None) -> int:
    """Count a model's experts, by its configuration; 0 for a dense one."""
    if directory is None or not (directory / CONFIG).is_file():
        return 0
    whole = read_json_object(directory / CONFIG)
    text = whole.get("text_config")
    config = {**whole, **text} if isinstance(text, dict) else whole
    counts = [config.get(key) for key in _EXPERTS]
    return max((n for n in counts if isinstance(n, int) and n > 1), default=0)
