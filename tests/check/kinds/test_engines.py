"""Engines that were built for something else, and software that does not fit."""

import json

import pytest
import yaml
from click.testing import CliRunner
from packaging.version import Version

from tests.check.kinds.asking import (
    MEDUSA,
    NGRAM,
    PAIR,
    ask,
    bad,
    faults,
    good,
    innocents,
    on_engines,
    passes,
    tells,
    text_of,
)
from tests.check.samples import content
from tests.trtllm.engine.run.artifacts import engine, recipe, write_engine
from tests.trtllm.machines import H200, bare_machine, write
from trtspec.cli.main import cli
from trtspec.trtllm.engine.built_findings import Built, engine_findings
from trtspec.trtllm.engine.run.load import Engines

ON = {"version": "1.2.1", "backend": "tensorrt"}


def flags(**given):
    return on_engines(build_flags=given)


@faults(
    bad(
        "engines with less room than the drafts",
        ask(NGRAM, **ON, sections=on_engines(max_draft_length=3)),
        "draft-length", "blocking", "4 tokens", "3", "engine.max_draft_length",
    ),
    bad(
        "room that has no effect",
        ask(MEDUSA, **ON, sections=on_engines(max_draft_length=63)),
        "draft-length", "blocking", "max_draft_length 63", "medusa",
    ),
    bad(
        "the builder's draft length beside the recipe's",
        ask(NGRAM, **ON, sections=flags(max_draft_len=4)),
        "build-flags", "blocking", "max_draft_len: 4",
    ),
    bad(
        "logits of the prompt, which drafts exclude",
        ask(PAIR, **ON, sections=flags(gather_context_logits=True)),
        "build-flags", "blocking", "gather_context_logits",
    ),
    bad(
        "no paged context, no drafts from outside",
        ask(PAIR, **ON, sections=flags(context_fmha="disable")),
        "build-flags", "blocking", "context_fmha: disable", "reuse",
    ),
    bad(
        "a cache type without reuse",
        ask(PAIR, **ON, sections=on_engines(kv_cache="int8")),
        "kv-cache", "blocking", "kv_cache int8", "draft_target",
    ),
    bad(
        "draft logits of other vocabulary rows",
        ask({**PAIR, "model": "./small-qwen3", "use_draft_logits": True}, **ON),
        "draft-logits", "blocking", "128256", "151936",
    ),
)  # fmt: skip
def test_flags_that_fail_at_run_time(place, asked, told):
    """backend #473; TensorRT-LLM #904, #2684, PR 4167, #2789."""
    tells(place.check(**asked), *told)


@innocents(
    good(
        "room for just the drafts",
        ask(NGRAM, **ON, sections=on_engines(max_draft_length=4)),
    ),
    good(
        "further flags that are known",
        ask(PAIR, **ON, sections=flags(tokens_per_block=64)),
    ),
    good("draft logits of equal rows", ask({**PAIR, "use_draft_logits": True}, **ON)),
    good("other rows where drafts are ids", ask({**NGRAM, "draft_length": 1}, **ON)),
)
def test_flags_that_are_fine(place, asked, rules):
    passes(place.check(**asked), "build-flags", "draft-length", "draft-logits")


def built(target, method, capability="9.0", version="1.2.1", draft=None, **options):
    """Give the rules and texts on engines that are to run here, on an H200."""
    here = Built(recipe(method, **options), Engines(target, draft, capability), "e")
    found = engine_findings(here, Version(version), (H200,), None)
    return [(finding.rule, text_of(finding)) for finding in found]


@pytest.mark.parametrize(
    ("found", "rules", "words"),
    [
        (
            lambda: built(engine("ngram", max_draft_len=3), "ngram", draft_length=5),
            ["engine-drafts"],
            ["5", "3"],
        ),
        (
            lambda: built(engine("lookahead"), "medusa"),
            ["engine-mode", "engine-tree"],
            ["medusa"],
        ),
        (
            lambda: built(engine("eagle", version="0.21.0"), "eagle", version="1.0.0"),
            ["engine-version"],
            ["0.21.0", "1.0.0"],
        ),
        (
            lambda: built(engine("ngram"), "ngram", capability="8.9"),
            ["engine-gpu"],
            ["8.9", "9.0"],
        ),
        (
            lambda: built(engine("ngram", paged_context_fmha=False), "ngram"),
            ["engine-cache"],
            ["use_paged_context_fmha"],
        ),
        (
            lambda: built(engine("none", max_batch_size=1), "none"),
            ["engine-sizes"],
            ["1", "2"],
        ),
    ],
    ids=["drafts", "mode", "version", "gpu", "cache", "sizes"],
)
def test_an_engine_that_was_built_for_something_else(found, rules, words):
    """backend #531, #190, #194; TensorRT-LLM #660; llama_index 12318."""
    told = found()
    assert {rule for rule, _ in told} >= {*rules[:1], "engine-rebuild"}
    text = " ".join(text for rule, text in told if rule in rules)
    assert all(word in text for word in words), told
    assert told[-1][0] == "engine-rebuild"


