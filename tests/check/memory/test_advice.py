"""No advice is one that the backend itself refuses."""

from dataclasses import replace

import pytest
import yaml

from tests.check.kinds.asking import Place
from tests.check.memory.builders import (
    DRAFT,
    EAGLE3,
    EAGLE3_8B,
    LLAMA_1B,
    LLAMA_8B,
    head,
    recipe,
    target,
)
from trtspec.check.memory.fixes import fixes
from trtspec.check.rules.memory import _allowed, gpu_memory, question
from trtspec.check.subject import Subject, key_itself
from trtspec.gpu_kinds import gpu_kind
from trtspec.recipe.schema import Recipe
from trtspec.trtllm.engine.backend import TensorRTBackend
from trtspec.trtllm.installation import assumed_for
from trtspec.trtllm.pytorch.build.backend import PyTorchBackend

CHAIN = [[0], [0, 0], [0, 0, 0]]
NGRAM = {"method": "ngram", "draft_length": 4}
EAGLE = {"method": "eagle", "model": "./head", "num_layers": 3, "tree": CHAIN}
MEDUSA = {"method": "medusa", "model": "./head", "num_heads": 4, "tree": CHAIN}
NONE = {"method": "none"}
LONG = {"max_input_tokens": 4096, "max_total_tokens": 60_000, "max_batch_size": 4}


def subject(backend, speculation, gpu="l4", version="1.2.1", **changes):
    """Make a recipe for which memory is short."""
    changes = {"limits": LONG, "target": {"family": "llama"}, **changes}
    asked = recipe(backend, speculation=speculation, **changes)
    installation = assumed_for(version)
    of_head = speculation["method"] in ("eagle", "eagle3", "medusa")
    drafts = speculation["method"] == "draft_target"
    return Subject(
        asked,
        key_itself,
        target(LLAMA_8B),
        target(LLAMA_1B) if drafts else None,
        drafter=head(EAGLE3_8B)[0] if of_head else None,
        version=installation.version,
        gpus=(gpu_kind(gpu),) * 8,
    )


def rules_of(asked):
    installation = assumed_for(str(asked.version))
    kind = TensorRTBackend if asked.recipe.backend == "tensorrt" else PyTorchBackend
    return kind(installation).rules


def refused(asked):
    found = [f for rule in rules_of(asked) for f in rule(asked)]
    return {(f.rule, f.where) for f in found if f.severity == "blocking"}


@pytest.mark.parametrize(
    ("speculation", "wrong"),
    [
        (DRAFT, "an FP8 KV cache"),
        (NGRAM, "an FP8 KV cache"),
        (EAGLE, "an FP8 KV cache"),
        (EAGLE, "the target in fp8"),
    ],
)
def test_what_an_engine_cannot_have_is_not_advised(speculation, wrong):
    asked = subject("tensorrt", speculation, "h100")
    known = question(asked, rules_of(asked))
    gpu, version = known.gpu, asked.version
    without = fixes(asked.recipe, known.models, gpu, version)
    held = fixes(asked.recipe, known.models, gpu, version, _allowed(known))
    assert wrong in [fix.what for fix in without]
    assert wrong not in [fix.what for fix in held]


def test_what_it_can_have_is_advised():
    asked = subject("tensorrt", NONE)
    told = next(gpu_memory(asked, rules_of(asked)))
    assert "an FP8 KV cache: " in told.action
    assert "the target in fp8: " in told.action


@pytest.mark.parametrize("version", ["0.20.0", "1.2.1"])
@pytest.mark.parametrize("gpu", ["a10", "h100", "b200"])
@pytest.mark.parametrize(
    ("backend", "speculation"),
    [
        ("tensorrt", NONE),
        ("tensorrt", DRAFT),
        ("tensorrt", NGRAM),
        ("tensorrt", EAGLE),
        ("tensorrt", MEDUSA),
        ("pytorch", NONE),
        ("pytorch", DRAFT),
        ("pytorch", EAGLE3),
        ("pytorch", NGRAM),
    ],
    ids=lambda part: part if isinstance(part, str) else part["method"],
)
def test_every_snippet_makes_a_recipe_that_passes(backend, speculation, gpu, version):
    if backend == "pytorch" and version < "1":
        pytest.skip("no such backend there")
    limits = {**LONG, "max_batch_size": 512}
    asked = subject(backend, speculation, gpu, version, limits=limits)
    before, known = refused(asked), question(asked, rules_of(asked))
    told = next(gpu_memory(asked, known.rules))
    found = fixes(asked.recipe, known.models, known.gpu, asked.version, _allowed(known))
    snippets = {told.snippet, *(fix.snippet for fix in found)} - {""}
    assert snippets
    for snippet in snippets:
        content = asked.recipe.model_dump(by_alias=True, exclude_unset=True)
        for section, lines in yaml.safe_load(snippet).items():
            content[section] = {**content.get(section, {}), **lines}
        changed = replace(asked, recipe=Recipe.model_validate(content))
        assert refused(changed) <= before


def test_a_sequence_shorter_than_a_draft_is_not_advised():
    tree = {**EAGLE3, "draft_length": 64}
    asked = subject("pytorch", tree, limits={**LONG, "max_total_tokens": 131_072})
    known = question(asked, ())
    shorter = asked.recipe.limits.model_copy(update={"max_total_tokens": 64})
    changed = asked.recipe.model_copy(update={"limits": shorter})
    assert not _allowed(known)(changed)


def test_check_itself_offers_nothing_that_it_refuses(tmp_path):
    found = Place(tmp_path).check(
        NGRAM,
        "1.2.1",
        backend="tensorrt",
        target={"model": "./70b", "tensor_parallel": 2, "dtype": "bfloat16"},
        gpu="h100",
        sections={"limits": {**LONG, "max_batch_size": 64}},
    )
    (told,) = (f for f in found if f.rule.startswith("memory") and f.action)
    assert "tensor_parallel" in told.action
    assert "FP8 KV cache" not in told.action
