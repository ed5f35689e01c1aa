"""A model is found and described, or a finding says why not; nothing raises."""

import os

import pytest

from tests.check.samples import DRAFT_TARGET, loaded
from tests.models.drafters import write_eagle, write_medusa
from tests.models.tiny import write_checkpoint, write_config
from trtspec.check.resolve import resolve
from trtspec.models.demo import DEMO


def only(resolved):
    (finding,) = resolved.findings
    return finding


def test_a_checkpoint_in_a_directory_is_described(tmp_path):
    write_checkpoint(tmp_path / "target")
    info, findings, _ = resolve(loaded(tmp_path), "target")
    assert info.layers == 2
    assert findings == ()


def test_a_method_without_draft_model_has_no_draft(tmp_path):
    assert resolve(loaded(tmp_path), "draft") == (None, (), None)


def test_a_draft_model_is_described_like_a_target(tmp_path):
    write_checkpoint(tmp_path / "draft")
    info, findings, _ = resolve(loaded(tmp_path, speculation=DRAFT_TARGET), "draft")
    assert info.directory.resolve() == tmp_path / "draft"
    assert findings == ()


def test_a_missing_directory_is_blocking_at_its_line(tmp_path):
    info, (finding,), _ = resolve(loaded(tmp_path), "target")
    assert info is None
    assert finding.severity == "blocking"
    assert finding.where == f"{tmp_path / 'recipe.yaml'}:4"
    assert "'./target'" in finding.what
    assert "Hugging Face id" in finding.why


def test_a_draft_models_finding_stands_at_the_draft_models_line(tmp_path):
    finding = only(resolve(loaded(tmp_path, speculation=DRAFT_TARGET), "draft"))
    assert finding.where == f"{tmp_path / 'recipe.yaml'}:7"


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (lambda d: (d / "config.json").unlink(), "config.json is missing"),
        (lambda d: (d / "config.json").write_text("{"), "not valid JSON"),
        (lambda d: write_config(d, vocab_size=None), "has no vocab_size"),
        (
            lambda d: write_config(d, architectures=["BertModel"]),
            "BertModel is not a causal language model",
        ),
        (lambda d: os.truncate(d / "model.safetensors", 999), "is truncated"),
        (
            lambda d: (d / "model.safetensors").rename(d / "model.pt"),
            "holds its weights as model.pt",
        ),
    ],
)
def test_a_damaged_checkpoint_is_blocking_with_its_place(tmp_path, damage, what):
    damage(write_checkpoint(tmp_path / "target"))
    finding = only(resolve(loaded(tmp_path), "target"))
    assert (finding.rule, finding.severity) == ("checkpoint", "blocking")
    assert what in finding.what
    assert str(tmp_path / "target") in finding.what
    assert finding.where.endswith("recipe.yaml:4")


def test_a_file_that_cannot_be_opened_is_blocking(tmp_path):
    directory = write_checkpoint(tmp_path / "target")
    (directory / "config.json").unlink()
    (directory / "config.json").mkdir()
    finding = only(resolve(loaded(tmp_path), "target"))
    assert finding.severity == "blocking"
    assert "config.json" in finding.what
    assert finding.action


def test_the_demo_models_facts_are_known_before_its_download(tmp_path):
    recipe = loaded(tmp_path, target={"model": f"demo:{DEMO.name}"})
    info, (finding,), _ = resolve(recipe, "target")
    assert info == DEMO.info
    assert finding.severity == "note"
    assert "93 MB" in finding.what


def test_a_hub_model_that_is_not_here_is_noted_and_stays_unknown(tmp_path):
    info, (finding,), _ = resolve(
        loaded(tmp_path, target={"model": "org/name"}), "target"
    )
    assert info is None
    assert finding.severity == "note"
    assert "Hugging Face hub" in finding.what
    assert "check again" in finding.why


def test_a_revision_of_a_directory_is_pointed_at(tmp_path):
    write_checkpoint(tmp_path / "target")
    recipe = loaded(tmp_path, target={"revision": "v2"})
    finding = only(resolve(recipe, "target"))
    assert finding.severity == "warning"
    assert finding.where.endswith("recipe.yaml:5")
    assert "'v2' has no effect" in finding.what


