"""What may differ between two measurements, what must not, and what is only shown."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from tests.bench.fakes import arm_info, plan
from trtspec.bench.arms import Endpoint, Subject
from trtspec.bench.cells import Doubt
from trtspec.bench.comparable import (
    differences,
    require_comparable,
    require_same_run,
    unneeded_keys,
)
from trtspec.bench.comparable_rules import RULES, rule_of
from trtspec.bench.records import Load
from trtspec.bench.result import Plan
from trtspec.errors import UsageError
from trtspec.gpus import Gpu


def changed(of: Plan, path: str, value: object) -> Plan:
    """The plan with one value changed; arms by their place."""
    whole = of.model_dump(mode="json")
    place: Any = whole
    *parents, last = path.split(".")
    for key in parents:
        place = place[int(key) if key.isdigit() else key]
    place[int(last) if last.isdigit() else last] = value
    return Plan.model_validate(whole)


def with_gpus(of: Plan, *gpus: Mapping[str, object]) -> Plan:
    plain = {
        "name": "H200",
        "memory_bytes": 141 << 30,
        "driver": "570.1",
        "sm_clock_mhz": 1980,
        "power_limit_watts": 700.0,
    }
    found = [Gpu.model_validate(plain | gpu).model_dump(mode="json") for gpu in gpus]
    return changed(of, "conditions.hardware.gpus", found)


def keys(a: Plan, b: Plan, *, matters: bool) -> list[str]:
    return [d.key for d in differences(a, b) if d.matters is matters]


MUST = [
    ("prompts.sha256", "ee" * 32),
    ("prompts.count", 9),
    ("prompts.turns", "all"),
    ("settings.output_tokens", 6),
    ("settings.fixed_length", True),
    ("settings.temperature", 0.7),
    ("settings.top_k", 50),
    ("settings.top_p", 0.9),
    ("settings.warm_up_blocks", 2),
    ("settings.prompts_cached", True),
    ("settings.goodput", {"ttft": 0.5}),
    ("settings.confidence", 0.9),
    ("conditions.hardware.cpu", "Other CPU"),
    ("conditions.hardware.physical_cores", 8),
    ("conditions.hardware.logical_cores", 8),
    ("conditions.hardware.usable_cores", 1),
    ("conditions.hardware.cpu_quota", "100000 100000"),
    ("conditions.python", "3.12.1"),
    ("conditions.versions.torch", "2.14.0"),
    ("conditions.versions.tensorrt_llm", "1.2.1"),
    ("conditions.versions.trtspec", "0.2.0"),
    ("conditions.environment.OMP_NUM_THREADS", "1"),
    ("conditions.runner.threads", 2),
    ("conditions.runner.dtype", "bfloat16"),
]

SHOWN = [
    ("settings.repeats", 5),
    ("settings.control", True),
    ("settings.seed", 8),
    ("settings.arrival_seed", 1),
    ("settings.break_even_draws", 100),
    ("settings.break_even_seed", 1),
    ("conditions.system", "Toy OS 2"),
    ("conditions.hardware.memory_bytes", 32 << 30),
    ("conditions.versions.numpy", "2.5"),
    ("conditions.runner.note", "x"),
]

IRRELEVANT = [
    ("name", "other"),
    ("started", "2026-12-01T00:00:00+00:00"),
    ("command", ["x.yaml"]),
    ("prompts.file", "renamed.jsonl"),
    ("conditions.hardware.load_average", [9.0, 9.0, 9.0]),
    ("conditions.hardware.available_bytes", 1 << 30),
    ("conditions.hardware.busy_cores", 3.0),
]


def test_equal_plans_have_no_differences():
    assert differences(plan(8), plan(8)) == ()


@pytest.mark.parametrize(("path", "value"), MUST)
def test_what_must_agree(path, value):
    a, b = plan(8), changed(plan(8), path, value)
    found = keys(a, b, matters=True)
    assert [key for key in found if key.startswith(path)]
    assert keys(a, b, matters=False) == []


@pytest.mark.parametrize(("path", "value"), SHOWN)
def test_what_may_differ_but_is_shown(path, value):
    a, b = plan(8), changed(plan(8), path, value)
    assert keys(a, b, matters=False) == [path]
    assert keys(a, b, matters=True) == []


@pytest.mark.parametrize(("path", "value"), IRRELEVANT)
def test_what_does_not_matter(path, value):
    assert differences(plan(8), changed(plan(8), path, value)) == ()


def test_loads_may_differ():
    other = plan(8, loads=(Load(concurrency=1), Load(concurrency=4)))
    found = keys(plan(8), other, matters=False)
    assert found[0] == "settings.loads.count"
    assert "settings.loads.1.concurrency" in found
    assert keys(plan(8), other, matters=True) == []


def test_a_difference_has_both_values():
    other = changed(plan(8), "conditions.hardware.cpu", "Other CPU")
    (found,) = differences(plan(8), other)
    assert (found.key, found.a, found.b) == (
        "conditions.hardware.cpu",
        "Toy CPU",
        "Other CPU",
    )


@pytest.mark.parametrize(
    ("gpu", "matters"),
    [
        ({"name": "H100"}, ["conditions.hardware.gpus.0.name"]),
        ({"driver": "575.0"}, ["conditions.hardware.gpus.0.driver"]),
        (
            {"power_limit_watts": 500.0},
            ["conditions.hardware.gpus.0.power_limit_watts"],
        ),
        ({"sm_clock_mhz": 345}, []),
    ],
)
def test_gpus_must_agree_but_for_their_clock_at_rest(gpu, matters):
    a, b = with_gpus(plan(8), {}), with_gpus(plan(8), gpu)
    assert keys(a, b, matters=True) == matters


def test_another_number_of_gpus_matters():
    a, b = with_gpus(plan(8), {}), with_gpus(plan(8), {}, {})
    assert "conditions.hardware.gpus.count" in keys(a, b, matters=True)


def test_files_that_hold_the_same_prompts_are_comparable():
    same = changed(plan(8), "prompts.rendered_sha256", "aa" * 32)
    other = changed(same, "prompts.sha256", "ee" * 32)
    assert keys(same, other, matters=True) == []
    assert keys(same, other, matters=False) == ["prompts.sha256"]
    rendered = changed(other, "prompts.rendered_sha256", "bb" * 32)
    assert keys(same, rendered, matters=True) == [
        "prompts.sha256",
        "prompts.rendered_sha256",
    ]


def artifact(**changes: object) -> Plan:
    """A plan whose artifacts have a whole recipe."""
    values: dict[str, object] = {
        "backend": "reference",
        "name": "toy",
        "target": {"model": "./target", "dtype": "float32"},
        "limits": {"max_batch_size": 8},
        "sampling": {"temperature": 0.0},
        "workload": {"output_tokens": 5},
        "speculation": {"method": "ngram"},
    }
    subject = {
        "name": "toy",
        "fingerprint": "ab",
        "target_sha256": "11" * 32,
        "recipe": values | {k: v for k, v in changes.items() if k in values},
    } | {k: v for k, v in changes.items() if k not in values}
    of = plan(8)
    arms = tuple(
        a.model_copy(update={"artifact": Subject.model_validate(subject)})
        for a in of.arms
    )
    return of.model_copy(update={"arms": arms})


@pytest.mark.parametrize(
    "changes",
    [
        {"target_sha256": "22" * 32},
        {"backend": "pytorch"},
        {"target": {"model": "./target", "dtype": "bfloat16"}},
        {"limits": {"max_batch_size": 4}},
    ],
)
def test_artifacts_of_another_target_or_size_are_not_comparable(changes):
    found = keys(artifact(), artifact(**changes), matters=True)
    assert {key.split(".")[1] for key in found} == {"baseline"}


def test_artifacts_that_speculate_differently_are():
    other = artifact(
        fingerprint="cd",
        name="toy-2",
        speculation={"method": "eagle3"},
        sampling={"temperature": 1.0},
        workload=None,
    )
    assert keys(artifact(), other, matters=True) == []
    assert keys(artifact(), other, matters=False) == [
        "arms.baseline.artifact.fingerprint",
        "arms.baseline.artifact.recipe.name",
        "arms.baseline.artifact.recipe.speculation.method",
    ]


def test_servers_must_have_the_same_model_and_interface_not_the_same_address():
    def served(url: str, model: str) -> Plan:
        of = plan(8)
        endpoint = Endpoint(url=url, model=model, api="chat")
        arms = [
            a.model_copy(update={"artifact": None, "endpoint": endpoint})
            for a in of.arms
        ]
        return of.model_copy(update={"arms": tuple(arms)})

    a, b = served("http://a", "m"), served("http://b", "m")
    assert keys(a, b, matters=True) == []
    assert keys(a, b, matters=False) == ["arms.baseline.endpoint.url"]
    assert keys(a, served("http://a", "n"), matters=True)


def test_only_candidates_of_both_are_compared_and_the_others_named():
    of = plan(8)
    wider = of.model_copy(
        update={
            "arms": (
                *of.arms,
                arm_info("draft length 8", "candidate", {"device": "another"}),
            )
        }
    )
    (found,) = differences(of, wider)
    assert (found.key, found.matters) == ("arms.candidates", False)
    assert found.b == ["on", "draft length 8"]


def test_refusal_lists_every_difference_at_once_with_what_to_do():
    other = changed(plan(8), "conditions.hardware.cpu", "Other CPU")
    other = changed(other, "settings.output_tokens", 6)
    with pytest.raises(UsageError) as caught:
        require_comparable([plan(8), other])
    assert [p.where for p in caught.value.problems] == [
        "settings.output_tokens",
        "conditions.hardware.cpu",
    ]
    first = caught.value.problems[0]
    assert "5 in toy (2026-11-29T00:00:00+00:00), 6 in toy" in first.what
    assert "--allow-different settings.output_tokens" in first.action


def test_what_is_shown_only_is_not_refused():
    assert require_comparable([plan(8), changed(plan(8), "settings.repeats", 9)]) == ()


@pytest.mark.parametrize("key", ["conditions.hardware.cpu", "conditions.hardware"])
def test_a_key_or_its_beginning_allows_a_difference_and_gives_it_back(key):
    other = changed(plan(8), "conditions.hardware.cpu", "Other CPU")
    (granted,) = require_comparable([plan(8), other], [key])
    assert granted.key == "conditions.hardware.cpu"
    assert unneeded_keys([plan(8), other], [key]) == ()


def test_a_beginning_ends_at_a_dot():
    other = changed(plan(8), "conditions.hardware.cpu_quota", "1 2")
    with pytest.raises(UsageError, match="cpu_quota"):
        require_comparable([plan(8), other], ["conditions.hardware.cpu"])


def test_an_allowed_key_does_not_let_others_through():
    other = changed(plan(8), "conditions.hardware.cpu", "Other CPU")
    other = changed(other, "settings.output_tokens", 6)
    with pytest.raises(UsageError) as caught:
        require_comparable([plan(8), other], ["conditions"])
    assert [p.where for p in caught.value.problems] == ["settings.output_tokens"]


def test_an_unknown_key_is_refused():
    with pytest.raises(UsageError) as caught:
        require_comparable([plan(8), plan(8)], ["conditions.hardwear"])
    (problem,) = caught.value.problems
    assert problem.what == "there is no key conditions.hardwear"
    assert problem.where == "--allow-different"


def test_a_key_that_does_not_differ_is_unneeded():
    other = changed(plan(8), "settings.repeats", 9)
    allowed = ["conditions.hardware", "settings.repeats"]
    assert require_comparable([plan(8), other], allowed) == ()
    assert unneeded_keys([plan(8), other], allowed) == tuple(allowed)


def test_each_plan_is_compared_with_the_first():
    third = changed(plan(8), "conditions.python", "3.13.0")
    with pytest.raises(UsageError, match=r"conditions\.python"):
        require_comparable([plan(8), plan(8), third])


def test_one_plan_alone_is_comparable():
    assert require_comparable([plan(8)]) == ()


@pytest.mark.parametrize(("path", "value"), IRRELEVANT)
def test_a_run_goes_on_although_time_has_passed(path, value):
    require_same_run(plan(8), changed(plan(8), path, value))


@pytest.mark.parametrize(
    ("path", "value"), [*MUST, *(s for s in SHOWN if s[0].startswith("settings"))]
)
def test_a_run_does_not_go_on_under_other_settings_or_conditions(path, value):
    with pytest.raises(UsageError) as caught:
        require_same_run(plan(8), changed(plan(8), path, value))
    for problem in caught.value.problems:
        assert problem.where.startswith(path)
        assert "when the run began" in problem.what
        assert "--resume" in problem.action


@pytest.mark.parametrize("path", ["conditions.system", "conditions.versions.numpy"])
def test_a_run_goes_on_with_conditions_that_do_not_change_numbers(path):
    require_same_run(plan(8), changed(plan(8), path, "other"))


def test_a_run_does_not_go_on_with_another_artifact():
    with pytest.raises(UsageError) as caught:
        require_same_run(artifact(), artifact(fingerprint="cd"))
    assert [p.where for p in caught.value.problems] == [
        "arms.baseline.artifact.fingerprint"
    ]


def with_engines(of: Plan, names: tuple[str, ...], **engine: object) -> Plan:
    arms = tuple(
        a.model_copy(update={"engine": {**a.engine, **engine}})
        if a.name in names
        else a
        for a in of.arms
    )
    return of.model_copy(update={"arms": arms})


def test_what_differs_in_all_arms_alike_is_told_once():
    other = with_engines(plan(8), ("off", "on"), dtype="bfloat16")
    other = changed(other, "conditions.runner.dtype", "bfloat16")
    assert keys(plan(8), other, matters=True) == ["arms.baseline.engine.dtype"]


def test_what_differs_in_one_arm_only_is_told_of_that_arm():
    other = with_engines(plan(8), ("on",), dtype="bfloat16")
    assert keys(plan(8), other, matters=True) == ["arms.on.engine.dtype"]


def test_a_run_does_not_go_on_with_more_or_reordered_arms():
    more = plan(8)
    arms = (*more.arms, arm_info("draft length 8", "candidate"))
    with pytest.raises(UsageError, match=r"arms\.candidates"):
        require_same_run(more, more.model_copy(update={"arms": arms}))
    reordered = more.model_copy(update={"arms": more.arms[::-1]})
    with pytest.raises(UsageError, match="arms: was"):
        require_same_run(more, reordered)


def test_doubts_about_the_prompts_are_no_difference():
    doubt = Doubt(id="repeated-prompts", what="1 of 8", fatal=False)
    of = plan(8)
    prompts = of.prompts.model_copy(update={"doubts": (doubt,)})
    assert differences(of, of.model_copy(update={"prompts": prompts})) == ()


@settings(deadline=None)
@given(
    path=st.sampled_from([*MUST, *SHOWN, *IRRELEVANT]),
    other=st.sampled_from([*MUST, *SHOWN]),
)
def test_differences_are_the_same_in_both_directions(path, other):
    a, b = changed(plan(8), *path), changed(plan(8), *other)
    there = {(d.key, repr(d.a), repr(d.b), d.matters) for d in differences(a, b)}
    back = {(d.key, repr(d.b), repr(d.a), d.matters) for d in differences(b, a)}
    assert there == back


def fields_of(kind: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Every value that a model can have; * stands for an arm, a key, a place."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        for name, field in kind.model_fields.items():
            yield from fields_of(field.annotation, (*path, field.alias or name))
        return
    origin, inner = get_origin(kind), get_args(kind)
    models = [t for t in inner if isinstance(t, type) and issubclass(t, BaseModel)]
    if models and origin is tuple:
        yield from fields_of(models[0], (*path, "*"))
    elif models and (origin is types.UnionType or "Union" in str(origin)):
        yield from fields_of(models[0], path)
    else:
        yield path


def test_every_field_of_a_plan_is_classified():
    fields = list(fields_of(Plan, ()))
    assert ("arms", "*", "artifact", "fingerprint") in fields
    assert ("conditions", "hardware", "gpus", "*", "driver") in fields
    assert [f for f in fields if rule_of(f) is None] == []


def test_a_new_field_would_not_be():
    for path in (
        ("new",),
        ("conditions", "new"),
        ("settings", "new"),
        ("prompts", "new"),
    ):
        assert rule_of(path) is None


def test_no_rule_is_about_something_that_is_not_there():
    fields = list(fields_of(Plan, ()))
    inside = {("arms", "*", "artifact", "recipe"), ("arms", "*", "engine")}
    inside |= {("conditions", "runner"), ("conditions", "versions")}

    def exists(rule: tuple[str, ...]) -> bool:
        if rule == ("arms", "candidates"):
            return True
        known = any(f[: len(rule)] == rule for f in fields)
        return known or any(rule[: len(i)] == i for i in inside)

    assert [rule for rule in RULES if not exists(rule)] == []
