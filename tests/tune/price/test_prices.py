"""Costs on a named GPU: which source, what is added, and what is refused."""

from __future__ import annotations

import dataclasses
import json

import pytest

from tests.reference.artifacts import write_model
from tests.reference.test_artifacts import CASES, built, target_with_heads
from tests.tune.price import models
from tests.tune.price.questions import GRID, llama
from trtspec.errors import UsageError
from trtspec.methods import NGram
from trtspec.recipe.schema import Recipe
from trtspec.tune.candidate import candidate_of
from trtspec.tune.price.gpu import priced_kind
from trtspec.tune.price.overhead import Overhead
from trtspec.tune.price.priced import Priced
from trtspec.tune.price.prices import Grid, Measured, price, price_costs
from trtspec.tune.price.subject import subject_of

H200 = priced_kind("H200")


@pytest.fixture
def target(tmp_path):
    return models.placed(models.model(tmp_path / "8b", models.LLAMA_8B))


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("fake")
def test_measured_kernels_go_before_a_roofline(target):
    assert price(models.ngram(target), H200, GRID).verify.source == "priced"
    forced = price(models.ngram(target), H200, GRID, by="roofline")
    assert forced.verify.source == "roofline"
    assert forced.verify.why == "", "it was asked for"


@pytest.mark.usefixtures("fake")
def test_a_roofline_says_why_it_is_one(tmp_path):
    """As of SmolLM2, whose 3 cached heads no table has."""
    config = {**models.LLAMA_8B, "hidden_size": 576, "num_attention_heads": 9}
    config |= {"num_key_value_heads": 3, "head_dim": 64}
    odd = models.placed(models.model(tmp_path / "smol", config))
    found = price(models.ngram(odd), H200, GRID)
    assert found.verify.source == "roofline"
    assert "attention data missing for n_kv 3" in found.verify.why


@pytest.mark.usefixtures("fake")
def test_beside_a_roofline_the_drafter_gets_one_too(tmp_path, target):
    model = models.model(tmp_path / "8b", models.LLAMA_8B)
    awq = models.placed(model, quantization="int4_awq")
    head = models.eagle3_head(tmp_path / "head", models.EAGLE3_8B)
    found = price(models.eagle3(awq, head), H200, GRID)
    assert found.verify.source == found.draft.source == "roofline"


def test_the_host_is_paid_by_rounds_that_draft_and_no_others(target):
    subject = models.ngram(target)
    free = price(subject, H200, GRID, overhead=Overhead(round_seconds=0.0))
    paid = price(subject, H200, GRID, overhead=Overhead(round_seconds=0.002))
    assert paid.costs.step(4, 0) == free.costs.step(4, 0)
    assert paid.costs.step(4, 3) - free.costs.step(4, 3) == pytest.approx(0.002)
    assert free.costs.draft.at(4, 3) == 0.0


def test_the_host_is_paid_per_forward_of_the_drafter_too(target, tmp_path):
    head = models.eagle3_head(tmp_path / "head", models.EAGLE3_8B)
    subject = models.eagle3(target, head)
    both = [
        price(
            subject,
            H200,
            GRID,
            overhead=Overhead(round_seconds=0.001, draft_step_seconds=seconds),
        )
        for seconds in (0.0, 0.0005)
    ]
    none, some = (found.costs.draft.at(4, 3) for found in both)
    assert some - none == pytest.approx(3 * 0.0005)


def test_a_measured_plain_step_scales_the_gpu_and_not_the_host(target, tmp_path):
    head = models.eagle3_head(tmp_path / "head", models.EAGLE3_8B)
    subject = models.eagle3(target, head)
    plain = price(subject, H200, GRID, by="roofline")
    twice = Measured(4, 2 * plain.costs.verify.at(4, 1))
    scaled = price(subject, H200, GRID, anchor=twice, by="roofline")
    assert scaled.scale == pytest.approx(2)
    assert scaled.costs.verify.at(64, 8) == pytest.approx(
        2 * plain.costs.verify.at(64, 8)
    )
    host = plain.overhead.round_seconds
    assert scaled.costs.draft.at(1, 3) - host == pytest.approx(
        2 * (plain.costs.draft.at(1, 3) - host)
    )
    assert scaled.costs.verify.reading == pytest.approx(2 * plain.costs.verify.reading)
    assert any("scaled to a plain step of" in line for line in scaled.told())


@pytest.mark.parametrize("anchor", [Measured(3, 0.01), Measured(4, 0.0)])
def test_a_step_that_cannot_be_an_anchor_is_refused(target, anchor):
    with pytest.raises(UsageError, match="a plain step of"):
        price(models.ngram(target), H200, GRID, anchor=anchor, by="roofline")


@pytest.mark.parametrize(
    "grid",
    [
        Grid((), (1,), (1,), 100),
        Grid((1,), (1,), (), 100),
        Grid((0,), (1,), (1,), 100),
        Grid((1,), (1,), (1,), 1),
    ],
)
def test_a_grid_of_nothing_is_refused(target, grid):
    with pytest.raises(UsageError):
        price(models.ngram(target), H200, grid)


def test_the_band_is_of_one_source_and_never_below(target):
    found = price(models.ngram(target), H200, GRID, by="roofline")
    assert found.upper.verify.source == "roofline"
    for batch in GRID.batches:
        for width in (1, 2, 4, 6, 8):
            assert found.upper.verify.at(batch, width) >= found.costs.verify.at(
                batch, width
            )


