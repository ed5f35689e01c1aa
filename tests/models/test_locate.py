"""A model name means a directory, a hub id or the demo model, or is refused."""

import dataclasses

import pytest

from tests.models.tiny import write_checkpoint
from trtspec.errors import UsageError
from trtspec.models import locate
from trtspec.models.demo import DEMO
from trtspec.models.locate import ModelReference, fetch, parse_reference

WHERE = "recipes/x.yaml:4"


def refusal(text, base):
    with pytest.raises(UsageError) as caught:
        parse_reference(text, None, base, WHERE)
    problem = caught.value.problems[0]
    assert problem.where == WHERE
    assert problem.allowed
    return problem.what


@pytest.mark.parametrize("text", ["model", "./model", "../here/model", "org/../model"])
def test_an_existing_directory_is_one_relative_to_the_recipe(tmp_path, text):
    base = tmp_path / "here"
    (base / "org").mkdir(parents=True)
    (base / "model").mkdir()
    reference = parse_reference(text, None, base)
    assert (reference.kind, reference.text) == ("directory", text)
    assert reference.path.resolve() == base / "model"


def test_an_absolute_directory_is_taken_as_it_is(tmp_path):
    reference = parse_reference(str(tmp_path), None, tmp_path / "elsewhere")
    assert reference == ModelReference("directory", str(tmp_path), None, tmp_path)


def test_a_tilde_is_the_home_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "models").mkdir()
    assert parse_reference("~/models", None, tmp_path).path == tmp_path / "models"


