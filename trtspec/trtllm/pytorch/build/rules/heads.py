"""Whether what drafts from the target's hidden states fits the target."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.rules.drafter import severity_of
from trtspec.check.subject import Subject
from trtspec.methods import Eagle3, Mtp
from trtspec.methods.draft_length import longest_draft
from trtspec.models.eagle3_head import unread_layers
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.pytorch.build.rules.checkpoint import head_keys, next_token_heads


def target_has_heads(installation: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse MTP for a target without next-token heads."""
    target = subject.target
    if not isinstance(subject.recipe.speculation, Mtp) or target is None:
        return
    if not next_token_heads(target, installation.version):
        keys = " nor ".join(head_keys(installation.version))
        yield Finding(
            "mtp-heads",
            "blocking",
            subject.where_model("target"),
            f"the target model's config.json has no {keys} above 0",
            "method mtp drafts with next-token heads inside the target's checkpoint",
            "choose a checkpoint that has them, or another method",
        )


def heads_suffice(installation: Installation, subject: Subject) -> Iterator[Finding]:
    """Hold the draft length against the heads that the target has.

    A single head is applied again and again; of several, or with ``vanilla``, each
    drafts one position (tensorrt_llm/_torch/speculative/utils.py).
    """
    method, target = subject.recipe.speculation, subject.target
    if not isinstance(method, Mtp) or target is None:
        return
    count = next_token_heads(target, installation.version)
    length = longest_draft(method.draft_length)
    if not count or length <= count:
        return
    where = subject.where("speculation", "draft_length")
    if count == 1 and not method.vanilla:
        yield Finding(
            "mtp-heads",
            "note",
            where,
            f"the target has one next-token head, which is applied {length} times",
            "it was trained to see one token ahead: later tokens are accepted less "
            "often",
        )
        return
    yield Finding(
        "mtp-heads",
        "blocking",
        where,
        f"draft_length {length} is above the {count} next-token "
        f"head{'s' if count > 1 else ''} of the target",
        "each head drafts one position",
        f"set draft_length to {count} or less"
        + (", or delete vanilla" if count == 1 else ""),
    )


def head_is_read(installation: Installation, subject: Subject) -> Iterator[Finding]:
    """Tell of an EAGLE-3 head whose layers this version may not find."""
    version, head = installation.version, subject.drafter
    if version is None or head is None or head.kind != "eagle3":
        return
    if why := unread_layers(head, version):
        yield Finding(
            "eagle3-head",
            "warning",
            subject.where_model("draft"),
            f"the layers of the EAGLE-3 head are called {head.layer_prefix}",
            why,
            "choose a head whose layer is called midlayer.",
        )


def captured_layers_fit(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse another number of captured layers than the EAGLE-3 head reads."""
    method, head = subject.recipe.speculation, subject.drafter
    if not isinstance(method, Eagle3) or method.layers_to_capture is None:
        return
    if head is None or head.captured_states is None:
        return
    count = head.captured_states
    if len(method.layers_to_capture) != count:
        yield Finding(
            "eagle3-head",
            severity_of(head),
            subject.where("speculation", "layers_to_capture"),
            f"layers_to_capture names {len(method.layers_to_capture)} layers, and the "
            f"head fuses the hidden states of {count}",
            "its first projection takes exactly as many values",
            f"name {count} layers, those that the head was trained on",
        )