@pytest.mark.parametrize(
    ("gpus", "gpu", "told"),
    [
        (1, "H200", "a roofline is a lower bound"),
        (8, "H200", "what the GPUs send one another"),
    ],
)
def test_what_a_reader_has_to_know_is_said(tmp_path, gpus, gpu, told):
    target = models.placed(models.model(tmp_path / "8b", models.LLAMA_8B), gpus=gpus)
    found = price(models.ngram(target), priced_kind(gpu), GRID, by="roofline")
    assert any(told in line for line in found.told())


def test_a_model_so_small_that_the_host_decides_is_no_ground_for_a_choice(
    tmp_path, target
):
    """SmolLM2-135M on H200: a roofline of 0.06 ms against 1.7 ms of the host."""
    config = {**models.LLAMA_1B, "hidden_size": 576, "intermediate_size": 1536}
    config |= {"num_hidden_layers": 30, "num_attention_heads": 9, "vocab_size": 49152}
    small = models.placed(
        models.model(tmp_path / "smol", {**config, "num_key_value_heads": 3})
    )
    told, other = (
        price(models.ngram(each), H200, GRID, by="roofline").told()
        for each in (small, target)
    )
    assert any("for so small a model" in line for line in told)
    assert not any("for so small a model" in line for line in other)


@pytest.mark.usefixtures("fake")
def test_what_is_told_fits_a_document(tmp_path):
    found = llama(tmp_path)
    assert Priced.model_validate_json(found.model_dump_json()) == found
    lines = found.told()
    assert lines[0].startswith("step costs of H200, not measured: TensorRT-LLM 1.3.0rc")
    assert "host 1.7 ms per drafting round" in lines[1]


def test_latent_attention_is_refused(tmp_path, target, monkeypatch):
    """Its cost with several tokens per request is in no table."""
    write_model(tmp_path / "target")
    artifact = built(tmp_path, {"method": "ngram", "draft_length": 3})
    described = dataclasses.replace(target.model, latent_size=576)
    monkeypatch.setattr(
        "trtspec.tune.price.subject.describe", lambda directory: described
    )
    with pytest.raises(UsageError, match=r"latent attention \(MLA\)"):
        subject_of(artifact, NGram(method="ngram", draft_length=3))


@pytest.mark.usefixtures("own_cache", "absent")
def test_a_recipe_of_another_backend_is_priced_as_it_says(tmp_path):
    """Its artifact is traced on reference; quantization and cache are the recipe's."""
    candidate = _candidate(tmp_path, "draft_target")
    recipe = candidate.artifact.recipe
    target = {**recipe.target.model_dump(), "quantization": "fp8", "dtype": "bfloat16"}
    original = Recipe.model_validate(
        {
            **recipe.model_dump(mode="json", exclude_none=True, by_alias=True),
            "backend": "pytorch",
            "target": {k: v for k, v in target.items() if v is not None},
            "pytorch": {"kv_cache": "fp8"},
        }
    )
    deployed = dataclasses.replace(candidate, original=original).as_deployed()
    subject = subject_of(deployed.artifact, deployed.method)
    assert (subject.target.quantization, subject.target.cache) == ("fp8", "fp8")
    assert subject.target.dtype == "bfloat16"
    assert subject.draft.quantization == "none"
    assert subject.assumed == ()
    found = price_costs(deployed, "h100", (1, 2), deployed.lengths, 64)
    assert found.gpu == "H100 SXM"


@pytest.mark.usefixtures("own_cache", "absent")
@pytest.mark.parametrize("case", [case for case in CASES if case != "redrafter"])
def test_every_methods_artifact_has_a_price(tmp_path, case):
    candidate = _candidate(tmp_path, case)
    found = price_costs(candidate, "h200_sxm", (1, 4), candidate.lengths, 64)
    assert found.costs.verify.source == "roofline"
    longest = candidate.lengths[-1]
    assert found.costs.step(2, longest) > found.costs.step(2, 0)
    assert "the recipe has dtype float32; priced as bfloat16" in found.notes[0]
    drafts = case not in ("suffix", "lookahead")
    assert (found.draft is not None) is drafts
    gpu_part = found.costs.draft.at(1, longest) - found.overhead.round_seconds
    assert (gpu_part > 0) is drafts


@pytest.mark.usefixtures("own_cache")
def test_a_method_that_nobody_can_price_is_refused(tmp_path):
    candidate = _candidate(tmp_path, "redrafter")
    with pytest.raises(UsageError, match="redrafter"):
        price_costs(candidate, "h200", (1,), candidate.lengths, 64)


@pytest.mark.usefixtures("own_cache")
def test_an_unknown_gpu_is_refused(tmp_path):
    candidate = _candidate(tmp_path, "suffix")
    with pytest.raises(UsageError, match="no GPU named 'h300'"):
        price_costs(candidate, "h300", (1,), (1,), 64)


def _candidate(folder, case):
    method, write, parameters = CASES[case]
    own_heads = method == "mtp" and write is None
    target_with_heads(folder / "target") if own_heads else write_model(
        folder / "target"
    )
    speculation = {"method": method, **json.loads(json.dumps(parameters))}
    if write is not None:
        write(folder / "draft")
        speculation["model"] = "./draft"
    return candidate_of(built(folder, speculation), method, 3)
