"""Sends prompts to a server, so many at once, and counts what comes back."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp

SILENCE_SECONDS = 600.0


@dataclass(frozen=True)
class Target:
    """A server, and what its requests say beside the prompt."""

    name: str
    url: str
    model: str
    extra: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Taken:
    """One block: how long it took, and the text of each answer."""

    seconds: float
    texts: tuple[str, ...]


def send(
    target: Target, prompts: Sequence[str], tokens: int, concurrency: int
) -> Taken:
    """Send all prompts, greedy and streamed; so many at once.

    :raises RuntimeError: if a request fails.
    """
    return asyncio.run(_send(target, prompts, tokens, concurrency))


async def _send(
    target: Target, prompts: Sequence[str], tokens: int, concurrency: int
) -> Taken:
    texts = [""] * len(prompts)
    left = iter(range(len(prompts)))
    timeout = aiohttp.ClientTimeout(total=None, sock_read=SILENCE_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:

        async def work() -> None:
            for index in left:
                body = _body(target, prompts[index], tokens)
                texts[index] = await _ask(session, target, body)

        started = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(concurrency)))
        return Taken(time.perf_counter() - started, tuple(texts))


def _body(target: Target, prompt: str, tokens: int) -> dict[str, Any]:
    return {
        "model": target.model,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": tokens,
        "temperature": 0,
        "stream": True,
        **dict(target.extra),
    }


async def _ask(
    session: aiohttp.ClientSession, target: Target, body: dict[str, Any]
) -> str:
    url = f"{target.url}/v1/chat/completions"
    pieces = []
    async with session.post(url, json=body) as reply:
        if reply.status != 200:
            said = (await reply.text())[:300]
            raise RuntimeError(f"{target.name}: status {reply.status}: {said}")
        async for line in reply.content:
            text = line.decode().strip()
            if text.startswith("data:") and text != "data: [DONE]":
                pieces.append(_piece(target, json.loads(text[5:])))
    return "".join(pieces)


def _piece(target: Target, event: dict[str, Any]) -> str:
    if "error" in event:
        raise RuntimeError(f"{target.name}: {event['error']}")
    choices = event.get("choices") or [{}]
    return (choices[0].get("delta") or {}).get("content") or ""
