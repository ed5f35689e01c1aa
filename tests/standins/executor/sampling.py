"""How does a request choose its tokens, and which drafts does that accept?"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from trtspec.reference.acceptance import Acceptance, accept_greedy, accept_sampled
from trtspec.reference.chance import SeededChance
from trtspec.reference.sampling import distribution
from trtspec.reference.tree import ROOT, DraftTree
from trtspec.run import SamplingParams
from trtspec.trtllm import facts

NOT_MODELLED = (
    "repetition_penalty",
    "presence_penalty",
    "frequency_penalty",
    "min_tokens",
    "no_repeat_ngram_size",
    "min_p",
    "top_p_min",
    "top_p_decay",
)
NEUTRAL = {"repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0}


def require_modelled(sampling: Any) -> None:
    """Refuse what the stand-in would silently ignore.

    :raises NotImplementedError: such a parameter is set.
    """
    for name in NOT_MODELLED:
        value = getattr(sampling, name, None)
        if value is not None and value != NEUTRAL.get(name):
            raise NotImplementedError(f"the stand-in does not model {name}")


def is_greedy(sampling: Any) -> bool:
    """Neither top-k nor top-p is greedy, and so is top-k 1."""
    return sampling.top_k == 1 or (not sampling.top_k and sampling.top_p is None)


def parameters(sampling: Any) -> SamplingParams:
    """A sampled request in the reference engine's words."""
    temperature = sampling.temperature
    return SamplingParams(
        temperature=1.0 if temperature is None else temperature,
        top_k=min(sampling.top_k or 0, facts.most_top_k()),
        top_p=1.0 if sampling.top_p is None else sampling.top_p,
        seed=sampling.seed or 0,
    )


class Chooser:
    """One request's way to accept drafts and to go on.

    ``logits`` is always [1 + nodes, vocabulary]: after the pending token, then after
    each node of the tree.
    """

    def __init__(self, sampling: Any, ignore_sampling: bool, threshold: float | None):
        self._greedy = ignore_sampling or (threshold is None and is_greedy(sampling))
        self._sampling = parameters(sampling)
        self._threshold = threshold
        self._chance = SeededChance(self._sampling.seed)

    def accept(self, tree: DraftTree, logits: Tensor) -> Acceptance:
        """Follow the engine's own tree: the next token decides which branch."""
        if self._greedy:
            return accept_greedy(tree, logits.max(-1).indices.tolist())
        path: list[int] = []
        node = ROOT
        while True:
            token = self._chance.draw(self._target(logits[node + 1]))
            matching = [c for c in tree.children(node) if tree.tokens[c] == token]
            if not matching:
                return Acceptance(tuple(path), token)
            node = matching[0]
            path.append(node)

    def _target(self, logits: Tensor) -> Tensor:
        if self._threshold is None:
            return distribution(logits, self._sampling)
        tempered = SamplingParams(temperature=self._sampling.temperature)
        return typical(distribution(logits, tempered), self._threshold)

    def accept_external(
        self, draft: Any, tree: DraftTree, logits: Tensor
    ) -> Acceptance:
        """Accept tokens from outside, by their logits if there are any."""
        if self._greedy:
            return self.accept(tree, logits)
        if draft.logits is None:
            return self._by_tokens(tree, logits)
        proposals = tuple(draft.logits[: len(tree)].double().softmax(-1))
        if draft.acceptance_threshold is not None:
            return self._by_threshold(tree, logits, proposals, draft)
        chain = DraftTree.chain(tree.tokens, proposals)
        return accept_sampled(
            chain, lambda n: self._target(logits[n + 1]), self._chance
        )

    def _by_tokens(self, tree: DraftTree, logits: Tensor) -> Acceptance:
        """A rejected token can be drawn again: it comes out with p(2-p)."""
        for node, token in enumerate(tree.tokens):
            p = self._target(logits[node])
            if not self._chance.flip(float(p[token])):
                return Acceptance(tuple(range(node)), self._chance.draw(p))
        last = self._target(logits[len(tree)])
        return Acceptance(tuple(range(len(tree))), self._chance.draw(last))

    def _by_threshold(
        self, tree: DraftTree, logits: Tensor, proposals: tuple[Tensor, ...], draft: Any
    ) -> Acceptance:
        for node, token in enumerate(tree.tokens):
            p, q = self._target(logits[node]), proposals[node]
            if not float(p[token]) / float(q[token]) >= draft.acceptance_threshold:
                left = (p - q).clamp(min=0)
                drawn = self._chance.draw(left if left.sum() > 0 else p)
                return Acceptance(tuple(range(node)), drawn)
        last = self._target(logits[len(tree)])
        return Acceptance(tuple(range(len(tree))), self._chance.draw(last))


def typical(p: Tensor, threshold: float) -> Tensor:
    """Mask tokens below min(threshold, sqrt(threshold) exp(-entropy))."""
    entropy = float(torch.special.entr(p).sum())
    least = min(threshold, math.sqrt(threshold) * math.exp(-entropy))
    kept = torch.where(p >= least, p, 0.0)
    return kept / kept.sum()
