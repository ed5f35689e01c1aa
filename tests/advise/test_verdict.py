"""What this machine lacks is to be got; it is no fault of the recipe."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check.samples import MODEL
from trtspec.advise.drafters import Drafter
from trtspec.advise.target import Target
from trtspec.advise.verdict import MACHINE_RULES, verdict
from trtspec.check.catalogue import entries
from trtspec.check.finding import Finding
from trtspec.models.locate import ModelReference

TARGET = Target(
    "./t", ModelReference("directory", "./t", None, Path("t")), MODEL, None, False, {}
)
FAULT = Finding("context-length", "blocking", "limits", "too long")


def blocking(rule, what="it is so", action="do this"):
    return Finding(rule, "blocking", "installation", what, "why", action)


def test_the_machines_rules_are_rules():
    assert entries().keys() >= MACHINE_RULES


@pytest.mark.parametrize("rule", ["installation", "driver", "gpu", "forced-acceptance"])
def test_what_the_machine_lacks_is_to_be_got(rule):
    state, needs = verdict([blocking(rule)], None, TARGET)
    assert state == "get"
    assert needs == ("it is so: do this",)


def test_what_two_rules_say_is_said_once():
    found = [blocking("gpu"), blocking("installation"), blocking("driver", "old", "")]
    assert verdict(found, None, TARGET) == ("get", ("it is so: do this", "old"))


def test_a_fault_of_the_recipe_counts_more():
    assert verdict([blocking("driver"), FAULT], None, TARGET) == (
        "no",
        ("too long (context-length)",),
    )


def test_what_does_not_block_keeps_nothing_from_use():
    warning = Finding("driver", "warning", "installation", "old")
    assert verdict([warning], None, TARGET) == ("usable", ())
    published = Drafter("eagle3", "a/b", "published", told_by="a page")
    state, needs = verdict([warning], published, TARGET)
    assert state == "download"
    assert needs == ("published, not verified on this machine: a page",)
