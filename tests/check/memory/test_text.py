"""What plan shows of memory: the table, and each assumption as it was made."""

from tests.check.memory.builders import LLAMA_8B, recipe, target
from trtspec.check.rules.memory import gpu_memory
from trtspec.check.subject import Subject, key_itself
from trtspec.cli.memory_text import memory_document, memory_lines
from trtspec.gpu_kinds import gpu_kind

SUBJECT = Subject(
    recipe(), key_itself, target(LLAMA_8B), gpus=(gpu_kind("h100"),)
)  # fmt: skip


def test_an_assumption_is_one_line_whatever_is_in_it():
    findings = list(gpu_memory(SUBJECT))
    assumed = memory_document(findings)["memory"]["assumptions"]
    assert any("; " in text for text in assumed)
    lines = list(memory_lines(findings))
    assert lines[-len(assumed) :] == [f"  {text}" for text in assumed]


def test_the_table_comes_before_them():
    findings = list(gpu_memory(SUBJECT))
    first, second, *_ = memory_lines(findings)
    assert first == "memory       the fullest GPU:"
    assert second.startswith("  one H100 SXM")


def test_without_a_plan_nothing_is_shown():
    assert list(memory_lines([])) == []
    assert memory_document([]) == {}
