"""Toy models over bytes: characters, stop strings and drafts that span tokens.

The target mostly goes on as its few sentences do, so that drafts are accepted, and a
little by all that it has read, so that a wrong cache or position is seen.
"""

from __future__ import annotations

import functools
import json
from itertools import pairwise
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM

from tests.reference.toy_heads.eagle import READS, TREE, toy_eagle3_head
from tests.reference.toy_heads.eagle_files import write_eagle3
from trtspec.recipe import Recipe
from trtspec.reference.runner import ReferenceRunner

SENTENCES = (
    "the cat sat on the mat and the dog sat on the log",
    "a 🙂 is a 🙂 and a 🚀 is a 🚀 \n",
    "你好世界 你好世界 héllo wörld",
)
END = "<end>"
VOCABULARY = 288
TEMPLATE = "{% for m in messages %}{{ m['content'] }} {% endfor %}"
_CHANCE_OF_OTHERS = 0.0004
_OF_ATTENTION, _OF_MLP = 0.0007, 0.00007


@functools.cache
def byte_tokenizer() -> Tokenizer:
    """Byte-level BPE with few merges: characters beyond ASCII are several tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    # of the first sentence only: the others stay in bytes
    tokenizer.train_from_iterator(SENTENCES[:1] * 4, trainer)
    return tokenizer


def tokens_of(text: str) -> list[int]:
    """Token ids of a text."""
    return byte_tokenizer().encode(text).ids


@functools.cache
def _bigrams() -> torch.Tensor:
    """Logits [vocabulary, vocabulary] of what follows each token in the sentences."""
    counts = torch.full((VOCABULARY, VOCABULARY), _CHANCE_OF_OTHERS)
    end = byte_tokenizer().token_to_id(END)
    for sentence in SENTENCES:
        ids = tokens_of(f"{sentence} {sentence}")
        for one, follower in pairwise(ids):
            counts[one, follower] += 1
        counts[ids[-1], end] += 2.5
    return counts.log()


@functools.cache
def byte_model(seed: int = 0) -> torch.nn.Module:
    """A Llama of one-hot embeddings whose LM head is the table of bigrams."""
    torch.manual_seed(seed)
    end = byte_tokenizer().token_to_id(END)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=VOCABULARY,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=256,
        initializer_range=0.4,
        tie_word_embeddings=False,
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=end,
    )
    with torch.inference_mode(False):
        model = LlamaForCausalLM(config).float().eval()
    generator = torch.Generator().manual_seed(seed)
    scale = VOCABULARY**0.5  # the last norm makes a one-hot row of it
    with torch.no_grad():
        model.model.embed_tokens.weight.copy_(torch.eye(VOCABULARY))
        model.lm_head.weight.copy_(_bigrams().T / scale)
        for name, weight in model.model.layers.named_parameters():
            if "o_proj" in name or "down_proj" in name:
                little = _OF_ATTENTION if "o_proj" in name else _OF_MLP
                noise = torch.randn(weight.shape, generator=generator)
                weight.copy_(noise * little)
    return model


def write_byte_model(directory: Path, seed: int = 0) -> Path:
    """Save a toy with its tokenizer and a chat template."""
    byte_model(seed).save_pretrained(directory)
    byte_tokenizer().save(str(directory / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": END,
        "chat_template": TEMPLATE,
    }
    (directory / "tokenizer_config.json").write_text(json.dumps(config))
    end = {"eos_token_id": byte_tokenizer().token_to_id(END)}
    (directory / "generation_config.json").write_text(json.dumps(end))
    return directory


METHODS = {
    "none": {"method": "none"},
    "ngram": {"method": "ngram", "draft_length": 4},
    "suffix": {"method": "suffix", "draft_length": 5},
    "draft_target": {
        "method": "draft_target",
        "model": "./draft",
        "draft_length": 4,
    },
    "eagle3 tree": {
        "method": "eagle3",
        "model": "./head",
        "draft_length": 4,
        "layers_to_capture": list(READS),
        "tree": [list(path) for path in TREE],
    },
}
"""Name → ``speculation`` of a recipe."""
LIMITS = {"max_batch_size": 4, "max_input_tokens": 40, "max_total_tokens": 90}


def byte_recipe(name: str) -> Recipe:
    """A float32 recipe of one of the methods."""
    return Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "toy",
            "target": {"model": "./target", "dtype": "float32"},
            "speculation": METHODS[name],
            "limits": LIMITS,
        }
    )


def write_byte_models(folder: Path) -> Path:
    """Write a target, a draft model and an EAGLE-3 head."""
    write_byte_model(folder / "target")
    write_byte_model(folder / "draft", seed=1)
    with torch.inference_mode(False):
        head = toy_eagle3_head(byte_model())
        write_eagle3(folder / "head", head)
    return folder


def byte_runner(
    folder: Path,
    name: str,
    lender: ReferenceRunner | None = None,
    recipe: Recipe | None = None,
) -> ReferenceRunner:
    """Load a runner of one of the methods, or of another recipe with that method."""
    asked = METHODS[name].get("model")
    draft = folder / asked if asked else None
    recipe = byte_recipe(name) if recipe is None else recipe
    return ReferenceRunner(recipe, folder / "target", draft, threads=1, lender=lender)
