"""A build that dies by SIGKILL in the middle of what it is told to.

Run as ``python -m tests.build.killer WHERE RECIPE ENGINES``.
"""

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import trtspec.build.assemble
import trtspec.build.build
import trtspec.build.place
from trtspec.build.build import build
from trtspec.recipe import load_recipe
from trtspec.reference.backend import ReferenceBackend


def die(*args, **kwargs):
    """End as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


def halve(folder: Path) -> None:
    """Leave half of the files, and of the last of them only a half."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in files[len(files) // 2 + 1 :]:
        path.unlink()
    last = files[len(files) // 2]
    last.write_bytes(last.read_bytes()[: last.stat().st_size // 2])


class DyingBackend(ReferenceBackend):
    """Dies when a stage is half done."""

    def __init__(self, stage: str) -> None:
        self.stage = stage

    def stages(self, inputs):
        def dying(stage):
            def action(context):
                stage.action(context)
                halve(context.output)
                die()

            return replace(stage, action=action) if stage.name == self.stage else stage

        return tuple(dying(stage) for stage in super().stages(inputs))


def die_at_second(module, name: str) -> None:
    """Let a function work once and die at its second call."""
    original, calls = getattr(module, name), []

    def counting(*args, **kwargs):
        calls.append(name)
        return die() if len(calls) == 2 else original(*args, **kwargs)

    setattr(module, name, counting)


ELSEWHERE = {
    "resolve": lambda: setattr(trtspec.build.build, "inspected", die),
    "assemble-files": lambda: die_at_second(trtspec.build.place, "place"),
    "assemble-texts": lambda: die_at_second(trtspec.build.assemble, "replace_text"),
    "assemble-manifest": lambda: setattr(trtspec.build.assemble, "_finish", die),
    "rename": lambda: setattr(Path, "rename", die),
}


if __name__ == "__main__":
    where, recipe, engines = sys.argv[1:]
    ELSEWHERE.get(where, lambda: None)()
    build(load_recipe(recipe), DyingBackend(where), Path(engines))
