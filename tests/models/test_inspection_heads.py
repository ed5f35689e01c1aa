"""What inspect says of drafters in public layouts, at their real sizes."""

import pytest

from tests.models.heads import (
    eagle3_config,
    eagle3_tensors,
    eagle_tensors,
    medusa_tensors,
    write_target,
)
from tests.models.large import write_headers
from tests.models.test_inspection import facts, said
from trtspec.methods.catalogue import PLACES
from trtspec.models.inspection import inspect
from trtspec.models.inspection_fit import fits
from trtspec.models.inspection_services import needs, services

IDS = "eagle_aux_hidden_state_layer_ids"


def verdicts(drafter, target):
    return {fit.key: fit.verdict for fit in fits(drafter, target)}


def changed(found):
    """The keys of config.json that TensorRT-LLM needs, with their values."""
    return [need.snippet for need in needs(found, None)]


# Medusa


@pytest.mark.parametrize("configured", [None, 2, 5])
def test_case_25_medusa_heads_are_counted_in_the_tensors(tmp_path, configured):
    config = {} if configured is None else {"medusa_num_heads": configured}
    found = inspect(write_headers(tmp_path, config, medusa_tensors(5)))
    heads = facts(found)["heads"]
    assert (found.kind, found.problems) == ("medusa", ())
    assert (heads["count"], heads["configured"], heads["layers"]) == (5, configured, 1)
    assert "5, counted in the tensors" in said(found)["heads"]
    assert ("config.json says 2" in said(found)["heads"]) is (configured == 2)


@pytest.mark.parametrize(
    ("layers", "output", "prefix"),
    [(1, True, ""), (2, True, ""), (1, False, ""), (1, True, "medusa_head.")],
)
def test_medusa_heads_of_old_and_new_training_code(tmp_path, layers, output, prefix):
    tensors = medusa_tensors(3, layers=layers, output=output, prefix=prefix)
    found = inspect(write_headers(tmp_path, {"base_model": "vicuna"}, tensors))
    assert (found.kind, found.problems) == ("medusa", ())
    assert facts(found)["heads"]["count"] == 3
    assert facts(found)["heads"]["layers"] == layers
    assert facts(found)["lm_head"] is output


def test_medusa_counts_become_recipe_lines(tmp_path):
    write_headers(tmp_path, {}, medusa_tensors(4))
    (tmp_path / "model.safetensors").rename(tmp_path / "medusa_lm_head.safetensors")
    (need,) = needs(inspect(tmp_path), None)
    assert need.where == "the recipe"
    assert need.snippet.splitlines() == [
        "speculation:",
        "  method: medusa",
        "  num_heads: 4",
        "  num_layers: 1",
    ]


def test_heads_that_differ_in_rows_are_damaged(tmp_path):
    tensors = medusa_tensors(3) | {"2.1.weight": (31999, 4096)}
    found = inspect(write_headers(tmp_path, {}, tensors))
    assert found.kind == "medusa"
    assert "2.1.weight is [31999, 4096]" in found.problems[0].what


# EAGLE-1 and EAGLE-2


@pytest.mark.parametrize("bias", [True, False])
def test_an_eagle_drafter_says_whether_its_projection_has_a_bias(tmp_path, bias):
    found = inspect(write_headers(tmp_path, eagle3_config(), eagle_tensors(bias=bias)))
    assert (found.kind, found.problems) == ("eagle", ())
    assert facts(found)["fc_bias"] is bias
    assert facts(found)["fusion"]["shape"] == [4096, 8192]
    assert "2 x hidden" in said(found)["fusion"]


def test_an_eagle_drafter_says_that_its_lm_head_has_to_be_a_copy(tmp_path):
    tensors = eagle_tensors(output=True)
    found = inspect(write_headers(tmp_path, eagle3_config(), tensors))
    assert (found.kind, found.problems) == ("eagle", ())
    assert "left_over_tensors" not in facts(found)
    copy = facts(found)["lm_head_copy"]
    assert copy == {"tensor": "lm_head.weight", "rows": tensors["lm_head.weight"][0]}
    assert "copy of the target's" in said(found)["lm_head_copy"]
    (service,) = services(found, PLACES)
    assert not {"reference", "tensorrt"} & service.unread.keys()


def test_an_eagle_drafter_serves_eagle_and_nothing_else(tmp_path):
    found = inspect(write_headers(tmp_path, eagle3_config(), eagle_tensors(bias=True)))
    (service,) = services(found, PLACES)
    assert (service.method, service.role) == ("eagle", "drafter")
    runs = {s.place.backend for s in service.standings if s.runs}
    assert runs == {"reference", "tensorrt"}


# EAGLE-3


def test_a_reduced_vocabulary_is_told_from_the_table(tmp_path):
    config = eagle3_config(draft_vocab_size=32000)
    found = inspect(write_headers(tmp_path, config, eagle3_tensors()))
    assert found.problems == ()
    assert facts(found)["vocabulary"] == {"drafted": 32000, "target": 128256}
    assert "reduced, mapped by d2t" in said(found)["vocabulary"]
    assert changed(found) == []


