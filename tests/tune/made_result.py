"""Tunings made by hand: what a document says, without any model."""

from __future__ import annotations

from trtspec.bench.conditions import Conditions, Hardware
from trtspec.bench.result import PromptSet
from trtspec.tune.bill import Bill, Item
from trtspec.tune.result import (
    BreakEvenBatch,
    CandidateResult,
    Confirmation,
    Disagreement,
    LoadChoice,
    Measurement,
    Shown,
    TuneResult,
)

BATCHES = (1, 4, 8)
TOKENS = (1.0, 1.6, 2.0, 2.2, 2.3)
"""Per step, by draft length from 0 to 4."""
DEARER = {1: 0.05, 4: 0.12, 8: 0.8}
"""What a draft token adds to a step, by batch size; a plain step is 1."""


def surface(dearer=DEARER, tokens=TOKENS, *, sure=True):
    """By batch size a row of points; a plain step takes 20 ms."""
    found = {}
    for batch, each in dearer.items():
        found[batch] = tuple(
            Shown(
                length=length,
                tokens_per_step=many,
                step_seconds=0.02 * (1 + each * length),
                throughput=batch * many / (0.02 * (1 + each * length)),
                tpot=0.02 * (1 + each * length) / many,
                gain=(gain := many / (1 + each * length)),
                interval=(gain * 0.9, gain * 1.1) if sure else None,
            )
            for length, many in enumerate(tokens)
        )
    return found


def load(concurrency=1, length=3, gain=1.9, **changes) -> LoadChoice:
    fields = {
        "concurrency": concurrency,
        "length": length,
        "plain": 50.0 * concurrency,
        "predicted": 50.0 * concurrency * (gain if length else 1),
        "of_length": length or 1,
        "gain": gain,
        "interval": (gain * 0.9, gain * 1.1),
        "tpot": 0.012 * concurrency,
        "acceptance_length": 2.2,
        **changes,
    }
    return LoadChoice(**fields)


def measured(gain=1.8, word="faster", **changes) -> Measurement:
    fields = {
        "gain": gain,
        "interval": (gain * 0.95, gain * 1.05),
        "word": word,
        "acceptance_length": 2.21,
        **changes,
    }
    return Measurement(**fields)


LOADS = (load(1), load(4, 2, 1.6), load(8, 0, 0.88))


def candidate(name="ngram", **changes) -> CandidateResult:
    fields = {
        "name": name,
        "recipe": f"toy-{name}",
        "fingerprint": "f" * 64,
        "speculation": {"method": name, "draft_length": 4},
        "cut_anywhere": True,
        "draft_length": {1: 3, 4: 2},
        "surface": surface(),
        "loads": LOADS,
        "break_even": BreakEvenBatch(batch=6.2, low=5.1, high=7.4),
        **changes,
    }
    return CandidateResult(**fields)


def no_drafts(name="ngram", **changes) -> CandidateResult:
    """Where drafting pays nowhere; the best length is 1."""
    return candidate(
        name,
        draft_length=None,
        surface=surface(dict.fromkeys(BATCHES, 1.0)),
        loads=(load(1, 0, 0.8), load(4, 0, 0.7)),
        break_even=BreakEvenBatch(batch=1.0, low=1.0, high=1.0),
        **changes,
    )


def item(part="traces", **changes) -> Item:
    fields = {
        "part": part,
        "engine_starts": 1,
        "steps": 120,
        "model_seconds": 6.0,
        "seconds": 7.5,
        **changes,
    }
    return Item(**fields)


BILL = Bill(
    items=(item(), item("costs", steps=90, model_seconds=4.0)),
    sweep=item("sweep", steps=2400, model_seconds=125.0),
    swept=False,
)
EXHAUSTIVE = Confirmation(
    run="confirmation",
    exhaustive=True,
    changed=("at 8 running: plain decoding in place of the predicted choice",),
    disagreements=(
        Disagreement(
            concurrency=4,
            arm="tuned",
            predicted=1.6,
            measured=measured(1.3),
        ),
    ),
    regret={1: 0.0, 4: 0.013},
)


def conditions(**changes) -> Conditions:
    fields = {
        "cpu": "AMD EPYC 9354",
        "physical_cores": 32,
        "logical_cores": 64,
        "usable_cores": 16,
        "cpu_quota": None,
        "memory_bytes": 128 << 30,
        "available_bytes": 100 << 30,
        "load_average": (0.1, 0.1, 0.1),
        "busy_cores": 0.0,
        "gpus": (),
        "no_gpus_because": "no NVIDIA driver",
        **changes,
    }
    return Conditions(
        hardware=Hardware(**fields),
        system="Linux",
        python="3.12.1",
        versions={"trtspec": "0.1.0", "torch": "2.13.0", "tensorrt_llm": None},
        environment={"OMP_NUM_THREADS": "2"},
        runner={"device": "cpu", "threads": 2, "dtype": "float32"},
    )


def result(*candidates: CandidateResult, **changes) -> TuneResult:
    fields = {
        "name": "20261130T164300Z-toy",
        "started": "2026-11-30T16:43:00.000+00:00",
        "command": ("toy.yaml", "--concurrency", "1,4,8"),
        "costs": "measured",
        "hardware": "AMD EPYC 9354",
        "output_tokens": 48,
        "prompts": PromptSet(
            file="code.jsonl", sha256="a" * 64, count=12, rendered_sha256="b" * 64
        ),
        "conditions": conditions(),
        "candidates": candidates or (candidate(),),
        "bill": BILL,
        **changes,
    }
    return TuneResult(**fields)


def confirmed(confirmation=EXHAUSTIVE, **changes) -> TuneResult:
    """Give a tuning whose choice was measured."""
    loads = (
        load(1, measured=measured(1.85)),
        load(4, 2, 1.6, measured=measured(1.3)),
        load(8, 0, 0.88, measured=measured(0.8, "slower")),
    )
    bill = BILL.model_copy(
        update={
            "items": (*BILL.items, item("sweep", model_seconds=600.0)),
            "swept": confirmation.exhaustive,
        }
    )
    fields = {"confirmation": confirmation, "bill": bill, **changes}
    return result(candidate(loads=loads), **fields)
