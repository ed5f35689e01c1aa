"""Drafts beside those of transformers' own candidate generators, step by step.

Prompt lookup differs on purpose where an n-gram occurs more than once: transformers
goes on from its first place, TensorRT-LLM and we from its last; and we go on repeating
where transformers ends with the text.
"""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import save_file
from transformers import GenerationConfig, Qwen3Config
from transformers.generation import candidate_generator as theirs

from tests.reference.toy_heads.dflash import LAYERS, MASK, SIZE
from tests.reference.toy_heads.mtp import toy_deepseek
from tests.reference.toy_heads.setup import spread, toy_setup
from tests.reference.toy_heads.story import Story
from tests.reference.toys import toy_model
from trtspec.methods import Mtp
from trtspec.reference.drafters import open_drafter
from trtspec.reference.drafters.dflash import Block, DFlashDrafter
from trtspec.reference.heads.dflash import DFlashHead
from trtspec.reference.heads.mtp import MtpHead, public_tensors
from trtspec.run.prompt_lookup import NGramIndex

STEPS = 12
LONGEST = 3


def generator_class(name: str):
    found = getattr(theirs, name, None)
    if found is None:
        pytest.skip(f"this transformers has no {name}")
    return found


def looked_up(text, length: int) -> list[int]:
    generator = theirs.PromptLookupCandidateGenerator(
        eos_token_id=torch.tensor([-1]),
        num_output_tokens=length,
        max_matching_ngram_size=LONGEST,
        max_length=1000,
    )
    ids, _ = generator.get_candidates(torch.tensor([text]), is_first_iteration=False)
    return ids[0, len(text) :].tolist()


def earlier(text) -> int:
    """How often the longest n-gram that occurs earlier does."""
    for size in range(LONGEST, 0, -1):
        places = range(len(text) - size)
        count = sum(text[place : place + size] == text[-size:] for place in places)
        if count:
            return count
    return 0


def test_prompt_lookup_copies_from_the_same_place():
    chance = random.Random(0)
    found = 0
    for _ in range(400):
        words = chance.choice((4, 12, 40))
        text = [chance.randrange(words) for _ in range(chance.randrange(2, 40))]
        expected, drafted = looked_up(text, 5), NGramIndex(LONGEST).draft(text, 5)
        assert bool(expected) == bool(drafted) == bool(earlier(text))
        if earlier(text) == 1:
            assert drafted[: len(expected)] == expected
            found += 1
    assert found > 100


def told(text, states, **more) -> dict:
    """What assisted generation hands a generator after a forward of the target."""
    return {
        "input_ids": torch.tensor([text]),
        "model_kwargs": {
            "position_ids": torch.arange(len(text))[None],
            "attention_mask": torch.ones(1, len(text), dtype=torch.long),
        },
        "model_outputs": SimpleNamespace(**more),
        "is_first_iteration": False,
        "n_last_matches": len(states) - 1,
    }


def compare(drafter, width: int, generator, limit: int, hidden_states) -> None:
    """Let both draft for one text whose drafts are accepted at random."""
    story = Story(drafter, width)
    story.join(7)
    known = 0
    for _ in range(STEPS):
        ((text, states, tree),) = story.step([limit])
        new, known = states[known:], len(states)
        asked = told(text, new, hidden_states=hidden_states(new))
        with torch.inference_mode():
            ids, _ = generator.get_candidates(**asked)
        assert len(tree) == limit
        assert ids[0, len(text) :].tolist() == list(tree.tokens)


@pytest.mark.parametrize("heads", [1, 3])
def test_mtp_drafts_what_transformers_drafts(tmp_path, heads):
    generator = generator_class("MTPCandidateGenerator")
    target = toy_deepseek()
    shared = (target.get_input_embeddings(), target.get_output_embeddings())
    tensors = {}
    for number in range(heads):
        head = spread(MtpHead(target, *shared), number)
        tensors |= public_tensors(head, target.config.num_hidden_layers + number)
    save_file(tensors, str(tmp_path / "model.safetensors"))

    target.config.num_nextn_predict_layers = heads
    target.config._name_or_path = str(tmp_path)
    # transformers knows the places of MTP layers by the sizes that were published
    target._keys_to_ignore_on_load_unexpected = [r"model\.layers\.[2-9].*"]
    peer = generator(target, GenerationConfig(do_sample=False), {})
    method = Mtp(method="mtp", draft_length=heads, vanilla=True)
    drafter = open_drafter(method, None, toy_setup(target, directory=tmp_path))
    compare(drafter, 32, peer, heads, lambda new: [new[None]])


def test_dflash_drafts_what_transformers_drafts():
    generator = generator_class("DFlashTokenCandidateGenerator")
    modeling = pytest.importorskip("transformers.models.muse_glimmer_assistant")
    target = toy_model()
    shared = (target.get_input_embeddings(), target.get_output_embeddings())
    sizes = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "rms_norm_eps": 1e-6,
        "max_position_embeddings": 256,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
        "layer_types": ["full_attention"] * 2,
    }
    head = spread(DFlashHead(Qwen3Config(**sizes), len(LAYERS), *shared), 0)
    config = modeling.MuseGlimmerAssistantConfig(
        **sizes, block_size=SIZE, mask_token_id=MASK, target_layer_ids=list(LAYERS)
    )
    assistant = modeling.MuseGlimmerAssistantModel(config).eval()
    weights = head.state_dict()
    weights["encoder.fc.weight"] = weights.pop("fc.weight")
    weights["encoder.output_norm_enc.weight"] = weights.pop("hidden_norm.weight")
    assistant.load_state_dict(weights)
    settings = GenerationConfig(do_sample=False, max_length=1000)
    peer = generator(assistant, *shared, settings)
    slots = toy_setup(target).slots_for(head, SIZE)
    drafter = DFlashDrafter(slots, Block(SIZE, MASK, LAYERS))

    def hidden_states(new):
        """By layer, from 1 on: the first is the embedding."""
        second, first = new[None].chunk(2, -1)
        return {1: first, 2: second}

    compare(drafter, 64, peer, SIZE - 1, hidden_states)
