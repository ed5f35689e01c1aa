"""Our EAGLE-3 head against that of the PyPI package speculators.

To run it, in an environment of its own: ``pip install speculators``; where its
dependencies are too much, ``pip install --no-deps speculators hs-connectors`` and what
importing it then asks for.
"""

from __future__ import annotations

import pytest
import torch
from transformers import LlamaConfig, Qwen3Config

from tests.reference.toy_heads.eagle import captured, toy_config
from tests.reference.toy_heads.setup import spread, toy_setup
from tests.reference.toys import toy_model
from trtspec.reference.heads.eagle3 import Eagle3Head, load_eagle3
from trtspec.reference.heads.eagle3_captured import captured_layers
from trtspec.reference.slots import Row, SlotModel

peer = pytest.importorskip(
    "speculators",
    reason="the PyPI package speculators does not import here",
    exc_type=ImportError,
)

greedy = pytest.importorskip("speculators.proposals.greedy", exc_type=ImportError)

CLOSE = 1e-4  # of the largest logit
DRAFTED = tuple(range(0, 48, 2))
TEXT = [3, 9, 4, 8, 2, 7, 30, 12, 5, 41]
STEPS = 3
READS = (0, 1)
"""Outputs of layers; speculators names the layer after each."""

VARIANTS = {
    "llama": {},
    "residual after the norm": {"norm_before_residual": True},
    "normed states": {"norm_output": True},
    "norm before the fusion": {"norm_before_fc": True},
    "a norm of each state": {"fc_norm": True},
    "two layers": {"layers": 2},
    "qwen3": {"kind": Qwen3Config},
    "whole vocabulary": {"draft_vocab_size": 48},
}


@pytest.fixture(params=list(VARIANTS))
def theirs(request):
    """A model of speculators with seeded weights."""
    options = {"draft_vocab_size": len(DRAFTED), **VARIANTS[request.param]}
    layers, kind = options.pop("layers", 1), options.pop("kind", LlamaConfig)
    layer_config = toy_config(layers=layers, kind=kind, head_dim=8)
    layer_config._attn_implementation = "eager"
    config = peer.Eagle3SpeculatorConfig(
        transformer_layer_config=layer_config,
        eagle_aux_hidden_state_layer_ids=[layer + 1 for layer in READS],
        speculators_config=peer.SpeculatorsConfig(
            algorithm="eagle3",
            proposal_methods=[greedy.GreedyTokenProposalConfig(speculative_tokens=3)],
            default_proposal_method="greedy",
            verifier=peer.VerifierConfig(name_or_path=None, architectures=[]),
        ),
        **options,
    )
    model = spread(peer.Eagle3DraftModel(config), 1)
    if model.use_draft_vocab:
        known = torch.zeros(48, dtype=torch.bool)
        known[list(DRAFTED)] = True
        offsets = torch.tensor(DRAFTED) - torch.arange(len(DRAFTED))
        model.load_vocab_mappings(known, offsets)
    return model


@torch.inference_mode()
def their_logits(model, states) -> list[torch.Tensor]:
    """Logits [positions, vocabulary] of each training-time-test step.

    At step s, position i stands for a draft of s tokens below it, which are those of
    the text (arXiv 2503.01840, section 3.2).
    """
    logits: list[torch.Tensor] = []
    hook = model.lm_head.register_forward_hook(
        lambda module, given, output: logits.append(output[0])
    )
    tokens = torch.tensor([TEXT[1:]])
    # a document each: none is padding
    model(states, tokens, torch.zeros_like(tokens), ttt_steps=STEPS)
    hook.remove()
    return logits


def our_logits(head: Eagle3Head, states) -> dict[tuple[int, int], torch.Tensor]:
    """Logits by (step, position): known entries, then drafts on our own states."""
    said = {}
    with torch.inference_mode():
        fused = head.fuse(states)[0]
    for position in range(len(TEXT) - STEPS):
        model = SlotModel(head, 1, 32, STEPS + 1)
        known = Row(TEXT[1 : position + 2], states=fused[: position + 1])
        output = model.run(0, [known], last_only=True)
        model.keep(0, range(position + 1))
        said[0, position] = output.logits[0]
        beside = output.states[0, -1:]
        for step in range(1, STEPS):
            row = Row([TEXT[position + 1 + step]], states=beside)
            output = model.run(0, [row], last_only=True)
            model.keep(0, (0,))
            said[step, position] = output.logits[0]
            beside = output.states[0]
    return said


def test_what_it_saves_loads_and_drafts_the_same(theirs, tmp_path):
    theirs.save_pretrained(tmp_path)
    head = load_eagle3(tmp_path, toy_setup())
    assert captured_layers(tmp_path, 2, 2, None) == READS
    states = captured(toy_model(), torch.tensor([TEXT]), READS)[:, :-1]
    expected = their_logits(theirs, states)
    got = our_logits(head, states)
    assert len(got) == STEPS * (len(TEXT) - STEPS)
    for (step, position), logits in got.items():
        other = expected[step][position]
        scale = max(1.0, float(other.abs().max()))
        torch.testing.assert_close(logits, other, rtol=0, atol=CLOSE * scale)