def test_a_head_without_draft_vocab_size_is_good_and_gets_the_line(tmp_path):
    """TensorRT-LLM #6492: a public head of Qwen3 whose configuration lacks the key."""
    config = eagle3_config(2048, num_attention_heads=32, vocab_size=151936)
    tensors = eagle3_tensors(2048, drafted=32000, rows=151936, inner=6144)
    found = inspect(write_headers(tmp_path, config, tensors))
    assert (found.kind, found.problems) == ("eagle3", ())
    assert changed(found) == ['"draft_vocab_size": 32000']


def test_a_head_with_the_whole_vocabulary_needs_no_map(tmp_path):
    tensors = eagle3_tensors(table=False, drafted=128256)
    found = inspect(write_headers(tmp_path, eagle3_config(), tensors))
    assert found.problems == ()
    assert "full, no map needed" in said(found)["vocabulary"]
    assert changed(found) == ['"draft_vocab_size": 128256']


def test_layer_ids_of_null_are_good(tmp_path):
    config = {**eagle3_config(draft_vocab_size=32000), IDS: None}
    found = inspect(write_headers(tmp_path, config, eagle3_tensors()))
    assert found.problems == ()
    assert facts(found)["captured_states"] == {"count": 3, "layers": None}


def test_a_head_narrower_than_its_target_fits_it(tmp_path):
    """SGLang PR #4716: a legitimate head of another width than its target's."""
    config = eagle3_config(
        2048, num_attention_heads=16, draft_vocab_size=32000, target_hidden_size=4096
    )
    tensors = eagle3_tensors(2048, target=4096, inner=6144)
    found = inspect(write_headers(tmp_path / "head", config, tensors))
    target = inspect(write_target(tmp_path / "target"))
    assert found.problems == target.problems == ()
    assert facts(found)["hidden_size"] == {"target": 4096, "own": 2048}
    assert verdicts(found, target)["hidden_size"] == "fits"


def test_a_narrower_head_that_does_not_say_so_is_read_by_its_target(tmp_path):
    config = eagle3_config(2048, num_attention_heads=16, draft_vocab_size=32000)
    tensors = eagle3_tensors(2048, target=4096, inner=6144)
    found = inspect(write_headers(tmp_path / "head", config, tensors))
    target = inspect(write_target(tmp_path / "target"))
    assert found.problems == ()
    assert verdicts(found, target)["hidden_size"] == "fits"


def test_a_head_of_another_target_is_refused_with_its_reasons(tmp_path):
    config = {**eagle3_config(draft_vocab_size=32000), IDS: [1, 15, 28]}
    found = inspect(write_headers(tmp_path / "head", config, eagle3_tensors()))
    target = inspect(write_target(tmp_path / "target", width=5120, rows=152064))
    assert verdicts(found, target) == {
        "hidden_size": "refused",
        "vocabulary": "differs",
        "captured_layers": "refused",
        "context": "fits",
        "rotary": "fits",
    }


def test_a_head_of_2048_positions_costs_acceptance_beyond_them(tmp_path):
    config = eagle3_config(draft_vocab_size=32000, max_position_embeddings=2048)
    found = inspect(write_headers(tmp_path / "head", config, eagle3_tensors()))
    target = inspect(write_target(tmp_path / "target"))
    assert verdicts(found, target)["context"] == "differs"


@pytest.mark.parametrize(
    ("given", "base", "scaled"),
    [
        ({"rope_theta": 10000}, 10000, None),
        ({"rope_theta": None, "rope_parameters": {"rope_theta": 1e6}}, 1e6, None),
        ({"rope_scaling": {"rope_type": "llama3"}}, 500000, "llama3"),
        ({"rope_theta": None}, None, None),
    ],
)
def test_the_rotary_base_is_found_wherever_it_is(tmp_path, given, base, scaled):
    """executorch PR #20149: real configurations have the key in several places."""
    config = eagle3_config(draft_vocab_size=32000, **given)
    found = inspect(write_headers(tmp_path, config, eagle3_tensors()))
    assert found.problems == ()
    context = facts(found)["context"]
    assert (context["rope_theta"], context["rope_scaling"]) == (base, scaled)


def test_a_dropped_rename_is_a_problem(tmp_path):
    """speculators PR #358: 0 % acceptance at every position, and no error."""
    tensors = eagle3_tensors()
    tensors["midlayer.norm_of_hidden.weight"] = tensors.pop(
        "midlayer.hidden_norm.weight"
    )
    config = eagle3_config(draft_vocab_size=32000)
    found = inspect(write_headers(tmp_path, config, tensors))
    assert found.kind == "eagle3"
    assert "layers.0.hidden_norm.weight" in found.problems[0].what
    assert facts(found)["left_over_tensors"] == ["midlayer.norm_of_hidden.weight"]


def test_contradicting_tables_are_a_problem_and_the_kind_is_still_told(tmp_path):
    config = eagle3_config(draft_vocab_size=16000)
    found = inspect(write_headers(tmp_path, config, eagle3_tensors()))
    assert found.kind == "eagle3"
    assert "draft_vocab_size is 16000" in found.problems[0].what
    assert facts(found)["fusion"]["shape"] == [4096, 12288]
