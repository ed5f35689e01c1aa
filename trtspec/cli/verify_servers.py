"""From ``trtspec verify --url`` to what it looks at: servers that run already."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from trtspec.bench.arms import OFF, ON, ArmInfo, Endpoint
from trtspec.bench.conditions import record_conditions
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.http.address import Address, read_address
from trtspec.bench.http.driver import OverHttp
from trtspec.bench.http.probe import Server, look_at
from trtspec.bench.plan import Choices, prompt_set, read_prompts
from trtspec.cli.verify_oracle import Ids, Judged, other_model
from trtspec.cli.verify_subject import (
    PROMPTS,
    QUICK_PROMPTS,
    QUICK_TOKENS,
    SAMPLED_TOKENS,
    TOKENS,
    Subject,
)
from trtspec.errors import Problem, UsageError
from trtspec.recipe.workload import Prompt
from trtspec.verify.arm import Question
from trtspec.verify.arms.http import HttpArm
from trtspec.verify.canary.http import HttpTalker
from trtspec.verify.greedy.tolerance import Dtype

_OPTION = "--url"
_FOR_ENGINES = {
    "threads": "--threads",
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
    on = next(name for name in servers if name != OFF)
    arms = _arms(servers, on)
    dtype: Dtype = asked["dtype"] or "bfloat16"
    ids = _ids_for(asked)
    yield Subject(
        name=servers[on].model,
        off=arms.get(OFF),
        on=arms[on],
        arms=tuple(_info(name, arm) for name, arm in arms.items()),
        questions=tuple(_question(prompt, tokens, api, ids) for prompt in prompts),
        prompts=prompt_set(file, prompts, sent),
        conditions=record_conditions(OverHttp(servers[on]).conditions()),
        dtype=dtype,
        dtype_from="by --dtype" if asked["dtype"] else "assumed: no server tells it",
        most_at_once=_MOST_AT_ONCE,
        talker=HttpTalker(servers[on]),
        oracle=_oracle(asked, dtype),
        why_no_oracle="name the target's checkpoint with --oracle-model to have its "
        "tokens judged by the reference engine",
        longest=_longest(servers[on]),
        continues=api == "completions",
        server=servers[on],
        pid=asked["pid"],
    )


def _arms(servers: Mapping[str, Server], on: str) -> dict[str, HttpArm]:
    """Make the arms, off first: a server of ours is both, if none is named off."""
    arms = {
        name: HttpArm(
            name,
            one,
            off=name == OFF,
            speculate=not (name == OFF and one.switchable),
        )
        for name, one in servers.items()
    }
    if OFF not in arms and servers[on].switchable:
        arms[OFF] = HttpArm(OFF, servers[on], speculate=False)
    return dict(sorted(arms.items(), key=lambda item: item[0] != OFF))


def _longest(server: Server) -> int | None:
    """Give the longest text that leaves room for a few tokens, where it is told."""
    most = server.described.get("max_model_len")
    return most - SAMPLED_TOKENS if isinstance(most, int) else None


def _oracle(asked: Mapping[str, Any], dtype: Dtype) -> Callable[[], Judged] | None:
    if asked["oracle_model"] is None:
        return None
    return partial(other_model, asked["oracle_model"], dtype, asked["device"] or "cpu")


def _ids_for(asked: Mapping[str, Any]) -> Callable[[str], Ids] | None:
    """Say how a prompt becomes token ids, where completions are to be judged.

    What is sent must be what is judged; a chat's prompt only the server puts together.
    """
    if asked["oracle_model"] is None or asked["api"] != "completions":
        return None
    from trtspec.run.tokens import TextCodec

    return TextCodec(asked["oracle_model"]).encode


def _question(
    prompt: Prompt, tokens: int, api: str, ids: Callable[[str], Ids] | None
) -> Question:
    """Put a prompt as the server takes it: a conversation, or its texts alone."""
    text = "\n\n".join(message["content"] for message in prompt.messages)
    if ids is not None:
        return Question(prompt.id, ids(text), tokens)
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
                f"{OFF}=URL and {ON}=URL; one URL alone for --canary and --soak, and "
                "for a server of trtspec, which is both",
            )
        )
    if len({address.url for address in found.values()}) < len(found):
        problems.append(Problem("one address is named twice", _OPTION))
    if problems:
        raise UsageError.from_problems(problems)
    return dict(sorted(found.items(), key=lambda item: item[0] != OFF))


def _info(name: str, arm: HttpArm) -> ArmInfo:
    """Describe an arm; whether a server drafts is what it says, or else the user."""
    off, server = name == OFF, arm.server
    return ArmInfo(
        name=name,
        role="baseline" if off else "candidate",
        endpoint=Endpoint(url=server.address.url, model=server.model, api=server.api),
        speculation={"method": "none" if off else server.method},
        engine=OverHttp(server).conditions(),
    )
