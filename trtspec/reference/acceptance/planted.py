"""Rules of acceptance that are wrong on purpose: what a test of exactness must find.

Each stands for a fault that engines had or have, of sampled requests only: greedy ones
are decoded as they should be. None of them may be reached from a recipe; a test puts
one into an engine with ``Engine.instead(rule=...)``. LOSSY, all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from torch import Tensor

from trtspec.reference.acceptance.base import Acceptance, Rule, Verified
from trtspec.reference.acceptance.exact import (
    accept_exactly,
    accept_greedy,
    acceptance_probability,
)
from trtspec.reference.acceptance.typical import LossyTypical
from trtspec.reference.chance import Chance
from trtspec.reference.tree import ROOT, DraftTree
from trtspec.run import SamplingParams


def argmax_always(
    verified: Verified, sampling: SamplingParams, chance: Chance
) -> Acceptance:
    """Decode greedily whatever temperature is asked for.

    TensorRT-LLM 1.0 and 1.1 do so in their one-model engines.
    """
    return accept_greedy(verified.tree, verified.best)


def temperature_ignored(
    verified: Verified, sampling: SamplingParams, chance: Chance
) -> Acceptance:
    """Verify at temperature 1 whatever is asked for, but for greedy requests."""
    really = sampling if sampling.greedy else replace(sampling, temperature=1.0)
    return accept_exactly(verified, really, chance)


def top_p_ignored(
    verified: Verified, sampling: SamplingParams, chance: Chance
) -> Acceptance:
    """Verify without the nucleus that is asked for."""
    return accept_exactly(verified, replace(sampling, top_p=1.0), chance)


def whole_target_resampled(
    verified: Verified, sampling: SamplingParams, chance: Chance
) -> Acceptance:
    """Draw the token after a rejection from all of p, not from what is left of it.

    A draft token of probability p, chosen without chance, then comes out with p(2-p).
    TensorRT-LLM's engine backend does so for draft tokens without logits.
    """
    if sampling.greedy:
        return accept_greedy(verified.tree, verified.best)
    path: list[int] = []
    node = ROOT
    while True:
        p = verified.probabilities(node, sampling)
        child = _first_taken(verified, node, p, chance)
        if child is None:
            return Acceptance(tuple(path), chance.draw(p))
        path.append(child)
        node = child


def _first_taken(
    verified: Verified, node: int, p: Tensor, chance: Chance
) -> int | None:
    tree = verified.tree
    for child in tree.children(node):
        token, q = tree.tokens[child], tree.proposal(child)
        if chance.flip(acceptance_probability(p, q, token)):
            return child
    return None


@dataclass(frozen=True, slots=True)
class ForcedAcceptance:
    """Take the first so many draft tokens of a branch unseen.

    Benchmark switches do so: TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS and others.

    :param tokens: how many.
    """

    tokens: int = 1

    def __call__(
        self, verified: Verified, sampling: SamplingParams, chance: Chance
    ) -> Acceptance:
        """Follow first children, then draw the next token; see ``Rule``."""
        if sampling.greedy:
            return accept_greedy(verified.tree, verified.best)
        path: list[int] = []
        node = ROOT
        while len(path) < self.tokens and (below := verified.tree.children(node)):
            node = below[0]
            path.append(node)
        p = verified.probabilities(node, sampling)
        return Acceptance(tuple(path), chance.draw(p))


@dataclass(frozen=True, slots=True)
class FuzzyAcceptance:
    """Take every draft token while target and drafter are alike enough.

    After Fuzzy Speculative Decoding (arXiv 2502.20704); here alike means in total
    variation, and what is not taken is drawn from p.

    :param apart: total variation of p and q up to which a draft token is taken.
    """

    apart: float = 0.6

    def __call__(
        self, verified: Verified, sampling: SamplingParams, chance: Chance
    ) -> Acceptance:
        """Follow first children while they are taken; see ``Rule``."""
        if sampling.greedy:
            return accept_greedy(verified.tree, verified.best)
        tree, path, node = verified.tree, list[int](), ROOT
        while True:
            p = verified.probabilities(node, sampling)
            child = next(iter(tree.children(node)), None)
            if child is None or self._differ(p, tree, child):
                return Acceptance(tuple(path), chance.draw(p))
            path.append(child)
            node = child

    def _differ(self, p: Tensor, tree: DraftTree, node: int) -> bool:
        token, q = tree.tokens[node], tree.proposal(node)
        if q is None:
            return 1 - float(p[token]) > self.apart
        return float((p - q).abs().sum()) / 2 > self.apart


PLANTED: Mapping[str, Rule] = {
    "argmax despite temperature": argmax_always,
    "temperature ignored": temperature_ignored,
    "top-p ignored": top_p_ignored,
    "p(2-p) resampling": whole_target_resampled,
    "typical acceptance": LossyTypical(0.09),
    "forced acceptance": ForcedAcceptance(),
    "fuzzy acceptance": FuzzyAcceptance(),
}
"""Name → a wrong rule."""
CONTROL = "forced acceptance"
"""The one that a test must find before it may say that nothing is wrong: it differs
wherever anything is drafted that is not certain, however seldom drafts are accepted."""


@dataclass(frozen=True, slots=True)
class Penalised:
    """An exact rule over a target whose used tokens are made less likely.

    The embedded engine has no penalties; this stands for one that has. With speculation
    on and the plain exact rule, the penalty is dropped.

    :param presence: taken off the logits of every token in prompt and output so far
        (OpenAI's presence_penalty, prompt included).
    """

    presence: float

    def __call__(
        self, verified: Verified, sampling: SamplingParams, chance: Chance
    ) -> Acceptance:
        """Accept exactly over penalised logits; see ``Rule``."""
        logits = verified.logits.clone()
        tree = verified.tree
        used: list[set[int]] = [set(verified.tokens)]
        for node, parent in enumerate(tree.parents):
            used.append(used[parent + 1] | {tree.tokens[node]})
        for row, tokens in enumerate(used):
            logits[row, sorted(tokens)] -= self.presence
        best = logits[: len(used)].argmax(-1).tolist()
        return accept_exactly(
            verified._replace(logits=logits, best=best), sampling, chance
        )
