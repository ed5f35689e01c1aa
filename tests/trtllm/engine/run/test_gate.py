"""What a machine is refused for, before anything is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from trtspec.errors import BackendUnavailableError
from trtspec.trtllm.engine.run import gate
from trtspec.trtllm.engine.run.gate import require_worker


def test_without_the_worker_there_are_no_two_engines():
    with pytest.raises(BackendUnavailableError, match="executorWorker"):
        require_worker(None)
    require_worker(Path("executorWorker"))


@pytest.mark.parametrize(
    ("listed", "visible"),
    [(None, 4), ("0,2", 2), ("", 0), ("-1", 0), ("1,-1,2", 1), ("0,1,2,3,4,5", 4)],
)
def test_hidden_gpus_do_not_count(listed, visible):
    environment = {} if listed is None else {"CUDA_VISIBLE_DEVICES": listed}
    assert gate.visible_gpus(4, environment) == visible
