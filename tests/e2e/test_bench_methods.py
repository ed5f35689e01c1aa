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
from trtspec.bench.rundir import load_run
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
    """What the whole command prints, and the run that it leaves."""
    files = [str(folder / f"{kind}.jsonl") for kind in PROMPTS]
    arguments = ["--methods", "all", "--tokens", "12", "--repeats", "2"]
    arguments += ["--batches", "1,2", "--dtype", "float32", "--prompts", *files]
    arguments += ["--output", str(folder / "run")]
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(printed):
        patched.setattr(sys, "argv", ["bench_reference.py", *arguments])
        importlib.import_module("bench_reference").main()
    return printed.getvalue(), load_run(folder / "run")


def test_all_methods_are_compared_with_plain_decoding_by_category(measured):
    text, run = measured
    cells = {cell.load.key: cell for cell in run.result.cells}
    assert set(cells) == {"c1:red", "c1:blue", "c2:red", "c2:blue"}
    for cell in cells.values():
        assert list(cell.arms) == ["off", "off again", "twin"]
        outputs = cell.comparisons["twin"].outputs
        assert outputs.identical == outputs.prompts
        for name, arm in cell.arms.items():
            length = arm.values["acceptance_length"]
            assert length is not None
            assert (length > 1) == (name == "twin")
            assert (arm.values["acceptance_rate"] is None) == (name != "twin")
    for words in ("concurrency 1, red", "concurrency 2, blue", "all categories"):
        assert words in text


def test_a_method_without_its_drafter_is_left_out_with_the_reason(measured):
    text, _ = measured
    (line,) = [x for x in text.splitlines() if x.startswith("eagle3 is left out: ")]
    assert "drafters/eagle3" in line


def test_all_categories_together_are_the_sum_of_their_blocks(measured, openings):
    _, run = measured
    pooled = importlib.import_module("reference_bench.pooled").pooled
    one, two = pooled(run.result.plan, run.raw)
    assert (one.load.key, two.load.key) == ("c1", "c2")
    for name, arm in one.arms.items():
        counted = [
            b
            for b in run.raw.blocks
            if b.arm == name and b.load.startswith("c1:") and not b.warm_up
        ]
        rates = [
            sum(b.output_tokens for b in counted if b.block == repeat)
            / sum(b.wall_seconds for b in counted if b.block == repeat)
            for repeat in (1, 2)
        ]
        assert arm.values["output_throughput"] == pytest.approx(sum(rates) / 2)
        samples = [
            s for s in run.raw.samples if s.arm == name and s.load.startswith("c1:")
        ]
        accepted, steps = (
            sum(getattr(s, key) for s in samples) for key in ("accepted", "steps")
        )
        assert arm.values["acceptance_length"] == pytest.approx(1 + accepted / steps)


def test_an_unknown_method_is_refused_with_those_that_there_are(openings):
    with pytest.raises(UsageError, match=r"all, or any of: eagle3, none, twin"):
        openings.method_names("twin,eagel3")
