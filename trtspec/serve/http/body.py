"""What a request's body says, read up to a limit and in time."""

from __future__ import annotations

from typing import TypeVar

import anyio
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request

from trtspec.serve.openai.errors import (
    BAD_REQUEST,
    TOO_LARGE,
    TOO_MANY,
    RefusalError,
    from_faults,
)

REQUEST_TIMEOUT = 408
_MOST_FAULTS = 1000
DocumentT = TypeVar("DocumentT", bound=BaseModel)


class BodyRoom:
    """How many bytes of bodies all requests together may hold.

    The queue counts answers, and only once a body was read and its text turned into
    tokens; a thousand long bodies that arrive at once are bounded here.

    :ivar held: bytes now.
    """

    def __init__(self, most: int) -> None:
        self.most, self.held = most, 0


class BodyShare:
    """What one request holds of the room, until it was answered."""

    def __init__(self, room: BodyRoom) -> None:
        self._room, self._held = room, 0

    def hold(self, size: int) -> None:
        """Hold so many bytes in all; a request that is alone may always.

        :raises RefusalError: 429, if the others leave no room for them.
        """
        more = max(0, size - self._held)
        others = self._room.held - self._held
        if others and others + size > self._room.most:
            raise RefusalError(
                TOO_MANY,
                f"requests of {others} bytes are being answered; with this one's "
                f"{size} they would be more than {self._room.most}: come again later",
                code="bodies_full",
                headers={"Retry-After": "1", "Connection": "close"},
            )
        self._held += more
        self._room.held += more

    def release(self) -> None:
        """Give back what is held."""
        self._room.held -= self._held
        self._held = 0


async def read_document(
    request: Request,
    kind: type[DocumentT],
    most: int,
    seconds: float,
    share: BodyShare,
) -> DocumentT:
    """Read a JSON body.

    :param most: bytes.
    :param seconds: until the whole body must be there.
    :param share: holds its bytes.
    :raises RefusalError: if it is too long, too slow, or not what was expected, or if
        there is no room for it.
    :raises ClientDisconnect: if the client leaves meanwhile.
    """
    try:
        with anyio.fail_after(seconds):
            body = await _read(request, most, share)
    except TimeoutError:
        raise RefusalError(
            REQUEST_TIMEOUT,
            f"the body was not there after {seconds:g} s",
            headers={"Connection": "close"},
        ) from None
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        if error.error_count() > _MOST_FAULTS:  # to list them takes seconds
            what = f"the body has {error.error_count()} faults; /openapi.json has all "
            raise RefusalError(BAD_REQUEST, what + "fields") from None
        raise from_faults(error.errors(include_url=False)) from None
    except (ValueError, RecursionError) as error:
        raise RefusalError(BAD_REQUEST, f"the body cannot be read: {error}") from None


async def _read(request: Request, most: int, share: BodyShare) -> bytes:
    said = request.headers.get("content-length", "")
    if said.isdigit():
        if int(said) > most:
            raise _too_large(most)
        share.hold(int(said))
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise _too_large(most)
        share.hold(size)
        parts.append(part)
    return b"".join(parts)


def _too_large(most: int) -> RefusalError:
    return RefusalError(
        TOO_LARGE,
        f"the body is longer than {most} bytes",
        code="body_too_large",
        headers={"Connection": "close"},
    )


__all__ = ["BodyRoom", "BodyShare", "ClientDisconnect", "read_document"]
