"""Which server answers at a URL: its release, and the artifact that it serves."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.version import InvalidVersion, Version

from trtspec.errors import RunError, UsageError
from trtspec.trtllm.pytorch.release import require_family

if TYPE_CHECKING:
    import httpx

OPTION = "--url"
_EXAMPLE = "one such as http://localhost:8000"
_LAST_PORT = 65535
_API_PATH = re.compile(
    r"/*(/v1(/((chat/)?completions|models|responses))?|/health|/version|/metrics)?/*$"
)
"""Paths of the server's own; what comes before them may be a proxy's."""
_FOUND, _MISSING = 200, (404, 405)


def base_url(url: str) -> str:
    """Give a server's URL without a path of its API.

    :raises UsageError: if it is none, or holds what must not be shown.
    """
    from httpx import URL, InvalidURL

    try:
        parsed = URL(url)
    except InvalidURL:
        raise _no_url(url) from None
    if parsed.userinfo or parsed.query or parsed.fragment:
        raise UsageError(
            "the URL has more than a server's address: a name or password, a query or "
            "a fragment, none of which is sent",
            where=OPTION,
            allowed=_EXAMPLE,
            action="leave it out; reach a server that asks for a password through a "
            "tunnel of your own, such as ssh -L 8000:localhost:8000 HOST",
        )
    is_port = parsed.port is None or 0 < parsed.port <= _LAST_PORT
    if parsed.scheme not in ("http", "https") or not parsed.host or not is_port:
        raise _no_url(url)
    path = _API_PATH.sub("", parsed.path)
    return str(parsed.copy_with(path=path or "/")).rstrip("/")


def _no_url(url: str) -> UsageError:
    """Refuse what is no URL; a part of it may be a password."""
    shown = "it" if "@" in url else repr(url)
    return UsageError(f"{shown} is no URL of a server", where=OPTION, allowed=_EXAMPLE)


def server_release(client: httpx.Client, built: Version) -> Version:
    """Give the server's release.

    :param built: the release that the artifact was built for.
    :raises RunError: if it is of another family, or cannot be told.
    :raises BackendUnavailableError: if it is of no family.
    """
    content = _get(client, "/version")
    said = content.get("version") if isinstance(content, dict) else None
    try:
        found = Version(str(said))
    except InvalidVersion:
        why = f"GET /version gives {said!r}, which is no version"
        raise _no_server(client, why) from None
    require_family(
        found,
        built,
        f"the server is TensorRT-LLM {found}",
        where=str(client.base_url),
        action="build the artifact with the server's release, or start a server of the "
        "artifact's",
    )
    return found


def require_served(client: httpx.Client, name: str, artifact: Path) -> None:
    """Refuse a server that does not say that it serves the artifact.

    Two artifacts can have the same target and release, and differ in how they draft:
    only the name that ``trtspec serve`` and launch/serve.sh give tells them apart.

    :param name: the artifact's, as they give it.
    :param artifact: its directory, for messages.
    :raises RunError: with both names.
    """
    content = _get(client, "/v1/models")
    rows = content.get("data") if isinstance(content, dict) else None
    names = [str(row.get("id")) for row in rows or () if isinstance(row, dict)]
    if name not in names:
        raise RunError(
            f"the server serves {', '.join(names) or 'no model'}, which does not show "
            "that it is this artifact",
            where=str(client.base_url),
            allowed=name,
            action=f"start one of it with trtspec serve {shlex.quote(str(artifact))}, "
            "or with the artifact's launch/serve.sh",
        )


def _get(client: httpx.Client, path: str) -> Any:
    """Fetch JSON from the server.

    :raises RunError: if it does not answer with it.
    """
    import httpx

    try:
        reply = client.get(path)
    except (httpx.HTTPError, ValueError) as error:
        raise unreachable(str(client.base_url), f"GET {path}", error) from error
    if reply.status_code in _MISSING:
        raise _no_server(client, f"GET {path} answered {reply.status_code}")
    if reply.status_code != _FOUND:
        raise RunError(
            f"GET {path} answered {reply.status_code} {reply.reason_phrase}".rstrip(),
            where=str(client.base_url),
            action="see that the URL is that of trtllm-serve itself, and what its log "
            "says",
        )
    try:
        return reply.json()
    except ValueError:
        raise _no_server(client, f"GET {path} gave no JSON") from None


def _no_server(client: httpx.Client, why: str) -> RunError:
    return RunError(
        f"this is no trtllm-serve: {why}",
        where=str(client.base_url),
        action="give the base URL of a server that trtspec serve, or launch/serve.sh, "
        "started",
    )


def unreachable(url: str, what: str, error: Exception) -> RunError:
    """Say that a server does not answer, and what to do.

    :param what: the request that failed.
    """
    said = str(error) or type(error).__name__
    return RunError(
        f"{what} failed: {said}",
        where=url,
        action="see that trtllm-serve is running there and ready (GET /health), and "
        "what its log says",
    )
