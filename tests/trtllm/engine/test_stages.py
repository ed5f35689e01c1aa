"""Which stages there are, what decides each, and what each needs."""

from dataclasses import replace

import pytest

from tests.check.samples import DRAFT, MODEL
from tests.trtllm.engine.rules.findings import on_gpu
from tests.trtllm.engine.samples import inputs, recipe, source, stages, tools
from trtspec.build.artifact import DRAFT as DRAFT_FOLDER
from trtspec.build.artifact import TARGET, TOKENIZER
from trtspec.errors import BuildError
from trtspec.trtllm.engine.checkpoints import family_of
from trtspec.trtllm.engine.stages import engine_stages
from trtspec.trtllm.engine.toolchain import Toolchain

PLAIN = ["tokenizer", "convert-target", "build-target"]


@pytest.mark.parametrize(
    ("made", "names"),
    [
        (recipe("none"), PLAIN),
        (recipe("ngram"), PLAIN),
        (recipe("medusa"), PLAIN),
        (recipe("eagle"), PLAIN),
        (recipe("lookahead"), PLAIN),
        (recipe("draft_target"), [*PLAIN, "convert-draft", "build-draft"]),
        (
            recipe("redrafter"),
            ["tokenizer", "convert-base", "convert-target", "build-target"],
        ),
        (
            recipe("redrafter", target={"quantization": "fp8"}),
            ["tokenizer", "quantize-base", "convert-target", "build-target"],
        ),
        (
            recipe("none", target={"quantization": "int4_awq"}),
            ["tokenizer", "quantize-target", "build-target"],
        ),
    ],
)
def test_stages_of_each_method(made, names):
    assert list(stages(made)) == names


def test_stages_use_what_they_read():
    found = stages(recipe("redrafter"))
    uses = {name: [s.name for s in stage.uses] for name, stage in found.items()}
    assert uses == {
        "tokenizer": [],
        "convert-base": [],
        "convert-target": ["convert-base"],
        "build-target": ["convert-target"],
    }


def test_engines_and_tokenizer_become_folders_of_the_artifact():
    found = stages(recipe("draft_target"))
    folders = {name: stage.folder for name, stage in found.items() if stage.folder}
    assert folders == {
        "tokenizer": TOKENIZER,
        "build-target": TARGET,
        "build-draft": DRAFT_FOLDER,
    }


def test_summary_says_the_sizes():
    found = stages(recipe("draft_target", engine={"max_draft_length": 8}))
    assert found["build-target"].summary == (
        "compile the target engine: batch 4, input 2048, sequence 2057, 8 draft tokens",
    )
    assert found["build-draft"].summary == (
        "compile the draft engine: batch 4, input 2048, sequence 2056",
    )


def key_of(stage, made, *, version="1.2.1", **parts):
    installation = replace(tools(version).installation, **parts)
    found = engine_stages(Toolchain(installation), inputs(made))
    return next(s.key for s in found if s.name == stage)


@pytest.mark.parametrize(
    ("stage", "parts"),
    [
        ("convert-target", {"version": "1.2.0"}),
        ("build-target", {"version": "1.2.0"}),
        ("build-target", {"tensorrt": "10.0"}),
        ("build-target", {"gpus": (on_gpu("9.0"),)}),
    ],
)
def test_key_changes_with_what_makes_the_output(stage, parts):
    assert key_of(stage, recipe()) != key_of(stage, recipe(), **parts)


def test_key_changes_with_the_kind_of_gpu_only():
    keys = [
        key_of("build-target", recipe(), gpus=gpus)
        for gpus in ((on_gpu("9.0"),), (on_gpu("9.0"),) * 2, (on_gpu("8.9"),))
    ]
    assert keys[0] == keys[1]
    assert keys[0] != keys[2]


def test_conversion_does_not_depend_on_the_gpu():
    plain, other = (
        key_of("convert-target", recipe(), gpus=gpus) for gpus in ((), (on_gpu("9.0"),))
    )
    assert plain == other


def test_changed_limits_only_compile_again():
    before, after = stages(recipe()), stages(recipe(limits={"max_batch_size": 8}))
    same = [name for name in before if before[name].key == after[name].key]
    assert same == ["tokenizer", "convert-target"]


def known(role, info=MODEL, **parts):
    return replace(source(role), info=info, **parts)


def test_files_of_a_checkpoint_decide_its_conversion_alone():
    made = recipe("draft_target")
    files = {"model.safetensors": "abc"}
    both = replace(
        inputs(made),
        target=known("target", files=files),
        draft=known("draft", DRAFT, files={"model.safetensors": "def"}),
    )
    found = {s.name: s for s in engine_stages(tools(), both)}
    assert found["convert-target"].inputs["file target/model.safetensors"] == "abc"
    assert found["convert-draft"].inputs["file draft/model.safetensors"] == "def"
    assert "file draft/model.safetensors" not in found["convert-target"].inputs
    assert found["build-target"].all_inputs["convert-target"] == (
        found["convert-target"].key
    )


@pytest.mark.parametrize(
    ("quantization", "bytes_per_weight"),
    [("none", 2.0), ("fp8", 1.0), ("int4_awq", 0.6)],
)
def test_disk_space_follows_the_type_of_the_weights(quantization, bytes_per_weight):
    made = recipe(target={"quantization": quantization})
    given = replace(inputs(made), target=known("target"))
    needed = [s.needs_bytes for s in engine_stages(tools(), given)]
    assert needed == [0, 1_000_000 * bytes_per_weight, 1_000_000 * bytes_per_weight]


def test_disk_space_of_the_draft_model_is_its_own():
    made = recipe("draft_target", quantization="fp8")
    given = replace(inputs(made), target=known("target"), draft=known("draft", DRAFT))
    needed = {s.name: s.needs_bytes for s in engine_stages(tools(), given)}
    assert needed["build-target"] == 2_000_000
    assert needed["build-draft"] == 100_000


def test_family_comes_from_the_checkpoint_or_the_recipe():
    assert family_of(known("target"), None, "target.family") == "llama"
    assert family_of(known("target"), "llama", "target.family") == "llama"
    assert family_of(source("target"), "qwen2", "target.family") == "qwen2"


def test_unknown_family_is_asked_for():
    with pytest.raises(BuildError, match="its family is not known") as caught:
        stages(recipe(target={"family": None}))
    (problem,) = caught.value.problems
    assert problem.where == "target.family"
    assert problem.action.startswith("add target.family")
    with pytest.raises(BuildError) as caught:
        stages(recipe("draft_target", family=None))
    assert caught.value.problems[0].where == "speculation.family"


def test_family_that_is_stated_wrong_is_refused():
    with pytest.raises(BuildError, match="is qwen2, but org/target is of the family"):
        family_of(known("target"), "qwen2", "target.family")
