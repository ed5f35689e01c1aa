"""Under which path a server is given an artifact's target, so that its name tells."""

from __future__ import annotations

from pathlib import Path

from trtspec.build.links import Link

MODELS = "models"
"""The artifact's folder with the one link that bears the artifact's name."""
_TARGET = Path("..") / "target"
_SERVED = frozenset({"pytorch"})


def alias_path(name: str) -> str:
    """Give the path of the link, from the artifact's directory.

    ``trtllm-serve`` names its model by the last part of the path that it is given, and
    does not resolve links (``OpenAIServer`` in tensorrt_llm/serve/openai_server.py).

    :param name: as ``artifact_name`` gives it, whatever the directory is called later.
    """
    return f"{MODELS}/{name}"


def alias_links(backend: str, name: str) -> dict[str, Link]:
    """Give the links to the artifact's own target; none where nothing is served.

    They are relative, so that an artifact can be moved.
    """
    return {alias_path(name): Link(_TARGET)} if backend in _SERVED else {}


def leads_to_target(artifact: Path, name: str) -> bool:
    """Whether the link is there and leads to the artifact's own target."""
    place = artifact / alias_path(name)
    return place.is_symlink() and place.resolve() == (artifact / "target").resolve()
