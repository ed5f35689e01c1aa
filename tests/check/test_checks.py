"""All rules together: a good recipe passes, each bad one is blocked for its reason."""

import psutil
import pytest
from packaging.version import Version

from tests.check.samples import DRAFT_TARGET, loaded, recipe
from tests.methods.samples import SMALLEST
from tests.models.drafters import write_dflash, write_eagle, write_eagle3
from tests.models.tiny import CONTEXT, TOKENS, write_checkpoint
from trtspec.check import check_models, check_recipe, ignoring, is_blocked
from trtspec.check.finding import SEVERITIES, Finding
from trtspec.check.rules import MODEL_RULES, RULES
from trtspec.errors import Problem
from trtspec.models.describe import describe

FITTING = {"max_input_tokens": 16, "max_total_tokens": CONTEXT}
TOO_LONG = {**FITTING, "max_total_tokens": CONTEXT + 1}
NO_DRAFT = {"speculation": {"method": "none"}}
PROMPTS = {"prompts": "prompts.jsonl", "output_tokens": 16}


@pytest.fixture
def models(tmp_path):
    """Write a target and a smaller draft model, and a prompts file."""
    write_checkpoint(tmp_path / "target")
    draft = {name: t for name, t in _weights().items() if ".layers.1." not in name}
    write_checkpoint(tmp_path / "draft", weights=draft, num_hidden_layers=1)
    (tmp_path / "prompts.jsonl").write_text('{"prompt": "t1 t2"}\n')
    return tmp_path


def _weights():
    from tests.models.tiny import tensors

    return tensors()


def good(models, **changes):
    settings = {"limits": FITTING, "workload": PROMPTS, "speculation": DRAFT_TARGET}
    return loaded(models, **{**settings, **changes})


def rules(findings, severity="blocking"):
    return [finding.rule for finding in findings if finding.severity == severity]


def but_for_size(findings):
    """Leave out that one tiny layer is more than a tenth of two."""
    return [finding for finding in findings if finding.rule != "draft-size"]


def test_a_good_recipe_gives_no_finding(models):
    assert but_for_size(check_recipe(good(models))) == []


def test_every_rule_is_registered_once_and_model_rules_are_part_of_all():
    assert len(set(RULES)) == len(RULES)
    assert set(MODEL_RULES) < set(RULES)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({**NO_DRAFT, "limits": TOO_LONG}, "context-length"),
        ({"speculation": {"method": "ngram", "draft_length": 64}}, "draft-length"),
        ({"target": {"quantization": "fp8"}}, "backend-option"),
        ({"target": {"tensor_parallel": 2}}, "backend-option"),
        ({"target": {"model": "./absent"}}, "checkpoint"),
        ({"workload": {"prompts": "absent.jsonl", "output_tokens": 8}}, "prompts"),
    ],
)
def test_one_thing_wrong_is_one_blocking_finding(models, changes, rule):
    findings = check_recipe(good(models, **changes))
    assert rules(findings) == [rule]
    assert str(models / "recipe.yaml") in findings[0].where


def test_another_vocabulary_is_blocked(models):
    write_checkpoint(models / "draft", tokens=TOKENS[::-1])
    assert rules(check_recipe(good(models))) == ["token-ids"]


def test_truncated_weights_are_blocked_and_the_other_rules_still_run(models):
    weights = models / "target" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    (models / "prompts.jsonl").write_text("")
    assert rules(check_recipe(good(models))) == ["checkpoint", "prompts"]


def test_a_missing_package_is_blocked_and_asked_for_by_the_formats_found(models):
    asked = []

    def missing(formats):
        asked.append(set(formats))
        return [Problem("torch not installed")]

    assert rules(check_recipe(good(models), missing=missing)) == ["installation"]
    assert asked == [{"safetensors"}]


def test_memory_is_that_of_the_machine_unless_it_is_given(models, monkeypatch):
    assert rules(check_recipe(good(models), free_memory=10)) == ["memory"]

    class Full:
        available = 10

    monkeypatch.setattr(psutil, "virtual_memory", Full)
    assert rules(check_recipe(good(models))) == ["memory"]


def test_the_worst_findings_come_first(models):
    changes = {
        "limits": {**FITTING, "max_batch_size": 1, "max_total_tokens": CONTEXT + 1},
        "target": {"model": "org/name", "quantization": "fp8"},
        "workload": {**PROMPTS, "concurrency": [4]},
    }
    severities = [f.severity for f in check_recipe(good(models, **changes))]
    assert severities == sorted(severities, key=SEVERITIES.index)
    assert set(severities) == set(SEVERITIES)


