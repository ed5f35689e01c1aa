"""Further flags that trtllm-build takes pass; others are refused with the reason."""

import pytest

from tests.trtllm.engine.rules.findings import findings, on_gpu, only
from tests.trtllm.engine.samples import recipe
from trtspec.trtllm.engine.rules.flags import (
    KEYS,
    OURS,
    PATHS,
    REFUSED,
    flags_are_known,
    flags_do_no_harm,
)


def flags(**given):
    return recipe(engine={"build_flags": given})


@pytest.mark.parametrize(
    ("made", "version"),
    [
        (recipe(), "1.2.1"),
        (flags(multiple_profiles="enable"), "0.17.0"),
        (flags(fast_build=True), "0.17.0"),
        (flags(fast_build=False), "0.17.0"),
        (flags(tokens_per_block=64, logits_dtype="float32"), "1.2.1"),
        (recipe(engine={"gemm_plugin": "nvfp4"}), "1.2.1"),
        (flags(nonsense="x"), None),
        (flags(nonsense="x"), "1.3.0rc21"),
    ],
)
def test_flag_that_the_version_takes_passes(made, version):
    assert not findings(flags_are_known, made, version)


@pytest.mark.parametrize(
    ("name", "value", "version", "why"),
    [
        ("multiple_profile", "enable", "1.2.1", "1.2.1 has no flag --multiple_profile"),
        ("tokens_per_block", 64, "0.17.0", "0.17.0 has no flag --tokens_per_block"),
        ("auto_parallel", 2, "1.2.0", "1.2.0 has no flag --auto_parallel"),
        ("multiple_profiles", "yes", "1.2.1", "allowed: enable, disable"),
        ("multiple_profiles", True, "1.2.1", "needs a value"),
        # it would be left out, which need not mean disable
        ("use_fp8_context_fmha", False, "1.2.1", "needs a value"),
        ("tokens_per_block", "many", "1.2.1", "needs a number of kind int"),
        ("fast_build", "x", "1.2.1", "takes no value"),
    ],
)
def test_flag_that_the_version_would_not_take_is_refused(name, value, version, why):
    finding = only(flags_are_known, flags(**{name: value}), version)
    assert (finding.severity, finding.where) == (
        "blocking",
        f"engine.build_flags.{name}",
    )
    assert finding.what == f"{name}: {value}"
    assert why in finding.why
    assert finding.action in ("delete it", "correct it, or delete it")


@pytest.mark.parametrize("name", sorted(OURS))
def test_flag_that_trtspec_sets_itself_is_refused_with_the_reason(name):
    finding = only(flags_are_known, flags(**{name: 1}))
    assert finding.severity == "blocking"
    assert (finding.why, finding.action) == (OURS[name], "delete it")


@pytest.mark.parametrize("name", sorted(KEYS))
def test_flag_that_follows_from_another_key_is_refused_with_that_key(name):
    finding = only(flags_are_known, flags(**{name: 1}))
    assert finding.severity == "blocking"
    assert finding.why == f"it follows from {KEYS[name]}"
    assert finding.action == f"delete it, and set {KEYS[name]}"


def test_keys_that_flags_follow_from_are_keys_of_a_recipe():
    keys = [key for key in KEYS.values() if " " not in key]
    known = recipe("draft_target", engine={}).model_dump()
    for section, name in (key.split(".") for key in keys):
        assert name in known[section]
    assert len(keys) == len(KEYS) - 1


def test_gemm_plugin_that_is_none_is_refused():
    finding = only(flags_are_known, recipe(engine={"gemm_plugin": "float64"}))
    assert (finding.severity, finding.where) == ("blocking", "engine.gemm_plugin")
    assert "bfloat16" in finding.why
    assert finding.action == "write one of these, or delete the line"


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"context_fmha": "enable"},
        {"streamingllm": "disable"},
        {"strip_plan": False},
        {"multiple_profiles": "enable"},
        {"multiple_profiles": "disable", "opt_num_tokens": 8},
        {"input_timing_cache": "/var/cache/timing"},
        {"weight_streaming": True},
    ],
)
def test_flag_that_does_no_harm_passes(given):
    assert not findings(flags_do_no_harm, flags(**given))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_flag_that_an_engine_does_not_survive_is_refused(name):
    values = REFUSED[name].values or (True,)
    finding = only(flags_do_no_harm, flags(**{name: values[0]}))
    where = f"engine.build_flags.{name}"
    assert (finding.severity, finding.where) == ("blocking", where)
    assert finding.what == f"{name}: {values[0]}"
    assert finding.why.endswith((".py)", "--help)"))
    assert finding.action == "delete it"


@pytest.mark.parametrize("name", PATHS)
def test_path_that_is_relative_is_refused(name):
    finding = only(flags_do_no_harm, flags(**{name: "cache/file"}))
    assert (finding.severity, finding.action) == (
        "blocking",
        "write an absolute path",
    )
    assert finding.where == f"engine.build_flags.{name}"


def test_two_flags_that_exclude_one_another_are_refused():
    made = flags(multiple_profiles="enable", opt_num_tokens=8)
    finding = only(flags_do_no_harm, made)
    assert finding.where == "engine.build_flags.opt_num_tokens"
    assert "multiple_profiles: enable" in finding.why


@pytest.mark.parametrize(
    ("gpus", "is_refused"),
    [((), False), ((on_gpu("9.0"),), False), ((on_gpu("10.0"),), True),
     ((on_gpu("10.3"),), False)],
)  # fmt: skip
def test_plugin_that_the_gpu_does_not_have_is_refused(gpus, is_refused):
    made = flags(low_latency_gemm_plugin="fp8", fp8_rowwise_gemm_plugin="disable")
    found = findings(flags_do_no_harm, made, gpus=gpus)
    assert [f.what for f in found] == ["low_latency_gemm_plugin: fp8"] * is_refused
