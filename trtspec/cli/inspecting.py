"""How ``trtspec inspect`` finds what it is given, and what it refuses at the end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from trtspec.models.inspection import Inspection
    from trtspec.models.inspection_verdict import Fit


class Part(NamedTuple):
    """One thing that was looked at.

    :param name: ``target`` or ``draft`` of an artifact; empty for the thing itself.
    """

    name: str
    inspection: Inspection


def inspect_all(text: str, where: str) -> list[Part]:
    """Look at what a name means; at an artifact's target and draft after itself.

    :param where: the argument, for messages.
    :raises UsageError: if the name means nothing on this machine.
    """
    from trtspec.models.demo import DEMO
    from trtspec.models.inspection import inspect, known

    directory = locate(text, where)
    if directory is None:
        return [Part("", known(DEMO.info, f"{DEMO.title} (not downloaded yet)"))]
    from trtspec.build.artifact import MANIFEST

    if (directory / MANIFEST).is_file():
        return _artifact(directory)
    from trtspec.trtllm.engine.inspection import inspect_tensorrt

    return [Part("", inspect_tensorrt(directory) or inspect(directory))]


def inspect_target(text: str) -> Inspection:
    """Look at what is to be drafted for; it may lack weights, but not its shape.

    :raises UsageError: if it is no model.
    """
    from trtspec.errors import UsageError

    found = inspect_all(text, "--target")[0].inspection
    if found.shape is None and not found.problems:
        raise UsageError(
            f"{text} is {found.title}: {found.told_by}",
            where="--target",
            allowed="a causal language model",
            action="give the target model that it is to draft for",
        )
    return found


def locate(text: str, where: str) -> Path | None:
    """Give the directory that a name means; None for a demo model not yet here.

    Unlike a recipe's, a hub id may be incomplete in the cache.

    :raises UsageError: if there is no such thing on this machine.
    """
    from trtspec.errors import UsageError
    from trtspec.models.hub import snapshot_directory
    from trtspec.models.locate import parse_reference

    reference = parse_reference(text, None, Path(), where)
    if reference.path is not None or reference.kind == "demo":
        return reference.path
    snapshot = snapshot_directory(text, None)
    if snapshot.is_dir():
        return snapshot
    raise UsageError(
        f"{text} is not in the local hub cache",
        where=where,
        allowed="a directory, a Hugging Face id in the cache, or demo:NAME; inspect "
        "downloads nothing",
        action=f"hf download {text}, or give a directory",
    )


def refuse_problems(inspections: Sequence[Inspection]) -> None:
    """Refuse what is damaged or unknown, once all that could be read was said.

    :raises UsageError: with every problem.
    """
    from trtspec.errors import UsageError

    if problems := [p for found in inspections for p in found.problems]:
        raise UsageError.from_problems(dict.fromkeys(problems))


def refuse_unfit(model: str, found: Sequence[Fit]) -> None:
    """Refuse a drafter that nothing can run with the target.

    :raises FindingsError: naming what does not fit.
    """
    from trtspec.errors import FindingsError, Problem

    if unfit := [fit for fit in found if fit.verdict == "refused"]:
        raise FindingsError.from_problems(
            Problem(
                f"{fit.key.replace('_', ' ')}: {fit.text}",
                where=model,
                action=_OTHER_IDS
                if fit.key == "token_ids"
                else "choose the drafter that was trained for this target model",
            )
            for fit in unfit
        )


_OTHER_IDS = (
    "choose a draft model of the target's family, with the same tokenizer, or a method "
    "that needs no draft model"
)


def _artifact(directory: Path) -> list[Part]:
    """Tell that it is an artifact of ours, and look at its parts."""
    from trtspec.build.artifact import DRAFT, TARGET, read_manifest
    from trtspec.models.inspection import Inspection, inspect
    from trtspec.models.inspection_facts import Fact
    from trtspec.trtllm.engine.inspection import inspect_tensorrt

    manifest = read_manifest(directory)
    recipe = manifest.recipe
    method = recipe.get("speculation")
    named = method.get("method") if isinstance(method, dict) else None
    source = {role: record.model for role, record in manifest.source.items()}
    whole = Inspection(
        directory=directory,
        kind=None,
        title="trtspec artifact",
        told_by="it holds manifest.json of trtspec build",
        facts=(
            Fact("name", manifest.name, manifest.name),
            Fact("fingerprint", manifest.fingerprint, manifest.fingerprint),
            Fact("backend", f"{recipe.get('backend')}", recipe.get("backend")),
            Fact("method", f"{named}", named),
            Fact(
                "made_from", ", ".join(f"{r}: {m}" for r, m in source.items()), source
            ),
            Fact("created", manifest.created, manifest.created),
        ),
    )
    parts = [Part("", whole)]
    for name in (TARGET, DRAFT):
        if (folder := directory / name).is_dir():
            parts.append(Part(name, inspect_tensorrt(folder) or inspect(folder)))
    return parts
