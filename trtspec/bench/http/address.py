"""Where a server is, and what it is shown to let us in."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from trtspec.errors import UsageError

Api = Literal["chat", "completions"]

API_KEY = "OPENAI_API_KEY"
"""Environment variable whose value is sent as a bearer token; it is never stored."""
OPTION = "--url"
HIDDEN = "***"
_SHORTEST = 4
"""Characters of a secret that is looked for: a shorter one is in every text."""
PATHS: Mapping[Api, str] = {
    "chat": "/v1/chat/completions",
    "completions": "/v1/completions",
}
_EXAMPLE = "http://HOST:PORT, or NAME=http://HOST:PORT"
_API_PATH = re.compile(r"/*(/v1(/((chat/)?completions|models))?)?/*$")
"""What a path may end with that is the API's; what comes before may be a proxy's."""
_LOOPBACK = re.compile(r"localhost|127\.\d+\.\d+\.\d+|::1")


@dataclass(frozen=True, slots=True)
class Address:
    """A server's base address.

    :param url: without credentials and without the API's own path: it may be shown.
    :param authorization: value of the header; empty if there is none. Never shown.
    """

    url: str
    authorization: str = field(default="", repr=False)

    def hide(self, text: str) -> str:
        """Give a text without the credentials that it may repeat."""
        for secret in _secrets(self.authorization):
            text = text.replace(secret, HIDDEN)
        return text

    def endpoint(self, api: Api) -> str:
        """Give the whole address that requests go to."""
        return self.url + PATHS[api]

    @property
    def host(self) -> str:
        """The host's name or number alone."""
        return urlsplit(self.url).hostname or ""

    @property
    def here(self) -> bool:
        """Whether it is this machine, to which no proxy leads."""
        return bool(_LOOPBACK.fullmatch(self.host))


def read_address(text: str, environ: Mapping[str, str] = os.environ) -> Address:
    """Read an address as the user gave it.

    A name and password in it are sent; without them the API key of the environment is.

    :raises UsageError: if it is none, or has a query or fragment.
    """
    parts = _split(text)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = f":{parts.port}" if parts.port else ""
    path = _API_PATH.sub("", parts.path)
    url = urlunsplit((parts.scheme, f"{host}{port}", path, "", ""))
    return Address(url, _basic(parts) or _bearer(environ))


def _secrets(authorization: str) -> list[str]:
    """Give what must not be told: the header's value, and a password in it."""
    kind, _, value = authorization.partition(" ")
    found = [value]
    if kind == "Basic":
        pair = base64.b64decode(value).decode(errors="replace")
        found.append(pair.partition(":")[2])
    return [secret for secret in found if len(secret) >= _SHORTEST]


def shown(text: str) -> str:
    """Give an argument without the credentials that an address in it may have."""
    return re.sub(r"://[^/?#\s]*@", "://", text)


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        wrong = not parts.hostname or parts.scheme not in ("http", "https")
        wrong = wrong or parts.port == 0
    except ValueError:  # no port number, or half an IPv6 address
        wrong = True
    if wrong:
        raise UsageError(
            f"{shown(text)!r} is no address of a server", where=OPTION, allowed=_EXAMPLE
        )
    if parts.query or parts.fragment:
        raise UsageError(
            "the address has a query or a fragment, which is not sent",
            where=OPTION,
            allowed=_EXAMPLE,
            action=f"leave it out; a key is read from {API_KEY}",
        )
    return parts


def _basic(parts: SplitResult) -> str:
    """Put a name and password of the address into a header's value (RFC 7617)."""
    if parts.username is None:
        return ""
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode()


def _bearer(environ: Mapping[str, str]) -> str:
    key = environ.get(API_KEY, "").strip()
    if not key:
        return ""
    if not (key.isascii() and key.isprintable()):
        raise UsageError(
            f"the value of {API_KEY} has characters that no header can hold",
            where=API_KEY,
            action="set it to the key alone, or unset it",
        )
    return f"Bearer {key}"
