"""What the server's log tells of its start."""

import pytest

from trtspec.trtllm.facts.read import document
from trtspec.trtllm.pytorch.launch.log_reader import LogReader, last_status


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("[TRT-LLM] [I] Prefetching 4.10GB checkpoint files.", "loading weights"),
        ("Loading safetensors weights in parallel: 100% 6/6", "loading weights"),
        ("Loading bin weights in parallel: 100%|##########| 2/2", "loading weights"),
        ("Loading weights concurrently: 100% 45/45", "loading weights"),
        ("[TRT-LLM] [I] [Autotuner] Autotuning process starts", "tuning kernels"),
        (
            "Run generation only CUDA graph warmup for batch size=64, draft_len=0",
            "capturing CUDA graphs",
        ),
        ("rank 0 using MpiPoolSession to spawn MPI processes", "starting workers"),
        ("INFO:     Application startup complete.", "answering"),
        ("something else", ""),
    ],
)
def test_line_means(line, status):
    assert last_status(line) == status


def test_last_recognised_line_counts_also_in_a_progress_bar():
    text = "Creating CUDA graph instances for 3 batch sizes.\n"
    text += "Loading weights: 1%\rLoading weights: 2%\nunknown\n"
    assert last_status(text) == "loading weights"


def test_reader_follows_what_is_new(tmp_path):
    log = tmp_path / "log"
    log.write_text("Loading weights of an earlier server\n")
    reader = LogReader(log)
    assert not reader.look()
    with log.open("a") as stream:
        stream.write("[Autotuner] Autotuning process starts\n")
        stream.flush()
        assert reader.look()
        assert reader.status == "tuning kernels"
        stream.write("a line that says nothing\n")
        stream.flush()
        assert not reader.look()
    assert reader.status == "tuning kernels"
    assert reader.tail() == [
        "[Autotuner] Autotuning process starts",
        "a line that says nothing",
    ]


def test_silence_ends_with_a_new_line(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(
        "trtspec.trtllm.pytorch.launch.log_reader.time.monotonic", lambda: now[0]
    )
    log = tmp_path / "log"
    log.touch()
    reader = LogReader(log)
    now[0] = 107.0
    assert reader.silent_seconds == 7.0
    log.write_text('INFO: 127.0.0.1:5 - "GET /health HTTP/1.1" 503\n')
    reader.look()
    assert reader.silent_seconds == 7.0, "our own question is no sign of progress"
    log.write_text(log.read_text() + "a line\n")
    reader.look()
    assert reader.silent_seconds == 0.0


def test_every_status_has_a_source():
    assert all(
        status["source"] for status in document("serving_failures.json")["statuses"]
    )
