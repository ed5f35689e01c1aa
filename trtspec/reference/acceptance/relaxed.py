"""Relaxed acceptance for models that think aloud: LOSSY while they think.

Inside the thinking phase a draft token is accepted if it is among the target's top_k
likeliest tokens and

    p(x) >= max p - delta

(TensorRT-LLM, cpp/tensorrt_llm/kernels/speculativeDecoding/mtpKernels.cu,
``mtpRelaxedAcceptanceKernel``; tensorrt_llm/_torch/speculative/mtp.py; described in
its blog "DeepSeek R1 MTP Implementation and Optimization"). Where no child is accepted
in this way the exact rule decides, and outside the phase it decides alone.

The phase lasts from a begin token to the next end token. Two differences from
TensorRT-LLM: there the phase changes between steps only, here an accepted end token
ends it at once; and there all of it decodes greedily, while here a sampled request's p
is the distribution that it asks for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from trtspec.reference.acceptance.base import Acceptance, Verified
from trtspec.reference.acceptance.exact import matching_child, try_children
from trtspec.reference.chance import Chance
from trtspec.reference.tree import ROOT
from trtspec.run import SamplingParams

DEEPSEEK_R1_THINKING = (128798, 128799)
"""``<think>`` and ``</think>`` (tensorrt_llm/llmapi/llm_args.py, MTPDecodingConfig)."""


@dataclass(frozen=True, slots=True)
class LossyRelaxed:
    """Takes any likely draft token while the model thinks; see ``Rule``.

    :param top_k: likeliest tokens that are taken.
    :param delta: how far below the likeliest token's probability they may lie.
    :param thinking: ids of the tokens that begin and end the phase.
    """

    top_k: int
    delta: float
    thinking: tuple[int, int] = DEEPSEEK_R1_THINKING

    def __call__(
        self, verified: Verified, sampling: SamplingParams, chance: Chance
    ) -> Acceptance:
        """Follow relaxed children while the model thinks; see ``Rule``."""
        tree = verified.tree
        thinks = self._thinks(reversed(verified.tokens), before=False)
        path: list[int] = []
        node = ROOT
        while True:
            child = self._relaxed_child(verified, node, sampling) if thinks else None
            if child is None:
                child, token = _exact_child(verified, node, sampling, chance)
            if child is None:
                return Acceptance(tuple(path), token)
            path.append(child)
            node = child
            thinks = self._thinks([tree.tokens[node]], before=thinks)

    def _thinks(self, latest_first: Iterable[int], before: bool) -> bool:
        """Say whether the phase lasts after these tokens."""
        for token in latest_first:
            if token in self.thinking:
                return token == self.thinking[0]
        return before

    def _relaxed_child(
        self, verified: Verified, node: int, sampling: SamplingParams
    ) -> int | None:
        children = verified.tree.children(node)
        if not children:
            return None
        p = (
            torch.softmax(verified.logits[node + 1].double(), -1)
            if sampling.greedy
            else verified.probabilities(node, sampling)
        )
        accepted = relaxed(p, self.top_k, self.delta)
        return next((c for c in children if verified.tree.tokens[c] in accepted), None)


def relaxed(p: Tensor, top_k: int, delta: float) -> frozenset[int]:
    """Give the ``top_k`` likeliest tokens with p(x) >= max p - delta and p(x) > 0.

    :param p: probabilities [vocabulary].
    """
    values, tokens = p.topk(min(top_k, p.shape[0]))
    kept = (values >= values[0] - delta) & (values > 0)
    return frozenset(tokens[kept].tolist())


def _exact_child(
    verified: Verified, node: int, sampling: SamplingParams, chance: Chance
) -> tuple[int | None, int]:
    """Give the child that the exact rule takes, or None and the token in its place."""
    tree = verified.tree
    if sampling.greedy:
        best = verified.best[node + 1]
        return matching_child(tree, node, best), best
    p = verified.probabilities(node, sampling)
    child, left = try_children(tree, node, p, chance)
    if child is not None:
        return child, tree.tokens[child]
    return None, chance.draw(left)
