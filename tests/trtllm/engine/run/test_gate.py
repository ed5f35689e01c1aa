"""What a machine is refused for, before anything is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trtllm.engine.run.artifacts import engine, installation, recipe
from trtspec.errors import BackendUnavailableError, RunError
from trtspec.trtllm.engine.run import gate
from trtspec.trtllm.engine.run.demands import require_worker
from trtspec.trtllm.engine.run.load import Engines


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


def test_all_that_is_wrong_with_engines_is_refused_at_once():
    target = engine("ngram", version="0.20.0", max_beam_width=2, max_batch_size=1)
    with pytest.raises(RunError) as err:
        gate.require_runnable(
            recipe("ngram"), Engines(target, None, "8.0"), installation(), {}
        )
    whats = [problem.what for problem in err.value.problems]
    assert len(whats) == 4
    for words in ("0.20.0", "capability 8.0", "max_batch_size 2", "max_beam_width 2"):
        assert any(words in what for what in whats), words


def test_what_only_this_machine_lacks_is_no_fault_of_the_engines():
    target = engine("ngram", tp_size=2)
    with pytest.raises(BackendUnavailableError, match="2 GPUs, and 1 are visible"):
        gate.require_runnable(
            recipe("ngram", tensor_parallel=2), Engines(target), installation(), {}
        )
