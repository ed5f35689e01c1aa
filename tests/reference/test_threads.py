"""The number of CPU threads: what the user set, else what the machine has."""

import pytest
import torch

from trtspec.errors import UsageError
from trtspec.reference import threads
from trtspec.reference.threads import default_threads, use_threads


def test_the_environment_wins(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert default_threads() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "300")
    assert default_threads() == 8


def test_more_threads_than_processors_are_refused(monkeypatch):
    """Far too many make torch crash."""
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    with pytest.raises(UsageError, match="100000 threads"):
        use_threads(100_000)


def test_nonsense_in_the_environment_is_ignored(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert default_threads() >= 1


def test_a_container_quota_counts(monkeypatch, tmp_path):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    quota = tmp_path / "cpu.max"
    monkeypatch.setattr(threads, "_CGROUP_LIMIT", quota)
    quota.write_text("100000 100000\n")
    assert default_threads() == 1
    quota.write_text("max 100000\n")
    assert default_threads() >= 1


def test_the_number_in_force_is_torchs():
    before = torch.get_num_threads()
    try:
        assert use_threads(1) == torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
