"""What becomes of the workload's request fields on the release that serves them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from packaging.version import Version

from trtspec.check.asked_requests import (
    asked_for,
    asked_values,
    asked_where,
    workload_controls,
)
from trtspec.check.finding import Finding, Severity
from trtspec.check.subject import Subject
from trtspec.errors import Problem
from trtspec.recipe.asked_controls import AskedControl
from trtspec.recipe.request_names import CONTROLS
from trtspec.trtllm.facts.controls import Control, sampling_controls
from trtspec.trtllm.facts.families import family_of, why_no_family
from trtspec.trtllm.facts.serving import (
    RequestField,
    all_request_fields,
    request_fields,
)
from trtspec.trtllm.installation import OPTION, Installation
from trtspec.trtllm.pytorch.run.control_names import ONE_OUTPUT, PENALTIES
from trtspec.trtllm.pytorch.run.fates import UNDRAFTED, why_unhonoured
from trtspec.trtllm.pytorch.run.reach import ENGINES, Reach
from trtspec.trtllm.pytorch.run.sampling import GUIDED

RuleId = Literal["request-refused", "request-ignored", "request-opt-in"]
_SEVERITIES: dict[RuleId, Severity] = {
    "request-refused": "blocking",
    "request-ignored": "warning",
    "request-opt-in": "blocking",
}
_REFUSING = ("rejected", "partial")
_OPT_IN = {
    **dict.fromkeys(PENALTIES, "pytorch: {penalties: true}"),
    GUIDED: "pytorch: {guided_decoding: xgrammar}",
}
_THEIRS = {
    "max_new_tokens": "max_tokens",
    "guided_json": 'response_format: {"type": "json", "schema": ...}',
    "guided_regex": 'response_format: {"type": "regex", "regex": ...}',
    "guided_grammar": 'response_format: {"type": "ebnf", "ebnf": ...}',
    "functions": "tools",
    "function_call": "tool_choice",
    "num_beams": "use_beam_search and n",
    "do_sample": "temperature: 0 for greedy",
}
"""Fields of other servers → what trtllm-serve has in their place."""


def requests_are_honoured(
    installation: Installation, subject: Subject
) -> Iterator[Finding]:
    """Say of each field whether the release refuses it, ignores it or wants a key."""
    asked = {n: one for n, one in workload_controls(subject).items() if n in CONTROLS}
    version = installation.version
    if version is None or family_of(version) is None:
        yield from _unknown_release(version, subject, asked)
        return
    reach = Reach.of(subject.recipe, version, over_http=True)
    known = request_fields("/v1/completions", version) | request_fields(
        "/v1/chat/completions", version
    )
    told: set[str] = set()
    for name, one in asked.items():
        field = known.get(name)
        if field is None:
            yield _unknown_field(subject, one, version)
        elif field.parameter not in told:
            told.add(field.parameter or name)
            yield from _fate(subject, one, field, reach)


def _unknown_release(
    version: Version | None, subject: Subject, asked: dict[str, AskedControl]
) -> Iterator[Finding]:
    """Warn that nothing can be said of what depends on the release."""
    unsure = [one for name, one in asked.items() if name not in _ALWAYS]
    if not unsure:
        return
    why = why_no_family(version) if version else "no TensorRT-LLM is here to go by"
    yield Finding(
        "request-ignored",
        "warning",
        asked_where(subject, unsure[0]),
        f"requests of the workload ask for {', '.join(one.name for one in unsure)}",
        f"what the server does with it depends on the release, and {why}",
        f"name the release that will serve them: {OPTION} VERSION",
        values={"fields": [one.name for one in unsure]},
    )


_ALWAYS = (
    *("max_tokens", "stop", "stop_token_ids", "ignore_eos", "detokenize"),
    *("skip_special_tokens", "spaces_between_special_tokens", "add_special_tokens"),
    "include_stop_str_in_output",
)
"""Fields that every release honours, with speculation and without."""


def _unknown_field(subject: Subject, one: AskedControl, version: Version) -> Finding:
    later = any(each.name == one.name for each in all_request_fields())
    if later:
        why = f"that TensorRT-LLM {version} takes this field is not established"
        return _finding("request-ignored", subject, one, why, "leave it out")
    why = (
        f"trtllm-serve of TensorRT-LLM {version} has no such field, and refuses a "
        "request with a field that it does not know"
    )
    instead = _THEIRS.get(one.name)
    action = f"write {instead}" if instead else "leave it out"
    source = "tensorrt_llm/serve/openai_protocol.py"
    return _finding("request-refused", subject, one, why, action, source=source)


def _fate(
    subject: Subject, one: AskedControl, field: RequestField, reach: Reach
) -> Iterator[Finding]:
    if one.name == "suffix":
        why = f"trtllm-serve of TensorRT-LLM {reach.version} refuses it"
        yield _finding("request-refused", subject, one, why, "leave it out")
        return
    parameter = field.parameter
    control = _control(parameter, reach)
    problem = why_unhonoured(parameter, reach) if parameter else None
    if problem is None and parameter in ONE_OUTPUT and control is not None:
        problem = Problem(
            f"whether TensorRT-LLM {reach.version} honours it under speculation is not "
            "established",
            action=f"send the prompt several times, or {UNDRAFTED}",
        )
    if problem is not None:
        rule = _rule(problem, control)
        snippet = _OPT_IN.get(parameter, "") if rule == "request-opt-in" else ""
        source = control.source if control else ""
        yield _finding(
            rule,
            subject,
            one,
            problem.what,
            problem.action,
            snippet=snippet,
            source=source,
        )


def _control(parameter: str, reach: Reach) -> Control | None:
    if reach.shape == "none" or not parameter:
        return None
    return sampling_controls(reach.version, ENGINES[reach.shape]).get(parameter)


def _rule(problem: Problem, control: Control | None) -> RuleId:
    if problem.action.startswith("write pytorch."):
        return "request-opt-in"
    if problem.what.startswith(GUIDED) or (control and control.fate in _REFUSING):
        return "request-refused"
    return "request-ignored"


def _finding(
    rule: RuleId,
    subject: Subject,
    one: AskedControl,
    why: str,
    action: str,
    *,
    snippet: str = "",
    source: str = "",
) -> Finding:
    return Finding(
        rule,
        _SEVERITIES[rule],
        asked_where(subject, one),
        asked_for(one),
        why,
        action,
        snippet=snippet,
        source=source,
        values=asked_values(one),
    )
