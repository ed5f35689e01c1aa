"""Every bundled recipe: valid, commented, planned for every version with engines."""

from __future__ import annotations

import re

import jinja2
import pytest
from click.testing import CliRunner

from tests.e2e.conftest import ROOT
from tests.e2e.recipe_comments import (
    NAME,
    numbers_without_a_reason,
    says_that_it_is_not_tuned,
)
from trtspec.cli.main import cli
from trtspec.errors import BackendUnavailableError
from trtspec.methods import Eagle
from trtspec.recipe import load_prompts, load_recipe

RECIPES = sorted(ROOT.glob("recipes/*/*.yaml"))
ENGINES = [p for p in RECIPES if load_recipe(p).recipe.backend == "tensorrt"]
VERSIONS = ["0.17.0", "0.20.0", "1.0.0", "1.2.1", "1.3.0rc20"]
FOLDERS = {
    "vicuna-7b": {"medusa", "eagle", "redrafter", "none"},
    "llama-3.1-70b": {"draft-target-fp8", "none"},
    "llama-3.1-8b": {"ngram", "lookahead", "none"},
}
MODES = {
    "none": None,
    "ngram": "draft_tokens_external",
    "draft_target": "draft_tokens_external",
    "medusa": "medusa",
    "eagle": "eagle",
    "redrafter": "explicit_draft_tokens",
    "lookahead": "lookahead_decoding",
}
PLAIN = ("none", "ngram", "lookahead")
"""Methods whose target is converted as a model of its own."""
VICUNA_CONTEXT = 2048


def name(path):
    return f"{path.parent.name}/{path.stem}"


def every(paths):
    return pytest.mark.parametrize("path", paths, ids=name)


@pytest.fixture(autouse=True)
def nothing_downloaded(tmp_path, monkeypatch):
    """The recipes' models are not in the hub's cache, wherever the tests run."""
    for variable in ("HF_HOME", "HF_HUB_CACHE"):
        monkeypatch.setenv(variable, str(tmp_path))


def run(command, path, version):
    arguments = [command, str(path), "--trtllm", version]
    return CliRunner().invoke(cli, arguments)


def words(text):
    """The text of a plan without its line breaks."""
    return " ".join(text.replace("\\\n", " ").split())


def flag(text, program, option):
    """The value of an option, once per call of a program."""
    calls = re.findall(rf"{re.escape(program)} (.*?)(?=\n  \w|\n\w|$)", text, re.S)
    found = (re.search(rf"{option} (\S+)", words(call)) for call in calls)
    return [match and match[1] for match in found]


def test_the_engine_recipes_are_there():
    found = {}
    for path in ENGINES:
        found.setdefault(path.parent.name, set()).add(path.stem)
    assert found == FOLDERS


@every(RECIPES)
def test_it_is_valid_and_names_prompts_that_exist(path):
    loaded = load_recipe(path)
    prompts = loaded.base / loaded.recipe.workload.prompts
    assert len(load_prompts(prompts, "workload")) == 16


@every(ENGINES)
def test_it_is_named_after_its_place(path):
    assert load_recipe(path).recipe.name == f"{path.parent.name}-{path.stem}"


@every(ENGINES)
def test_a_draft_length_or_tree_is_called_a_starting_point(path):
    drafts = load_recipe(path).recipe.speculation.method != "none"
    assert says_that_it_is_not_tuned(path.read_text()) == drafts


@every(ENGINES)
def test_every_number_is_explained(path):
    assert numbers_without_a_reason(path.read_text(), NAME) == []


@every([path for path in ENGINES if path.stem != "none"])
def test_its_off_arm_differs_in_speculation_alone(path):
    on, off = (load_recipe(p).recipe for p in (path, path.with_name("none.yaml")))
    for section in ("target", "limits", "sampling", "workload"):
        assert getattr(on, section) == getattr(off, section), section


@every([path for path in ENGINES if path.parent.name == "vicuna-7b"])
def test_vicunas_context_holds_the_drafts_too(path):
    recipe = load_recipe(path).recipe
    method = recipe.speculation
    levels = method.num_layers if isinstance(method, Eagle) else 0
    longest = recipe.limits.max_total_tokens + method.longest_draft + levels
    assert longest <= VICUNA_CONTEXT


