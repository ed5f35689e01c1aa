"""A suffix automaton proposes what followed the longest match of a text's end.

As in TensorRT-LLM (tensorrt_llm/_torch/speculative/suffix_automaton.py, sa_worker.py)
the longest match wins, of its occurrences the first, and a draft ends where the text
ends that it is copied from. What its kernel does with matches of equal length in
several texts is not established: here the request's own text goes first, then the
others from the youngest to the oldest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trtspec.errors import RunError
from trtspec.methods import Method, Suffix
from trtspec.methods.suffix import LONGEST_POOLED_MATCH
from trtspec.reference.drafters.base import BaseDrafter, DraftContext, move_kept
from trtspec.reference.drafters.setup import DrafterSetup
from trtspec.reference.suffix_automaton import Matcher, SuffixAutomaton, SuffixText
from trtspec.reference.tree import NO_DRAFT, DraftTree

LEAST_POOL = 64
"""Requests that a pool holds unless told otherwise (``_DEFAULT_POOL_SIZE`` there)."""


class SuffixDrafter(BaseDrafter):
    """Suffix automata over prompt and output of each request.

    With a pool, drafts depend on what other requests say, and so does which sample of
    the target's distribution a seed gives.

    :param pool_size: texts of running and finished requests to look in; 0 for the
        request's own alone.
    """

    def __init__(self, method: Suffix, pool_size: int = 0) -> None:
        self._method, self._pool_size = method, pool_size
        self._entries: dict[int, _Entry] = {}
        self._finished: list[_Entry] = []
        self._entered = 0

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Give one chain of point masses per context."""
        for slot, context in enumerate(contexts):
            if context.limit:
                self._entry(slot, context).grow(context.tokens)
        return [
            self._draft(self._entries[slot], context.limit)
            if context.limit
            else NO_DRAFT
            for slot, context in enumerate(contexts)
        ]

    def move(self, source: int, target: int) -> None:
        """Take the text along."""
        move_kept(self._entries, source, target)

    def release(self, slot: int) -> None:
        """Forget the text, or leave it to the other requests."""
        entry = self._entries.pop(slot, None)
        if entry is not None and self._pool_size:
            entry.grow(entry.source)  # what its last step brought
            self._finished.append(entry)
            self._trim()

    def _entry(self, slot: int, context: DraftContext) -> _Entry:
        if slot not in self._entries:
            own = context.speculation
            method = own if isinstance(own, Suffix) else self._method
            most = method.max_matching_ngram
            if most is None and self._pool_size:
                most = LONGEST_POOLED_MATCH
            self._entered += 1
            self._entries[slot] = _Entry(self._entered, most, SuffixText(most))
            self._trim()
        return self._entries[slot]

    def _trim(self) -> None:
        """Drop the texts that finished first, as far as the pool is too full."""
        room = max(self._pool_size - len(self._entries), 0)
        while len(self._finished) > room:
            self._finished.pop(0)

    def _draft(self, entry: _Entry, limit: int) -> DraftTree:
        place = entry.place(self._others(entry))
        return NO_DRAFT if place is None else copied(*place, limit)

    def _others(self, entry: _Entry) -> list[_Entry]:
        """Give the other requests' texts, the youngest first."""
        if not self._pool_size:
            return []
        texts = [*self._entries.values(), *self._finished]
        texts.sort(key=lambda one: -one.number)
        return [one for one in texts if one is not entry]


def copied(text: SuffixAutomaton, start: int, limit: int) -> DraftTree:
    """Copy up to ``limit`` tokens of a text as point masses."""
    return DraftTree.chain(text.tokens[start : start + limit])


@dataclass(slots=True)
class _Search:
    """How far the end of one text was looked for in another.

    :param read: tokens of the own text that are done.
    :param size: tokens that the other text had then.
    """

    matcher: Matcher
    read: int
    size: int = 0


@dataclass(slots=True)
class _Entry:
    """One request's text.

    :param number: counts the requests as they come.
    :param most: most tokens of a match.
    :param source: the list of the request's tokens, which grows by itself.
    """

    number: int
    most: int | None
    text: SuffixText
    source: Sequence[int] = ()
    searches: dict[int, _Search] = field(default_factory=dict)

    def grow(self, tokens: Sequence[int]) -> None:
        self.source = tokens
        self.text.grow(tokens)

    def place(self, others: Sequence[_Entry]) -> tuple[SuffixAutomaton, int] | None:
        """Give the text and the position behind the longest match of this one's end."""
        size, start = self.text.match()
        text = self.text.automaton
        self.searches = {other.number: self._search(other) for other in others}
        for other in others:
            longer, behind = self.searches[other.number].matcher.match()
            if longer > size:
                size, start, text = longer, behind, other.text.automaton
        return (text, start) if size else None

    def _search(self, other: _Entry) -> _Search:
        own, text = self.text.automaton.tokens, other.text.automaton
        search = self.searches.get(other.number)
        if search is None or own[search.read - 1] in text.tokens[search.size :]:
            # more of the tokens read so far may occur in what the other text has got
            first = max(len(own) - self.most, 0) if self.most else 0
            search = _Search(Matcher(text, self.most), read=first)
        search.matcher.read(own[search.read :])
        search.read, search.size = len(own), len(text.tokens)
        return search


def open_drafter(
    method: Method, directory: Path | None, setup: DrafterSetup
) -> SuffixDrafter:
    """Start with no text.

    :raises RunError: if the pool has no room for the requests that run at once.
    """
    assert isinstance(method, Suffix)
    if not method.global_pool:
        return SuffixDrafter(method)
    size = method.global_pool_size or max(LEAST_POOL, setup.slots)
    if size < setup.slots:
        raise RunError(
            f"speculation.global_pool_size {size} is below limits.max_batch_size "
            f"{setup.slots}",
            allowed=f"{setup.slots} and more",
            action=f"write global_pool_size: {setup.slots}, or delete it",
        )
    return SuffixDrafter(method, size)
