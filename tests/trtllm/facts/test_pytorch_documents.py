"""Controls, endpoints, figures, platforms and limits of the backend pytorch."""

import pytest

from tests.trtllm.facts.numbers_pytorch import NEWEST, OF_NO_FAMILY, readable
from trtspec.trtllm import facts
from trtspec.trtllm.facts.read import established
from trtspec.trtllm.versions import is_specifier

V1_0, V1_1, V1_2, RC22, RC27, NOW = NEWEST
EVERY_FACT = (
    *facts.all_controls(),
    *facts.all_shapes(),
    *facts.all_endpoints(),
    *facts.all_request_fields(),
    *facts.all_metrics(),
    *facts.all_platforms(),
    *facts.all_pytorch_constraints(),
)
SAMPLING = ("temperature", "top_k", "top_p")
EDITS = ("min_tokens", "bad", "no_repeat_ngram_size", "embedding_bias", "top_p_decay")
PENALTIES = ("repetition_penalty", "presence_penalty", "frequency_penalty")


def test_every_fact_has_a_range_in_some_family_and_a_source():
    assert len(EVERY_FACT) > 150
    for fact in EVERY_FACT:
        assert is_specifier(fact.versions), fact
        assert len(fact.source) > 8, fact
        assert any(established([fact], version) for version in NEWEST), fact


@pytest.mark.parametrize("version", OF_NO_FAMILY, ids=str)
def test_a_version_of_no_family_has_none_of_it(version):
    assert facts.sampling_controls(version, "one-model") == {}
    assert facts.engine_shape("eagle3", version) is None
    assert facts.endpoints(version) == {}
    assert facts.request_fields("/v1/completions", version) == {}
    assert facts.metrics(version, "two-model") == ()
    assert facts.platform_of(version) is None
    assert facts.pytorch_constraints(version) == ()


@pytest.mark.parametrize("version", NEWEST, ids=str)
@pytest.mark.parametrize("engine", facts.ENGINE_SHAPES)
def test_no_control_has_two_fates(version, engine):
    named = [
        name
        for control in established(facts.all_controls(), version)
        if engine in control.engines
        for name in control.names
    ]
    assert len(named) == len(set(named))
    assert {*SAMPLING, *EDITS, *PENALTIES, "logits_processor", "n"} <= set(named)


def _fates(version, engine, names):
    told = facts.sampling_controls(version, engine)
    return {told[name].fate for name in names}


@pytest.mark.parametrize(
    ("version", "engine", "names", "fate"),
    [
        (V1_0, "one-model", SAMPLING, "dropped"),
        (V1_0, "two-model", SAMPLING, "dropped"),
        (V1_1, "one-model", SAMPLING, "dropped"),
        (V1_1, "two-model", SAMPLING, "not established"),
        (V1_2, "one-model", SAMPLING, "honoured"),
        (V1_2, "two-model", SAMPLING, "honoured"),
        (NOW, "one-model", SAMPLING, "honoured"),
        (V1_2, "one-model", EDITS, "dropped"),
        (V1_2, "two-model", EDITS, "not established"),
        (RC22, "one-model", EDITS, "dropped"),
        (NOW, "one-model", EDITS, "rejected"),
        (NOW, "one-model", ("min_p",), "rejected"),
        (NOW, "two-model", ("min_tokens", "min_p", "bad"), "honoured"),
        (V1_2, "two-model", PENALTIES, "dropped"),
        (RC22, "one-model", PENALTIES, "dropped"),
        (NOW, "two-model", PENALTIES, "honoured"),
        (V1_2, "one-model", ("logprobs",), "partial"),
        (NOW, "one-model", ("logprobs",), "rejected"),
        (V1_1, "two-model", ("guided_decoding",), "honoured"),
        (V1_1, "one-model", ("guided_decoding",), "not established"),
        (V1_2, "one-model", ("guided_decoding",), "honoured"),
        (NOW, "one-model", ("use_beam_search", "n"), "not established"),
        (V1_0, "one-model", ("stop", "max_tokens", "ignore_eos"), "honoured"),
    ],
    ids=readable,
)
def test_what_becomes_of_controls(version, engine, names, fate):
    assert _fates(version, engine, names) == {fate}


def test_what_a_control_depends_on_is_a_key_of_the_version():
    for version, control, key in (
        (V1_2, "temperature", "allow_advanced_sampling"),
        (NOW, "repetition_penalty", "enable_penalty"),
    ):
        told = facts.sampling_controls(version, "one-model")[control]
        assert told.needs == f"speculative_config.{key}"
        assert key in facts.keys("DecodingBaseConfig", version)


