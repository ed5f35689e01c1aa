"""Language models as tables, drafts grown from them, and what a step then emits."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable

import torch

from tests.reference.enumeration import outcomes
from tests.reference.paths import path_to
from trtspec.reference.acceptance import Verified, accept_exactly
from trtspec.reference.candidates import Candidate, drawn, likeliest
from trtspec.reference.sampling import distribution
from trtspec.reference.tree import ROOT, DraftTree
from trtspec.run import SamplingParams

EXACT = 1e-12
PLAIN = SamplingParams(temperature=1.0)

Prefix = tuple[int, ...]
Shape = tuple["Shape", ...]
"""A tree as the shapes below each child: ``((), ())`` is two leaves."""
TWO, CHAIN_2 = ((), ()), (((),),)
UNBALANCED = (((), ()), ())
LOPSIDED = ((), (((),),))


class Table:
    """Seeded logits after every prefix, and what sampling makes of them."""

    def __init__(
        self, vocabulary: int, seed: int, sampling: SamplingParams = PLAIN
    ) -> None:
        self.vocabulary, self._seed, self.sampling = vocabulary, seed, sampling
        self._known: dict[Prefix, torch.Tensor] = {}

    def logits(self, prefix: Prefix) -> torch.Tensor:
        if prefix not in self._known:
            place = sum(31**i * (t + 1) for i, t in enumerate(prefix))
            generator = torch.Generator().manual_seed(self._seed * 1_000_003 + place)
            noise = torch.randn(self.vocabulary, generator=generator)
            self._known[prefix] = 1.5 * noise.double()
        return self._known[prefix]

    def after(self, prefix: Prefix) -> torch.Tensor:
        return distribution(self.logits(prefix), self.sampling)

    def chain(self, tokens: Prefix) -> float:
        """Probability of a whole sequence."""
        one = torch.ones((), dtype=torch.float64)
        for i, token in enumerate(tokens):
            one = one * self.after(tokens[:i])[token]
        return float(one)


def with_replacement(table: Table, prefix: Prefix, count: int, chance):
    q = table.after(prefix)
    return [Candidate(chance.draw(q), q) for _ in range(count)]


def without_replacement(table: Table, prefix: Prefix, count: int, chance):
    return drawn(table.after(prefix), count, chance)


def chosen(table: Table, prefix: Prefix, count: int, chance):
    return likeliest(table.logits(prefix), count)


KINDS = {f.__name__: f for f in (with_replacement, without_replacement, chosen)}


def grown(table: Table, shape: Shape, kind, chance) -> DraftTree:
    """Grow a tree level by level, as drafters do."""
    tokens, parents, proposals = [], [], []
    level = [(ROOT, (), shape)]
    while level:
        below = []
        for node, prefix, shapes in level:
            found = kind(table, prefix, len(shapes), chance) if shapes else []
            for (token, q), deeper in zip(found, shapes, strict=False):
                below.append((len(tokens), (*prefix, token), deeper))
                tokens.append(token)
                parents.append(node)
                proposals.append(q)
        level = below
    return DraftTree(tuple(tokens), tuple(parents), tuple(proposals))


def verified(table: Table, tree: DraftTree, tokens: Prefix = (0,)) -> Verified:
    """What one forward of the target over the tree gives."""
    nodes = range(ROOT, len(tree))
    logits = torch.stack([table.logits(path_to(tree, node)) for node in nodes])
    return Verified(tree, logits, logits.argmax(-1).tolist(), tokens)


def emitted_blocks(
    target: Table, propose: Callable, rule=accept_exactly, tokens: Prefix = (0,)
) -> dict[Prefix, float]:
    """Exact probability of each block that a step emits; the draft is drawn in it."""

    def step(chance):
        tree = propose(chance)
        seen = verified(target, tree, tokens)
        result = rule(seen, target.sampling, chance)
        return (*(tree.tokens[n] for n in result.path), result.next_token)

    blocks: dict[Prefix, float] = defaultdict(float)
    for weight, block in outcomes(step):
        blocks[block] += weight
    return blocks


def largest_error(target: Table, blocks: dict[Prefix, float], length: int) -> float:
    """Largest error of the probability of any sequence of ``length`` tokens.

    A block shorter than that is continued as plain sampling would, a longer one cut.
    """
    known: dict[Prefix, float] = defaultdict(float)
    for emitted, weight in blocks.items():
        block = emitted[:length]
        rest = length - len(block)
        for more in itertools.product(range(target.vocabulary), repeat=rest):
            known[block + more] += weight * _conditional(target, block, more)
    sequences = itertools.product(range(target.vocabulary), repeat=length)
    return max(abs(known[tokens] - target.chain(tokens)) for tokens in sequences)


def _conditional(target: Table, block: Prefix, more: Prefix) -> float:
    weight = 1.0
    for i, token in enumerate(more):
        weight *= float(target.after(block + more[:i])[token])
    return weight
