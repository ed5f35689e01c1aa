"""A head that reads its own states grows a draft tree below each pending token.

EAGLE's heads draft so, and any head that ``forward`` takes [token; state] and gives the
next state. Entry i of a head's slot is token i+1 beside the state of token i: what the
target said of token i where it has seen it, what the head itself said further on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from trtspec.methods import Method
from trtspec.reference.candidates import VocabularyMap
from trtspec.reference.drafters.base import BaseDrafter, DraftContext, Observation
from trtspec.reference.drafters.states import Entry, UnreadStates, read
from trtspec.reference.growth import Growth, Plan, room_for
from trtspec.reference.slots import Row, SlotModel
from trtspec.reference.tree import NO_DRAFT, ROOT, DraftTree

Fuse = Callable[[Tensor], Tensor]
"""Makes what is observed of the target [n, ...] the head's states [n, width]."""


class GrowingDrafter(BaseDrafter):
    """Proposes trees that a head grows, level by level, for all slots at once.

    While a tree grows, its nodes are stored behind the slot's length. Then they are
    cut off: the target may accept some, but its own states go beside them.
    """

    def __init__(
        self,
        head: SlotModel,
        reads: Sequence[int],
        method: Method,
        plan: Callable[[Method], Plan],
        *,
        fuse: Fuse,
        vocabulary: VocabularyMap | None = None,
        known_tokens: int | None = None,
    ) -> None:
        """Draft with a head in its slots.

        :param reads: layers of the target whose states it is given.
        :param method: the recipe's.
        :param plan: how trees grow by a method's parameters.
        :param vocabulary: the target's tokens that its logits are of; None for all.
        :param known_tokens: rows of its embedding; None if it knows all tokens.
        """
        self.reads = tuple(reads)
        self._head, self._fuse, self._vocabulary = head, fuse, vocabulary
        self._method, self._plan_for = method, plan
        self._plan = plan(method)
        self._room = room_for(self._plan, method)
        self._known_tokens = known_tokens
        self._unread = UnreadStates(len(head.lengths))

    @contextmanager
    def growing_by(self, plan: Plan) -> Iterator[None]:
        """Grow trees in another way for a while, with the same head and states."""
        usual, self._plan = self._plan, plan
        try:
            yield
        finally:
            self._plan = usual

    def observe(self, slot: int, observation: Observation) -> None:
        """Note the target's states until the next draft."""
        self._unread.add(slot, observation.states)

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Give one tree per context, no deeper than its limit."""
        drafts = [self._start(context) for context in contexts]
        if not any(drafts):
            return [NO_DRAFT] * len(contexts)
        self._read_known(contexts, drafts)
        while any(draft is not None and draft.unread for draft in drafts):
            self._read_level(drafts)
        trees = []
        for slot, draft in enumerate(drafts):
            if draft is not None:
                self._head.keep(slot, (0,))  # the pending token
            trees.append(NO_DRAFT if draft is None else draft.growth.tree())
        return trees

    def move(self, source: int, target: int) -> None:
        """Take the entries and the unread states along."""
        self._head.move(source, target)
        self._unread.move(source, target)
        self.release(source)

    def release(self, slot: int) -> None:
        """Empty the slot."""
        self._unread.clear(slot)
        self._head.clear(slot)

    def _start(self, context: DraftContext) -> _Draft | None:
        if context.limit <= 0:
            return None
        method = context.speculation or self._method
        plan = self._plan if method == self._method else self._plan_for(method)
        return _Draft(plan.start(context, self._vocabulary, self._room))

    def _read_known(
        self, contexts: Sequence[DraftContext], drafts: Sequence[_Draft | None]
    ) -> None:
        """Read what is known but unread, and grow the first level.

        The pending token's entry is stored, but counts only after the draft: the tree
        hangs below it.
        """
        with self.timed_forward():
            logits, states = read(self._head, self._entries(contexts, drafts))
        for slot, draft in enumerate(drafts):
            if draft is not None:
                given = states[slot]
                assert given is not None
                self._head.roll_back(slot, self._head.lengths[slot] - 1)
                draft.grow(self._usable(logits[slot : slot + 1]), given[-1:])

    @torch.inference_mode()
    def _entries(
        self, contexts: Sequence[DraftContext], drafts: Sequence[_Draft | None]
    ) -> list[Entry]:
        waiting = [
            None if draft is None else self._unread.take(slot)
            for slot, draft in enumerate(drafts)
        ]
        given = [states for states in waiting if states is not None]
        fused = self._fuse(given[0] if len(given) == 1 else torch.cat(given))
        sizes = [len(states) for states in given]
        parts = iter(torch.split(fused, sizes))
        entries = []
        for slot, (context, states) in enumerate(zip(contexts, waiting, strict=True)):
            if states is None:
                entries.append(Entry())
                continue
            first = self._head.lengths[slot] + 1
            tokens = context.tokens[first : first + len(states)]
            assert first + len(states) == len(context.tokens), "all states are observed"
            entries.append(Entry(self._known(tokens), next(parts)))
        return entries

    def _read_level(self, drafts: Sequence[_Draft | None]) -> None:
        with self.timed_forward():
            rows = [
                Row(()) if draft is None else draft.row(self._known) for draft in drafts
            ]
            logits, states = self._head.run(0, rows, last_only=False)
        assert states is not None, "a head gives its states"
        for slot, draft in enumerate(drafts):
            if draft is not None and (size := len(draft.unread)):
                draft.grow(self._usable(logits[slot, :size]), states[slot, :size])

    def _usable(self, logits: Tensor) -> Tensor:
        """Cut padding rows that the target does not have."""
        if self._vocabulary is None:
            return logits
        return logits[..., : len(self._vocabulary.ids)]

    def _known(self, tokens: Sequence[int]) -> Sequence[int]:
        """Replace ids that the head has no row for; its guess may be poorer."""
        if self._known_tokens is None:
            return tokens
        return [token if token < self._known_tokens else 0 for token in tokens]


class _Draft:
    """One slot's tree while the head reads it."""

    def __init__(self, growth: Growth) -> None:
        self.growth = growth
        self.unread: list[int] = []  # nodes that the head is to read next
        self._stored: dict[int, int] = {}  # node → its place among those read
        self._parents: list[int] = []  # of those read, as such places
        self._beside = torch.empty(0)  # states for the unread nodes [m, width]

    def grow(self, logits: Tensor, states: Tensor) -> None:
        """Take what the head said of the nodes read last, [m, ...] each."""
        read_last = self.unread or [ROOT]
        self.unread = self.growth.grow(logits)
        parents = [self.growth.parents[node] for node in self.unread]
        if parents != read_last:
            row = {node: index for index, node in enumerate(read_last)}
            states = states[[row[parent] for parent in parents]]
        self._beside = states

    def row(self, known: Callable[[Sequence[int]], Sequence[int]]) -> Row:
        """Give what the head is to read next."""
        before = len(self._parents)
        if not self.unread:  # padding goes behind what is stored
            return Row((), fed=1 + before)
        for node in self.unread:
            parent = self.growth.parents[node]
            self._stored[node] = len(self._parents)
            self._parents.append(ROOT if parent == ROOT else self._stored[parent])
        tokens = [self.growth.tokens[node] for node in self.unread]
        return Row(known(tokens), self._tree(), 1 + before, self._beside)

    def _tree(self) -> DraftTree | None:
        """The nodes read so far and now; None for a chain. Its tokens do not matter."""
        if self._parents == list(range(ROOT, len(self._parents) - 1)):
            return None
        return DraftTree((0,) * len(self._parents), tuple(self._parents))