@pytest.mark.parametrize("version", VERSIONS)
@every(ENGINES)
def test_it_is_planned_for_every_version(path, version):
    done = run("plan", path, version)
    assert done.exit_code == 0, done.output
    assert "missing" not in done.output
    recipe = load_recipe(path).recipe
    method = recipe.speculation
    modes = flag(done.output, "trtllm-build", "--speculative_decoding_mode")
    draft = [None] if method.method == "draft_target" else []
    assert modes == [MODES[method.method], *draft]
    batch = str(recipe.limits.max_batch_size)
    sizes = flag(done.output, "trtllm-build", "--max_batch_size")
    assert sizes == [batch] * len(modes)
    folder = "llama" if version == "0.17.0" else "models/core/llama"
    if recipe.target.quantization == "none" and method.method in PLAIN:
        assert f"/examples/{folder}/convert_checkpoint.py" in done.output


@pytest.mark.parametrize("version", VERSIONS)
@every(ENGINES)
def test_nothing_blocks_it_in_any_version(path, version):
    done = run("check", path, version)
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("version", ["1.3.0rc21", "1.3.0"])
@every(ENGINES)
def test_it_is_refused_with_the_ways_on_after_the_removal(path, version):
    error = run("plan", path, version).exception
    assert isinstance(error, BackendUnavailableError)
    assert error.exit_code == 4
    text = "\n".join(map(str, error.problems))
    assert "the engine path was removed upstream in 1.3.0rc21" in text
    assert "pip install tensorrt_llm==1.2.1" in text
    method = load_recipe(path).recipe.speculation.method
    if method in ("none", "ngram", "draft_target"):
        assert "backend: pytorch" in text
        assert f"name: {path.parent.name}-{path.stem}" in text
    else:
        assert f"method {method} has no equivalent on backend pytorch" in text


def test_redrafter_is_converted_in_two_steps_from_1_0_on():
    path = ROOT / "recipes/vicuna-7b/redrafter.yaml"
    assert "convert-base" not in run("plan", path, "0.20.0").output
    assert "convert-base" in run("plan", path, "1.0.0").output


def test_the_70b_recipe_is_quantized_and_split_over_four_gpus():
    path = ROOT / "recipes/llama-3.1-70b/draft-target-fp8.yaml"
    text = run("plan", path, "1.2.1").output
    assert flag(text, "quantize.py", "--qformat") == ["fp8", "fp8"]
    assert flag(text, "quantize.py", "--kv_cache_dtype") == ["fp8", "fp8"]
    assert flag(text, "quantize.py", "--tp_size") == ["4", None]
    assert flag(text, "trtllm-build", "--workers") == ["4", None]
    assert flag(text, "trtllm-build", "--max_draft_len") == ["10", None]


def test_vicunas_chat_template_is_that_of_its_training():
    sandbox = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    file = ROOT / "recipes/vicuna-7b/chat_template.jinja"
    template = sandbox.from_string(file.read_text())
    turns = [("user", "Hello!"), ("assistant", "Hi!"), ("user", "How are you?")]
    system = (
        "A chat between a curious user and an artificial intelligence assistant. The "
        "assistant gives helpful, detailed, and polite answers to the user's questions."
    )

    def render(messages, add_generation_prompt=True):
        return template.render(
            messages=[{"role": r, "content": c} for r, c in messages],
            bos_token="<s>",
            eos_token="</s>",
            add_generation_prompt=add_generation_prompt,
        )

    # FastChat's vicuna_v1.1: seps " " and "</s>"
    talk = "USER: Hello! ASSISTANT: Hi!</s>USER: How are you? ASSISTANT:"
    assert render(turns) == f"<s>{system} {talk}"
    assert render([("system", "Be brief."), *turns]) == f"<s>Be brief. {talk}"
    assert render(turns[:2], False) == f"<s>{system} USER: Hello! ASSISTANT: Hi!</s>"
