"""Runs that nobody measured: seeded, realistic, written as trtspec bench does."""

from __future__ import annotations

import heapq
import math
import random
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from trtspec.bench.arms import ArmInfo, Endpoint, Subject
from trtspec.bench.conditions import Conditions, Hardware
from trtspec.bench.records import Block, Failure, Load, Resources, Sample, StepTimes
from trtspec.bench.result import Plan, PromptSet, Settings
from trtspec.bench.rundir import RunDirectory
from trtspec.gpus import Gpu
from trtspec.run import DraftStep

CATEGORIES = {"chat": 0.5, "code": 0.78, "summary": 0.66}
LOADS = (Load(concurrency=1), Load(concurrency=4), Load(concurrency=16))
OUTPUT = 48


@dataclass(frozen=True)
class Drafting:
    """How an arm drafts.

    :param skill: added to the acceptance rate of a category.
    :param cost: seconds per draft token.
    :param single_steps: whether the engine tells its steps.
    """

    length: int = 0
    skill: float = 0.0
    cost: float = 0.0
    lossy: str = ""
    changes: int = 0
    single_steps: bool = True


@dataclass(frozen=True)
class Made:
    """What is made; the defaults are a full run with two candidates."""

    name: str = "llama-3.2-1b-ngram-and-1-more"
    arms: dict[str, Drafting] = field(
        default_factory=lambda: {
            "ngram": Drafting(4, -0.06, 0.00005),
            "eagle3": Drafting(5, 0.02, 0.0011),
        }
    )
    loads: tuple[Load, ...] = LOADS
    prompts: int = 24
    repeats: int = 4
    control: bool = True
    baseline: bool = True
    stop_after: int | None = None
    fail: Load | None = None
    failure: str = "HTTP 503: the server is overloaded"
    goodput: dict[str, float] = field(default_factory=dict)
    gpu: bool = False
    server: bool = False
    prompt_id: str = "{category}-{index:02d}"
    categories: tuple[str, ...] = tuple(CATEGORIES)
    command: tuple[str, ...] = (
        *("recipes/llama/ngram.yaml", "recipes/llama/eagle3.yaml"),
        *("--concurrency", "1,4,16", "--repeats", "4"),
    )
    temperature: float = 0.0
    cpu: str = "AMD EPYC 9354"
    seed: int = 7
    noise: float = 0.03


def make_run(path: Path, made: Made | None = None) -> Path:
    """Write a run; gives its directory."""
    made = made or Made()
    plan = plan_of(made)
    directory = RunDirectory.create(path, plan)
    chance = random.Random(made.seed)
    order = 0
    for load in made.loads:
        for number in range(1, made.repeats + 1):
            for arm in plan.arms:
                if made.stop_after is not None and order >= made.stop_after:
                    directory.finish(partial=True)
                    return path
                if load == made.fail and number == 2 and arm.role == "candidate":
                    directory.add_failures(_failures(made, arm.name, load))
                    break
                block, samples = _block(
                    made, arm, load, number=number, order=order, chance=chance
                )
                directory.add_block(block, samples)
                order += 1
            if directory.failed(load.key):
                break
    directory.finish(partial=False)
    return path


def _failures(made, arm, load):
    return [
        Failure(
            arm=arm,
            block=2,
            load=load.key,
            prompt_id=_prompt_id(made, index),
            what=made.failure,
        )
        for index in range(7)
    ]


def plan_of(made: Made) -> Plan:
    """Give the plan of a run."""
    arms = [_arm(made, "off", "baseline")] if made.baseline else []
    if made.control and made.baseline:
        arms.append(_arm(made, "off again", "control"))
    arms += [_arm(made, name, "candidate") for name in made.arms]
    return Plan(
        name=made.name,
        started="2026-11-30T12:44:06+00:00",
        command=made.command,
        arms=tuple(arms),
        prompts=PromptSet(
            file="mixed.jsonl",
            sha256="4159058805dab920" * 4,
            count=made.prompts,
            rendered_sha256=None if made.server else "75eb4e8ee8d78cae" * 4,
        ),
        settings=Settings(
            loads=made.loads,
            repeats=made.repeats,
            control=made.control,
            output_tokens=OUTPUT,
            temperature=made.temperature,
            top_k=0,
            top_p=1.0,
            seed=0,
            goodput=made.goodput,
        ),
        conditions=_conditions(made),
    )


def _arm(made, name, role):
    drafting = made.arms.get(name, Drafting())
    method = {"method": "none"}
    if role == "candidate":
        method = {"method": name, "draft_length": drafting.length}
    subject = Subject(
        name=f"llama-{name if role == 'candidate' else 'none'}",
        fingerprint=sha256(f"{made.seed}{name}".encode()).hexdigest(),
        recipe={"schema": "trtspec/v1", "name": f"llama-{name}", "speculation": method},
    )
    endpoint = Endpoint(
        url=f"http://user:hunter2@{name.split()[0]}.local:8000",
        model="llama",
        api="chat",
    )
    return ArmInfo(
        name=name,
        role=role,
        artifact=None if made.server else subject,
        endpoint=endpoint if made.server else None,
        speculation=method,
        engine={"backend": "reference", "dtype": "bfloat16", "threads": 16},
    )


