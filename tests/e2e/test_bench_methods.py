"""``bench_reference.py --methods``: all methods side by side, on a toy model."""

from __future__ import annotations

import importlib
import io
import json
import sys
from contextlib import redirect_stdout

import pytest

from tests.e2e.conftest import ROOT
from tests.reference.artifacts import write_model
from trtspec.errors import UsageError

METHODS = {
    "none": "{method: none}",
    "twin": "{method: draft_target, model: ./target, draft_length: 3}",
    "eagle3": "{method: eagle3, model: ./drafters/eagle3, draft_length: 4}",
}
RECIPE = """
schema: trtspec/v1
name: toy-{name}
target: {{model: ./target, dtype: float32}}
speculation: {method}
limits: {{max_batch_size: 2, max_input_tokens: 20, max_total_tokens: 60}}
"""
PROMPTS = {"red": ["w4 w5", "w6", "w4 w5 w4 w5 w4"], "blue": ["w7 w8 w9"] * 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Recipes for a toy model in place of the bundled ones, and prompts."""
    folder = tmp_path_factory.mktemp("toys")
    write_model(folder / "target")
    for name, method in METHODS.items():
        text = RECIPE.format(name=name, method=method)
        (folder / f"{name}.yaml").write_text(text)
    for kind, prompts in PROMPTS.items():
        lines = [json.dumps({"prompt": text}) for text in prompts]
        (folder / f"{kind}.jsonl").write_text("\n".join(lines))
    return folder


@pytest.fixture(scope="module")
def openings(folder):
    """The part of the script that looks for recipes."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(ROOT / "scripts"))
        module = importlib.import_module("reference_bench.openings")
        patched.setattr(module, "RECIPES", folder)
        patched.setattr(module, "ENGINES", folder / "engines")
        yield module


@pytest.fixture(scope="module")
def measured(openings, folder):
    """What the whole command prints, and what it writes."""
    files = [str(folder / f"{kind}.jsonl") for kind in PROMPTS]
    result = folder / "result.json"
    arguments = ["--methods", "all", "--tokens", "12", "--repeats", "2"]
    arguments += ["--batches", "1,2", "--dtype", "float32", "--prompts", *files]
    arguments += ["--json", str(result)]
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(printed):
        patched.setattr(sys, "argv", ["bench_reference.py", *arguments])
        importlib.import_module("bench_reference").main()
    return printed.getvalue(), json.loads(result.read_text())


def test_all_methods_are_compared_with_plain_decoding_by_category(measured):
    text, document = measured
    rows = {(r["batch"], r["category"], r["method"]): r for r in document["rows"]}
    assert set(rows) == {
        (batch, category, method)
        for batch in (1, 2)
        for category in ("red", "blue", "all categories")
        for method in ("none", "twin")
    }
    for (_, _, method), row in rows.items():
        outputs, on = row["cell"]["outputs"], row["cell"]["on"]["values"]
        assert outputs["identical"] == outputs["prompts"]
        assert (on["acceptance_length"] > 1) == (method != "none")
        assert (on["acceptance_rate"] is None) == (method == "none")
        assert 0 <= on["drafting_share"] <= 1
    itself = rows[1, "blue", "none"]["cell"]["ratios"]["output_throughput"]
    assert itself["estimate"] == 1
    assert itself["interval"] == [1, 1]
    assert text.count("batch 1, ") == text.count("batch 2, ") == 3


def test_a_method_without_its_drafter_is_left_out_with_the_reason(measured):
    text, document = measured
    assert "eagle3 is left out: " in text
    assert "drafters/eagle3" in document["left_out"]["eagle3"]


def test_all_categories_together_are_the_sum_of_their_blocks(measured):
    _, document = measured
    of_batch = [r for r in document["records"] if r["batch"] == 1]
    for method in ("none", "twin"):
        records = [r for r in of_batch if r["method"] == method]
        samples = [s for r in records for s in r["samples"]]
        counted = [b for r in records for b in r["blocks"] if b["block"]]
        (row,) = [
            r
            for r in document["rows"]
            if (r["batch"], r["method"]) == (1, method)
            and r["category"] == "all categories"
        ]
        rates = [
            sum(b["output_tokens"] for b in counted if b["block"] == repeat)
            / sum(b["wall_seconds"] for b in counted if b["block"] == repeat)
            for repeat in (1, 2)
        ]
        values = row["cell"]["on"]["values"]
        assert values["output_throughput"] == pytest.approx(sum(rates) / 2)
        accepted, steps = (sum(s[k] for s in samples) for k in ("accepted", "steps"))
        assert values["acceptance_length"] == pytest.approx(1 + accepted / steps)


def test_no_method_always_comes_first(measured):
    _, document = measured
    first = {}
    for record in document["records"]:
        for block in record["blocks"]:
            key = (record["batch"], record["category"], block["block"])
            if block["order"] < first.get(key, (10**6, ""))[0]:
                first[key] = (block["order"], record["method"])
    counted = {m for (*_, block), (_, m) in first.items() if block}
    assert len(counted) > 1


def test_an_unknown_method_is_refused_with_those_that_there_are(openings):
    with pytest.raises(UsageError, match=r"all, or any of: eagle3, none, twin"):
        openings.method_names("twin,eagel3")