def test_a_revision_of_the_draft_model_is_pointed_at_there(tmp_path):
    write_checkpoint(tmp_path / "draft")
    method = {**DRAFT_TARGET, "revision": "v2"}
    finding = only(resolve(loaded(tmp_path, speculation=method), "draft"))
    assert finding.where.endswith("recipe.yaml:9")


def test_a_revision_of_a_hub_model_is_what_it_is_for(tmp_path):
    recipe = loaded(tmp_path, target={"model": "org/name", "revision": "v2"})
    assert only(resolve(recipe, "target")).rule == "download"


MEDUSA = {"method": "medusa", "model": "./draft"}


def drafting(directory, **changes):
    return loaded(directory, backend="tensorrt", speculation={**MEDUSA, **changes})


def test_a_target_with_pickled_weights_is_described(tmp_path):
    directory = write_checkpoint(tmp_path / "target")
    (directory / "model.safetensors").rename(directory / "pytorch_model.bin")
    info, findings, _ = resolve(loaded(tmp_path), "target")
    assert info.format == "torch"
    assert findings == ()


def test_medusa_heads_are_a_drafter_and_no_draft_model(tmp_path):
    write_medusa(tmp_path / "draft", heads=5)
    info, findings, drafter = resolve(drafting(tmp_path), "draft")
    assert info is None
    assert findings == ()
    assert (drafter.kind, drafter.heads) == ("medusa", 5)


def test_a_drafter_of_another_kind_is_blocking_at_its_line(tmp_path):
    write_eagle(tmp_path / "draft")
    resolved = resolve(drafting(tmp_path), "draft")
    finding = only(resolved)
    assert resolved.drafter is None
    assert (finding.rule, finding.severity) == ("checkpoint", "blocking")
    assert "is an EAGLE-1 or EAGLE-2 drafter" in finding.what
    assert "a checkpoint of Medusa heads" in finding.why
    assert finding.action.startswith("write method: eagle")
    assert finding.where.startswith(f"{tmp_path / 'recipe.yaml'}:")


def test_an_eagle_3_drafter_is_blocking_with_the_way_out(tmp_path):
    write_eagle(tmp_path / "draft", draft_vocab_size=8)
    finding = only(resolve(drafting(tmp_path, method="eagle"), "draft"))
    assert "EAGLE-3 drafter" in finding.what
    assert "backend pytorch" in finding.action


def test_a_drafter_on_the_hub_is_noted_and_stays_unknown(tmp_path):
    resolved = resolve(drafting(tmp_path, model="org/heads"), "draft")
    assert only(resolved).rule == "download"
    assert (resolved.info, resolved.drafter) == (None, None)


@pytest.mark.parametrize("name", ["smollm2-135m-instrct", "SmolLM2", ""])
def test_a_misspelt_demo_model_is_told_its_name_as_a_line_of_the_recipe(tmp_path, name):
    made = loaded(tmp_path, target={"model": f"demo:{name}"})
    finding = only(resolve(made, "target"))
    assert finding.severity == "blocking"
    assert finding.action == f"write model: demo:{DEMO.name}"


@pytest.mark.parametrize(
    ("write", "method", "said", "action"),
    [
        (write_medusa, "eagle", "Medusa heads", "write method: medusa"),
        (write_checkpoint, "eagle3", "language model", "write method: draft_target"),
        (write_checkpoint, "eagle", "language model", "write method: draft_target"),
    ],
)
def test_a_checkpoint_of_another_kind_is_called_what_it_is(
    tmp_path, write, method, said, action
):
    write(tmp_path / "head")
    speculation = {"method": method, "model": "./head"}
    if method == "eagle3":
        speculation["draft_length"] = 3
    backend = "pytorch" if method == "eagle3" else "tensorrt"
    made = loaded(tmp_path, backend=backend, speculation=speculation)
    finding = only(resolve(made, "draft"))
    assert said in finding.what
    assert finding.action.startswith(action)
