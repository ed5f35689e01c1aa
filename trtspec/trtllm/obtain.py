"""How a TensorRT-LLM is had: the package, NVIDIA's image, or another backend."""

from __future__ import annotations

from trtspec.methods import Method

IMAGE = "nvcr.io/nvidia/tensorrt-llm/release"


def pip_install(version: str) -> str:
    """Give the command that installs a version."""
    return f"pip install tensorrt_llm=={version}"


def release(version: str) -> str:
    """Say how a version is had: by pip, or as NVIDIA's container."""
    return f"{pip_install(version)}, or NVIDIA's container {IMAGE}:{version}"


def runs_on_reference(method: Method) -> bool:
    """Whether backend reference has the method."""
    return method.covered("reference", None)
