"""Layouts of other libraries and kinds: speculators, DFlash, ReDrafter, PARD, MTP."""

import pytest

from tests.models.drafters import (
    as_speculators,
    write_dflash,
    write_eagle3,
    write_mtp,
    write_redrafter,
)
from tests.models.heads import LLAMA_8B, eagle3_tensors, layer
from tests.models.large import write_headers
from tests.models.test_inspection import facts, said
from tests.models.tiny import HIDDEN, ROWS, write_checkpoint, write_gguf
from trtspec.methods.catalogue import PLACES
from trtspec.models.inspection import inspect
from trtspec.models.inspection_fit import fits
from trtspec.models.inspection_services import services

INNER = {key: LLAMA_8B[key] for key in ("num_attention_heads", "intermediate_size")}
NAMED = {"speculators_model_type": "eagle3", "speculators_config": {"algorithm": "e"}}


def service_of(found):
    (service,) = services(found, PLACES)
    return service


def runs_on(service):
    return {s.place.backend for s in service.standings if s.runs}


def eagle1_of_speculators():
    """speculators 0.1: ``fusion_fc`` and ``transformer``."""
    block = layer("transformer.", 4096, 14336, first_norm=False)
    return {"fusion_fc.weight": (4096, 8192), "embed_tokens.weight": (128256, 4096)} | (
        block
    )


@pytest.mark.parametrize(
    "sizes", [{}, {"hidden_size": 4096, "vocab_size": 128256, "num_hidden_layers": 1}]
)
def test_a_speculators_eagle3_head_is_told_with_or_without_its_sizes(tmp_path, sizes):
    config = {**NAMED, "draft_vocab_size": 32000}
    config["transformer_layer_config"] = {**INNER, **sizes}
    tensors = eagle3_tensors(prefix="layers.0.")
    found = inspect(write_headers(tmp_path, config, tensors))
    assert (found.kind, found.problems) == ("eagle3", ())
    assert facts(found)["vocabulary"] == {"drafted": 32000, "target": 128256}
    assert runs_on(service_of(found)) == {"reference"}
    assert "speculators library" in service_of(found).unread["pytorch"]


def test_a_speculators_head_keeps_its_training_aids(tmp_path):
    config = {**NAMED, "draft_vocab_size": 32000, "transformer_layer_config": INNER}
    tensors = eagle3_tensors(prefix="layers.0.")
    tensors |= {"verifier_lm_head.weight": (32000, 4096)}
    found = inspect(write_headers(tmp_path, config, tensors))
    assert found.problems == ()
    assert "left_over_tensors" not in facts(found)


def test_a_speculators_eagle1_head_is_told(tmp_path):
    sizes = {"hidden_size": 4096, "vocab_size": 128256, "num_hidden_layers": 1}
    config = {"speculators_model_type": "eagle", "speculators_config": {}}
    config["transformer_layer_config"] = {**INNER, **sizes}
    found = inspect(write_headers(tmp_path, config, eagle1_of_speculators()))
    assert (found.kind, found.problems) == ("eagle", ())
    assert "speculators layout" in found.title


def test_a_speculators_head_under_another_algorithms_name_is_told_by_its_tensors(
    tmp_path,
):
    directory = as_speculators(write_eagle3(tmp_path, prefix="layers."), "peagle")
    found = inspect(directory)
    assert found.kind == "eagle3"
    assert "peagle" in found.problems[0].what


@pytest.mark.parametrize("states", [1, 3, 5])
def test_a_dflash_drafter_says_states_block_and_mask(tmp_path, states):
    layers = list(range(states))
    inner = {"mask_token_id": 15, "target_layer_ids": layers}
    found = inspect(write_dflash(tmp_path, states=states, dflash_config=inner))
    assert (found.kind, found.problems) == ("dflash", ())
    assert facts(found)["captured_states"]["count"] == states
    assert (facts(found)["block"], facts(found)["mask_token"]) == (16, 15)


