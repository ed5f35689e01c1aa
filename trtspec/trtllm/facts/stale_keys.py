"""Which keys people still write that a version does not read, and what instead.

Names from before 1.0, of the command line, and of documents that the code disagrees
with. A name that a version does read is no matter of this table.
"""

from __future__ import annotations

from functools import cache

from trtspec.trtllm.facts.llm_args import all_keys, speculation_classes
from trtspec.trtllm.facts.read import document, entries
from trtspec.trtllm.facts.records import Fact

SPECULATION = "speculative_config"


class StaleKey(Fact):
    """A key, and what to write in its place.

    :ivar versions: those that had it, or whose documents name it.
    :ivar inside: the map that it is written in; empty at the top.
    :ivar instead: what to do.
    """

    name: str
    inside: str = ""
    instead: str


@cache
def stale_keys() -> tuple[StaleKey, ...]:
    """All of them."""
    return entries(document("stale_keys.json")["keys"], StaleKey)


def stale_key(path: tuple[str, ...]) -> StaleKey | None:
    """Give what is known of a key that a version does not have.

    :param path: the keys that lead to it.
    """
    inside = ".".join(path[:-1])
    found = (k for k in stale_keys() if (k.inside, k.name) == (inside, path[-1]))
    return next(found, None)


def versions_with(class_name: str, name: str) -> tuple[str, ...]:
    """The ranges of versions in which some form of a class has a key.

    :param class_name: of the map; of ``speculative_config`` all classes are looked at.
    """
    classes: tuple[str, ...] = (class_name,)
    if class_name in speculation_classes():
        classes = ("DecodingBaseConfig", *speculation_classes())
    found = (k.versions for each in classes for k in all_keys(each) if k.name == name)
    return tuple(dict.fromkeys(found))