@pytest.mark.parametrize(
    "text", ["./absent", "../absent", "/absent/model", "~/absent", "~nobody-here/x"]
)
def test_a_name_in_the_form_of_a_path_must_exist(tmp_path, text, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    what = refusal(text, tmp_path)
    assert repr(text) in what
    assert "there is no directory" in what
    assert "Hugging Face" not in what


@pytest.mark.parametrize(
    "text", ["a/b/c", "org/", "org//name", "a b", "org/na me", "-x", "é/b"]
)
def test_what_is_neither_directory_nor_hub_id_is_refused(tmp_path, text):
    assert "it is no Hugging Face id" in refusal(text, tmp_path)


def test_a_file_is_refused_with_a_hint_at_its_directory(tmp_path):
    (tmp_path / "model.gguf").touch()
    assert refusal("model.gguf", tmp_path) == "model 'model.gguf' is a file"
    assert refusal("./model.gguf", tmp_path) == "model './model.gguf' is a file"


@pytest.mark.parametrize("text", ["gpt2", "HuggingFaceTB/SmolLM2-135M", "a_b/c.d-e"])
def test_other_names_are_hub_ids_that_may_not_be_here_yet(tmp_path, text):
    reference = parse_reference(text, "main", tmp_path)
    assert reference == ModelReference("hub", text, "main", None)


def test_the_demo_model_is_known_before_it_is_downloaded(tmp_path):
    text = f"demo:{DEMO.name}"
    assert parse_reference(text, None, tmp_path) == ModelReference(
        "demo", text, None, None
    )


def test_the_demo_model_has_a_directory_once_it_is_downloaded(tmp_path):
    DEMO.directory.mkdir(parents=True)
    with (DEMO.directory / DEMO.gguf_name).open("wb") as stream:
        stream.truncate(DEMO.gguf_bytes)
    assert parse_reference(f"demo:{DEMO.name}", None, tmp_path).path == DEMO.directory


def test_half_a_demo_model_is_none(tmp_path):
    DEMO.directory.mkdir(parents=True)
    (DEMO.directory / DEMO.gguf_name).write_bytes(b"GGUF")
    assert parse_reference(f"demo:{DEMO.name}", None, tmp_path).path is None


def test_an_unknown_demo_model_is_refused_with_the_one_there_is(tmp_path):
    with pytest.raises(UsageError) as caught:
        parse_reference("demo:llama", None, tmp_path, WHERE)
    assert caught.value.problems[0].allowed == "demo:smollm2-135m-instruct"


def test_fetching_a_directory_gives_it_without_any_word(tmp_path):
    reference = parse_reference(str(write_checkpoint(tmp_path)), None, tmp_path)
    said = []
    assert fetch(reference, said.append) == tmp_path
    assert said == []


def test_fetching_the_demo_model_is_passed_on_with_the_progress(monkeypatch, tmp_path):
    monkeypatch.setattr(locate, "fetch_demo", lambda say: say("93 MB") or tmp_path)
    said = []
    reference = parse_reference(f"demo:{DEMO.name}", None, tmp_path)
    assert fetch(reference, said.append) == tmp_path
    assert said == ["93 MB"]


def test_fetching_a_hub_model_downloads_only_what_is_not_cached(monkeypatch, tmp_path):
    monkeypatch.setattr(locate, "download_snapshot", lambda *args: tmp_path / "new")
    reference = parse_reference("org/name", "v2", tmp_path)
    assert fetch(reference, print) == tmp_path / "new"
    monkeypatch.setattr(locate, "cached_snapshot", lambda *args: tmp_path / "old")
    assert fetch(reference, print) == tmp_path / "old"
    here = dataclasses.replace(reference, path=tmp_path / "here")
    assert fetch(here, print) == tmp_path / "here"


def test_what_a_name_is_a_checkpoint_of_goes_with_it(tmp_path, monkeypatch):
    asked = []

    def remember(name, revision, *rest):
        asked.append(rest[-2:])
        return None if len(asked) < 3 else tmp_path

    monkeypatch.setattr(locate, "cached_snapshot", remember)
    monkeypatch.setattr(locate, "download_snapshot", remember)
    reference = parse_reference(
        "org/heads", None, tmp_path, checkpoint="medusa", loader="reference"
    )
    assert (reference.checkpoint, reference.loader) == ("medusa", "reference")
    assert fetch(reference, print) == tmp_path
    assert asked == [("medusa", "reference")] * 3
    here = parse_reference(".", None, tmp_path, checkpoint="eagle")
    assert here.checkpoint == "eagle"


def test_the_demo_model_is_no_drafter(tmp_path):
    with pytest.raises(UsageError, match="no drafter for method medusa"):
        parse_reference(f"demo:{DEMO.name}", None, tmp_path, WHERE, "medusa")


@pytest.mark.parametrize("text", ["./modle", "./modle/", "../here/modle"])
def test_a_directory_of_a_name_that_is_alike_is_named(tmp_path, text):
    base = tmp_path / "here"
    (base / "model").mkdir(parents=True)
    with pytest.raises(UsageError) as caught:
        parse_reference(text, None, base, WHERE)
    written = text.rstrip("/").replace("modle", "model")
    assert caught.value.problems[0].action == f"write model: {written}"


@pytest.mark.parametrize("text", ["./other", "./absent/modle"])
def test_no_directory_is_named_where_none_is_alike(tmp_path, text):
    (tmp_path / "model").mkdir()
    with pytest.raises(UsageError) as caught:
        parse_reference(text, None, tmp_path, WHERE)
    assert caught.value.problems[0].action == "correct the path"


def problem_for(text, base, where=WHERE):
    with pytest.raises(UsageError) as caught:
        parse_reference(text, None, base, where)
    return caught.value.problems[0]


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("https://huggingface.co/org/name", "write model: org/name"),
        ("https://huggingface.co/org/name/tree/main", "write model: org/name"),
        ("http://www.hf.co/org/name?x=1", "write model: org/name"),
        ("https://example.org/model.tar", "download what is there"),
        ("s3://bucket/model", "download what is there"),
        ("$HOME/eagle", "write the directory itself: ~ is expanded"),
    ],
)
def test_an_address_or_a_variable_is_told_from_a_wrong_path(tmp_path, text, action):
    assert problem_for(text, tmp_path).action.startswith(action)


@pytest.mark.parametrize("text", ["a" * 5000, "/" + "a" * 5000, "demo:" + "a" * 5000])
def test_a_name_that_fills_a_screen_is_cut(tmp_path, text):
    problem = problem_for(text, tmp_path)
    assert len(str(problem.what)) < 600
    assert "aaa..." in problem.what


def test_arguments_are_not_relative_to_a_recipe(tmp_path):
    (tmp_path / "model").mkdir()
    for where, action in ((WHERE, "write model: ./model"), ("MODEL", "write ./model")):
        problem = problem_for("./modl", tmp_path, where)
        assert problem.action == action
        assert ("relative to the recipe" in problem.allowed) == (where == WHERE)
    name = f"demo:{DEMO.name}"
    assert problem_for("demo:x", tmp_path).action == f"write model: {name}"
    assert problem_for("demo:x", tmp_path, "MODEL").action == f"write {name}"
