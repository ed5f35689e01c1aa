# ruff: noqa: INP001, T201  a program, beside no package
"""Whether a container of trtspec is well: what Docker's HEALTHCHECK asks.

One image runs every command. Only ``trtspec serve`` answers HTTP; a build or a bench is
well as long as it runs, and Docker itself sees when it does not. Which command runs is
read from /proc, not from the environment, so that it holds for every way to start one.

Exit 0: well, or nothing to ask. 1: the server does not answer, or says what is wrong.
"""

from __future__ import annotations

import sys
import urllib.error
import urllib.request
from pathlib import Path

PROC = Path("/proc")
SECONDS = 4
"""Less than the HEALTHCHECK's timeout, so that the reason is still told."""
_EVERYWHERE = {"0.0.0.0": "127.0.0.1"}  # noqa: S104  an address to ask, not to bind


def command_lines(proc: Path) -> list[list[str]]:
    """Give the words of every process that can be read."""
    found = []
    for folder in sorted(proc.glob("[0-9]*")):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has ended, or is another user's
            continue
        found.append([word.decode(errors="replace") for word in words if word])
    return found


def served(words: list[str]) -> list[str] | None:
    """Give what follows ``trtspec serve`` in a command line; None if it is another."""
    for place, word in enumerate(words):
        if Path(word).name == "trtspec":
            rest = words[place + 1 :]
            while rest and rest[0].startswith("-"):  # such as --debug
                rest = rest[1:]
            return rest[1:] if rest[:1] == ["serve"] else None
    return None


def option(words: list[str], name: str, default: str) -> str:
    """Give the value of an option, the last one if it is given twice, as click does."""
    value = default
    for place, word in enumerate(words):
        if word == name and place + 1 < len(words):
            value = words[place + 1]
        elif word.startswith(f"{name}="):
            value = word.partition("=")[2]
    return value


def url_of(words: list[str]) -> str:
    """Give the address of a server's health; empty if only the server knows it."""
    port = option(words, "--port", "8000")
    host = option(words, "--host", "127.0.0.1")
    if port == "0":  # it chose one itself
        return ""
    return f"http://{_EVERYWHERE.get(host, host)}:{port}/health"


def fault(url: str) -> str:
    """Say what is wrong with a server; empty if nothing is."""
    try:
        with urllib.request.urlopen(url, timeout=SECONDS):  # noqa: S310  http, see url_of
            return ""
    except urllib.error.HTTPError as error:
        told = error.read(500).decode(errors="replace")
        return f"{url} answers {error.code}: {told}"
    except OSError as error:
        return f"{url} does not answer: {error}"


def main(proc: Path = PROC) -> int:
    """Ask the server of this container, if there is one."""
    for words in command_lines(proc):
        given = served(words)
        if given is None:
            continue
        url = url_of(given)
        wrong = fault(url) if url else ""
        print(wrong or "ok")
        return 1 if wrong else 0
    print("no server runs here: nothing to ask")
    return 0


if __name__ == "__main__":
    sys.exit(main())
