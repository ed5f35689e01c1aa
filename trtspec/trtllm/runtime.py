"""What is to run something that was built: what is here, or what stands in for it."""

from __future__ import annotations

from dataclasses import dataclass

from trtspec.gpus import Gpu
from trtspec.trtllm.installation import Installation


@dataclass(frozen=True, slots=True)
class Runtime:
    """A TensorRT-LLM and its GPUs.

    :param gpu: of the kind in place of those that are here; None for these.
    :param count: how many of that kind; None for as many as the engines need.
    """

    installation: Installation
    gpu: Gpu | None = None
    count: int | None = None

    def gpus(self, needed: int) -> tuple[Gpu, ...]:
        """Give the GPUs in question; empty if none is known."""
        if self.gpu is None:
            return self.installation.gpus
        return (self.gpu,) * (self.count or needed)
