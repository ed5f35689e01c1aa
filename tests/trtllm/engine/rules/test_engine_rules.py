"""All rules are looked at, with the installation bound to each."""

import inspect

from tests.check.samples import MODEL
from tests.trtllm.engine.samples import recipe
from trtspec.check.subject import Subject, key_itself
from trtspec.trtllm.combinations import engines
from trtspec.trtllm.engine.rules import (
    ENGINE_RULES,
    engine_rules,
    flags,
    gpu,
    lengths,
    methods,
    models,
    planning,
    precision,
)
from trtspec.trtllm.environment import software_fits
from trtspec.trtllm.installation import assumed_for
from trtspec.trtllm.rules import draft_precision, drafter_context


def public_functions(module):
    return {
        function
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }


def test_no_rule_is_forgotten():
    modules = (flags, gpu, lengths, methods, models, planning, precision)
    modules = (*modules, engines, drafter_context, draft_precision)
    written = {software_fits}.union(*map(public_functions, modules))
    assert set(ENGINE_RULES) == written
    assert len(ENGINE_RULES) == len(written)


def test_rules_take_a_subject_alone():
    subject = Subject(
        recipe("eagle", target={"quantization": "fp8"}), key_itself, MODEL
    )
    rules = engine_rules(assumed_for("1.2.1"))
    found = [finding.rule for rule in rules for finding in rule(subject)]
    assert found == ["quantization"]