def _conditions(made):
    gpu = Gpu(
        name="NVIDIA H200",
        memory_bytes=150_754_820_096,
        driver="580.95.05",
        compute_capability="9.0",
        sm_clock_mhz=1980,
        power_limit_watts=700.0,
    )
    return Conditions(
        hardware=Hardware(
            cpu=made.cpu,
            physical_cores=32,
            logical_cores=64,
            usable_cores=16,
            cpu_quota="max 100000",
            memory_bytes=128 << 30,
            available_bytes=101 << 30,
            load_average=(0.3, 0.2, 0.1),
            busy_cores=0.03,
            gpus=(gpu,) if made.gpu else (),
            no_gpus_because=None if made.gpu else "no NVIDIA driver",
        ),
        system="Linux-6.12.0-x86_64-with-glibc2.41",
        python="3.12.1",
        versions={"trtspec": "0.1.0", "torch": "2.13.0", "tensorrt_llm": None},
        environment={"OMP_NUM_THREADS": "16"},
        runner={"backend": "reference", "device": "cpu", "dtype": "bfloat16"},
    )


def _indices(made, load):
    """Give the prompts of a load: all, or those of its category."""
    return [
        index
        for index in range(made.prompts)
        if load.category in ("", made.categories[index % len(made.categories)])
    ]


def _prompt_id(made, index):
    category = made.categories[index % len(made.categories)]
    return made.prompt_id.format(category=category, index=index)


def _block(made, arm, load, *, number, order, chance):
    pace = math.exp(chance.gauss(0, made.noise))
    free = [0.0] * (load.concurrency or 10_000)
    due, samples = 0.0, []
    for index in _indices(made, load):
        begin = heapq.heappop(free)
        if load.rate:
            due += chance.expovariate(load.rate)
            begin = due
        sample = _sample(
            made, arm.name, load, number=number, index=index, begin=begin, pace=pace
        )
        heapq.heappush(free, begin + sample.e2e)
        samples.append(sample)
    wall = max(s.submitted + s.e2e for s in samples)
    block = _summed(made, arm, load, samples, number=number, order=order, wall=wall)
    return block, samples


def _sample(made, arm, load, *, number, index, begin, pace):
    """Make one request; its drafting is the same in every block, its times are not."""
    drafting = made.arms.get(arm, Drafting())
    category = made.categories[index % len(made.categories)]
    fixed = random.Random(f"{made.seed} {arm} {index}")
    noisy = random.Random(f"{made.seed} {arm} {load.key} {number} {index}")
    prompt_tokens = 40 + 37 * index
    wanted = OUTPUT - index % 5
    batch = load.concurrency or 4
    now = (0.02 + 0.00009 * prompt_tokens) * (1 + 0.2 * (batch - 1)) * pace
    now *= math.exp(noisy.gauss(0, 0.12))
    chunks, steps, emitted = [(now, 1)], [], 1
    rate = CATEGORIES.get(category, 0.6) + drafting.skill
    while emitted < wanted:
        depth = min(drafting.length, wanted - emitted - 1)
        accepted = 0
        while accepted < depth and fixed.random() < rate:
            accepted += 1
        now += _step(drafting, depth, batch) * pace * math.exp(noisy.gauss(0, 0.08))
        emitted += accepted + 1
        chunks.append((now, accepted + 1))
        steps.append(DraftStep(depth, depth, accepted))
    tokens = [(index * 101 + k * 7) % 5000 for k in range(wanted)]
    if arm in made.arms and index < drafting.changes:
        tokens[9] += 1
    return Sample(
        arm=arm,
        block=number,
        load=load.key,
        prompt_id=_prompt_id(made, index),
        category=category,
        prompt_tokens=prompt_tokens,
        output_tokens=wanted,
        late=0.0004 * noisy.random() if load.rate else 0.0,
        submitted=begin,
        ttft=chunks[0][0],
        tpot=(now - chunks[0][0]) / (wanted - 1),
        e2e=now,
        chunks=tuple(chunks),
        steps=len(steps),
        drafted=sum(s.drafted for s in steps),
        accepted=sum(s.accepted for s in steps),
        draft_steps=tuple(steps) if drafting.single_steps else None,
        finish_reason="length",
        output_sha256=sha256(repr(tokens).encode()).hexdigest(),
        tokens=tuple(tokens) if number == 1 else None,
        lossy=drafting.lossy,
    )


def _step(drafting, depth, batch):
    """Seconds of a step: more tokens to verify cost more, the larger the batch."""
    return 0.0125 * (1 + 0.045 * batch + 0.04 * depth * batch) + depth * drafting.cost


def _summed(made, arm, load, samples, *, number, order, wall):
    drafting = made.arms.get(arm.name, Drafting())
    batch = load.concurrency or 4
    steps = sum(s.steps for s in samples)
    depth = drafting.length
    whole = sum(s.e2e - s.ttft for s in samples)
    drafted = sum(s.drafted for s in samples)
    shared = max(steps // batch, 1)
    decode = StepTimes(
        steps=shared,
        seconds=whole / batch,
        draft_seconds=drafted * drafting.cost / batch,
        forward_seconds=whole / batch * 0.93 - drafted * drafting.cost / batch,
        drafted=drafted,
        accepted=sum(s.accepted for s in samples),
        emitted=sum(s.output_tokens - 1 for s in samples),
    )
    gpu = (
        {
            "gpu_memory_bytes": (21_400_000_000,),
            "gpu_energy_joules": (wall * 410.0,),
            "gpu_clock_mhz": ((1755 + depth, 1980),),
            "gpu_throttled": (("sw power cap",) if depth else (),),
        }
        if made.gpu
        else {}
    )
    return Block(
        arm=arm.name,
        block=number,
        load=load.key,
        order=order,
        started="2026-11-30T12:44:06.991+00:00",
        wall_seconds=wall,
        requests=len(samples),
        prompt_tokens=sum(s.prompt_tokens for s in samples),
        output_tokens=sum(s.output_tokens for s in samples),
        prefill=None if made.server else StepTimes(steps=len(samples), seconds=1.0),
        decode=None if made.server else decode,
        resources=Resources(
            cpu_seconds=wall * 15.1, memory_bytes=(5 << 30) + depth * 1_000_000, **gpu
        ),
    )
