"""A build with links that dies by SIGKILL in the middle of what it is told to.

Run as ``python -m tests.trtllm.pytorch.build.killer WHERE RECIPE ENGINES``.
"""

import os
import sys
from pathlib import Path

import trtspec.build.assemble
import trtspec.trtllm.pytorch.build.configure
from tests.build.killer import die, die_at_second
from tests.trtllm.pytorch.build.projects import build_project


def die_after(module, name):
    """Let a function do its work and die."""
    original = getattr(module, name)

    def dying(*args, **keys):
        original(*args, **keys)
        die()

    setattr(module, name, dying)


def die_with_half_of_a_link():
    """Die when the link bears its temporary name."""
    die_after(os, "symlink")
    Path.symlink_to = lambda self, to, **keys: os.symlink(to, self)


WHERE = {
    "configure": lambda: setattr(Path, "chmod", die),
    "link": die_with_half_of_a_link,
    "links": lambda: die_after(trtspec.build.assemble, "place_links"),
    "texts": lambda: die_at_second(trtspec.build.assemble, "replace_text"),
    "manifest": lambda: setattr(trtspec.build.assemble, "_finish", die),
}


if __name__ == "__main__":
    where, recipe, engines = sys.argv[1:]
    WHERE[where]()
    build_project(Path(recipe), Path(engines))
