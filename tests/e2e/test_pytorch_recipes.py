"""Every bundled recipe of backend pytorch: commented, compiled for each release."""

from __future__ import annotations

import re

import pytest
from packaging.version import Version

from tests.e2e.conftest import ROOT
from tests.e2e.recipe_comments import (
    NAMES,
    numbers_without_a_reason,
    says_that_it_is_not_tuned,
)
from tests.standins import install
from tests.standins.llm import argument_classes
from trtspec.methods import lossy_reason
from trtspec.recipe import Recipe, load_recipe
from trtspec.trtllm.facts import decoding_type
from trtspec.trtllm.pytorch.compile import compile_args
from trtspec.trtllm.pytorch.compile.validate import faults

RECIPES = [
    path
    for path in sorted(ROOT.glob("recipes/*/*.yaml"))
    if load_recipe(path).recipe.backend == "pytorch"
]
FOLDERS = {
    "llama-3.1-8b": {"eagle3", "ngram-pytorch", "suffix", "none-pytorch"},
    "llama-3.1-70b": {"draft-target", "none-pytorch"},
    "llama-3.3-70b": {"eagle3", "none-pytorch"},
    "qwen3-8b": {"eagle3", "none-pytorch"},
    "gpt-oss-120b": {"eagle3", "none-pytorch"},
    "deepseek-r1": {"mtp", "none-pytorch"},
}
NEWEST = "1.4.0rc4"
VERSIONS = ("1.0.0", "1.1.0", "1.2.1", "1.3.0rc22", NEWEST)
EAGLE3 = {
    "1.0.0": {"decoding_type": "Eagle", "speculative_model_dir": "draft"},
    "1.1.0": {"decoding_type": "Eagle", "speculative_model_dir": "draft"},
    "1.2.1": {
        "decoding_type": "Eagle",
        "speculative_model": "draft",
        "allow_advanced_sampling": True,
    },
    "1.3.0rc22": {"decoding_type": "Eagle3", "speculative_model": "draft"},
    NEWEST: {"decoding_type": "Eagle3", "speculative_model": "draft"},
}
DRAFT_TARGET = {
    "1.0.0": {"decoding_type": "DraftTarget", "speculative_model_dir": "draft"},
    "1.1.0": {"decoding_type": "DraftTarget", "speculative_model_dir": "draft"},
    "1.2.1": {"decoding_type": "DraftTarget", "speculative_model": "draft"},
    "1.3.0rc22": {"decoding_type": "Draft_Target", "speculative_model": "draft"},
    NEWEST: {"decoding_type": "Draft_Target", "speculative_model": "draft"},
}
LOOKED_UP = {"decoding_type": "NGram", "max_draft_len": 4, "max_matching_ngram_size": 3}
NEXT_N = {"decoding_type": "MTP", "num_nextn_predict_layers": 3}
MTP = {
    "1.0.0": NEXT_N,
    "1.1.0": NEXT_N,
    "1.2.1": NEXT_N | {"allow_advanced_sampling": True},
    "1.3.0rc22": {"decoding_type": "MTP", "max_draft_len": 3},
    NEWEST: {"decoding_type": "MTP", "max_draft_len": 3},
}
SUFFIX = {"decoding_type": "SA", "max_draft_len": 4, "max_matching_ngram_size": -1}
REFUSED = None
EXPECTED = {
    "eagle3": {v: own | {"max_draft_len": 3} for v, own in EAGLE3.items()},
    "draft-target": {v: own | {"max_draft_len": 4} for v, own in DRAFT_TARGET.items()},
    "mtp": MTP,
    "ngram-pytorch": dict.fromkeys(VERSIONS, LOOKED_UP),
    "suffix": dict.fromkeys(VERSIONS[:3], REFUSED)
    | dict.fromkeys(VERSIONS[3:], SUFFIX),
    "none-pytorch": {version: {} for version in VERSIONS},
}
"""What speculation becomes, by a recipe's file and the version."""

HUB = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


def name(path):
    return f"{path.parent.name}/{path.stem}"


def every(paths):
    return pytest.mark.parametrize("path", paths, ids=name)


def test_the_recipes_are_there():
    found = {}
    for path in RECIPES:
        found.setdefault(path.parent.name, set()).add(path.stem)
    assert found == FOLDERS


