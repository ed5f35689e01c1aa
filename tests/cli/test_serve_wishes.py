"""Which options of ``trtspec serve`` go together, and what is made of them."""

from __future__ import annotations

import json

import click
import pytest

from tests.serve.proxy.test_rules import tuned
from trtspec.cli.serve import command
from trtspec.cli.serve_proxied import pool_names, rules_of
from trtspec.cli.serve_wishes import (
    front_wish,
    in_process_wish,
    patience_of,
    require_options,
)
from trtspec.errors import UsageError
from trtspec.serve.openai.errors import RefusalError


def asked(*words):
    context = command.make_context("serve", ["artifact", *words])
    return {k: v for k, v in context.params.items() if k != "artifact_or_recipe"}


class Artifact:
    """As much of an artifact as is looked at."""

    def __init__(self, recipe):
        self.recipe = recipe


@pytest.mark.parametrize(
    ("backend", "words"),
    [
        ("reference", []),
        ("reference", ["--device", "cpu", "--threads", "2", "--max-waiting", "3"]),
        ("pytorch", []),
        ("pytorch", ["--direct", "--restarts", "2", "--log", "x"]),
        ("pytorch", ["--with-off", "--off-above-load", "3", "--workload", "a=off"]),
        ("pytorch", ["--gpus", "0,1", "--no-request-log"]),
        ("tensorrt", ["--request-timeout", "3", "--log-prompts"]),
    ],
)
def test_what_goes_together_is_taken(backend, words):
    require_options(backend, asked(*words))


@pytest.mark.parametrize(
    ("backend", "words", "options"),
    [
        ("reference", ["--direct", "--restarts", "1"], ["--direct", "--restarts"]),
        ("tensorrt", ["--with-off", "--gpus", "0"], ["--with-off", "--gpus"]),
        ("pytorch", ["--device", "cuda"], ["--device"]),
        ("pytorch", ["--direct", "--max-body", "3"], ["--max-body"]),
        ("pytorch", ["--direct", "--off", "x"], ["--off"]),
        ("pytorch", ["--off-above-prompt", "0"], ["--off-above-prompt"]),
        ("pytorch", ["--off-above-load", "0"], ["--off-above-load"]),
        ("pytorch", ["--workload", "a=on"], ["--workload"]),
        ("pytorch", ["--off", "x", "--with-off"], ["--with-off"]),
        ("pytorch", ["--no-request-log", "--log-prompts"], ["--no-request-log"]),
        ("pytorch", ["--direct", "--max-waiting", "0"], ["--max-waiting"]),
    ],
)
def test_what_would_do_nothing_is_refused(backend, words, options):
    with pytest.raises(UsageError) as caught:
        require_options(backend, asked(*words))
    assert [problem.where for problem in caught.value.problems] == options


@pytest.mark.parametrize(
    "words",
    [
        ["--workload", "a=both"],
        ["--workload", "=on"],
        ["--workload", "a=on", "--workload", "a=off"],
        ["--off-above-load", "many"],
        ["--off-above-load", "-1"],
        ["--max-connections", "0"],
        ["--request-timeout", "nan"],
        ["--request-log", ""],
        ["--off", ""],
    ],
)
def test_values_that_are_none_are_wrong_options(words):
    with pytest.raises(click.BadParameter):
        asked(*words)


def test_limits_are_those_asked_for_and_else_the_usual_ones(monkeypatch):
    monkeypatch.delenv("TRTSPEC_API_KEY", raising=False)
    front = front_wish(asked("--max-waiting", "0", "--max-body", "7"))
    assert (front.limits.waiting, front.limits.body_bytes) == (0, 7)
    assert front.limits.connections == 1024
    assert not front.keys
    wish = in_process_wish(asked("--port", "0", "--no-canary"), front)
    assert (wish.port, wish.canary, wish.limits.waiting) == (0, False, 0)
    patience = patience_of(asked("--grace", "3", "--hang-timeout", "0"))
    assert (patience.grace, patience.hang, patience.start) == (3, 0, 3600)


def test_keys_and_the_log_are_files(tmp_path):
    keys, log = tmp_path / "keys", tmp_path / "log.jsonl"
    keys.write_text("one\n\ntwo\n")
    words = ("--api-key-file", str(keys), "--request-log", str(log))
    front = front_wish(asked(*words, "--log-prompts"))
    front.keys.require({"authorization": "Bearer two"})
    with pytest.raises(RefusalError):
        front.keys.require({"authorization": "Bearer three"})
    assert front.log.with_prompts
    front.log._write(json.dumps({"a": 1}))
    assert log.read_text() == '{"a": 1}\n'
    with pytest.raises(UsageError, match="cannot be written"):
        front_wish(asked("--request-log", str(tmp_path / "none" / "x")))


def test_no_log_is_written_nowhere():
    assert front_wish(asked("--no-request-log")).log._write is None


def test_break_even_comes_from_the_recipe():
    one = Artifact(tuned((1, 4, 1.5, None, "faster"), (4, 4, 0.8, None, "slower")))
    words = ("--with-off", "--workload", "a=off", "--off-above-load")
    rules = rules_of(asked(*words, "tuned"), one)
    assert (rules.off_above_load, dict(rules.workloads)) == (1, {"a": "off"})
    assert rules_of(asked(*words, "3"), one).off_above_load == 3
    always = Artifact(tuned((1, 4, 1.5, None, "faster")))
    with pytest.raises(UsageError, match="ahead at every load"):
        rules_of(asked(*words, "tuned"), always)


def test_artifact_that_does_not_draft_is_an_off_pool():
    from tests.trtllm.pytorch.launch.recipes import recipe

    on, off = Artifact(recipe()), Artifact(recipe(speculation={"method": "none"}))
    assert pool_names(on, None) == {"on": on}
    assert pool_names(off, None) == {"off": off}
    assert list(pool_names(on, off)) == ["on", "off"]
