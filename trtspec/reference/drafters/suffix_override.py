"""A suffix automaton overrules a neural drafter where the text repeats itself.

As TensorRT-LLM's ``SADraftEnhancer`` (tensorrt_llm/_torch/speculative/sa_enhancer.py):
where at least ``threshold`` tokens match, what followed them replaces the whole draft.
There the neural draft is made all the same; here that drafter proposes nothing for the
request in such a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trtspec.reference.drafters.base import (
    DraftContext,
    Drafter,
    Observation,
    move_kept,
)
from trtspec.reference.drafters.suffix import copied
from trtspec.reference.suffix_automaton import SuffixText
from trtspec.reference.tree import NO_DRAFT, DraftTree


class SuffixOverride:
    """Wraps a drafter; it is told of everything but proposes less often.

    :param inner: the drafter.
    :param threshold: fewest matching tokens that overrule it.
    """

    def __init__(self, inner: Drafter, threshold: int) -> None:
        self._inner, self._threshold = inner, threshold
        self._texts: dict[int, SuffixText] = {}

    @property
    def reads(self) -> tuple[int, ...]:
        """What the wrapped drafter reads."""
        return self._inner.reads

    @property
    def forward_seconds(self) -> float:
        """Seconds inside the wrapped drafter's forward."""
        return self._inner.forward_seconds

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Give a copied chain where enough tokens match, else the inner draft."""
        copied = {
            slot: tree
            for slot, context in enumerate(contexts)
            if (tree := self._copied(slot, context)) is not None
        }
        if len(copied) == sum(context.limit > 0 for context in contexts):
            drafts = [NO_DRAFT] * len(contexts)  # nothing is left to draft
        else:
            drafts = self._inner.propose(
                [
                    replace(context, limit=0) if slot in copied else context
                    for slot, context in enumerate(contexts)
                ]
            )
        return [copied.get(slot, draft) for slot, draft in enumerate(drafts)]

    def observe(self, slot: int, observation: Observation) -> None:
        """Pass it on."""
        self._inner.observe(slot, observation)

    def move(self, source: int, target: int) -> None:
        """Take the text along."""
        self._inner.move(source, target)
        move_kept(self._texts, source, target)

    def release(self, slot: int) -> None:
        """Forget the text."""
        self._inner.release(slot)
        self._texts.pop(slot, None)

    def _copied(self, slot: int, context: DraftContext) -> DraftTree | None:
        if not context.limit:
            return None
        text = self._texts.setdefault(slot, SuffixText(most=None))
        text.grow(context.tokens)
        size, start = text.match()
        if size < self._threshold:
            return None
        return copied(text.automaton, start, context.limit)