@every(RECIPES)
def test_it_is_named_after_its_place_and_names_checkpoints_of_the_hub(path):
    recipe = load_recipe(path).recipe
    assert recipe.name == f"{path.parent.name}-{path.stem}"
    assert HUB.fullmatch(recipe.target.model)
    drafter = recipe.speculation.draft_model
    assert drafter is None or HUB.fullmatch(drafter)


@every(RECIPES)
def test_a_draft_length_is_called_a_starting_point(path):
    drafts = load_recipe(path).recipe.speculation.method != "none"
    assert says_that_it_is_not_tuned(path.read_text()) == drafts


@every(RECIPES)
def test_every_number_is_explained(path):
    assert numbers_without_a_reason(path.read_text(), NAMES) == []


@every([path for path in RECIPES if path.stem != "none-pytorch"])
def test_its_off_arm_differs_in_speculation_alone(path):
    off = load_recipe(path.with_name("none-pytorch.yaml")).recipe
    on = load_recipe(path).recipe
    assert off.speculation.method == "none"
    for section in ("backend", "target", "limits", "sampling", "pytorch"):
        assert getattr(on, section) == getattr(off, section), section


def test_what_is_known_to_go_wrong_with_gpt_oss_is_said():
    text = (ROOT / "recipes/gpt-oss-120b/eagle3.yaml").read_text()
    assert all(number in text for number in ("#8713", "#8615", "#9603"))


def test_mtp_says_where_its_length_was_published():
    text = (ROOT / "recipes/deepseek-r1/mtp.yaml").read_text()
    assert "a published example" in " ".join(text.replace("#", " ").split())


@pytest.mark.parametrize("version", VERSIONS)
@every(RECIPES)
def test_it_becomes_what_is_written_here_or_is_refused_with_the_way_on(path, version):
    compiled = compile_args(load_recipe(path).recipe, Version(version))
    expected = EXPECTED[path.stem][version]
    assert compiled.blocked == (expected is REFUSED)
    if expected is REFUSED:
        (remark,) = [r for r in compiled.remarks if r.severity == "blocking"]
        assert "take ngram" in remark.action
        assert "1.3.0rc22 or later" in remark.action
        return
    args = compiled.args.to_dict()
    assert args.get("speculative_config", {}) == expected
    assert faults(args, Version(version)) == ()


@pytest.mark.parametrize("version", VERSIONS)
@every(RECIPES)
def test_it_is_sized_and_counted_as_the_recipe_says(path, version):
    recipe = load_recipe(path).recipe
    args = compile_args(recipe, Version(version)).args.to_dict()
    assert args["tensor_parallel_size"] == recipe.target.tensor_parallel
    assert args["max_batch_size"] == recipe.limits.max_batch_size
    assert args["enable_iter_perf_stats"] is True
    reuse = args["kv_cache_config"]["enable_block_reuse"]
    assert reuse is (path.parent.name != "gpt-oss-120b")
    assert ("return_perf_metrics" in args) == (version != "1.0.0")


@pytest.mark.parametrize(
    ("path", "version"),
    [
        pytest.param(path, version, id=f"{name(path)}-{version}")
        for path in RECIPES
        for version in VERSIONS
        if EXPECTED[path.stem][version] is not REFUSED
    ],
)
def test_its_output_is_the_targets_own(path, version):
    recipe = load_recipe(path).recipe
    assert recipe.sampling.temperature == 0.0
    reason = lossy_reason(
        recipe.speculation, "pytorch", Version(version), sampled=False
    )
    assert reason == ""


@pytest.mark.parametrize("version", ["1.2.0rc6", "1.3.0rc7", "1.3.0rc20"])
@every(RECIPES)
def test_a_version_between_the_families_is_refused(path, version):
    compiled = compile_args(load_recipe(path).recipe, Version(version))
    assert compiled.blocked
    assert compiled.args.settings == ()
    assert ">=1.2,<1.3" in compiled.remarks[0].action


def _asked(**changed):
    """The EAGLE-3 recipe with something else asked for."""
    path = ROOT / "recipes/llama-3.1-8b/eagle3.yaml"
    given = load_recipe(path).recipe.model_dump(by_alias=True, exclude_none=True)
    speculation = given["speculation"] | changed.pop("speculation", {})
    return Recipe.model_validate(given | {"speculation": speculation} | changed)


