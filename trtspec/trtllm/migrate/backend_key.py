"""What becomes of a file that chooses TensorRT engines by its key ``backend``."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.trtllm.migrate.change import Change
from trtspec.trtllm.migrate.config import Config

KEY = "backend"
_ENGINES = ("tensorrt", "trt")


def backend_key(config: Config) -> Iterator[Change]:
    """Choose backend pytorch: the only one that this is about."""
    value = config.values.get(KEY)
    if value in _ENGINES:
        why = (
            "written for backend pytorch: it loads checkpoints, not engines, and there "
            "are none left on main"
        )
        yield Change("warned", (KEY,), value, "pytorch", why)
