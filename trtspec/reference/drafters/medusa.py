"""Medusa: heads on the target's last state propose a static tree in one go.

A node of the tree is a path of ranks: the path (1, 0) is the likeliest token of head 1
below the second likeliest of head 0. The heads do not see one another's tokens, so the
candidates of a level are the same below every parent. They are chosen by rank, not by
chance, and are point masses for acceptance, whatever the sampling.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from trtspec.errors import RunError
from trtspec.methods import Medusa, Method, Paths, tree_paths
from trtspec.reference.drafters.base import DraftContext
from trtspec.reference.drafters.last_state import LastStateDrafter
from trtspec.reference.drafters.setup import DrafterSetup
from trtspec.reference.heads.medusa import MedusaHeads, load_medusa
from trtspec.reference.packing import pack_head
from trtspec.reference.tree import NO_DRAFT, ROOT, DraftTree


class StaticTree:
    """A tree given by paths of ranks, in an order where parents come first."""

    def __init__(self, paths: Paths) -> None:
        self._nodes = sorted(paths, key=lambda path: (len(path), path))
        place = {path: node for node, path in enumerate(self._nodes)}
        self._parents = tuple(place.get(path[:-1], ROOT) for path in self._nodes)
        self.depth = len(self._nodes[-1])
        self.most_ranks = 1 + max(path[-1] for path in self._nodes)

    def fill(self, ranked: Sequence[Sequence[int]], limit: int) -> DraftTree:
        """Put tokens in the places, no deeper than ``limit`` levels.

        :param ranked: per level its tokens by rank, likeliest first.
        """
        nodes = [path for path in self._nodes if len(path) <= limit]
        tokens = tuple(ranked[len(path) - 1][path[-1]] for path in nodes)
        return DraftTree(tokens, self._parents[: len(nodes)])


class MedusaDrafter(LastStateDrafter):
    """Proposes one static tree per slot, from its last state."""

    def __init__(self, heads: MedusaHeads, tree: StaticTree, vocabulary: int) -> None:
        """Draft for a target that has ``vocabulary`` rows of logits."""
        super().__init__()
        self._heads = heads
        self._tree = tree
        self._vocabulary = vocabulary

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Give one tree of point masses per context."""
        trees = [NO_DRAFT] * len(contexts)
        drafting = [slot for slot, context in enumerate(contexts) if context.limit]
        if not drafting:
            return trees
        depth = max(min(contexts[s].limit, self._tree.depth) for s in drafting)
        ranked = self._ranked(drafting, depth)
        for slot, tokens in zip(drafting, ranked, strict=True):
            trees[slot] = self._tree.fill(tokens, contexts[slot].limit)
        return trees

    @torch.inference_mode()
    def _ranked(self, slots: Sequence[int], depth: int) -> list[list[list[int]]]:
        """Give each slot's likeliest tokens, [slots][levels][ranks]."""
        with self.timed_forward():
            logits = self._heads(self.last_states(slots), depth)
            likeliest = logits[..., : self._vocabulary].topk(self._tree.most_ranks)
            ranked: list[list[list[int]]] = likeliest.indices.tolist()
        return ranked


def open_drafter(
    method: Method, directory: Path | None, setup: DrafterSetup
) -> MedusaDrafter:
    """Load as many heads as the tree is deep.

    :raises RunError: if the checkpoint has fewer, or is not one of Medusa heads.
    """
    assert isinstance(method, Medusa)
    assert directory is not None, "a medusa artifact holds heads"
    tree = StaticTree(tree_paths(method.tree))
    heads = load_medusa(
        directory,
        hidden_size=setup.hidden_size,
        lm_head=setup.lm_head,
        dtype=setup.dtype,
        device=setup.device,
        most=tree.depth,
    )
    if len(heads) < tree.depth:
        raise RunError(
            f"the tree is {tree.depth} levels deep, but the checkpoint has "
            f"{len(heads)} Medusa heads",
            where=str(directory),
            allowed=f"a tree of up to {len(heads)} levels",
            action="choose a flatter speculation.tree, or heads that look further",
        )
    if tree.most_ranks > setup.vocabulary:
        raise RunError(
            f"the tree takes the {tree.most_ranks} likeliest tokens",
            where="speculation.tree",
            allowed=f"ranks below {setup.vocabulary}, the target's vocabulary",
        )
    pack_head(heads)
    return MedusaDrafter(heads, tree, setup.vocabulary)
