"""DFlash: one forward over a block of mask tokens proposes all its tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from trtspec.errors import RunError
from trtspec.methods import DFlash, Method
from trtspec.models.config import CONFIG
from trtspec.models.dflash_shape import dflash_shape
from trtspec.models.drafter_configuration import DrafterConfiguration
from trtspec.models.json_file import read_json_object
from trtspec.reference.drafters.base import BaseDrafter, DraftContext, Observation
from trtspec.reference.drafters.chains import independent_chain
from trtspec.reference.drafters.setup import DrafterSetup, soft_capped
from trtspec.reference.drafters.states import Entry, UnreadStates, read
from trtspec.reference.heads.base import cast_weights
from trtspec.reference.heads.dflash import load_dflash
from trtspec.reference.slots import Row, SlotModel
from trtspec.reference.tree import NO_DRAFT, DraftTree


@dataclass(frozen=True, slots=True)
class Block:
    """What a drafter was trained to fill in.

    :param size: tokens of a block, of which the first is the pending token.
    :param mask_token: id that stands for each token that is to be drafted.
    :param target_layers: target layers whose states it reads, in its order.
    """

    size: int
    mask_token: int
    target_layers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Scales:
    """How the target's embedding and LM head are shared (z-lab/dflash, model.py).

    :param embedding: factor on the rows of the embedding.
    :param output: factor on the LM head's output.
    :param cap: soft cap on the logits; None for none.
    """

    embedding: float
    output: float
    cap: float | None

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Scales:
        """Read them from the drafter's ``config.json``, its own section first."""
        values = {**config, **(config.get("dflash_config") or {})}
        return cls(
            float(values.get("input_embedding_scale") or 1.0),
            float(values.get("output_multiplier") or 1.0),
            values.get("final_logit_softcapping"),
        )

    def logits(self, product: Tensor) -> Tensor:
        """Make logits of the LM head's output [..., vocabulary]."""
        return soft_capped(product * self.output, self.cap)


class DFlashDrafter(BaseDrafter):
    """Proposes a chain whose tokens do not depend on each other.

    Position i is drawn from its own distribution given the text alone, so that is its
    proposal. Slot i of the head holds the states of the request's tokens but the last.
    """

    def __init__(self, head: SlotModel, block: Block) -> None:
        """Draft with a ``DFlashHead`` in slots."""
        self._head = head
        self._block = block
        self._unread = UnreadStates(len(head.lengths))
        self.reads = block.target_layers

    def observe(self, slot: int, observation: Observation) -> None:
        """Note the states until the next draft."""
        self._unread.add(slot, observation.states)

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Give one chain per context, one token shorter than a block at most."""
        if not any(context.limit for context in contexts):
            return [NO_DRAFT] * len(contexts)
        with self.timed_forward():
            self._read(contexts)
            masks = [self._block.mask_token] * (self._block.size - 1)
            rows = [
                Row((context.tokens[-1], *masks) if context.limit else ())
                for context in contexts
            ]
            logits = self._head.forward(0, rows, last_only=False)
        return [
            independent_chain(logits[slot, 1:], context)
            for slot, context in enumerate(contexts)
        ]

    def _read(self, contexts: Sequence[DraftContext]) -> None:
        """Store the keys and values of what the target has read since."""
        waiting = [
            self._unread.take(slot) if context.limit else None
            for slot, context in enumerate(contexts)
        ]
        entries = [
            # of the text only the states count
            Entry() if states is None else Entry([0] * len(states), states)
            for states in waiting
        ]
        if any(entry.tokens for entry in entries):
            read(self._head, entries)

    def move(self, source: int, target: int) -> None:
        """Take states, keys and values along."""
        self._head.move(source, target)
        self._unread.move(source, target)
        self._head.clear(source)

    def release(self, slot: int) -> None:
        """Empty the slot."""
        self._head.clear(slot)
        self._unread.clear(slot)


def read_block(
    method: DFlash, directory: Path, config: Mapping[str, Any], setup: DrafterSetup
) -> Block:
    """Settle what the drafter fills in; the recipe counts before the checkpoint.

    :param config: the drafter's ``config.json``.
    :raises RunError: if neither tells, or the target has no such mask token.
    """
    shape = dflash_shape(DrafterConfiguration(directory, config), None)
    layers = method.target_layers or shape["target_layers"] or _default_layers(config)
    mask = shape["mask_token"] if method.mask_token_id is None else method.mask_token_id
    size = shape["block_size"]
    for value, key in ((size, "block_size"), (mask, "mask_token_id")):
        if value is None:
            raise _untold(directory, key)
    if not layers:
        raise _untold(directory, "target_layer_ids")
    if mask >= setup.vocabulary:
        raise RunError(
            f"mask_token_id is {mask}",
            where=str(directory),
            allowed=f"ids below {setup.vocabulary}, the target's vocabulary",
            action="write the right mask_token_id into the recipe",
        )
    return Block(size, mask, tuple(n % setup.layers if n < 0 else n for n in layers))


def _default_layers(config: Mapping[str, Any]) -> tuple[int, ...]:
    """Spread the layers over the target, as z-lab/dflash does where none are named."""
    target, own = config.get("num_target_layers"), config["num_hidden_layers"]
    if not isinstance(target, int):
        return ()
    if own == 1:
        return (target // 2,)
    return tuple(round(1 + i * (target - 4) / (own - 1)) for i in range(own))


def _untold(directory: Path, key: str) -> RunError:
    return RunError(
        f"the drafter's config.json does not tell {key}",
        where=str(directory),
        action="get the checkpoint again, with the configuration it was trained with",
    )


def open_drafter(
    method: Method, directory: Path | None, setup: DrafterSetup
) -> DFlashDrafter:
    """Load the artifact's drafter.

    :raises RunError: if it does not fit the target model.
    """
    assert isinstance(method, DFlash)
    assert directory is not None, "a dflash artifact holds a drafter"
    config = read_json_object(directory / CONFIG)
    block = read_block(method, directory, config, setup)
    scales = Scales.of(config)
    head = load_dflash(
        directory,
        len(block.target_layers),
        lambda tokens: setup.stored_embedding(tokens) * scales.embedding,
        lambda states: scales.logits(setup.output_layer(states)),
    )
    head = cast_weights(head, setup.dtype, setup.device)
    return DFlashDrafter(setup.slots_for(head, block.size), block)
