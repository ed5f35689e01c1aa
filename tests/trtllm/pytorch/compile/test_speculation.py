"""Methods that a release lacks, and settings that it has no word for."""

from __future__ import annotations

import pytest

from tests.trtllm.pytorch.compile.recipes import (
    AUTO,
    DFLASH,
    DRAFT_TARGET,
    EAGLE3,
    NEWEST,
    PARD,
    SUFFIX,
    USER,
    VERSIONS,
    args,
    compiled,
    config,
    refusal,
    the_remark,
)

EARLY = ("1.0.0", "1.1.0", "1.2.1")


@pytest.mark.parametrize("version", EARLY)
@pytest.mark.parametrize(
    ("speculation", "nearest"),
    [(SUFFIX, "ngram"), (PARD, "draft_target"), (DFLASH, "eagle3")],
)
def test_methods_of_the_newest_releases_name_the_nearest(version, speculation, nearest):
    remark = refusal(version, speculation)
    assert remark.key == ("speculation", "method")
    assert f"take {nearest}" in remark.action
    assert "1.3.0rc22" in remark.action


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("speculation", "nearest"),
    [
        ({"method": "medusa", "model": "m"}, "eagle3"),
        ({"method": "eagle", "model": "m"}, "eagle3"),
        ({"method": "redrafter", "model": "m"}, "draft_target"),
        ({"method": "lookahead"}, "ngram"),
    ],
)
def test_methods_of_engines_are_refused_with_alternatives(
    version, speculation, nearest
):
    made = compiled(version, speculation)
    remark = the_remark(made, "method")
    assert remark.severity == "blocking"
    assert nearest in remark.action
    assert "speculative_config" not in made.args.to_dict()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_drafter_of_the_users_own_is_not_in_the_yaml(version):
    made = compiled(version, USER)
    assert "speculative_config" not in made.args.to_dict()
    assert made.args.to_dict()["disable_overlap_scheduler"] is True
    remark = the_remark(made, "user-drafter")
    assert remark.severity == "note"
    assert "trtllm-serve" in remark.why


@pytest.mark.parametrize("version", VERSIONS)
def test_auto_has_its_type_alone(version):
    assert config(version, AUTO) == {"decoding_type": "AUTO"}


def test_two_models_ended_with_1_2():
    remark = refusal(NEWEST, {**EAGLE3, "two_model": True})
    assert remark.key == ("speculation", "two_model")
    assert "two_model" not in config(NEWEST, {**EAGLE3, "two_model": False})


def test_1_0_captures_layers_of_its_own_choice():
    remark = refusal("1.0.0", {**EAGLE3, "layers_to_capture": [-1]})
    assert remark.key == ("speculation", "layers_to_capture")


def test_a_pool_must_hold_every_running_request():
    asked = {**SUFFIX, "global_pool": True, "global_pool_size": 63}
    remark = refusal(NEWEST, asked)
    assert remark.key == ("speculation", "global_pool_size")
    assert "64" in remark.action


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"use_draft_logits": True}, "draft-logits"),
        ({"tensor_parallel": 2}, "parallel"),
    ],
)
def test_settings_of_the_engine_backend_are_named_as_without_effect(changes, rule):
    made = compiled("1.2.1", {**DRAFT_TARGET, **changes})
    (remark,) = made.remarks
    assert remark.severity == "warning"
    assert rule in remark.rule
    assert made.args.to_dict() == args("1.2.1", DRAFT_TARGET)
