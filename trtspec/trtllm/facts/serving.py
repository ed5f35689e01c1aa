"""What ``trtllm-serve`` answers to, what requests may say, where acceptance is told."""

from __future__ import annotations

from functools import cache
from typing import Literal

from packaging.version import Version
from pydantic import field_validator

from trtspec.trtllm.facts.controls import EngineShape
from trtspec.trtllm.facts.families import family_of
from trtspec.trtllm.facts.read import FactT, document, entries, established
from trtspec.trtllm.facts.records import Fact, Value

RequestPath = Literal["/v1/completions", "/v1/chat/completions"]
MetricPlace = Literal["iterations", "response", "request_perf_metrics", "prometheus"]
"""``GET /metrics`` and ``LLM.get_stats``; a choice of an answer; ``outputs[i]`` of the
LLM API; ``GET /prometheus/metrics``."""
MetricFate = Literal["filled", "zero", "absent", "not established"]
"""zero: the figure is there and says nothing."""


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


class Endpoint(Fact):
    """A path of the server.

    :ivar needs: the YAML key without which it answers with nothing; empty if none.
    :ivar returns: what it answers, where that is not plain.
    """

    method: Literal["GET", "POST"]
    path: str
    needs: str = ""
    returns: str = ""


class RequestField(Fact):
    """A field that the body of a request may have; any other is refused.

    :ivar endpoints: the paths that take it.
    :ivar parameter: its name in ``SamplingParams``; empty if it is none of them.
    :ivar default: what the server puts in; None if nothing, or not established.
    """

    name: str
    endpoints: tuple[RequestPath, ...]
    parameter: str = ""
    default: Value = None
    required: bool = False

    _lists = field_validator("endpoints", mode="before")(_as_tuple)


class Metric(Fact):
    """A figure that tells of acceptance.

    :ivar where: what it is read from.
    :ivar engines: the shapes of engines that it holds for.
    :ivar needs: the YAML key that it depends on; empty if none.
    """

    name: str
    where: MetricPlace
    engines: tuple[EngineShape, ...]
    fate: MetricFate
    needs: str = ""

    _lists = field_validator("engines", mode="before")(_as_tuple)


@cache
def all_endpoints() -> tuple[Endpoint, ...]:
    """Every path, in whatever version."""
    return entries(document("pytorch.json")["endpoints"], Endpoint)


@cache
def all_request_fields() -> tuple[RequestField, ...]:
    """Every field of a request, in whatever version."""
    return entries(document("pytorch.json")["request_fields"], RequestField)


@cache
def all_metrics() -> tuple[Metric, ...]:
    """Every figure that tells of acceptance, in whatever version."""
    return entries(document("pytorch.json")["metrics"], Metric)


def endpoints(version: Version) -> dict[str, Endpoint]:
    """The paths that a version's server is known to have."""
    return {each.path: each for each in _known(all_endpoints(), version)}


def request_fields(path: RequestPath, version: Version) -> dict[str, RequestField]:
    """The fields that requests to a path are known to take, by name."""
    known = _known(all_request_fields(), version)
    return {each.name: each for each in known if path in each.endpoints}


def metrics(version: Version, engine: EngineShape) -> tuple[Metric, ...]:
    """What is known about each figure for one shape of engine."""
    known = _known(all_metrics(), version)
    return tuple(each for each in known if engine in each.engines)


def _known(facts: tuple[FactT, ...], version: Version) -> tuple[FactT, ...]:
    return established(facts, version) if family_of(version) is not None else ()
