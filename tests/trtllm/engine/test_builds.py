"""From tiny checkpoints to artifacts with engines, for every method, on stand-ins."""

import json

import pytest
from packaging.version import Version

from tests.models.tiny import write_checkpoint
from tests.trtllm.engine.projects import (
    METHODS,
    ROPE_THETA,
    actions,
    make_workshop,
)
from tests.trtllm.engine.samples import VERSIONS
from trtspec.build.artifact import Artifact
from trtspec.trtllm import facts
from trtspec.trtllm.engine.engine_config import read_engine

CAPACITIES = {
    "none": ("none", 0),
    "ngram": ("draft_tokens_external", 3),
    "draft_target": ("draft_tokens_external", 3),
    "medusa": ("medusa", 5),
    "eagle": ("eagle", 5),
    "redrafter": ("explicit_draft_tokens", 6),
    # W 2, N 2, G 2: (2 - 1 + 2) * (2 - 1)
    "lookahead": ("lookahead_decoding", 3),
}


FIRST, *BETWEEN, LAST = VERSIONS
SLOW = [pytest.param(version, marks=pytest.mark.slow) for version in BETWEEN]


@pytest.fixture(scope="module", params=[FIRST, *SLOW, LAST])
def workshop(request, tmp_path_factory):
    return make_workshop(tmp_path_factory.mktemp("workshop"), request.param)


@pytest.mark.parametrize("method", METHODS)
def test_each_method_becomes_an_artifact_with_engines(workshop, method):
    built = workshop.build(workshop.write(method, name=method.replace("_", "-")))
    artifact = Artifact.open(built.artifact.path)
    assert artifact == built.artifact
    engine = read_engine(artifact.target)
    mode, capacity = CAPACITIES[method]
    assert (engine.mode, engine.max_draft_len) == (facts.modes()[mode], capacity)
    assert engine.version == workshop.standin.version
    assert (engine.max_batch_size, engine.dtype) == (2, "float16")
    assert engine.paged_context_fmha
    assert (artifact.target / "rank0.engine").is_file()
    assert (artifact.draft is not None) == (method == "draft_target")


def test_draft_engine_is_a_plain_one_of_its_own_model(workshop):
    built = workshop.build(workshop.write("draft_target", use_draft_logits=True))
    target = read_engine(built.artifact.target)
    draft = read_engine(built.artifact.draft)
    assert (draft.mode, draft.max_draft_len) == (1, 0)
    assert draft.max_seq_len == 40 + 3
    assert target.gather_generation_logits
    assert draft.gather_generation_logits


def test_tokenizer_folder_has_the_models_own_files_without_weights(workshop):
    built = workshop.build(workshop.write("ngram"))
    tokenizer = built.artifact.tokenizer
    assert tokenizer == built.artifact.path / "tokenizer"
    assert {path.name for path in tokenizer.iterdir()} == {
        "config.json",
        "tokenizer.json",
    }
    source = workshop.folder / "llama" / "config.json"
    assert (tokenizer / "config.json").read_bytes() == source.read_bytes()


def test_artifact_says_what_built_it_and_keeps_the_logs(workshop):
    built = workshop.build(workshop.write("medusa"))
    version = workshop.standin.version
    assert built.artifact.manifest.versions["tensorrt_llm"] == version
    log = (built.artifact.path / "logs" / "build-target.log").read_text()
    command, *output = log.splitlines()
    assert command.startswith(f"$ {workshop.standin.bin / 'trtllm-build'} --checkpoi")
    assert "--speculative_decoding_mode medusa" in command
    assert output[0] == f"[TensorRT-LLM] TensorRT-LLM version: {version}"
    assert built.artifact.recipe.speculation.model == "./target"


def test_timing_cache_is_no_part_of_the_artifact(workshop):
    built = workshop.build(workshop.write("none"))
    assert not list(built.artifact.path.rglob("model.cache"))


