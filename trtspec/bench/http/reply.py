"""What came from a server, byte for byte, before it is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

Arrival = tuple[float, bytes]
"""Clock seconds at which bytes were there, and the bytes."""

_DATA = b"data:"


@dataclass(slots=True)
class Reply:
    """The answer to one request.

    :param sent_at: clock seconds at which the request went to the connection; None if
        there was no connection to be had.
    :param status: of HTTP; 0 if not even that came.
    :param reason: the status in words.
    :param kind: media type, without its parameters.
    :param arrivals: the body, in the pieces in which it arrived.
    :param broken: why it ended early; empty if HTTP says that it is whole.
    :param silent: whether it was given up because nothing came any more.
    :param reused: whether an earlier request had its connection.
    """

    sent_at: float | None = None
    status: int = 0
    reason: str = ""
    kind: str = ""
    arrivals: list[Arrival] = field(default_factory=list)
    broken: str = ""
    silent: bool = False
    reused: bool = False

    @property
    def content(self) -> bytes:
        """The whole body."""
        return b"".join(piece for _, piece in self.arrivals)


class Event(NamedTuple):
    """One server-sent event.

    :ivar time: clock seconds at which the last of its data was there.
    """

    time: float
    data: bytes


def read_events(arrivals: Iterable[Arrival]) -> Iterator[Event]:
    """Put pieces of a stream together to events.

    Pieces may be cut anywhere, inside of a character too. Of
    https://html.spec.whatwg.org/multipage/server-sent-events.html only the field
    ``data`` is read, with lines that end in LF or CRLF; so do all servers of language
    models. What has no empty line behind it at the end counts as well.
    """
    rest, data = b"", list[bytes]()
    when = time = 0.0
    for time, piece in arrivals:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(_DATA):
                data.append(line[len(_DATA) :].strip())
                when = time
            elif data and not line.strip(b"\r"):
                yield Event(when, b"\n".join(data))
                data = []
    if rest.startswith(_DATA):
        data.append(rest[len(_DATA) :].strip())
        when = time
    if data:
        yield Event(when, b"\n".join(data))
