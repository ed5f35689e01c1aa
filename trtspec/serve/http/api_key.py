"""Whether a request may come in: API keys."""

from __future__ import annotations

import hmac
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from trtspec.errors import UsageError
from trtspec.serve.openai.errors import UNAUTHORIZED, RefusalError

VARIABLE = "TRTSPEC_API_KEY"
_SCHEME = "bearer "


class ApiKeys:
    """The keys of a server; without any, everyone may come in."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._keys = [key.encode() for key in keys]

    def __bool__(self) -> bool:
        return bool(self._keys)

    def has(self, headers: Mapping[str, str]) -> bool:
        """Whether a request brings one of the keys; see ``require``."""
        given = headers.get("authorization", "")
        if given[: len(_SCHEME)].lower() != _SCHEME:
            return False
        sent = given[len(_SCHEME) :].strip().encode()
        # all are compared: the time must not tell which one was nearly right
        return sum(hmac.compare_digest(sent, key) for key in self._keys) > 0

    def require(self, headers: Mapping[str, str]) -> None:
        """Let in who sends ``Authorization: Bearer KEY``.

        :param headers: with names in small letters.
        :raises RefusalError: 401.
        """
        if not self._keys or self.has(headers):
            return
        raise RefusalError(
            UNAUTHORIZED,
            "no valid API key; send it as Authorization: Bearer KEY",
            code="invalid_api_key",
            headers={"WWW-Authenticate": "Bearer"},
        )


def read_keys(path: Path | None) -> ApiKeys:
    """Read keys from a file, one a line, or from the environment.

    A key on the command line would be shown by ``ps``.

    :raises UsageError: if the file cannot be read or has no key.
    """
    if path is None:
        return ApiKeys(filter(None, [os.environ.get(VARIABLE, "").strip()]))
    try:
        lines = [line.strip() for line in path.read_text().splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} cannot be read: {error}", where="--api-key-file"
        ) from error
    keys = [line for line in lines if line]
    if not keys:
        raise UsageError(
            f"{path} has no key in it",
            where="--api-key-file",
            allowed="one key a line",
        )
    return ApiKeys(keys)
