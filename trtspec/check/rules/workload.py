"""Whether the workload's prompts are there and readable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

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
                problem.action or "correct the line, or delete it",
            )


def chat_template(subject: Subject) -> Iterator[Finding]:
    """Refuse a chat template that is not there, or is none."""
    name = subject.recipe.target.chat_template
    if name is None or subject.base is None:
        return
    if fault := _template_fault(subject.base / name):
        yield Finding(
            "chat-template",
            "blocking",
            subject.where("target", "chat_template"),
            f"{name} {fault}",
            "conversations could not be written as the model expects them",
            "give a file with the chat template, relative to the recipe",
        )


def _template_fault(path: Path) -> str:
    """Say what keeps a file from being a chat template; empty if nothing does."""
    from jinja2 import Environment, TemplateSyntaxError

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return f"cannot be read: {error}"
    if not text.strip():
        return "is empty"
    # transformers knows two more kinds of statement than plain Jinja
    environment = Environment(extensions=["jinja2.ext.loopcontrols"])  # noqa: S701
    try:
        environment.parse(re.sub(r"{%-?\s*(end)?generation\s*-?%}", "", text))
    except TemplateSyntaxError as error:
        return f"is no Jinja template: line {error.lineno}: {error.message}"
    return ""