def test_two_described_models_are_checked_without_a_recipe_file(models):
    target, draft = describe(models / "target"), describe(models / "draft")
    wanted = recipe(limits=FITTING, speculation=DRAFT_TARGET)
    assert but_for_size(check_models(target, draft, wanted)) == []
    write_checkpoint(models / "draft", tokens=TOKENS[::-1])
    findings = check_models(target, describe(models / "draft"), wanted)
    assert rules(findings) == ["token-ids"]
    assert findings[0].where == "speculation.model"
    assert is_blocked(findings)


def test_described_models_are_not_held_against_this_machine(models, monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", None)
    wanted = recipe(limits=FITTING, workload={"prompts": "absent.jsonl"})
    assert check_models(describe(models / "target"), None, wanted) == []


def test_places_of_described_models_can_be_those_of_a_file(models):
    found = good(models, limits={**FITTING, "max_total_tokens": CONTEXT + 1})
    target = describe(models / "target")
    (finding,) = check_models(target, None, found.recipe, found.where)
    assert finding.where == found.where("limits", "max_total_tokens")


ON_PYTORCH = ["none", "ngram", "draft_target", "suffix", "eagle3", "mtp", "dflash",
              "user", "auto"]  # fmt: skip
NEWEST = Version("1.4.0rc4")


def on_pytorch(models, method, model="./draft", **fields):
    keys = SMALLEST[method] | fields
    if "model" in keys:
        keys = keys | {"model": model}
    return good(models, backend="pytorch", speculation=keys)


@pytest.mark.parametrize("method", ON_PYTORCH)
def test_a_good_recipe_of_backend_pytorch_gives_no_finding(models, method, monkeypatch):
    monkeypatch.chdir(models)
    (models / "m.py").write_text("a = None\n")
    drafters = {"eagle3": "./head", "dflash": "./block"}
    write_eagle3(models / "head")
    write_dflash(models / "block")
    recipe_ = on_pytorch(models, method, drafters.get(method, "./draft"))
    assert but_for_size(check_recipe(recipe_, version=NEWEST)) == []


def test_a_pard_draft_model_is_checked_like_any_pair(models):
    named = on_pytorch(models, "pard", mask_token_id=15)
    assert but_for_size(check_recipe(named, version=NEWEST)) == []
    unnamed = check_recipe(on_pytorch(models, "pard"), version=NEWEST)
    assert rules(unnamed, "warning") == ["mask-token"]
    write_checkpoint(models / "draft", tokens=TOKENS[::-1])
    assert rules(check_recipe(named, version=NEWEST)) == ["token-ids"]


@pytest.mark.parametrize(
    ("method", "write", "what"),
    [
        ("eagle3", write_eagle, "is an EAGLE-1 or EAGLE-2 drafter"),
        ("eagle3", write_dflash, "is a DFlash drafter"),
        ("dflash", write_eagle3, "is an EAGLE-3 head"),
        ("draft_target", write_eagle3, "is an EAGLE-3 head"),
        ("pard", write_eagle3, "is an EAGLE-3 head"),
    ],
)
def test_a_drafter_of_another_kind_is_blocked_at_the_line_that_names_it(
    models, method, write, what
):
    write(models / "other")
    wrong = on_pytorch(models, method, "./other")
    (finding,) = check_recipe(wrong, version=NEWEST)
    assert (finding.rule, finding.severity) == ("checkpoint", "blocking")
    assert finding.where == wrong.where("speculation", "model")
    assert what in finding.what
    assert finding.action


def test_a_missing_method_is_told_once_in_the_backends_words(models):
    wanted = on_pytorch(models, "suffix")
    stable = Version("1.2.1")
    assert rules(check_recipe(wanted, version=stable)) == ["method"]

    def backends_own(subject):
        where = subject.where("speculation", "method")
        yield Finding("method", "blocking", where, "take ngram")

    findings = check_recipe(wanted, version=stable, rules=[backends_own])
    assert [finding.what for finding in findings] == ["take ngram"]


def test_a_rule_that_fails_is_a_finding_and_stops_no_other(models):
    def fails(subject):
        yield Finding("first", "note", "x:1", "seen before it failed")
        raise KeyError("rope")

    def later(subject):
        yield Finding("later", "warning", "x:1", "seen after")

    found = check_recipe(loaded(models, limits=FITTING), rules=[fails, later])
    ours = {"rule-failed", "later", "first"}
    assert [f.rule for f in found if f.rule in ours] == [
        "rule-failed",
        "later",
        "first",
    ]
    assert "test_checks.test_a_rule_that_fails" in found[0].what
    assert found[0].what.endswith("failed: KeyError: 'rope'")
    assert not is_blocked(ignoring(found, ["rule-failed"]))
