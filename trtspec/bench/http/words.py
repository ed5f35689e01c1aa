"""How what a server says becomes text that can be kept, and shown on a terminal."""

from __future__ import annotations

from trtspec.trtllm.pytorch.run.server_events import error_text

_SPACES = "\n\t"


def whole(text: str) -> str:
    """Put halves of surrogate pairs together; a half that is alone becomes U+FFFD.

    JSON may have them: a server that escapes what is not ASCII sends an emoji as two
    halves, which can come in two events. No file in UTF-8 can hold a half.
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def plain(text: str) -> str:
    """Escape what moves a terminal's cursor, or hides, in place of being shown."""
    return "".join(
        c if c.isprintable() or c in _SPACES else c.encode("unicode_escape").decode()
        for c in whole(text)
    )


def message_in(content: object) -> str:
    """Find the message in what a server says of an error."""
    try:
        return error_text(content)
    except RecursionError:
        return "an error that is nested too deep to be read"