def test_a_dflash_drafter_that_reads_layers_its_target_lacks_is_refused(tmp_path):
    found = inspect(write_dflash(tmp_path / "head"))
    target = inspect(write_checkpoint(tmp_path / "target"))
    verdicts = {fit.key: fit.verdict for fit in fits(found, target)}
    assert verdicts["captured_layers"] == "refused"
    assert verdicts["hidden_size"] == "fits"


@pytest.mark.parametrize("prefix", ["lm_head", "lm_heads", "0"])
def test_a_redrafter_head_is_told_under_each_of_its_names(tmp_path, prefix):
    found = inspect(write_redrafter(tmp_path, prefix=prefix))
    assert (found.kind, found.problems) == ("redrafter", ())
    assert facts(found)["hidden_size"] == {"target": HIDDEN, "own": None}
    assert runs_on(service_of(found)) == {"reference", "tensorrt"}


@pytest.mark.parametrize("layout", ["deepseek", "qwen", "mimo"])
@pytest.mark.parametrize("heads", [1, 2])
def test_next_token_heads_without_a_model_are_told(tmp_path, layout, heads):
    found = inspect(write_mtp(tmp_path, layout=layout, heads=heads))
    assert (found.kind, found.problems) == ("mtp", ())
    assert facts(found)["heads"]["count"] == heads
    assert runs_on(service_of(found)) == {"reference"}


@pytest.mark.parametrize("token", [0, 3])
def test_a_pard_model_serves_pard(tmp_path, token):
    found = inspect(write_checkpoint(tmp_path, pard_token=token))
    assert "PARD draft model" in found.title
    roles = {(s.method, s.role) for s in services(found, PLACES)}
    assert {("pard", "drafter"), ("draft_target", "drafter")} <= roles


def test_a_model_without_a_mask_token_does_not_serve_pard(tmp_path):
    found = inspect(write_checkpoint(tmp_path))
    methods = [service.method for service in services(found, PLACES)]
    assert "pard" not in methods
    assert {"ngram", "suffix", "lookahead", "draft_target"} == set(methods)


@pytest.mark.parametrize("quantized", [True, False])
def test_a_gguf_serves_the_reference_backend_alone(tmp_path, quantized):
    found = inspect(write_gguf(tmp_path, quantized=quantized))
    for service in services(found, PLACES):
        assert runs_on(service) == {"reference"}
        assert "GGUF" in service.unread["pytorch"]


def test_a_quantized_model_serves_tensorrt_llm_alone(tmp_path):
    found = inspect(
        write_checkpoint(tmp_path, quantization_config={"quant_method": "awq"})
    )
    for service in services(found, PLACES):
        assert "reference" not in runs_on(service)
        assert "awq" in service.unread["reference"]


def test_an_adapter_is_called_one(tmp_path):
    write_headers(tmp_path, {}, {"base_model.model.lora_A.weight": (4, 8)})
    (tmp_path / "adapter_config.json").write_text("{}")
    (problem,) = [p for p in inspect(tmp_path).problems if "adapter" in p.what]
    assert "merge it" in problem.action


def test_a_draft_model_is_held_against_its_target_token_by_token(tmp_path):
    target = inspect(write_checkpoint(tmp_path / "target"))
    same = inspect(write_checkpoint(tmp_path / "same"))
    other = inspect(
        write_checkpoint(tmp_path / "other", tokens=tuple(f"u{n}" for n in range(ROWS)))
    )
    assert {fit.verdict for fit in fits(same, target)} == {"fits"}
    (ids,) = [fit for fit in fits(other, target) if fit.key == "token_ids"]
    assert ids.verdict == "refused"
    assert f"{ROWS} ids stand for other tokens" in ids.text


def test_what_is_not_known_of_a_head_is_not_compared(tmp_path):
    target = inspect(write_checkpoint(tmp_path / "target"))
    found = inspect(write_headers(tmp_path / "head", {}, {"d2t": ("I64", (4,))}))
    assert found.kind == "eagle3"
    assert fits(found, target) == ()
    assert said(found)["weights"].startswith("safetensors; 1 file; 1 tensor;")
