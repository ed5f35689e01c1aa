"""``trtspec init``: the list, the recipe that it writes, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.models.drafters import write_eagle3
from tests.models.tiny import write_checkpoint
from tests.trtllm.machines import H200, bare_machine, write_examples
from trtspec.cli import check as check_command
from trtspec.cli.init import command
from trtspec.errors import FindingsError, TrtspecError, UsageError
from trtspec.recipe.load import load_recipe

ROOT = Path(__file__).resolve().parents[2]
DEMO = "demo:smollm2-135m-instruct"
LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRTSPEC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))

    def run(*arguments, columns=80):
        environment = {"COLUMNS": str(columns)}
        result = CliRunner(env=environment).invoke(command, arguments)
        if isinstance(result.exception, TrtspecError):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result

    return run


def test_it_writes_a_recipe_that_check_passes(run, tmp_path):
    output = run(DEMO, "--backend", "reference").stdout
    assert "usable: ngram on reference  <- the recipe begins with this" in output
    assert "wrote recipe.yaml; next: trtspec check recipe.yaml" in output
    result = CliRunner().invoke(check_command.command, ["recipe.yaml"])
    assert result.exit_code == 0
    assert "ok: nothing blocks recipe.yaml" in result.stdout
    assert load_recipe("recipe.yaml").recipe.target.dtype == "float32"


def test_it_never_overwrites_without_force(run, tmp_path):
    path = tmp_path / "recipe.yaml"
    path.write_text("mine")
    with pytest.raises(UsageError, match=r"recipe\.yaml exists"):
        run(DEMO)
    assert path.read_text() == "mine"
    run(DEMO, "--backend", "reference", "--force")
    assert load_recipe(path).recipe.speculation.method == "ngram"


@pytest.mark.parametrize("more", [(), ("--force",)])
def test_a_directory_is_no_file_to_write(run, tmp_path, more):
    (tmp_path / "d").mkdir()
    with pytest.raises(UsageError, match="d is a directory") as error:
        run(DEMO, "--backend", "reference", "--out", "d", *more)
    assert "name a file" in error.value.problems[0].action


def test_a_folder_that_cannot_be_made_is_the_option_s_fault(run, tmp_path):
    (tmp_path / "f").touch()
    with pytest.raises(UsageError, match="cannot be written") as error:
        run(DEMO, "--backend", "reference", "--out", "f/r.yaml")
    assert error.value.problems[0].where == "--out"


def test_a_method_that_cannot_be_used_is_refused_with_its_reason(run):
    with pytest.raises(FindingsError) as error:
        run(LLAMA, "--trtllm", "1.2.1", "--method", "lookahead", "--out", "-",
            "--backend", "pytorch")  # fmt: skip
    (problem,) = error.value.problems
    assert "lookahead is not usable on pytorch: it has no lookahead" in problem.what


def test_without_a_workload_limits_stay_within_the_head_s_context(run, tmp_path):
    write_checkpoint(tmp_path / "t", max_position_embeddings=8192)
    write_eagle3(tmp_path / "h", head_dim=4, max_position_embeddings=2048)
    given = ("./t", "--trtllm", "1.2.1", "--draft", "./h", "--method", "eagle3")
    run(*given)
    assert "the drafter's 2048, less 4 for drafts" in Path("recipe.yaml").read_text()
    checked = ["recipe.yaml", "--trtllm", "1.2.1", "--json"]
    found = json.loads(CliRunner().invoke(check_command.command, checked).stdout)
    assert "drafter-context" not in {f["rule"] for f in found["findings"]}


def test_to_stdout_goes_the_recipe_alone(run, tmp_path):
    result = run(LLAMA, "--trtllm", "1.2.1", "--out", "-")
    (tmp_path / "r.yaml").write_text(result.stdout)
    recipe = load_recipe(tmp_path / "r.yaml").recipe
    assert (recipe.backend, recipe.speculation.method) == ("pytorch", "eagle3")
    assert "usable after a download: eagle3 on pytorch" in result.stderr
    assert not (tmp_path / "recipe.yaml").exists()


def test_the_recipe_says_what_is_not_known_and_what_was_not_verified(run):
    text = run(LLAMA, "--trtllm", "1.2.1", "--out", "-").stdout
    assert "Nothing is known about speed until trtspec bench" in text
    assert "https://github.com/SafeAILab/EAGLE/blob/main/README.md" in text
    assert "verified on" in text
    assert "a starting point, not tuned" in text


def test_paths_are_written_as_the_recipe_needs_them(run, tmp_path):
    write_checkpoint(tmp_path / "models" / "t")
    (tmp_path / "w.jsonl").write_text('{"prompt": "t1 t2"}\n')
    run("models/t", "--backend", "reference", "--workload", "w.jsonl",
        "--out", "recipes/mine/r.yaml")  # fmt: skip
    loaded = load_recipe("recipes/mine/r.yaml")
    assert loaded.recipe.target.model == "../../models/t"
    assert loaded.recipe.workload.prompts == "../../w.jsonl"
    result = CliRunner().invoke(check_command.command, ["recipes/mine/r.yaml"])
    assert result.exit_code == 0, result.output


def test_as_json_it_is_one_document_and_writes_nothing(run, tmp_path):
    result = run(LLAMA, "--trtllm", "1.2.1", "--json")
    document = json.loads(result.stdout)
    assert not (tmp_path / "recipe.yaml").exists()
    assert document["version"] == "1.2.1"
    first, *others = document["candidates"]
    assert (first["method"], first["state"], first["chosen"]) == (
        "eagle3",
        "download",
        True,
    )
    assert first["origin"] == "published"
    assert first["speculation"]["draft_length"] == 3
    assert not any(one["chosen"] for one in others)
    assert {one["state"] for one in others} == {"usable", "download", "get", "no"}
    assert document["recipe"].startswith("# Llama-3.1-8B-Instruct")


def test_as_json_it_writes_where_it_is_told_to(run, tmp_path):
    result = run(DEMO, "--backend", "reference", "--json", "--out", "r.yaml")
    assert json.loads(result.stdout)["recipe"] == (tmp_path / "r.yaml").read_text()


def test_a_given_head_is_named_with_what_told_it(run, tmp_path):
    write_checkpoint(tmp_path / "t")
    write_eagle3(tmp_path / "h", head_dim=4)
    output = run("./t", "--trtllm", "1.2.1", "--draft", "./h", "--json").stdout
    found = next(c for c in json.loads(output)["candidates"] if c["drafter"])
    assert (found["method"], found["drafter"]) == ("eagle3", "./h")
    assert found["told_by"]


def test_another_method_can_be_asked_for(run):
    run(LLAMA, "--trtllm", "1.2.1", "--method", "ngram")
    assert load_recipe("recipe.yaml").recipe.speculation.method == "ngram"


def test_example_scripts_are_those_that_it_is_told_of(run, tmp_path, monkeypatch):
    machine = bare_machine(monkeypatch, tmp_path, gpus=[H200])
    machine.install("1.2.1")
    write_checkpoint(tmp_path / "t")
    mine = write_examples(tmp_path / "mine", "1.2.1")

    def needs(*arguments):
        asked = ["./t", "--backend", "tensorrt", "--json", *arguments]
        document = json.loads(CliRunner().invoke(command, asked).stdout)
        return next(c for c in document["candidates"] if c["method"] == "ngram")[
            "needs"
        ]

    assert any("no example scripts" in text for text in needs())
    found = needs("--examples", str(mine))
    assert found  # its scripts have one flag only
    assert not any("no example scripts" in text for text in found)


@pytest.mark.parametrize("name", ["none", "auto", "eagle4"])
def test_a_method_without_a_start_is_refused(run, name):
    with pytest.raises(UsageError, match="no method"):
        run(DEMO, "--method", name)


def test_where_nothing_can_be_used_it_says_why_and_writes_nothing(run, tmp_path):
    write_checkpoint(tmp_path / "t", model_type="qwen3_next")
    with pytest.raises(FindingsError, match="no recipe was written") as error:
        run("./t", "--backend", "reference", "--out", "a/b/r.yaml")
    assert error.value.exit_code == 3
    assert not (tmp_path / "a").exists()


def test_without_tensorrt_llm_it_says_how_to_ask_about_a_release(run):
    assert "--trtllm VERSION" in run(DEMO, "--out", "-").stderr


def test_lines_fit_the_terminal(run):
    output = run(LLAMA, "--trtllm", "1.2.1", columns=60).stdout
    long = [line for line in output.splitlines() if len(line) > 60]
    assert all("://" in line or not line.startswith(" ") for line in long)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["./nowhere"], "there is no directory"),
        ([""], "an empty name"),
        ([DEMO, "--draft", ""], "an empty name"),
        ([DEMO, "--workload", "nowhere.jsonl"], "nowhere.jsonl"),
        ([DEMO, "--draft", "./nowhere"], "there is no directory"),
        ([DEMO, "--draft", "some/thing"], "hf download some/thing"),
        ([DEMO, "--trtllm", "0.9"], "older than what trtspec drives"),
        ([DEMO, "--gpu", "h1000"], "no GPU named"),
        ([DEMO, "--examples", "nowhere"], "--examples"),
    ],
    ids=[
        "target",
        "empty",
        "empty-draft",
        "workload",
        "draft",
        "draft-id",
        "trtllm",
        "gpu",
        "examples",
    ],
)
def test_what_cannot_be_read_is_refused_with_its_name(run, arguments, said):
    with pytest.raises(TrtspecError) as error:
        run(*arguments)
    assert said in str(error.value)
    assert error.value.exit_code == 2


@pytest.mark.parametrize("option", ["TARGET", "--draft", "--workload"])
def test_a_name_that_is_no_text_is_refused(run, option):
    name = "b\udcffd"  # a byte that is not UTF-8, as the shell hands it on
    (Path.cwd() / name).mkdir()
    arguments = [name] if option == "TARGET" else [DEMO, option, name]
    with pytest.raises(UsageError, match="is not UTF-8") as error:
        run(*arguments)
    assert error.value.problems[0].where == option


def test_it_imports_neither_torch_nor_transformers():
    """It answers before anything heavy could have been imported."""
    statement = (
        "import sys\n"
        "sys.argv = ['trtspec', 'init', sys.argv[1], '--out', '-']\n"
        "from trtspec.cli.main import main\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    print(sorted({'torch', 'transformers', 'scipy'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", statement, LLAMA],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.endswith("[]\n")
