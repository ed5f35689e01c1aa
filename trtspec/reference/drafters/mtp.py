"""Next-token heads draft: one applied again and again, or one head per position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from torch import Tensor, nn

from trtspec.errors import RunError
from trtspec.methods import Method, Mtp
from trtspec.methods.draft_length import longest_draft
from trtspec.reference.capture import FINAL
from trtspec.reference.drafters.base import (
    BaseDrafter,
    DraftContext,
    Drafter,
    Observation,
)
from trtspec.reference.drafters.chains import Chain
from trtspec.reference.drafters.grown import GrowingDrafter
from trtspec.reference.drafters.setup import DrafterSetup
from trtspec.reference.drafters.states import Entry, UnreadStates, read
from trtspec.reference.growth import by_draft_length, room_for
from trtspec.reference.heads.mtp import load_mtp
from trtspec.reference.slots import SlotModel
from trtspec.reference.tree import DraftTree

_OBSERVED = "the target's states of new tokens are observed"


class MtpDrafter(BaseDrafter):
    """Proposes a chain, one head per position, each in slots of its own.

    Entry i of head k (from 0) is token i+k+1 beside the state that head k-1 gave at its
    entry i; for the first head, the target's state of token i (arXiv 2412.19437,
    section 2.2). With n tokens known, a head's entries from n-k-1 on stand on drafts:
    they are cut back, and read again in the next step with what became of them.
    """

    reads = (FINAL,)

    def __init__(self, heads: Sequence[SlotModel]) -> None:
        """Draft with as many heads as tokens are wanted at most."""
        self._heads = tuple(heads)
        # states of known tokens that a head has not read, or has to read again
        self._unread = [UnreadStates(len(heads[0].lengths)) for _ in heads]

    def observe(self, slot: int, observation: Observation) -> None:
        """Note the target's states until the next draft."""
        self._unread[0].add(slot, observation.states)

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Give one chain per context, drawn head by head."""
        chains = [Chain(c, min(c.limit, len(self._heads))) for c in contexts]
        for position in range(max(chain.limit for chain in chains)):
            self._draft_one(position, chains)
        return [chain.tree() for chain in chains]

    def _draft_one(self, position: int, chains: Sequence[Chain]) -> None:
        """Let one head choose a token for each chain that is to be longer."""
        with self.timed_forward():
            entries = [
                self._entry(position, slot, chain)
                if chain.limit > position
                else Entry()
                for slot, chain in enumerate(chains)
            ]
            logits, given = read(self._heads[position], entries)
            for slot, (chain, entry, states) in enumerate(
                zip(chains, entries, given, strict=True)
            ):
                if states is not None:
                    self._cut_back(position, slot, chain, entry, states)
        for slot, chain in enumerate(chains):
            if chain.limit > position:
                chain.extend(logits[slot])

    def _entry(self, position: int, slot: int, chain: Chain) -> Entry:
        states = self._unread[position].take(slot)
        assert states is not None, _OBSERVED
        begin = self._heads[position].lengths[slot] + position + 1
        return Entry(chain.tokens[begin : begin + len(states)], states)

    def _cut_back(
        self, position: int, slot: int, chain: Chain, entry: Entry, states: Tensor
    ) -> None:
        """Keep what stands on known tokens, and hand the head's states on.

        :param states: what the head gave at its new entries [n, width].
        """
        head = self._heads[position]
        begin = head.lengths[slot] - len(states)
        known = max(chain.known - 1 - position, begin) - begin
        head.roll_back(slot, begin + known)
        assert entry.states is not None, _OBSERVED
        # the head before knows one entry more; behind that, states stand on drafts
        sure = max(chain.known - position, begin) - begin if position else known
        # a copy: a view would hold on to the states of a whole prompt
        self._unread[position].add(slot, entry.states[known:sure].clone())
        if position + 1 < len(self._heads):
            more = chain.limit > position + 1
            self._unread[position + 1].add(slot, states if more else states[:known])

    def move(self, source: int, target: int) -> None:
        """Take states, keys and values along."""
        for head, unread in zip(self._heads, self._unread, strict=True):
            head.move(source, target)
            head.clear(source)
            unread.move(source, target)

    def release(self, slot: int) -> None:
        """Empty the slot."""
        for head, unread in zip(self._heads, self._unread, strict=True):
            head.clear(slot)
            unread.clear(slot)


def repeated(
    method: Mtp, head: nn.Module, slots_for: Callable[[nn.Module, int], SlotModel]
) -> GrowingDrafter:
    """Draft all positions with one head, which reads its own states and tokens.

    As TensorRT-LLM's MTP Eagle (tensorrt_llm/_torch/speculative/mtp.py).
    """
    slots = slots_for(head, 1 + room_for(by_draft_length(method), method))
    return GrowingDrafter(
        slots, (FINAL,), method, by_draft_length, fuse=lambda states: states
    )


def one_per_position(
    method: Mtp,
    heads: Sequence[nn.Module],
    slots_for: Callable[[nn.Module, int], SlotModel],
) -> MtpDrafter:
    """Draft each position with a head in slots of its own.

    Where more is to be drafted than there are heads, they take turns, as in vllm
    ``model_executor/models/deepseek_mtp.py``.
    """
    positions = longest_draft(method.draft_length)
    chosen = [heads[position % len(heads)] for position in range(positions)]
    return MtpDrafter([slots_for(head, positions) for head in chosen])


def open_drafter(
    method: Method, directory: Path | None, setup: DrafterSetup
) -> Drafter:
    """Load the heads of the target's checkpoint, or of one of their own.

    :raises RunError: if the checkpoint has none, or they do not fit the target.
    """
    assert isinstance(method, Mtp)
    heads = load_mtp(directory or setup.target_directory, setup)
    if len(heads) == 1 and not method.vanilla:
        return repeated(method, heads[0], setup.slots_for)
    if method.tree is not None:
        raise RunError(
            "tree is dynamic, and each position has a head of its own",
            where=str(directory or setup.target_directory),
            allowed="a dynamic tree only where one head drafts all positions",
            action="delete tree from the recipe, or vanilla if it is there",
        )
    return one_per_position(method, heads, setup.slots_for)