@pytest.mark.parametrize(
    ("method", "version", "shape"),
    [
        ("eagle3", V1_0, "one-model"),
        ("mtp", V1_2, "one-model"),
        ("draft_target", V1_2, "two-model"),
        ("draft_target", RC22, "one-model"),
        ("ngram", V1_0, "two-model"),
        ("ngram", NOW, "two-model"),
        ("suffix", V1_2, None),
        ("suffix", NOW, "one-model"),
        ("none", NOW, None),
        ("medusa", V1_2, None),
    ],
    ids=readable,
)
def test_the_shape_of_engine_that_a_method_gets(method, version, shape):
    assert facts.engine_shape(method, version) == shape


@pytest.mark.parametrize("version", NEWEST, ids=str)
def test_paths_that_every_server_has(version):
    told = facts.endpoints(version)
    always = {"/health", "/version", "/v1/models", "/v1/completions", "/metrics"}
    assert always <= set(told)
    assert told["/metrics"].needs == "enable_iter_perf_stats"
    assert told["/health"].method == "GET"


@pytest.mark.parametrize(
    ("path", "first", "without"),
    [
        ("/prometheus/metrics", V1_2, V1_1),
        ("/perf_metrics", V1_2, RC22),
        ("/server_info", RC22, V1_2),
        ("/energy_metrics", NOW, RC27),
    ],
    ids=readable,
)
def test_paths_that_some_servers_lack(path, first, without):
    assert path in facts.endpoints(first)
    assert path not in facts.endpoints(without)


@pytest.mark.parametrize("version", NEWEST, ids=str)
def test_requests_are_sampled_at_temperature_1_unless_they_say_otherwise(version):
    for path in ("/v1/completions", "/v1/chat/completions"):
        assert facts.request_fields(path, version)["temperature"].default == 1.0


@pytest.mark.parametrize("version", NEWEST, ids=str)
def test_completions_take_token_ids_and_can_return_them(version):
    told = facts.request_fields("/v1/completions", version)
    assert "token ids" in told["prompt"].note
    assert told["detokenize"].parameter == "detokenize"
    assert "detokenize" not in facts.request_fields("/v1/chat/completions", version)


def test_bad_words_have_no_field_and_bias_has_another_name():
    told = facts.request_fields("/v1/chat/completions", NOW)
    assert told["logit_bias"].parameter == "embedding_bias"
    assert not {"bad", "no_repeat_ngram_size"} & {f.parameter for f in told.values()}


@pytest.mark.parametrize(
    ("version", "engine", "where", "fate"),
    [
        (V1_1, "one-model", "iterations", "absent"),
        (V1_1, "two-model", "iterations", "filled"),
        (V1_2, "one-model", "iterations", "filled"),
        (V1_2, "one-model", "request_perf_metrics", "zero"),
        (NOW, "one-model", "request_perf_metrics", "not established"),
        (V1_2, "two-model", "prometheus", "absent"),
        (RC22, "one-model", "prometheus", "not established"),
    ],
    ids=readable,
)
def test_where_acceptance_is_told(version, engine, where, fate):
    told = [m for m in facts.metrics(version, engine) if m.where == where]
    assert {metric.fate for metric in told} == {fate}


def test_tokens_per_step_are_in_answers_from_1_1_on():
    fates = {
        version: metric.fate
        for version in NEWEST
        for metric in facts.metrics(version, "one-model")
        if metric.name == "avg_decoded_tokens_per_iter"
    }
    assert fates.pop(V1_0) == "not established"
    assert set(fates.values()) == {"filled"}


@pytest.mark.parametrize(
    ("version", "torch", "transformers"),
    [
        (V1_0, "2.7.1", "4.53.1"),
        (V1_1, "2.9.0", "4.56.0"),
        (V1_2, "2.9.1", "4.57.3"),
        (NOW, "2.11", ""),
    ],
    ids=readable,
)
def test_what_a_version_is_built_on(version, torch, transformers):
    platform = facts.platform_of(version)
    assert platform is not None
    assert (platform.torch, platform.transformers) == (torch, transformers)
    assert "3.12" in platform.python


@pytest.mark.parametrize(
    ("version", "schedule", "gate"),
    [
        (V1_0, set(), set()),
        (V1_2, {"schedule_lower_bounds"}, {"gate_old"}),
        (RC22, {"schedule_upper_bounds", "schedule_or_concurrency"}, set()),
        (NOW, {"schedule_upper_bounds", "schedule_or_concurrency"}, {"gate"}),
    ],
    ids=readable,
)
def test_limits_of_the_schedule_and_the_gate(version, schedule, gate):
    names = {limit.name for limit in facts.pytorch_constraints(version)}
    assert {name for name in names if name.startswith("schedule")} == schedule
    assert {name for name in names if name.startswith("gate")} == gate


def test_no_version_has_a_limit_twice():
    for version in NEWEST:
        names = [limit.name for limit in facts.pytorch_constraints(version)]
        assert len(names) == len(set(names))


def test_what_nobody_could_establish_is_told():
    told = facts.pytorch_not_established()
    assert len(told) > 5
    assert any("1.3.0rc22" in line for line in told)
