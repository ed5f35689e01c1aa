"""Medusa's typical acceptance: LOSSY, the output does not follow the target.

A draft token x is accepted if it is typical of p, what the request samples from
(arXiv 2401.10774, "typical acceptance"):

    p(x) > min(epsilon, delta * exp(-H(p))),    H(p) = -sum p log p

with delta = sqrt(epsilon), as FasterDecoding/Medusa recommends
(medusa/model/medusa_model.py). The longest accepted branch wins, of several as long as
it the likeliest (``evaluate_posterior`` in medusa/model/utils.py). The next token is
drawn from the typical tokens alone, with their probabilities renormalised
(``get_typical_one_token`` there).

TensorRT-LLM (cpp/tensorrt_llm/kernels/speculativeDecoding, ``maskLogitsBasedOnEntropy``
and ``typicalAcceptanceSampling``) samples a token of the same typical ones at every
node and accepts a draft token that equals it: it accepts less often, and is lossy too.

Requests that decode greedily get the target's own greedy output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from trtspec.reference.acceptance.base import Acceptance, Verified
from trtspec.reference.acceptance.exact import accept_greedy
from trtspec.reference.chance import Chance
from trtspec.reference.tree import ROOT
from trtspec.run import SamplingParams


@dataclass(frozen=True, slots=True)
class LossyTypical:
    """Accepts what is likely enough for how uncertain the target is; see ``Rule``.

    :param epsilon: the highest threshold, ``posterior_threshold`` in recipes; below 1.
    """

    epsilon: float

    def __call__(
        self, verified: Verified, sampling: SamplingParams, chance: Chance
    ) -> Acceptance:
        """Give the longest typical branch; see ``Rule``."""
        if sampling.greedy:
            return accept_greedy(verified.tree, verified.best)
        paths = self._typical_paths(verified, sampling)
        path = max(paths, key=lambda one: (len(one), paths[one]))
        p = verified.probabilities(path[-1] if path else ROOT, sampling)
        return Acceptance(path, chance.draw(p * typical(p, self.epsilon)))

    def _typical_paths(
        self, verified: Verified, sampling: SamplingParams
    ) -> dict[tuple[int, ...], float]:
        """Give every accepted branch and its logarithmic likelihood."""
        paths: dict[tuple[int, ...], float] = {(): 0.0}
        growing: list[tuple[int, ...]] = [()]
        for path in growing:
            node = path[-1] if path else ROOT
            if not (children := verified.tree.children(node)):
                continue
            p = verified.probabilities(node, sampling)
            accepted = typical(p, self.epsilon)
            for child in children:
                token = verified.tree.tokens[child]
                if accepted[token]:
                    paths[(*path, child)] = paths[path] + math.log(float(p[token]))
                    growing.append((*path, child))
        return paths


def typical(p: Tensor, epsilon: float) -> Tensor:
    """Say which tokens p(x) > min(epsilon, sqrt(epsilon) * exp(-H(p))) holds for.

    At least the likeliest one for epsilon < 1, since exp(-H(p)) <= max p.

    :param p: probabilities [vocabulary].
    :returns: bool [vocabulary].
    """
    entropy = torch.special.entr(p).sum()
    return p > torch.clamp(math.sqrt(epsilon) * torch.exp(-entropy), max=epsilon)
