"""How a server that has just come up is looked at before it is ready."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from trtspec.bench.http.address import Address, Api
from trtspec.bench.http.probe import Server
from trtspec.build.artifact import Artifact
from trtspec.errors import VerificationError
from trtspec.recipe import load_prompts
from trtspec.verify.arm import Question
from trtspec.verify.arms.http import HttpArm
from trtspec.verify.canary import CanaryResult, run_canary
from trtspec.verify.canary.http import HttpTalker
from trtspec.verify.canary.record import CheckName

TOKENS = 24
_PROMPTS = 3
_BURST = 8
_OWN_PROMPTS = (
    "Name three rivers and the seas they end in.",
    "Write a short poem about the autumn wind.",
    "List the numbers from one to ten in words.",
    "Explain in two sentences why the sky is blue.",
)
"""What is asked if the recipe has no workload."""


@dataclass(frozen=True, slots=True)
class Looked:
    """Which server is looked at.

    :param authorization: of a header that lets the canary in.
    :param chat: whether the model has a chat template.
    """

    url: str
    model: str
    authorization: str
    chat: bool


def look_at_server(
    artifact: Artifact, looked: Looked, known: Collection[CheckName] = ()
) -> CanaryResult:
    """Send a few prompts, under a minute.

    :param known: checks that this kind of server is known to fail.
    :raises RunError: if a request fails.
    :raises VerificationError: if a check fails; what cannot be told is no failure.
    """
    api: Api = "chat" if looked.chat else "completions"
    server = Server(Address(looked.url, looked.authorization), looked.model, api)
    recipe = artifact.recipe
    limits = recipe.limits
    room = limits.max_total_tokens - limits.max_input_tokens
    result = run_canary(
        HttpArm("canary", server),
        _questions(artifact, min(TOKENS, room)),
        talker=HttpTalker(server),
        burst=min(limits.max_batch_size, _BURST),
    )
    failed = [c for c in result.checks if c.verdict == "fail" and c.name not in known]
    if failed:
        raise VerificationError(
            f"the canary failed: {'; '.join(f'{c.name}: {c.what}' for c in failed)}",
            action="look into it with trtspec verify; --no-canary serves all the same",
        )
    return result


def canary_words(result: CanaryResult) -> list[str]:
    """Say what the canary saw, a line for what matters to a reader."""
    seen = [f"{c.name}: {c.what}" for c in result.checks if c.verdict != "pass"]
    passed = sum(c.verdict == "pass" for c in result.checks)
    first = f"canary: {passed} of {len(result.checks)} checks passed"
    return [f"{first} in {result.seconds:.1f} s", *(f"canary: {s}" for s in seen)]


def _questions(artifact: Artifact, tokens: int) -> Sequence[Question]:
    asked: list[tuple[dict[str, str], ...]]
    if artifact.workload is None:
        asked = [({"role": "user", "content": text},) for text in _OWN_PROMPTS]
    else:
        prompts = load_prompts(artifact.workload, "workload")[:_PROMPTS]
        asked = [tuple(dict(m) for m in p.messages) for p in prompts]
    return [
        Question(f"canary-{i}", messages[-1]["content"], tokens, messages=messages)
        for i, messages in enumerate(asked)
    ]
