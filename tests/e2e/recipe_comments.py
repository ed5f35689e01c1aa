"""What the comments of a bundled recipe must say."""

import re

_STARTING_POINT = "starting point, not tuned"
NAME = ("name:",)
NAMES = (*NAME, "  model:", "  family:", "  method:")
"""Keys whose values are names, with or without digits in them."""


def says_that_it_is_not_tuned(text: str) -> bool:
    """Whether a draft length or tree is called what it is."""
    return _STARTING_POINT in " ".join(text.replace("#", " ").split())


def numbers_without_a_reason(text: str, names: tuple[str, ...]) -> list[str]:
    """Give the lines with a number that neither they nor a line above explains.

    :param names: beginnings of lines that hold a name.
    """
    explained, bare = False, []
    for line in text.splitlines():
        value, _, comment = line.partition("#")
        if not value.strip():
            explained = bool(comment)  # holds for the lines below it
        elif comment or line.endswith(":"):
            explained = False
        elif re.search(r":.*\d", value) and not explained:
            bare += [] if value.startswith(names) else [line]
    return bare
