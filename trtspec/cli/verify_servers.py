"""From ``trtspec verify --url`` to what it looks at: servers that run already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from trtspec.bench.arms import OFF, ON, ArmInfo, Endpoint
from trtspec.bench.conditions import record_conditions
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.http.address import Address, read_address
from trtspec.bench.http.driver import OverHttp
from trtspec.bench.http.probe import Server, look_at
from trtspec.bench.plan import Choices, prompt_set, read_prompts
from trtspec.cli.verify_subject import (
    PROMPTS,
    QUICK_PROMPTS,
    QUICK_TOKENS,
    TOKENS,
    Subject,
)
from trtspec.errors import Problem, UsageError
from trtspec.recipe.workload import Prompt
from trtspec.verify.arm import Question
from trtspec.verify.arms.http import HttpArm
from trtspec.verify.canary.http import HttpTalker

_OPTION = "--url"
_FOR_ENGINES = {
    "device": "--device",
    "threads": "--threads",
    "oracle_model": "--oracle-model",
}
_MOST_AT_ONCE = 64
"""Requests at once up to which nothing is refused; servers queue what they must."""


@contextmanager
def open_servers(asked: Mapping[str, Any]) -> Iterator[Subject]:
    """Look at the servers, and make questions of the prompts.

    :raises UsageError: for what can be seen to be wrong in the arguments.
    :raises RunError: if a server does not answer.
    """
    addresses = _addresses(asked)
    quick, api = asked["quick"], asked["api"]
    choices = Choices(
        prompts=asked["prompts"],
        limit=asked["limit"] or (QUICK_PROMPTS if quick else PROMPTS),
    )
    if choices.prompts is None:
        raise UsageError(
            "a server has no prompts of its own",
            where=_OPTION,
            action="name a JSONL file of prompts with --prompts",
        )
    file, prompts = read_prompts(None, choices)
    sent = [BenchPrompt(p.id, p.category, tuple(p.messages)) for p in prompts]
    servers = {n: look_at(a, asked["model"], api) for n, a in addresses.items()}
    tokens = asked["output_tokens"] or (QUICK_TOKENS if quick else TOKENS)
    arms = {n: HttpArm(n, s, off=n == OFF) for n, s in servers.items()}
    on = next(name for name in arms if name != OFF)
    yield Subject(
        name=servers[on].model,
        off=arms.get(OFF),
        on=arms[on],
        arms=tuple(_info(name, server) for name, server in servers.items()),
        questions=tuple(_question(prompt, tokens, api) for prompt in prompts),
        prompts=prompt_set(file, prompts, sent),
        conditions=record_conditions(OverHttp(servers[on]).conditions()),
        dtype=asked["dtype"] or "bfloat16",
        dtype_from="by --dtype" if asked["dtype"] else "assumed: no server tells it",
        most_at_once=_MOST_AT_ONCE,
        talker=HttpTalker(servers[on]),
        why_no_oracle="a server's prompts are not known as token ids",
    )


def _question(prompt: Prompt, tokens: int, api: str) -> Question:
    """Put a prompt as the server takes it: a conversation, or its texts alone."""
    text = "\n\n".join(message["content"] for message in prompt.messages)
    single = len(prompt.messages) == 1 and prompt.messages[0]["role"] == "user"
    messages = () if api == "completions" or single else tuple(prompt.messages)
    return Question(prompt.id, text, tokens, messages=messages)


def _addresses(asked: Mapping[str, Any]) -> dict[str, Address]:
    """Read the addresses, off first.

    :raises UsageError: listing all that is wrong.
    """
    problems = [
        Problem(f"{option} beside {_OPTION}: a server runs as it was started", option)
        for name, option in _FOR_ENGINES.items()
        if asked[name]
    ]
    found = {name: read_address(text) for name, text in asked["addresses"].items()}
    others = [name for name in found if name != OFF]
    if len(others) != 1:
        problems.append(
            Problem(
                f"{len(others)} servers to compare with off",
                _OPTION,
                f"{OFF}=URL and {ON}=URL; one URL alone for --canary and --soak",
            )
        )
    if len({address.url for address in found.values()}) < len(found):
        problems.append(Problem("one address is named twice", _OPTION))
    if problems:
        raise UsageError.from_problems(problems)
    return dict(sorted(found.items(), key=lambda item: item[0] != OFF))


def _info(name: str, server: Server) -> ArmInfo:
    """Describe an arm; whether its server drafts is what the user says."""
    off = name == OFF
    return ArmInfo(
        name=name,
        role="baseline" if off else "candidate",
        endpoint=Endpoint(url=server.address.url, model=server.model, api=server.api),
        speculation={"method": "none" if off else "unknown"},
        engine=OverHttp(server).conditions(),
    )
