"""``method: eagle3``: a chain, a fixed tree or a dynamic one on three hidden states."""

from __future__ import annotations

from pathlib import Path

from trtspec.methods import Method
from trtspec.methods.eagle3 import Eagle3
from trtspec.reference.drafters.grown import GrowingDrafter
from trtspec.reference.drafters.setup import DrafterSetup
from trtspec.reference.growth import by_draft_length, room_for
from trtspec.reference.heads.eagle3 import load_eagle3
from trtspec.reference.heads.eagle3_captured import captured_layers


def open_drafter(
    method: Method, directory: Path | None, setup: DrafterSetup
) -> GrowingDrafter:
    """Load the artifact's head.

    :raises RunError: if it was not made for this target.
    """
    assert isinstance(method, Eagle3)
    assert directory is not None, "an eagle3 artifact holds a head"
    head = load_eagle3(directory, setup)
    reads = captured_layers(
        directory, head.layout.captured, setup.layers, method.layers_to_capture
    )
    return GrowingDrafter(
        setup.slots_for(head, 1 + room_for(by_draft_length(method), method)),
        reads,
        method,
        by_draft_length,
        fuse=head.fuse,
        vocabulary=head.vocabulary_for(setup.vocabulary),
        known_tokens=head.known_tokens,
    )
