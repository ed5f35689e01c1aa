"""How to measure the same again: the command, and what it must find there."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from trtspec.report.document import Block, Code, Facts, Section, Text
from trtspec.report.secrets import without_secrets
from trtspec.report.view import RunView


def reproduce_section(view: RunView) -> Section:
    """Give the command line, and the hashes that say whether it is the same again."""
    blocks: list[Block] = []
    if view.plan.command:
        words = shlex.join(("trtspec", "bench", *view.plan.command))
        blocks.append(Code(without_secrets(words)))
    else:
        blocks.append(Text("The run was not begun from the command line."))
    blocks.append(Facts(tuple(_facts(view))))
    return Section("How to reproduce", tuple(blocks))


def _facts(view: RunView) -> Iterator[tuple[str, str]]:
    plan = view.plan
    yield "run", view.run.path.resolve().name
    yield "measured", f"{plan.started} to {view.result.finished}"
    version = plan.conditions.versions.get("trtspec")
    yield "trtspec", version or "version not recorded"
    artifacts = {
        arm.artifact.fingerprint: arm.artifact.name for arm in plan.arms if arm.artifact
    }
    for fingerprint, name in artifacts.items():
        yield f"artifact {name}", fingerprint
    for arm in plan.arms:
        if arm.endpoint and arm.role != "control":
            where = without_secrets(arm.endpoint.url)
            yield f"server of {arm.name}", f"{where}, model {arm.endpoint.model}"
    yield "prompts", f"the first {plan.prompts.count} of {plan.prompts.file}"
    yield "SHA-256 of the file", plan.prompts.sha256
    rendered = plan.prompts.rendered_sha256
    yield "SHA-256 of the token ids", rendered or "known to the server only"
