"""TensorRT-LLM versions that the tests of the backend pytorch's facts ask about."""

from packaging.version import Version

NEWEST = tuple(
    map(Version, ("1.0.0", "1.1.0", "1.2.1", "1.3.0rc22", "1.3.0rc27", "1.4.0rc4"))
)
"""One or more per family: those whose sources were read."""

OF_NO_FAMILY = tuple(
    Version(number)
    for number in (
        *("0.21.0", "1.0.0rc3", "1.0.0.dev1", "1.1.0rc2", "1.2.0rc6.post3"),
        *("1.2.0.dev20260101", "1.3.0.dev0", "1.3.0rc0", "1.3.0rc7", "1.3.0rc8"),
        *("1.3.0rc20.post1", "1.3.0rc21"),
    )
)


def readable(value: object) -> str:
    """Name a parameter; a set by its words in order, the same in every process."""
    return " ".join(sorted(value)) if isinstance(value, set) else str(value)
