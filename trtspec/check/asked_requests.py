"""What the requests of a recipe's workload ask for, and how a finding says so."""

from __future__ import annotations

from pathlib import Path

from trtspec.check.subject import Subject
from trtspec.errors import TrtspecError
from trtspec.recipe.asked_controls import AskedControl, asked_controls
from trtspec.recipe.workload import prompts_path


def workload_controls(subject: Subject) -> dict[str, AskedControl]:
    """Give what the workload's requests ask for; nothing if the file is not readable.

    That it is not, another rule tells.
    """
    path = workload_path(subject)
    if path is None:
        return {}
    try:
        return asked_controls(path)
    except OSError:
        return {}


def workload_path(subject: Subject) -> Path | None:
    """The file of prompts; None if there is none to be read."""
    workload = subject.recipe.workload
    if workload is None or subject.base is None:
        return None
    try:
        return prompts_path(subject.base, workload.prompts)
    except TrtspecError:
        return None


def asked_where(subject: Subject, asked: AskedControl) -> str:
    """The first line that has the field."""
    return f"{workload_path(subject)}:{asked.line}"


def asked_for(asked: AskedControl) -> str:
    """Say how often a field is asked for, with its values."""
    times = "1 request" if asked.count == 1 else f"{asked.count} requests"
    return f"{asked.name} {asked.shown} in {times} of the workload"


def asked_values(asked: AskedControl) -> dict[str, object]:
    """The values for a finding."""
    return {"field": asked.name, "requests": asked.count, "asked": asked.shown}