@pytest.mark.parametrize("method", ["none", "ngram", "medusa", "eagle", "redrafter"])
def test_an_engine_that_was_built_for_it(method):
    assert built(engine(method), method) == []


def test_a_folder_of_an_engine_is_held_against_a_recipe_by_the_command(tmp_path):
    made = engine("ngram", version="1.0.0", max_draft_len=2)
    folder = write_engine(tmp_path / "engine", made)
    path = tmp_path / "recipe.yaml"
    sizes = {"max_batch_size": 2, "max_input_tokens": 20, "max_total_tokens": 50}
    asked = content(backend="tensorrt", limits=sizes)
    path.write_text(yaml.safe_dump(asked, sort_keys=False))
    arguments = ["check", folder, "--for", path, "--trtllm", "1.1.0", "--json"]
    result = CliRunner().invoke(cli, [*map(str, arguments)])
    found = {f["rule"]: f for f in json.loads(result.stdout)["findings"]}
    assert found["engine-version"]["values"] == {
        "built_with": "1.0.0",
        "wanted": "1.1.0",
    }
    assert found["engine-drafts"]["values"] == {"built_with": 2, "wanted": 4}
    assert "--max_draft_len 4" in found["engine-rebuild"]["snippet"]


def on_machine(monkeypatch, root, *, driver, version, cuda=None, tensorrt=None):
    """Give what check finds of a machine's software, on backend pytorch."""
    gpu = H200.model_copy(update={"driver": driver})
    machine = bare_machine(monkeypatch, root, gpus=[gpu])
    machine.install(version)
    if tensorrt:
        machine.record("tensorrt", tensorrt)
    if cuda:
        text = json.dumps({"cuda": {"version": cuda}})
        write(root / "cuda" / "version.json", text)
    path = root / "recipe.yaml"
    path.write_text(yaml.safe_dump(content(backend="pytorch"), sort_keys=False))
    result = CliRunner().invoke(cli, ["check", str(path), "--json"])
    return {f["rule"]: f for f in json.loads(result.stdout)["findings"]}


@pytest.mark.parametrize(
    ("machine", "rule", "severity", "values"),
    [
        (
            {"driver": "550.54.15", "version": "1.2.1", "cuda": "13.0.88"},
            "driver",
            "blocking",
            ["550.54.15", "13.0", "580"],
        ),
        (
            {"driver": "470.57.02", "version": "0.20.0"},
            "driver",
            "blocking",
            ["470.57.02", "12", "525"],
        ),
        (
            {"driver": "580.65.06", "version": "1.2.1", "cuda": "12.4.1"},
            "cuda-version",
            "warning",
            ["12.4", "13.0", "1.2.1"],
        ),
        (
            {"driver": "580.65.06", "version": "1.2.1", "tensorrt": "10.13.3.9"},
            "tensorrt-version",
            "warning",
            ["10.13.3.9", "10.14", "1.2.1"],
        ),
        (
            {"driver": "535.183.01", "version": "0.20.0", "cuda": "12.9.0"},
            "driver",
            "note",
            ["535.183.01", "12.9", "575"],
        ),
    ],
    ids=["container", "host", "cuda", "fourth digit", "minor"],
)
def test_software_that_does_not_fit(
    monkeypatch, tmp_path, machine, *, rule, severity, values
):
    """TensorRT-LLM #23, #83, #1695, #1806, #2189; cortex.cpp 1019."""
    told = on_machine(monkeypatch, tmp_path, **machine)[rule]
    assert told["severity"] == severity
    text = f"{told['what']} {told['why']} {told['action']}"
    assert all(value in text for value in values), text


def test_software_that_fits(monkeypatch, tmp_path):
    found = on_machine(
        monkeypatch, tmp_path, driver="580.65.06", version="1.2.1", cuda="13.0.88",
        tensorrt="10.14.1.48",
    )  # fmt: skip
    told = {"driver", "cuda-version", "tensorrt-version", "installation"}
    assert not told & found.keys()
