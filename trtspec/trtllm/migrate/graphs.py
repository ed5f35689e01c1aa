"""Which CUDA graphs are captured, where a file says it twice."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.trtllm.migrate.change import Change, removed
from trtspec.trtllm.migrate.config import Config

_SECTION = "cuda_graph_config"


def graphs(config: Config) -> Iterator[Change]:
    """Keep the list of batch sizes where the largest one is given too."""
    section = config.values.get(_SECTION)
    if not isinstance(section, dict):
        return
    if section.get("batch_sizes") and "max_batch_size" in section:
        yield removed(
            (_SECTION, "max_batch_size"),
            section["max_batch_size"],
            "batch_sizes says it already; both are refused unless they agree exactly",
        )
