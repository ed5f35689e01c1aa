"""Whether the workload's prompts are there and readable."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.errors import TrtspecError
from trtspec.recipe.workload import load_prompts, prompts_path


def prompts(subject: Subject) -> Iterator[Finding]:
    """Refuse a prompts file that is empty or has unreadable lines."""
    workload = subject.recipe.workload
    if workload is None or subject.base is None:
        return
    where = subject.where("workload", "prompts")
    try:
        load_prompts(prompts_path(subject.base, workload.prompts, where), where)
    except TrtspecError as error:
        for problem in error.problems:
            yield Finding(
                "prompts",
                "blocking",
                problem.where or where,
                problem.what,
                f"expected: {problem.allowed}" if problem.allowed else "",
                problem.action,
            )


def chat_template(subject: Subject) -> Iterator[Finding]:
    """Refuse a chat template that is not there."""
    name = subject.recipe.target.chat_template
    if name is None or subject.base is None or (subject.base / name).is_file():
        return
    yield Finding(
        "chat-template",
        "blocking",
        subject.where("target", "chat_template"),
        f"there is no file {name}",
        "conversations could not be written as the model expects them",
        "give a file with the chat template, relative to the recipe",
    )
