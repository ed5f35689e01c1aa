"""Lookahead decoding: the target's own n-grams from parallel Jacobi iterations.

Fu et al., arXiv 2402.02057; layout as in TensorRT-LLM
(cpp/tensorrt_llm/layers/lookaheadAlgorithm.cpp, lookaheadPoolManager.cpp).

With window size W and n-gram size N the window has W columns. The first tokens of the
columns form a chain below the pending token, which is the first token of column 0; the
further tokens of a column hang below its first one:

    pending ─ b1 ─ b2 ─ b3      column 0: the pending token, b1 ...
       └ c0 ┬ c1 ─ c2 ─ c3      column 1
            └ d0 ─ d1 ...       column 2, below c0

One verification gives the target's best token after each column. Column and that token
are an n-gram for the pool; without its first token, and with the new one, the column
starts the next step, one position on. In the first N - 2 steps the columns grow from
one token each; what stands in the place of tokens not known yet is taken from the text.
Up to G n-grams of the pool that start with the pending token are verified: they are
chosen without chance, so that acceptance keeps the target's distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trtspec.methods import Lookahead, Method
from trtspec.reference.drafters.base import (
    BaseDrafter,
    DraftContext,
    Observation,
    move_kept,
)
from trtspec.reference.drafters.lookahead_window import NGramPool, Window
from trtspec.reference.drafters.setup import DrafterSetup
from trtspec.reference.tree import NO_DRAFT, DraftTree


class LookaheadDrafter(BaseDrafter):
    """A window and a pool of n-grams per request.

    :param max_tokens: most tokens of a sequence; the window looks no further.
    """

    def __init__(self, method: Lookahead, max_tokens: int) -> None:
        self._method, self._max_tokens = method, max_tokens
        self._requests: dict[int, _Request] = {}

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Give pooled n-grams as candidates, and the window behind them."""
        return [self._draft(slot, context) for slot, context in enumerate(contexts)]

    def observe(self, slot: int, observation: Observation) -> None:
        """Shift the window by what the target says behind its columns."""
        if observation.best and slot in self._requests:
            self._requests[slot].learn(observation.best)

    def move(self, source: int, target: int) -> None:
        """Take window and pool along."""
        move_kept(self._requests, source, target)

    def release(self, slot: int) -> None:
        """Forget window and pool."""
        self._requests.pop(slot, None)

    def _draft(self, slot: int, context: DraftContext) -> DraftTree:
        if not context.limit:
            return NO_DRAFT
        if slot not in self._requests:
            own = context.speculation
            method = own if isinstance(own, Lookahead) else self._method
            self._requests[slot] = _Request(method, context.tokens)
        room = self._max_tokens - len(context.tokens)
        return self._requests[slot].draft(context.tokens, context.limit, room)


class _Request:
    """What is kept of one request."""

    def __init__(self, method: Lookahead, text: Sequence[int]) -> None:
        size = method.ngram_size
        self._pool = NGramPool(size, method.verification_set_size)
        self._window = Window(method.window_size, size, text) if size > 1 else None
        self._pending = text[-1]
        self._ends: tuple[int, ...] = ()
        """Nodes of the last draft that the columns end with."""

    def draft(self, text: Sequence[int], limit: int, room: int) -> DraftTree:
        """Give the tree of a step.

        :param limit: deepest level of a candidate.
        :param room: positions behind the pending token's.
        """
        self._pending = text[-1]
        self._pool.read(text)
        guesses = self._pool.guesses(self._pending)
        pooled = DraftTree.of_paths(guess[:limit] for guess in guesses)
        tokens, parents = list(pooled.tokens), list(pooled.parents)
        self._ends = ()
        if self._window is not None and self._window.depth <= room:
            self._ends = self._window.hang(tokens, parents)
        return DraftTree(tuple(tokens), tuple(parents), candidates=len(pooled))

    def learn(self, best: Sequence[int]) -> None:
        """Take the target's best token after each node of the last draft."""
        if self._window is not None and self._ends:
            new = [best[node + 1] for node in self._ends]
            for ngram in self._window.shift(self._pending, new):
                self._pool.add(ngram)
            self._ends = ()


def open_drafter(
    method: Method, directory: Path | None, setup: DrafterSetup
) -> LookaheadDrafter:
    """Start with empty pools."""
    assert isinstance(method, Lookahead)
    return LookaheadDrafter(method, setup.max_tokens)
