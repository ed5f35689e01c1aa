"""TensorRT-LLM versions that the tests of the facts ask about."""

from packaging.version import Version

DRIVEN = tuple(map(Version, ("0.17.0", "0.20.0", "1.0.0", "1.2.1")))
"""One version per layout of the examples and generation of the flags."""

CANDIDATES = tuple(
    Version(number)
    for number in ("1.0.0rc4", "1.1.0rc2", "1.2.0rc0", "1.3.0rc0", "1.3.0rc20")
)

WITHOUT_BACKEND = tuple(
    Version(number) for number in ("0.16.0", "1.3.0rc21", "1.3.0", "2.0")
)
