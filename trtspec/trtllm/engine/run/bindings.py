"""How TensorRT-LLM's C++ executor is reached: what it takes, and what it answers."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from packaging.version import Version

from trtspec.errors import BackendUnavailableError, Problem, RunError
from trtspec.trtllm import facts
from trtspec.trtllm.engine.failures import known_failure

PARENT = "tensorrt_llm"
MODULE = "tensorrt_llm.bindings.executor"
END = "END_ID"
ENDED = (END, "STOP_WORDS")
"""Why an engine ends a request by itself, other than for its length."""


@dataclass(frozen=True, slots=True)
class Bindings:
    """The module ``tensorrt_llm.bindings.executor`` of a known version."""

    module: Any
    version: Version

    def has(self, class_name: str, field: str) -> bool:
        """Whether a class is known to take an argument in this version."""
        return field in facts.fields(class_name, self.version)

    def make(self, class_name: str, **arguments: Any) -> Any:
        """Construct an object of the bindings.

        :raises RunError: if the version is not known to take an argument, or one that
            it requires is not given: a fault of trtspec, caught before the engine. Or
            if the bindings refuse what they are given.
        """
        known = facts.fields(class_name, self.version)
        unknown = [name for name in arguments if name not in known]
        missing = [f.name for f in known.values() if f.required]
        missing = [name for name in missing if name not in arguments]
        if unknown or missing:
            fault = "has no" if unknown else "requires"
            raise RunError(
                f"internal error: {class_name} of TensorRT-LLM {self.version} {fault} "
                f"argument {', '.join(unknown or missing)}",
                allowed=", ".join(known),
                action="report this as a fault of trtspec",
            )
        try:
            return getattr(self.module, class_name)(**arguments)
        except Exception as error:  # TypeError, or whatever C++ threw
            where = f"{class_name} of TensorRT-LLM {self.version}"
            raise run_error(str(error), where, self.version) from error


def load_bindings(version: Version) -> Bindings:
    """Import the executor's bindings.

    :param version: of the installed TensorRT-LLM.
    :raises BackendUnavailableError: if they cannot be loaded.
    """
    try:
        importlib.import_module(PARENT)  # loads the plugins that engines need
        return Bindings(importlib.import_module(MODULE), version)
    except (ImportError, OSError, RuntimeError) as error:
        raise BackendUnavailableError(
            f"cannot be imported: {error}",
            where=MODULE,
            action="trtspec doctor says what is missing",
        ) from error


@dataclass(frozen=True, slots=True)
class Answer:
    """One response of the executor.

    :param tokens: those that are new since the request's last answer.
    :param time: ``time.perf_counter`` seconds at which it was there.
    :param logits: [tokens, vocabulary] of a draft; None unless asked for.
    :param finish: why the engine ended the request, such as END_ID; NOT_FINISHED where
        it gives no reason, as after a draft that it rejected.
    :param result: the binding's own result, for its statistics; None with an error.
    """

    tokens: tuple[int, ...] = ()
    time: float = 0.0
    final: bool = False
    error: str = ""
    logits: Any = None
    finish: str = ""
    result: Any = None


def read_answer(response: Any, now: float) -> Answer:
    """Read a response of the bindings that came at ``now``."""
    if response.has_error():
        message = str(response.error_msg) or "no message"
        return Answer(time=now, final=True, error=message)
    result = response.result
    logits = result.generation_logits
    reasons = result.finish_reasons
    return Answer(
        tokens=tuple(result.output_token_ids[0]) if result.output_token_ids else (),
        time=now,
        final=bool(result.is_final),
        logits=None if logits is None else logits[0],
        finish=getattr(reasons[0], "name", str(reasons[0])) if reasons else "",
        result=result,
    )


def joined(parts: Sequence[Answer]) -> Answer:
    """Make one answer of all that a request got."""
    last = parts[-1]
    return Answer(
        tokens=tuple(token for part in parts for token in part.tokens),
        time=last.time,
        final=last.final,
        error=last.error,
        logits=last.logits,
        finish=last.finish,
        result=last.result,
    )


def whole_tokens(answer: Answer, end_id: int | None) -> tuple[int, ...]:
    """Give an answer's tokens with the end token, which the runtime leaves out.

    It generated that token, but does not count it to the output; a stop word it does
    (cpp/tensorrt_llm/kernels, sampling: no sequence grows by its end token).
    """
    left_out = answer.finish == END and answer.tokens[-1:] != (end_id,)
    return (
        (*answer.tokens, end_id) if left_out and end_id is not None else answer.tokens
    )


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
