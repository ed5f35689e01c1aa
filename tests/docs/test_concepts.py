"""The numbers of the page on concepts follow from the definitions, counted anew."""

from __future__ import annotations

import re

import docs_concepts
import pytest

from tests.docs.conftest import ROOT

PAGE = (ROOT / "docs/concepts.md").read_text(encoding="utf-8")


def made(name):
    return list(docs_concepts.MAKERS[name]())


def rows(lines):
    """Give a table's cells, without heads."""
    table = [line for line in lines if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


@pytest.mark.parametrize("name", docs_concepts.MAKERS)
def test_every_example_is_on_the_page(name):
    """That the page is in step with them is tests/e2e/test_docs.py's."""
    assert f"<!-- generated: {name} -->\n" in PAGE
    assert "\n".join(made(name)) in PAGE


def test_a_draft_copies_what_followed():
    assert made("concept-draft")[1:3] == [
        "text so far     the cat sat on the cat",
        "draft, K = 3    sat on the",
    ]


def test_greedy_keeps_what_agrees_and_ends_with_the_targets_own():
    table = rows(made("concept-greedy"))
    agrees = [draft == says for _, draft, says, _ in table]
    verdicts = [verdict == "accepted" for *_, verdict in table]
    assert verdicts == [all(agrees[: i + 1]) for i in range(len(agrees))]
    assert True in verdicts
    assert False in verdicts
    last = made("concept-greedy")[-1]
    first_rejected = table[verdicts.index(False)]
    assert f"*{first_rejected[2]}*" in last
    assert f"Out come {sum(verdicts) + 1} tokens" in last


def test_what_comes_out_has_the_targets_probabilities():
    table = {name: values for name, *values in rows(made("concept-sampled"))}
    assert table["comes out"] == table["target p"]
    assert table["drafter q"] != table["target p"]
    p = [float(x) for x in table["target p"][:3]]
    q = [float(x) for x in table["drafter q"][:3]]
    kept = [float(x) for x in table["drafted and accepted"][:3]]
    assert kept == pytest.approx([min(a, b) for a, b in zip(p, q, strict=True)])


def test_the_naive_rule_is_another_distribution():
    (line,) = made("concept-naive")
    p, out = 0.5, 0.5 * 1.5
    assert line.endswith(f"= {out}.")
    assert out != p


def test_rate_and_length_are_those_of_the_table():
    *steps, total = rows(made("concept-counts"))
    drafted, accepted, emitted = (sum(int(s[i]) for s in steps) for i in (1, 2, 3))
    assert total == ["all", str(drafted), str(accepted), str(emitted)]
    last = made("concept-counts")[-1]
    assert f"= {accepted / drafted:.2f}." in last
    assert f"= {1 + accepted / len(steps):.2f} tokens" in last
    assert emitted / len(steps) == pytest.approx(1 + accepted / len(steps))


def test_tokens_per_step_by_adding_up_chances():
    for chance, *cells, best in rows(made("concept-lengths")):
        a = float(chance)
        for length, cell in zip((1, 2, 4, 8), cells, strict=True):
            tokens = sum(a**i for i in range(length + 1))
            gain = tokens / (1 + 0.05 * length)
            assert cell == f"{tokens:.2f} ({gain:.2f}x)"
        assert float(best.split()[-1].rstrip("x")) >= max(
            float(re.search(r"\((.*)x\)", cell)[1]) for cell in cells
        )


def test_the_break_even_lies_between_the_rungs_around_1():
    (line,) = made("concept-break-even")
    found = re.search(r"break-even at (\S+) requests, .* (\S+) to (\S+)\.$", line)
    crossing, low, high = map(float, found.groups())
    assert 4 < low < crossing < high < 16


def test_near_ties_are_steps_of_the_format():
    table = {dtype: (step, tie) for dtype, step, tie in rows(made("concept-ties"))}
    for dtype, bits, steps in (
        ("bfloat16", 7, 4),
        ("float16", 10, 4),
        ("float32", 23, 256),
    ):
        step = 2.0 ** (4 - bits)
        assert table[dtype] == (f"{step:.2g}", f"{step * steps:.2g}")
