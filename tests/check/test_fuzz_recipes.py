"""Any recipe at all: findings in our words, or a refusal with its place; no crash."""

import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tests.check.fuzz import assert_said_well, attempt, fuzzed, no_hang
from tests.check.fuzz_recipes import recipes
from tests.models.drafters import (
    write_dflash,
    write_eagle,
    write_eagle3,
    write_medusa,
    write_mtp,
    write_redrafter,
)
from tests.models.tiny import write_checkpoint, write_gguf, write_pickled
from trtspec.check import check_recipe
from trtspec.cli.common import backend_for
from trtspec.cli.main import cli
from trtspec.errors import TrtspecError
from trtspec.gpu_kinds import gpu_kind
from trtspec.recipe.load import load_recipe

WRITERS = {
    "target": write_checkpoint,
    "draft": write_checkpoint,
    "pickled": write_pickled,
    "gguf": write_gguf,
    "medusa": write_medusa,
    "eagle": write_eagle,
    "eagle3": write_eagle3,
    "dflash": write_dflash,
    "redrafter": write_redrafter,
    "mtp": write_mtp,
}
MODELS = [*(f"./{name}" for name in WRITERS), "./absent", "org/name", "demo:x"]
DRAFTERS = {name: f"./{name}" for name in WRITERS} | {
    "draft_target": "./draft",
    "pard": "./draft",
    "user": "./draft",
}
VERSIONS = ["0.17.0", "0.21.0", "1.0.0", "1.1.0", "1.2.1", "1.3.0rc22", "1.4.0", "9.9"]


GPUS = [(), (gpu_kind("T4"),), (gpu_kind("A100 SXM 80GB"),) * 2, (gpu_kind("H200"),)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    directory = tmp_path_factory.mktemp("fuzz")
    for name, write in WRITERS.items():
        write(directory / name)
    asked = {"prompt": "t1 t2", "temperature": 0.5, "logprobs": True, "n": 2}
    (directory / "prompts.jsonl").write_text(json.dumps(asked) + "\n")
    (directory / "spoilt.jsonl").write_text('{"prompt": ["t1", null], "seed": "x"}\n')
    return directory


def findings_of(path, version, gpus=()):
    loaded = load_recipe(path)
    backend = backend_for(loaded.recipe, trtllm=version)
    return check_recipe(
        loaded,
        missing=backend.missing,
        rules=backend.rules,
        version=backend.version,
        free_memory=2**34,
        gpus=gpus,
    )


@fuzzed()
@given(
    text=recipes(MODELS, DRAFTERS),
    version=st.sampled_from(VERSIONS),
    gpus=st.sampled_from(GPUS),
)
def test_any_recipe_is_checked_or_refused_in_our_words(folder, text, version, gpus):
    path = folder / "recipe.yaml"
    path.write_text(text, encoding="utf-8", errors="replace")
    assert_said_well(attempt(findings_of, path, version, gpus) or ())


@fuzzed(0.2)
@given(
    text=recipes(MODELS, DRAFTERS),
    command=st.sampled_from(["check", "plan"]),
    version=st.sampled_from(VERSIONS),
    shown=st.sampled_from([["--json"], []]),
)
def test_any_recipe_goes_through_the_command_line(
    folder, text, command, version, shown
):
    path = folder / "recipe.yaml"
    path.write_text(text, encoding="utf-8", errors="replace")
    arguments = [command, str(path), "--trtllm", version, *shown]
    with no_hang():
        done = CliRunner().invoke(cli, arguments)
    assert done.exception is None or isinstance(done.exception, TrtspecError), (
        done.exception
    )
    if shown and done.stdout:
        json.loads(done.stdout)
