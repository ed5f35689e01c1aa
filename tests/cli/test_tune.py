"""``trtspec tune`` from a terminal's point of view, on a toy that is built for real."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.build.projects import write_project
from tests.models.drafters import write_eagle
from tests.reference.artifacts import TEMPLATE
from trtspec.bench import conditions
from trtspec.cli.main import _run
from trtspec.recipe import load_recipe
from trtspec.tune.confirm import fixed_name
from trtspec.tune.replay import replay
from trtspec.tune.trace_file import read_traces

FEW = (
    "--limit", "3", "--output-tokens", "6", "--concurrency", "1,2", "--longest", "3",
    "--repeats", "3", "--threads", "1",
)  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A recipe, its engines, and the command; every tuning has its own directory."""
    folder = tmp_path_factory.mktemp("tune")
    recipe = write_project(
        folder,
        prompts=("t3 t4 t3 t4 t3", "t4 t5 t4 t5", "t5 t3"),
        limits={"max_total_tokens": 64},
    )
    (folder / "template.jinja").write_text(TEMPLATE)
    document = json.loads(recipe.read_text())
    document["target"]["chat_template"] = "template.jinja"
    document |= {"backend": "reference", "sampling": {"temperature": 0.0}}
    recipe.write_text(yaml.safe_dump(document, sort_keys=False))

    def run(*arguments, recipes=(recipe,)):
        command = ["tune", *recipes, "--engines", folder / "engines", *FEW, *arguments]
        return _run([str(word) for word in command])

    run.folder, run.recipe = folder, recipe
    return run


