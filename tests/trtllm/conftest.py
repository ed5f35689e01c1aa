import pytest

from tests.trtllm.machines import bare_machine


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine with nothing on it; tests install what they need."""
    return bare_machine(monkeypatch, tmp_path)
