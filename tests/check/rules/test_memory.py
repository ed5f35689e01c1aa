"""What check says of memory on a GPU: refusal, warnings, and the plan as a note."""

from dataclasses import replace

import pytest

from tests.check.memory.builders import (
    DRAFT,
    EAGLE3,
    EAGLE3_8B,
    LLAMA_1B,
    LLAMA_8B,
    LLAMA_70B,
    head,
    recipe,
    target,
)
from trtspec.check.rules.memory import gpu_memory, host_cache
from trtspec.check.subject import Subject, key_itself
from trtspec.gpu_kinds import GpuKind, gpu_kind

NO_KIND = GpuKind(
    name="unheard of",
    memory_bytes=1 << 36,
    memory_from="NVML",
    compute_capability=None,
    source="NVML",
)


def asked(gpu, *, name=LLAMA_8B, draft=None, drafter=None, count=1, **changes):
    """Make what the rules look at; ``gpu`` None for a GPU that is not known."""
    return Subject(
        recipe(**changes),
        key_itself,
        target(name) if name else None,
        target(draft) if draft else None,
        drafter=head(drafter)[0] if drafter else None,
        gpus=(gpu_kind(gpu),) * count if gpu else (),
    )


def first(subject):
    return next(iter(gpu_memory(subject)))


def rules(subject):
    return [finding.rule for finding in gpu_memory(subject)]


def test_a_pair_that_fits_has_its_plan_as_a_note():
    (note,) = gpu_memory(asked("h100", draft=LLAMA_1B, speculation=DRAFT))
    assert (note.rule, note.severity) == ("memory-plan", "note")
    assert "H100 SXM" in note.what
    assert "32,768 bytes" in note.what
    assert "reserve assumed" in note.why
    assert note.values["bytes_per_token"] == 131072 + 32768
    assert note.values["gpu"] == "H100 SXM"


@pytest.mark.parametrize(
    ("name", "gpu", "size", "draft"),
    [
        (LLAMA_70B, "h100", 1, None),
        (LLAMA_70B, "l40s", 2, LLAMA_1B),
        (LLAMA_8B, "t4", 1, None),
        (LLAMA_8B, "l4", 1, LLAMA_8B),
    ],
)
def test_weights_that_do_not_fit_are_refused_with_both_numbers(name, gpu, size, draft):
    speculation = DRAFT if draft else {"method": "none"}
    found = first(
        asked(
            gpu,
            name=name,
            draft=draft,
            target={"tensor_parallel": size},
            speculation=speculation,
        )
    )
    assert (found.rule, found.severity, found.where) == (
        "memory", "blocking", "target.model",
    )  # fmt: skip
    assert "do not fit" in found.what
    assert found.values["free_bytes"] <= 0
    assert ("draft model" in found.what) is bool(draft)


def test_a_refusal_names_what_would_be_enough():
    found = first(asked("h100", name=LLAMA_70B))
    assert "tensor_parallel 2 in place of 1" in found.action
    assert found.snippet.startswith("target:\n")


def test_not_one_long_request_is_refused():
    found = first(asked("l4", limits={"max_total_tokens": 131072}))
    assert (found.rule, found.severity) == ("memory", "blocking")
    assert "not one request of 131,072 tokens" in found.what


def test_fewer_than_two_requests_are_no_useful_batch():
    limits = {"max_total_tokens": 24576, "max_input_tokens": 8192}
    found = first(asked("l4", drafter=EAGLE3_8B, speculation=EAGLE3, limits=limits))
    assert (found.rule, found.severity) == ("memory-batch", "warning")
    assert found.where == "limits.max_total_tokens"
    assert 1 <= found.values["requests"] < 2
    assert "without speculation: " in found.why
    fp8, smaller = found.action.splitlines()[1:3]
    assert "FP8 KV cache" in fp8
    assert "smaller head" in smaller
    assert found.snippet == "pytorch:\n  kv_cache: fp8"


def test_a_larger_batch_than_fits_is_told_with_what_fits():
    found = first(asked("l4", limits={"max_batch_size": 64}))
    assert (found.rule, found.severity) == ("memory-limits", "warning")
    fit = int(found.values["requests"])
    assert 1 < fit < 64
    assert f"{fit} requests of that length" in found.what
    assert found.action.splitlines()[1].startswith("  - leave it where most requests")
    assert f"max_batch_size {fit}" in found.action


@pytest.mark.parametrize("cut", [1, 3])
def test_to_cut_a_batch_to_a_fraction_is_not_the_line_to_copy(cut):
    fit = int(first(asked("l4", limits={"max_batch_size": 64})).values["requests"])
    limits = {"max_batch_size": fit + 1 if cut == 1 else fit * cut}
    found = first(asked("l4", limits=limits))
    assert found.rule == "memory-limits"
    line = f"limits:\n  max_batch_size: {fit}"
    assert (found.snippet == line) is (cut == 1)


def test_one_request_where_one_is_wanted_is_no_warning():
    limits = {"max_total_tokens": 24576, "max_batch_size": 1}
    assert rules(asked("l4", limits=limits)) == ["memory-plan"]


def test_the_smallest_gpu_decides():
    mixed = replace(asked("h100"), gpus=(gpu_kind("h100"), gpu_kind("t4")))
    assert first(mixed).values["gpu"] == "T4"


@pytest.mark.parametrize(
    "subject",
    [
        asked(None),
        asked("h100", name=None),
        asked("h100", backend="reference"),
    ],
    ids=["no gpu", "no target", "reference"],
)
def test_what_is_not_known_is_not_planned(subject):
    assert rules(subject) == []


def test_a_drafter_whose_cache_is_not_told_is_said_so():
    known = asked("h100", drafter=EAGLE3_8B, speculation=EAGLE3)
    lost = replace(known.drafter, directory=known.drafter.directory / "gone")
    note = first(replace(known, drafter=lost))
    assert "does not tell its cache" in note.why


def test_a_gpu_without_a_capability_has_a_plan():
    unknown = replace(asked(None), gpus=(NO_KIND,))
    assert rules(unknown) == ["memory-plan"]


@pytest.mark.parametrize(
    ("draft", "config", "told"),
    [
        (LLAMA_1B, {"host_cache_size": 1 << 30}, True),
        (LLAMA_1B, {"host_cache_size": 0}, False),
        (LLAMA_1B, "none", False),
        (None, {"host_cache_size": 1 << 30}, False),
    ],
)
def test_host_memory_may_be_pinned_for_the_draft_too(draft, config, told):
    speculation = DRAFT if draft else {"method": "none"}
    options = {"llm_args": {"kv_cache_config": config}}
    subject = asked("h100", draft=draft, speculation=speculation, pytorch=options)
    assert [f.rule for f in host_cache(subject)] == ["memory-host"] * told


def test_a_model_without_attention_is_held_by_its_weights_alone():
    known = asked("h100")
    bare = replace(known.target, heads=0, kv_heads=0, head_size=0)
    assert rules(replace(known, target=bare)) == ["memory-plan"]
    assert rules(replace(asked("t4"), target=bare)) == ["memory", "memory-plan"]