TREE = {"tree": "dynamic", "tree_top_k": 4}
GUIDED = {"guided_decoding": "xgrammar"}
GATE = {"acceptance_gate": {"window": 100, "min_acceptance_rate": 0.25}}


@pytest.mark.parametrize(
    ("asked", "refused_by"),
    [
        ({"speculation": {"draft_length": {8: 4, 16: 2}}}, {"1.0.0", "1.1.0"}),
        ({"speculation": {"draft_length": {8: 4}}}, {"1.0.0"}),
        ({"speculation": TREE}, {"1.0.0", "1.1.0", "1.2.1"}),
        (
            {"speculation": {"rejection_sampling": True}},
            {"1.0.0", "1.1.0", "1.2.1"},
        ),
        ({"pytorch": GATE}, {"1.0.0", "1.1.0", "1.2.1", "1.3.0rc22"}),
        (
            {"pytorch": GATE, "speculation": {"two_model": True}},
            {"1.0.0", "1.1.0", "1.3.0rc22", NEWEST},
        ),
        ({"pytorch": GUIDED}, {"1.0.0", "1.1.0"}),
        (
            {"pytorch": GUIDED, "speculation": {"two_model": True}},
            {"1.0.0", "1.3.0rc22", NEWEST},
        ),
        ({"pytorch": {"kv_cache": "nvfp4"}}, {"1.0.0"}),
        (
            {"pytorch": {"llm_args": {"pipeline_parallel_size": 2}}},
            {"1.0.0", "1.1.0", "1.2.1", "1.3.0rc22", NEWEST},
        ),
    ],
    ids=[
        *("map", "length up to 8", "tree", "rejection", "gate", "gate, 2"),
        *("guided", "guided, 2", "nvfp4", "pipeline"),
    ],
)
def test_what_the_docs_call_refused_is_refused_there_alone(asked, refused_by):
    blocked = {
        version: compile_args(_asked(**asked), Version(version)) for version in VERSIONS
    }
    assert {v for v, compiled in blocked.items() if compiled.blocked} == refused_by
    for compiled in blocked.values():
        for remark in compiled.remarks:
            assert remark.severity == "note" or remark.action


@pytest.mark.parametrize(
    ("method", "instead"),
    [
        ("medusa", "take eagle3"),
        ("lookahead", "take ngram"),
        ("redrafter", "take eagle3"),
        ("eagle", "take eagle3"),
    ],
)
def test_methods_of_engines_alone_are_refused_everywhere(method, instead):
    drafter = {} if method == "lookahead" else {"model": "a/b"}
    path = ROOT / "recipes/llama-3.1-8b/eagle3.yaml"
    given = load_recipe(path).recipe.model_dump(by_alias=True, exclude_none=True)
    recipe = Recipe.model_validate(
        given | {"speculation": {"method": method, **drafter}}
    )
    for version in VERSIONS:
        compiled = compile_args(recipe, Version(version))
        assert compiled.blocked
        assert any(instead in remark.action for remark in compiled.remarks)


@pytest.mark.parametrize("file", ["schedule", "gate"])
def test_the_recipes_of_the_docs_are_valid(file):
    loaded = load_recipe(ROOT / f"docs/every-release/{file}.yaml")
    assert loaded.recipe.name == file


def test_only_the_newest_have_a_type_for_the_suffix_automaton():
    told = {v: decoding_type("SADecodingConfig", Version(v)) for v in VERSIONS}
    assert told == dict.fromkeys(VERSIONS[:3]) | dict.fromkeys(VERSIONS[3:], "SA")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_stand_in_of_each_release_accepts_what_is_written(version, tmp_path):
    install(tmp_path, version, pytorch=True)
    top_level = argument_classes(version, str(tmp_path))["TorchLlmArgs"]
    accepted = set()
    for path in RECIPES:
        made = compile_args(load_recipe(path).recipe, Version(version))
        if not made.blocked:
            top_level(model="target", **made.args.to_dict())
            accepted.add(name(path))
    refused = {"llama-3.1-8b/suffix"} if version < "1.3" else set()
    assert accepted == {name(path) for path in RECIPES} - refused
