"""The same prompts through a runner in this process, with nothing around it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence

from serve_bench.load import Taken
from trtspec.run import Request, Runner


def run_bare(
    runner: Runner, prompts: Sequence[str], tokens: int, concurrency: int
) -> Taken:
    """Submit and advance, and nothing else; tokenizing counts, as for a server."""
    started = time.perf_counter()
    waiting = deque(enumerate(prompts))
    texts = [""] * len(prompts)
    inside = 0
    while waiting or inside:
        while waiting and inside < concurrency:
            index, prompt = waiting.popleft()
            ids = runner.encode_chat([{"role": "user", "content": prompt}])
            runner.submit(Request(str(index), ids, tokens))
            inside += 1
        for chunk in runner.advance().chunks:
            if chunk.completion is not None:
                texts[int(chunk.request_id)] = chunk.completion.text
                inside -= 1
    return Taken(time.perf_counter() - started, tuple(texts))
