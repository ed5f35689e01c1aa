"""Questions about published models that are here as headers alone."""

from __future__ import annotations

import json
from pathlib import Path

from packaging.version import Version

from tests.models.public import HEADS, TARGETS, write_head, write_target
from trtspec.advise import Question, advise, remembering
from trtspec.cli.checking import findings_of
from trtspec.gpu_kinds import gpu_request


def target(directory: Path, name: str, folder: str | None = None) -> Path:
    """Write a published target's headers; ``folder`` is its directory's name."""
    record = next(r for key, r in TARGETS.items() if key.lower().endswith(name.lower()))
    place = directory / (folder or name.rpartition("/")[2])
    place.mkdir(parents=True)
    return write_target(place, record)


def head(directory: Path, name: str) -> Path:
    """Write a published head's headers."""
    record = next(r for key, r in HEADS.items() if name.lower() in key.lower())
    place = directory / name.rpartition("/")[2]
    place.mkdir(parents=True)
    return write_head(place, record)


def prompts(directory: Path, *lines: dict) -> str:
    """Write a workload."""
    path = directory / "prompts.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return str(path)


def ask(directory, model, *, trtllm=None, backends=None, gpu=None, **changes):
    """Ask what a target can use; with a version, all its backends."""
    version = Version(trtllm) if trtllm else None
    chosen = backends or (("pytorch", "tensorrt") if trtllm else ("reference",))
    question = Question(
        target=str(model),
        recipe=directory / "recipe.yaml",
        base=directory,
        backends=tuple(chosen),
        version=version,
        **changes,
    )
    find = remembering()
    return advise(question, lambda loaded: findings(loaded, trtllm, gpu, find))


def findings(loaded, trtllm=None, gpu=None, find=None):
    """Check a recipe as the commands do."""
    asked = gpu_request(gpu) if gpu else None
    return findings_of(loaded, trtllm=trtllm, gpu=asked, find=find)


def states(advice) -> dict[tuple[str, str], str]:
    """Give the best state of each method on each backend."""
    found: dict[tuple[str, str], str] = {}
    for one in advice.candidates:
        found.setdefault((one.method, one.backend), one.state)
    return found


def order(advice, *kept: str) -> list[str]:
    """Name the methods that can be written, the first to try in front."""
    named = [one.method for one in advice.candidates if one.can_be_written]
    return [name for name in dict.fromkeys(named) if not kept or name in kept]