def variants():
    tp2 = {"tensor_parallel": 2}
    fp8 = {"quantization": "fp8"}
    return {
        "two GPUs": ("draft_target", {"target": tp2, "tensor_parallel": 2}),
        "fp8": ("ngram", {"target": fp8}),
        "fp8 medusa": ("medusa", {"target": fp8}),
        "int4_awq": ("none", {"target": {"quantization": "int4_awq"}}),
        "int8_sq": ("none", {"target": {"quantization": "int8_sq"}}),
        "int8 cache": ("lookahead", {"engine": {"kv_cache": "int8"}}),
        "qwen2": ("ngram", {"family": "qwen2"}),
        "medusa on qwen2": ("medusa", {"family": "qwen2"}),
        "no gemm plugin": ("none", {"engine": {"gemm_plugin": "disable"}}),
    }


@pytest.mark.parametrize("name", variants())
def test_variants_are_built_as_planned(workshop, name):
    method, fields = variants()[name]
    built = workshop.build(workshop.write(method, **fields))
    engine = read_engine(built.artifact.target)
    if name == "two GPUs":
        for folder in (built.artifact.target, built.artifact.draft):
            assert read_engine(folder).tp_size == 2
            assert (folder / "rank1.engine").is_file()
    expected = {
        "fp8": ("FP8", "FP8"),
        "fp8 medusa": ("FP8", "FP8"),
        "int4_awq": ("W4A16_AWQ", None),
        "int8_sq": ("W8A8_SQ_PER_CHANNEL", None),
        "int8 cache": (None, "INT8"),
    }.get(name, (None, None))
    assert (engine.quant, engine.kv_cache_quant) == expected
    assert engine.mode == facts.modes()[CAPACITIES[method][0]]


def test_quantized_redrafter_is_built_on_its_quantized_base(workshop):
    if "--model_dir" in facts.flags("redrafter", Version(workshop.standin.version)):
        pytest.skip("its script converts the base itself in this version")
    made = workshop.write("redrafter", target={"quantization": "fp8"})
    built = workshop.build(made)
    assert [s.name for s in built.stages][2:4] == ["quantize-base", "convert-target"]
    assert read_engine(built.artifact.target).quant == "FP8"


def test_scripts_of_the_version_are_what_is_called(workshop):
    built = workshop.build(workshop.write("eagle", limits={"max_batch_size": 3}))
    calls = workshop.standin.calls()
    assert "eagle" in {call["program"] for call in calls}
    last = calls[-1]
    assert last["program"] == "trtllm-build"
    assert "--max_batch_size 3" in " ".join(last["argv"])
    assert last["cwd"].startswith(str(workshop.engines.resolve()))
    assert json.loads((built.artifact.path / "manifest.json").read_text())
    assert actions(built)["build-target"] == "run"


@pytest.mark.parametrize(
    ("batch", "longest", "tokens"), [(4, 1152, 4608), (1, 64, 64), (2, 40, 80)]
)
@pytest.mark.parametrize("method", ["none", "ngram", "medusa"])
def test_engine_of_few_and_short_requests_is_as_planned(
    workshop, method, batch, longest, tokens
):
    limits = {"max_batch_size": batch, "max_total_tokens": longest}
    model = workshop.folder / "long"
    if not model.exists():
        write_checkpoint(model, max_position_embeddings=2048)
    target = {"model": "./long", "dtype": "float16"}
    recipe = workshop.write(method, limits=limits, target=target)
    engine = read_engine(workshop.build(recipe).artifact.target)
    more = batch * (3 + 1) if method == "ngram" else 0  # room for the draft as output
    assert engine.max_num_tokens == min(8192, tokens + more)


def test_base_of_the_rotary_encoding_reaches_the_engine(workshop):
    built = workshop.build(workshop.write("medusa"))
    config = json.loads((built.artifact.target / "config.json").read_text())
    assert config["pretrained_config"]["rotary_base"] == ROPE_THETA


def test_data_beside_the_recipe_calibrates_and_counts(workshop):
    data = workshop.folder / "texts"
    data.mkdir(exist_ok=True)
    (data / "a.jsonl").write_text("one")
    recipe = workshop.write(
        "none",
        name="calibrated",
        target={"quantization": "int4_awq"},
        engine={"calibration_dataset": "texts"},
    )
    workshop.build(recipe)
    call = [c for c in workshop.standin.calls() if c["program"] == "quantize"][-1]
    assert call["argv"][call["argv"].index("--calib_dataset") + 1] == str(data)
    assert actions(workshop.build(recipe))["quantize-target"] == "reused"
    (data / "a.jsonl").write_text("two")
    assert actions(workshop.build(recipe))["quantize-target"] == "run"
