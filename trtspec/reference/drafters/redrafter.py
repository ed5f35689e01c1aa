"""ReDrafter: a beam search with a recurrent head proposes a tree of prefixes.

Beams that begin alike share the nodes of what they have in common, as in the authors'
tree attention (apple/ml-recurrent-drafter, docs/beam_to_prefix_tree.md). The search
takes the whole vocabulary, as TensorRT-LLM's does
(tensorrt_llm/models/redrafter/redrafter_helper.py); the authors' code first cuts each
distribution to its 50 likeliest tokens. Beams are chosen without chance: their tokens
are point masses for acceptance, whatever the sampling.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from trtspec.methods import Method, ReDrafter
from trtspec.reference.drafters.base import DraftContext
from trtspec.reference.drafters.last_state import LastStateDrafter
from trtspec.reference.drafters.setup import DrafterSetup
from trtspec.reference.heads.base import Shared
from trtspec.reference.heads.redrafter import ReDrafterHead, load_redrafter
from trtspec.reference.packing import pack_head
from trtspec.reference.tree import NO_DRAFT, DraftTree


class Level(NamedTuple):
    """One step of a beam search: the best beams, [rows][beams], best first.

    :param tokens: last token of each beam.
    :param origins: place in the level before of the beam that each goes on from.
    """

    tokens: list[list[int]]
    origins: list[list[int]]


class ReDrafterDrafter(LastStateDrafter):
    """Proposes the beams of each slot, from its last state and pending token."""

    def __init__(
        self,
        head: ReDrafterHead,
        embedding: Shared,
        method: ReDrafter,
        vocabulary: int,
    ) -> None:
        """Draft for a target that has ``vocabulary`` rows of logits.

        :param embedding: the target's.
        """
        super().__init__()
        self._head = head
        self._embedding = embedding
        self._method = method
        self._vocabulary = vocabulary

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Give one tree of point masses per context."""
        trees = [NO_DRAFT] * len(contexts)
        drafting = [slot for slot, context in enumerate(contexts) if context.limit]
        if not drafting:
            return trees
        with self.timed_forward():
            levels = self._search([(slot, contexts[slot]) for slot in drafting])
        for row, slot in enumerate(drafting):
            # the beams as they were at the slot's own limit
            trees[slot] = DraftTree.of_paths(beams(levels[: contexts[slot].limit], row))
        return trees

    @torch.inference_mode()
    def _search(self, drafting: Sequence[tuple[int, DraftContext]]) -> list[Level]:
        states = self.last_states([slot for slot, _ in drafting])  # [rows, hidden]
        pending = torch.tensor([context.tokens[-1] for _, context in drafting])
        return beam_search(
            self._head,
            self._embedding,
            states,
            pending.to(states.device),
            vocabulary=self._vocabulary,
            width=self._method.num_beams,
            length=min(
                self._method.draft_length_per_beam,
                max(context.limit for _, context in drafting),
            ),
        )


def beam_search(
    head: ReDrafterHead,
    embedding: Shared,
    context: Tensor,
    pending: Tensor,
    *,
    vocabulary: int,
    width: int,
    length: int,
) -> list[Level]:
    """Grow the ``width`` likeliest beams by ``length`` tokens.

    :param context: the target's final state before the pending token [rows, hidden].
    :param pending: ids [rows].
    :param vocabulary: tokens behind so many are padding of the head's.
    """
    tokens = pending[:, None]  # [rows, beams]: one beam at first
    state = torch.zeros_like(context)[:, None]  # [rows, beams, hidden]
    score = torch.zeros(tokens.shape, device=context.device)
    levels = []
    for _ in range(length):
        state = head.advance(state, embedding(tokens))
        logits = head(context[:, None].expand_as(state), state)[..., :vocabulary]
        total = score[..., None] + logits.float().log_softmax(-1)
        candidates = total.flatten(1)  # [rows, beams * tokens]
        score, place = candidates.topk(min(width, candidates.shape[1]))
        origin = place // logits.shape[-1]
        tokens = place % logits.shape[-1]
        state = state.gather(1, origin[..., None].expand(-1, -1, state.shape[-1]))
        levels.append(Level(tokens.tolist(), origin.tolist()))
    return levels


def beams(levels: Sequence[Level], row: int) -> list[tuple[int, ...]]:
    """Give the tokens of a row's beams after the last of these levels."""
    paths: list[tuple[int, ...]] = [()]
    for level in levels:
        paths = [
            (*paths[origin], token)
            for token, origin in zip(level.tokens[row], level.origins[row], strict=True)
        ]
    return paths


def open_drafter(
    method: Method, directory: Path | None, setup: DrafterSetup
) -> ReDrafterDrafter:
    """Load the recurrent head.

    :raises RunError: if the checkpoint is not one of ReDrafter, or not for the target.
    """
    assert isinstance(method, ReDrafter)
    assert directory is not None, "a redrafter artifact holds a head"
    head = load_redrafter(
        directory,
        hidden_size=setup.hidden_size,
        dtype=setup.dtype,
        device=setup.device,
    )
    pack_head(head)
    return ReDrafterDrafter(head, setup.embedding, method, setup.vocabulary)
