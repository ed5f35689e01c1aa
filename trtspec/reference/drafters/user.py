"""A drafter that the user wrote, held to what drafters promise (docs/user-drafters.md).

Whatever it returns is looked at before the target sees it, so that a mistake is named
where it is made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor

from trtspec.errors import RunError, TrtspecError, UsageError
from trtspec.methods import Method, User
from trtspec.reference.drafters.base import DraftContext, Observation
from trtspec.reference.drafters.setup import DrafterSetup
from trtspec.reference.tree import DraftTree
from trtspec.run.entry_point import FAILURES, entry_point

KEY = "speculation.drafter"
_GUIDE = "docs/user-drafters.md says what a drafter is given and what it returns"
_ROUNDING = 1e-6


class UserDrafter:
    """Calls the user's object; only ``propose`` must be there.

    :param name: what the recipe calls it, for messages.
    :param vocabulary: rows of the target's logits.
    :param nodes: most tokens that one tree may have.
    """

    def __init__(self, drafter: Any, name: str, vocabulary: int, nodes: int) -> None:
        self._drafter, self._name = drafter, name
        self._vocabulary, self._nodes = vocabulary, nodes
        self.reads: tuple[int, ...] = tuple(getattr(drafter, "reads", ()))

    @property
    def forward_seconds(self) -> float:
        """Seconds inside its model, if it counts them."""
        return float(getattr(self._drafter, "forward_seconds", 0.0))

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Give its trees.

        :raises RunError: if they are not what a drafter may propose.
        """
        # what the engine goes on with is not for others to change
        own = [replace(context, tokens=tuple(context.tokens)) for context in contexts]
        trees = self._call("propose", own)
        if not isinstance(trees, (list, tuple)) or len(trees) != len(contexts):
            raise self._wrong(
                f"propose gave {_in_words(trees)} for {len(contexts)} contexts",
                "a list with one DraftTree per context",
            )
        for tree, context in zip(trees, contexts, strict=True):
            self._require_fit(tree, context)
        return list(trees)

    def observe(self, slot: int, observation: Observation) -> None:
        """Pass it on, if the drafter wants to know."""
        self._call("observe", slot, observation)

    def move(self, source: int, target: int) -> None:
        """Pass it on, if the drafter wants to know."""
        self._call("move", source, target)

    def release(self, slot: int) -> None:
        """Pass it on, if the drafter wants to know."""
        self._call("release", slot)

    def _call(self, method: str, *arguments: object) -> Any:
        function: Callable[..., Any] | None = getattr(self._drafter, method, None)
        if function is None:
            return None
        try:
            with redirect_stdout(sys.stderr):  # stdout is for our own output
                return function(*arguments)
        except TrtspecError:
            raise
        except FAILURES as error:
            raise self._wrong(
                f"{method} failed: {type(error).__name__}: {error}",
                action="mend it; --debug shows where it failed",
            ) from error

    def _require_fit(self, tree: object, context: DraftContext) -> None:
        if not isinstance(tree, DraftTree):
            raise self._wrong(f"propose gave {_in_words(tree)}", "a DraftTree")
        if not all(isinstance(parent, int) for parent in tree.parents):
            raise self._wrong(
                f"propose gave the parents {tree.parents!r}", "places of nodes, or -1"
            )
        if max(tree.depths, default=0) > context.limit:
            raise self._wrong(
                f"propose gave a tree {max(tree.depths)} levels deep",
                f"up to {context.limit} (the context's limit)",
            )
        if len(tree) > self._nodes:
            raise self._wrong(
                f"propose gave a tree of {len(tree)} tokens",
                f"up to {self._nodes} (speculation.draft_length)",
            )
        for node, token in enumerate(tree.tokens):
            self._require_token(token)
            self._require_proposal(token, tree.proposal(node))

    def _require_token(self, token: object) -> None:
        known = isinstance(token, int) and 0 <= token < self._vocabulary
        if not known or isinstance(token, bool):
            raise self._wrong(
                f"propose gave the token {token!r}",
                f"integers from 0 to {self._vocabulary - 1}, the target's vocabulary",
            )

    def _require_proposal(self, token: int, q: object) -> None:
        if q is None:
            return
        if not isinstance(q, Tensor) or q.shape != (self._vocabulary,):
            what, shape = _in_words(q), getattr(q, "shape", None)
            raise self._wrong(
                f"a proposal is {what}" + (f" {list(shape)}" if shape else ""),
                f"a tensor [{self._vocabulary}], or None for a token chosen without "
                "chance",
            )
        if not q.is_floating_point() or q.is_meta:
            raise self._wrong(
                f"a proposal is of type {q.dtype} on {q.device}", "real numbers"
            )
        sums_up = abs(float(q.double().sum()) - 1) < _ROUNDING
        if not sums_up or bool((q < 0).any()) or not float(q[token]) > 0:
            raise self._wrong(
                f"the proposal of token {token} is no distribution that it can have "
                "been drawn from",
                f"probabilities that add up to 1, above 0 for token {token}",
            )

    def _wrong(self, what: str, allowed: str = "", action: str = _GUIDE) -> RunError:
        return RunError(
            f"{self._name}: {what}", where=KEY, allowed=allowed, action=action
        )


def _in_words(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"{value!r}" if value is None else f"a {type(value).__name__}"


def open_drafter(
    method: Method, directory: Path | None, setup: DrafterSetup
) -> UserDrafter:
    """Import the user's drafter and make it.

    :raises UsageError: if it cannot be had, or is no drafter.
    """
    assert isinstance(method, User)
    drafter = entry_point(method.drafter, KEY)
    if not callable(getattr(drafter, "propose", None)):
        raise UsageError(
            f"{method.drafter} gave {_in_words(drafter)} without a method propose",
            where=KEY,
            allowed="an object with a method propose(contexts)",
            action=_GUIDE,
        )
    reads = getattr(drafter, "reads", ())
    layers = range(-1, setup.layers)
    if not isinstance(reads, (list, tuple)) or any(
        not isinstance(layer, int) or layer not in layers for layer in reads
    ):
        raise UsageError(
            f"{method.drafter} reads {reads!r}",
            where=KEY,
            allowed=f"reads: a tuple of layers from 0 to {setup.layers - 1}, or -1 for "
            "what the LM head reads",
            action=_GUIDE,
        )
    return UserDrafter(drafter, method.drafter, setup.vocabulary, method.longest_draft)