@pytest.fixture(autouse=True)
def here(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    monkeypatch.setattr(conditions, "IDLE_SECONDS", 0.01)


@pytest.fixture(scope="module")
def tuned(project):
    """One tuning with everything, read back."""
    output = project.folder / "whole"
    code = project(
        "--exhaustive",
        "--output",
        output,
        "--write",
        project.folder / "tuned" / "toy.yaml",
    )
    return code, output, json.loads((output / "result.json").read_text())


def test_three_prompts_allow_no_claim(tuned):
    code, _, _ = tuned
    assert code == 6


def test_the_document_has_it_all(tuned):
    _, _, document = tuned
    assert document["schema"] == "trtspec/tune/v1"
    (candidate,) = document["candidates"]
    assert set(candidate["surface"]) == {"1", "2"}
    lengths = [point["length"] for point in candidate["surface"]["1"]]
    assert lengths == [0, 1, 2, 3]
    assert [load["concurrency"] for load in candidate["loads"]] == [1, 2]
    assert document["bill"]["swept"]
    parts = [item["part"] for item in document["bill"]["items"]]
    assert parts == ["traces", "costs", "sweep"]
    assert all(item["model_seconds"] > 0 for item in document["bill"]["items"])
    regret = document["confirmation"]["regret"]
    assert set(regret) == {"1", "2"}
    assert all(0 <= lost < 1 for lost in regret.values())


def test_its_traces_and_costs_are_files(tuned):
    _, output, document = tuned
    name = document["candidates"][0]["name"]
    traces = (output / "traces" / f"{name}.jsonl").read_text().splitlines()
    assert len(traces) == 1 + 3
    costs = json.loads((output / "costs" / f"{name}.json").read_text())
    assert costs["verify"]["source"] == "measured"
    assert (output / "confirmation" / "result.json").exists()


def test_the_replayed_acceptance_is_the_measured_one(tuned):
    """Of every draft length and load; the toy is in float32."""
    _, output, _ = tuned
    (file,) = (output / "traces").iterdir()
    traces = read_traces(file).prompts
    bench = json.loads((output / "confirmation" / "result.json").read_text())
    compared = 0
    for cell in bench["cells"]:
        for length in (1, 2, 3):
            found = replay(traces, cell["load"]["concurrency"], lambda _, k=length: k)
            arm = cell["arms"][fixed_name(length)]
            assert arm["acceptance"]["length"] == pytest.approx(found.acceptance_length)
            compared += found.acceptance_length > 1
    assert compared > 1


def test_the_tuned_recipe_is_one(tuned, project):
    _, _, document = tuned
    path = project.folder / "tuned" / "toy.yaml"
    recipe = load_recipe(path).recipe
    assert recipe.tuned.fingerprint == document["candidates"][0]["fingerprint"]
    assert recipe.workload.concurrency == (1, 2)
    assert recipe.workload.output_tokens == 6
    assert [row.concurrency for row in recipe.tuned.loads] == [1, 2]
    chosen = document["candidates"][0]["draft_length"]
    if chosen is None:
        assert recipe.speculation.method == "none"
    else:
        written = yaml.safe_load(path.read_text())["speculation"]["draft_length"]
        told = (
            {int(k): v for k, v in chosen.items()}
            if isinstance(chosen, dict)
            else chosen
        )
        assert written == told


def test_the_command_is_kept(tuned):
    _, _, document = tuned
    assert "--exhaustive" in document["command"]


def test_what_a_load_is_said_to_bring_is_of_its_length(tuned):
    """Also where the bench has changed the choice."""
    _, _, document = tuned
    candidate = document["candidates"][0]
    for load in candidate["loads"]:
        if load["length"]:
            assert load["of_length"] == load["length"]
        points = candidate["surface"][str(load["concurrency"])]
        assert load["of_length"] in [point["length"] for point in points]
        assert load["measured"] or load["doubted"]


def test_a_workload_of_another_file_is_written_into_the_recipe(project):
    other = project.folder / "other.jsonl"
    other.write_text((project.folder / "prompts.jsonl").read_text())
    written = project.folder / "elsewhere" / "toy.yaml"
    arguments = ("--prompts", other, "--no-confirm", "--output", "elsewhere/tuning")
    project(*arguments, "--write", written)
    assert load_recipe(written).recipe.workload.prompts == "../other.jsonl"


def test_traces_of_before_are_taken(project, tuned, capfd):
    _, output, _ = tuned
    again = project.folder / "again"
    code = project("--no-confirm", "--traces", output, "--output", again, "--json")
    out, err = capfd.readouterr()
    assert code in (0, 6)
    assert "trace taken from" in err
    document = json.loads(out)
    (traces, _) = document["bill"]["items"]
    assert (traces["part"], traces["steps"]) == ("traces", 0)
    assert document["confirmation"] is None
    assert document["recipe"].endswith(".tuned.yaml")


def test_traces_of_another_workload_are_refused(project, tuned, capfd):
    _, output, _ = tuned
    code = project("--limit", "2", "--traces", output, "--output", "other")
    assert code == 2
    assert "prompts_sha256" in capfd.readouterr().err


def test_the_table_says_the_choice_first(project, capfd):
    project("--no-confirm", "--output", "table", "--tpot", "0.5")
    out = capfd.readouterr().out
    first = out.splitlines()[0]
    assert "draft_length" in first or "do not speculate" in first
    for said in ("concurrency", "tokens/step", "TPOT up to 0.5 s", "a sweep of all"):
        assert said in out


def test_a_tuning_is_not_overwritten(project, tuned, capfd):
    _, output, _ = tuned
    assert project("--output", output) == 2
    assert "holds a tuning already" in capfd.readouterr().err


def test_a_backend_that_is_not_here_is_said(project, capfd):
    text = project.recipe.read_text()
    assert "backend: reference" in text
    other = project.folder / "absent.yaml"
    other.write_text(text.replace("backend: reference", "backend: pytorch"))
    assert project("--output", "refused", recipes=(other,)) == 4
    assert "--price-for GPU" in capfd.readouterr().err


def test_a_recipe_that_samples_is_traced_by_its_chances(project, capfd):
    other = project.folder / "sampled.yaml"
    text = project.recipe.read_text()
    assert "temperature: 0.0" in text
    other.write_text(text.replace("temperature: 0.0", "temperature: 0.9"))
    code = project("--no-confirm", "--output", "sampled", "--json", recipes=(other,))
    out, err = capfd.readouterr()
    assert code in (0, 6), err
    assert json.loads(out)["candidates"][0]["surface"]["1"][1]["tokens_per_step"] > 1
    (file,) = (project.folder / "sampled" / "traces").iterdir()
    traces = read_traces(file)
    assert traces.head.sampling["temperature"] == 0.9
    assert all(one.chances for one in traces.prompts)


def test_fixed_trees_of_a_head_are_compared_and_one_is_written(project, capfd):
    """Also where the head is never right: then the smallest tree is looked at."""
    write_eagle(project.folder / "eagle")
    document = yaml.safe_load(project.recipe.read_text())
    document["speculation"] = {
        "method": "eagle",
        "model": "./eagle",
        "tree": [[0], [1], [0, 0]],
        "num_layers": 2,
    }
    other = project.folder / "trees.yaml"
    other.write_text(yaml.safe_dump(document, sort_keys=False))
    code = project("--output", "trees", "--json", recipes=(other,))
    out, err = capfd.readouterr()
    assert code == 6, err
    found = json.loads(out)
    (candidate,) = found["candidates"]
    assert not candidate["cut_anywhere"]
    assert [point["length"] for point in candidate["surface"]["1"]][:2] == [0, 1]
    (file,) = (project.folder / "trees" / "traces").iterdir()
    assert all(one.ranks is not None for one in read_traces(file).prompts)
    written = load_recipe(found["recipe"]).recipe.speculation
    if candidate["tree"]:
        assert [list(path) for path in written.tree] == candidate["tree"]
        assert written.num_layers == max(map(len, candidate["tree"]))
    else:
        assert written.method == "none"


def test_a_recipe_without_drafts_is_refused(project, capfd):
    none = project.folder / "none.yaml"
    document = yaml.safe_load(project.recipe.read_text())
    none.write_text(yaml.safe_dump({**document, "speculation": {"method": "none"}}))
    assert project("--output", "refused", recipes=(none,)) == 2
    assert "nothing to tune" in capfd.readouterr().err


def test_a_concurrency_above_the_slots_is_refused(project, capfd):
    assert project("--output", "refused", "--concurrency", "4000") == 2
    assert "4000" in capfd.readouterr().err


def test_steps_of_a_gpu_are_priced_and_nothing_is_claimed(project, capfd):
    """A recipe of backend pytorch is traced here, and stays what it is."""
    other = project.folder / "pytorch.yaml"
    text = project.recipe.read_text().replace("backend: reference", "backend: pytorch")
    other.write_text(text)
    arguments = ("--price-for", "H200", "--host-overhead", "0.25", "--output", "priced")
    code = project(*arguments, "--json", recipes=(other,))
    out, err = capfd.readouterr()
    assert code == 6, err
    document = json.loads(out)
    assert document["costs"] in ("priced", "roofline")
    assert document["hardware"] == "H200"
    assert document["confirmation"] is None
    assert any("not measured" in note for note in document["notes"])
    assert any("host 0.25 ms" in note for note in document["notes"])
    assert all(load["priced"] for load in document["candidates"][0]["loads"])
    tuned = load_recipe(document["recipe"]).recipe
    assert tuned.backend == "pytorch"
    assert tuned.tuned.hardware == "H200"
    assert {row.verdict for row in tuned.tuned.loads} == {"no claim"}


def test_a_sweep_cannot_be_run_for_a_gpu_that_is_not_here(project, capfd):
    assert project("--price-for", "H200", "--exhaustive") == 2
    assert "one of them" in capfd.readouterr().err


def test_an_unknown_gpu_is_refused_before_anything_is_built(project, capfd):
    assert project("--price-for", "H2000") == 2
    assert "H2000" in capfd.readouterr().err
