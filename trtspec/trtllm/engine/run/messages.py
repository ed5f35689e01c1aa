"""What a message of the runtime means, and what is to be done."""

from __future__ import annotations

from packaging.version import Version

from trtspec.errors import Problem, RunError
from trtspec.trtllm.engine.failures import known_failure


def explained(message: str, where: str, version: Version) -> Problem:
    """Put a runtime's message into words, with its meaning if it is a known one.

    :param where: the request or the engine that it is about.
    """
    message = message.strip() or "no message"
    known = known_failure(message.splitlines(), "run", version)
    meaning = f"\n  meaning: {known.meaning} ({known.source})" if known else ""
    action = known.action if known else ""
    return Problem(f"TensorRT-LLM says: {message}{meaning}", where, action=action)


def run_error(message: str, where: str, version: Version) -> RunError:
    """Make the error of a single message; see ``explained``."""
    problem = explained(message, where, version)
    return RunError(problem.what, where=problem.where, action=problem.action)
