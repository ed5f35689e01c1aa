"""What a request's body says, read up to a limit and in time."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request

from trtspec.serve.openai.errors import (
    BAD_REQUEST,
    TOO_LARGE,
    RefusalError,
    from_faults,
)

REQUEST_TIMEOUT = 408
_MOST_FAULTS = 1000
DocumentT = TypeVar("DocumentT", bound=BaseModel)


async def read_document(
    request: Request, kind: type[DocumentT], most: int, seconds: float
) -> DocumentT:
    """Read a JSON body.

    :param most: bytes.
    :param seconds: until the whole body must be there.
    :raises RefusalError: if it is too long, too slow, or not what was expected.
    :raises ClientDisconnect: if the client leaves meanwhile.
    """
    try:
        body = await asyncio.wait_for(_read(request, most), seconds)
    except asyncio.TimeoutError:
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


async def _read(request: Request, most: int) -> bytes:
    said = request.headers.get("content-length", "")
    if said.isdigit() and int(said) > most:
        raise _too_large(most)
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise _too_large(most)
        parts.append(part)
    return b"".join(parts)


def _too_large(most: int) -> RefusalError:
    return RefusalError(
        TOO_LARGE,
        f"the body is longer than {most} bytes",
        code="body_too_large",
        headers={"Connection": "close"},
    )


__all__ = ["ClientDisconnect", "read_document"]
