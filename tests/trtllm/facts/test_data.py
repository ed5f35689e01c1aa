"""Every fact file is complete: ranges, sources, no fact twice, nothing unreadable."""

import json
import re
import subprocess
import sys
from importlib.resources import files

import pytest
from packaging.version import Version

from trtspec.trtllm import facts
from trtspec.trtllm.facts.read import document, established
from trtspec.trtllm.versions import is_specifier

FILES = (
    "versions",
    "trtllm_build",
    "scripts",
    "executor",
    "engine_config",
    "failures",
    "constraints",
    "llm_args",
    "serve",
    "pytorch",
    "serving_failures",
    "combinations",
    "stale_keys",
    "drivers",
)


def _facts():
    """Every record there is, of every file."""
    for program in facts.PROGRAMS:
        yield from facts.all_flags(program)
        yield from facts.all_script_paths(program)
    for name in facts.class_names():
        for part in ("arguments", "attributes"):
            yield from facts.all_fields(name, part)
    yield from facts.value_limits()
    yield from facts.failures()
    yield from facts.constraints()
    yield from facts.all_targets()
    yield from facts.architectures().values()
    yield from facts.example_folders()
    yield from facts.version_marks()


EVERY_FACT = tuple(_facts())


def test_the_files_are_those_of_the_package():
    folder = files("trtspec.trtllm.facts")
    present = {entry.name for entry in folder.iterdir() if entry.name.endswith("json")}
    assert present == {f"{name}.json" for name in FILES}


@pytest.mark.parametrize("name", FILES)
def test_each_file_is_an_object_that_names_no_key_twice(name):
    def unique(pairs):
        keys = [key for key, _ in pairs]
        assert len(keys) == len(set(keys)), keys
        return dict(pairs)

    text = (files("trtspec.trtllm.facts") / f"{name}.json").read_text("utf-8")
    assert json.loads(text, object_pairs_hook=unique) == document(f"{name}.json")


def test_every_fact_has_a_range_and_a_source_that_says_something():
    assert len(EVERY_FACT) > 400
    for fact in EVERY_FACT:
        assert is_specifier(fact.versions), fact
        assert len(fact.source.strip()) >= 5, fact


def test_every_fact_is_about_some_version_with_the_backend():
    known = [Version(release.version) for release in facts.releases()]
    known += [Version(f"1.3.0rc{number}") for number in range(21)]
    for fact in EVERY_FACT:
        assert any(established([fact], version) for version in known), fact


def test_no_path_of_a_machine_of_ours_is_in_the_data():
    served = {endpoint.path for endpoint in facts.all_endpoints()}
    for name in FILES:
        text = (files("trtspec.trtllm.facts") / f"{name}.json").read_text("utf-8")
        for path in re.findall(r'"(/[^"]*)"', text):
            assert path.startswith("/app") or path in served, path


def test_reading_the_facts_imports_no_engine_and_no_framework():
    check = (
        "import sys, trtspec.trtllm.facts as f; f.failures(); f.all_flags('llama');"
        "f.all_controls(); f.all_keys(f.arg_classes()[0]);"
        "print([n for n in ('tensorrt_llm', 'tensorrt', 'torch', 'transformers')"
        " if n in sys.modules])"
    )
    said = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "[]"


def test_what_nobody_could_establish_is_told():
    told = facts.not_established()
    assert len(told) > 5
    assert all(isinstance(line, str) and line for line in told)
