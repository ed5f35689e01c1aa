"""From ``trtspec bench --url`` to arms: servers that run already, and what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from trtspec.bench.arms import CONTROL, OFF, Arm, ArmInfo, Endpoint, control_of
from trtspec.bench.conditions import record_conditions
from trtspec.bench.conversations import with_history
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.http.address import Address, read_address
from trtspec.bench.http.driver import OverHttp
from trtspec.bench.http.probe import look_at
from trtspec.bench.plan import Choices, prompt_set, read_prompts, server_settings
from trtspec.bench.records import Load
from trtspec.bench.result import Plan
from trtspec.bench.rundir import now
from trtspec.errors import Problem, UsageError
from trtspec.recipe.workload import Prompt

OPTION = "--url"
_FOR_ENGINES = {
    "draft_lengths": "--draft-length",
    "device": "--device",
    "threads": "--threads",
}
"""Options that a server was given when it was started."""
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@contextmanager
def open_servers(
    asked: Mapping[str, Any], choices: Choices
) -> Iterator[tuple[list[Arm], Plan]]:
    """Look at every server, and plan what is sent to them.

    :param asked: the command's parameters, by name.
    :raises UsageError: for what can be seen to be wrong in the arguments.
    :raises RunError: if a server does not answer.
    """
    addresses = _addresses(asked)
    file, prompts = _prompts(choices)
    categories = [prompt.category for prompt in prompts]
    settings = server_settings(choices, categories)
    _require_concurrency(settings.loads, categories)
    servers = {
        name: look_at(address, asked["model"], asked["api"])
        for name, address in addresses.items()
    }
    drivers = {
        name: OverHttp(found, off=name == OFF) for name, found in servers.items()
    }
    if len(drivers) == 1 and (only := next(iter(drivers.values()))).server.switchable:
        drivers = {OFF: only, **drivers}  # a server of ours is both arms
    first = drivers.get(OFF) or next(iter(drivers.values()))
    whole = with_history(prompts, first, _unrendered, settings.output_tokens)
    sent = _unrendered(whole)
    arms = _arms(drivers, sent, control=choices.control)
    plan = Plan(
        name=_run_name(arms[-1].info),
        started=now(),
        arms=tuple(arm.info for arm in arms),
        prompts=prompt_set(file, whole, sent, choices.turns),
        settings=settings.model_copy(update={"control": len(arms) > len(drivers)}),
        conditions=record_conditions(arms[0].driver.conditions()),
    )
    yield arms, plan


def _addresses(asked: Mapping[str, Any]) -> dict[str, Address]:
    """Read the addresses by arm, and refuse what no server can be asked for.

    :raises UsageError: listing all of it.
    """
    problems = [
        Problem(
            f"{option} beside {OPTION}: a server drafts and runs as it was started",
            option,
            action="leave it out, or start the server so and give it an address of "
            "its own",
        )
        for name, option in _FOR_ENGINES.items()
        if asked[name]
    ]
    found = {name: read_address(text) for name, text in asked["addresses"].items()}
    if list(found) == [OFF]:
        problems.append(
            Problem(
                "off alone has nothing to be compared with",
                OPTION,
                "off=URL and another, or one URL without a name",
            )
        )
    if CONTROL in found:
        problems.append(Problem(f"the name {CONTROL!r} is that of the control", OPTION))
    if len({address.url for address in found.values()}) < len(found):
        problems.append(
            Problem(
                "one address is named twice: a server cannot be compared with itself",
                OPTION,
                "a server of its own for each arm",
                "leave one out: off is run twice a round anyway",
            )
        )
    if problems:
        raise UsageError.from_problems(problems)
    return found


def _prompts(choices: Choices) -> Any:
    if choices.prompts is None:
        raise UsageError(
            "a server has no prompts of its own",
            where=OPTION,
            action="name a JSONL file of prompts with --prompts",
        )
    return read_prompts(None, choices)


def _require_concurrency(loads: Sequence[Load], categories: Sequence[str]) -> None:
    """Refuse a concurrency that the prompts are too few for.

    :raises UsageError: listing every such concurrency.
    """
    problems = []
    for load in loads:
        prompts = sum(load.category in ("", category) for category in categories)
        if load.concurrency is not None and load.concurrency > prompts:
            problems.append(
                Problem(
                    f"{load.concurrency} requests cannot be kept in flight",
                    "--concurrency",
                    f"1 to {prompts}: there are {prompts} prompts"
                    + (f" of category {load.category}" if load.category else ""),
                    "choose another, or use more prompts",
                )
            )
    if problems:
        raise UsageError.from_problems(problems)


def _unrendered(prompts: Sequence[Prompt]) -> tuple[BenchPrompt, ...]:
    """Give prompts as they are sent: only the server knows their tokens."""
    return tuple(BenchPrompt(p.id, p.category, tuple(p.messages)) for p in prompts)


def _arms(
    drivers: Mapping[str, OverHttp], prompts: tuple[BenchPrompt, ...], *, control: bool
) -> list[Arm]:
    """Give the off arm and its control, if there is one, and every candidate."""
    arms = []
    if off := drivers.get(OFF):
        baseline = _arm(OFF, off, prompts)
        arms = [baseline, *([control_of(baseline)] if control else [])]
    candidates = {name: driver for name, driver in drivers.items() if name != OFF}
    return arms + [_arm(name, driver, prompts) for name, driver in candidates.items()]


def _arm(name: str, driver: OverHttp, prompts: tuple[BenchPrompt, ...]) -> Arm:
    """Make an arm; whether its server drafts is what the user says, not verified."""
    off, server = name == OFF, driver.server
    info = ArmInfo(
        name=name,
        role="baseline" if off else "candidate",
        endpoint=Endpoint(url=server.address.url, model=server.model, api=server.api),
        speculation={"method": "none" if off else server.method},
        engine=driver.conditions(),
    )
    return Arm(info, driver, prompts, speculate=not off)


def _run_name(info: ArmInfo) -> str:
    """Name the run by the model, in letters that a directory may have."""
    model = info.endpoint.model if info.endpoint else ""
    last = model.rstrip("/").rpartition("/")[2]
    return _NOT_IN_A_NAME.sub("-", last).strip("-.") or "server"
