"""Which versions of the libraries are here, for the keys of stages."""

from __future__ import annotations

from trtspec.trtllm import libraries
from trtspec.trtllm.libraries import library_inputs


def test_libraries_count_with_their_versions(monkeypatch):
    monkeypatch.setattr(libraries, "version", {"torch": "2.9"}.__getitem__)
    monkeypatch.setattr(libraries, "PackageNotFoundError", KeyError)
    assert library_inputs() == {
        "nvidia-modelopt": "absent",
        "torch": "2.9",
        "transformers": "absent",
    }
