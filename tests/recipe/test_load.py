"""Loading a recipe: from file to model, with every problem and its line."""

import os
from pathlib import Path

import pytest

from trtspec.errors import RecipeError
from trtspec.recipe import load_recipe
from trtspec.recipe.load import MAX_BYTES, LoadedRecipe

BUNDLED = Path(__file__).parents[2] / "recipes"


def test_recipe_has_what_the_file_says(recipe_file, ngram):
    loaded = load_recipe(recipe_file(ngram + "limits: {max_batch_size: 2}\n"))
    assert loaded.recipe.target.model == "a"
    assert loaded.recipe.speculation.draft_length_at(1) == 4
    assert loaded.recipe.limits.max_batch_size == 2


def test_where_gives_file_and_line(tmp_path, ngram):
    path = tmp_path / "r.yaml"
    path.write_text(ngram)
    loaded = load_recipe(str(path))
    assert loaded.where("speculation", "draft_length") == f"{path}:7"
    assert loaded.where("speculation", "max_matching_ngram") == f"{path}:5"
    assert loaded.where("workload", "prompts") == f"{path}:1"
    assert loaded.where() == f"{path}:1"


def test_base_is_the_folder_of_the_recipe(tmp_path, ngram):
    path = tmp_path / "r.yaml"
    path.write_text(ngram)
    assert load_recipe(path).base == tmp_path


def test_path_is_reported_as_it_was_given(problem_of, ngram):
    assert problem_of(ngram + "x: 1\n").where == "recipe.yaml:8"


@pytest.mark.parametrize("path", sorted(BUNDLED.glob("*/*.yaml")), ids=lambda p: p.stem)
def test_bundled_recipes_load_and_find_their_prompts(path):
    loaded = load_recipe(path)
    assert loaded.recipe.name == f"{path.parent.name}-{path.stem}"
    assert (loaded.base / loaded.recipe.workload.prompts).is_file()


def test_off_arm_and_speculation_differ_in_nothing_else():
    off, on = (
        load_recipe(BUNDLED / "smollm2-135m" / f"{name}.yaml").recipe
        for name in ("none", "ngram")
    )
    changes = {"name": on.name, "speculation": on.speculation}
    assert off.model_copy(update=changes) == on


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: ("---\n" + text + "...\n").encode(),
        lambda text: ("# café\n" + text).encode(),
    ],
    ids=["byte order mark", "CRLF", "document markers", "non-ASCII comment"],
)
def test_layout_of_the_text_does_not_matter(recipe_file, ngram, encode):
    plain = load_recipe(recipe_file(ngram)).recipe
    assert load_recipe(recipe_file(encode(ngram))).recipe == plain


def test_merge_keys_and_aliases_can_be_used(recipe_file):
    text = """\
schema: trtspec/v1
name: x
target: &model {model: a, revision: main}
speculation: {<<: *model, method: draft_target, draft_length: 4}
"""
    loaded = load_recipe(recipe_file(text))
    assert loaded.recipe.speculation.model == "a"
    assert loaded.where("speculation", "model") == "recipe.yaml:3"


def test_all_problems_come_at_once_in_the_order_of_the_file(problems_of):
    problems = problems_of(
        """\
schema: trtspec/v1
name: Not A Name
target: {model: a, dtype: fp16}
target: {model: b}
speculation:
  method: ngram
  draft_length: 0
  max_matching_ngram: "3"
limits:
  max_batchsize: 8
"""
    )
    assert [(p.where, p.what) for p in problems] == [
        ("recipe.yaml:2", "name is Not A Name, which is not a valid name"),
        ("recipe.yaml:3", "target.dtype is fp16, which is not known"),
        ("recipe.yaml:4", "target is given a second time"),
        ("recipe.yaml:7", "speculation.draft_length is 0, which is below 1"),
        ("recipe.yaml:8", 'speculation.max_matching_ngram is "3", which is text'),
        ("recipe.yaml:10", "unknown key limits.max_batchsize (its value is 8)"),
    ]


def test_duplicate_alone_is_refused(problem_of, ngram):
    problem = problem_of(ngram + "name: y\n")
    assert problem.where == "recipe.yaml:8"
    assert problem.what == "name is given a second time"


def test_long_lists_of_problems_are_cut(problems_of, ngram):
    problems = problems_of(ngram + "".join(f"k{i}: {i}\n" for i in range(50)))
    assert len(problems) == 21
    assert problems[-1].what == "30 more problems"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("", "the recipe is empty"),
        ("# only a comment\n\n", "the recipe is empty"),
        ("~\n", "the recipe is empty"),
        ("- a\n- b\n", "the recipe is a list"),
        ("hello\n", "the recipe is no map of keys"),
        ("12\n", "the recipe is no map of keys"),
    ],
)
def test_file_without_a_map_is_refused(problem_of, content, what):
    problem = problem_of(content)
    assert (problem.where, problem.what) == ("recipe.yaml:1", what)
    assert problem.action


def test_several_documents_are_refused(problem_of, ngram):
    assert problem_of(ngram + "---\n" + ngram).where == "recipe.yaml:8"


def test_syntax_error_has_its_line(problem_of, ngram):
    problem = problem_of(ngram + "limits: [1, 2\n")
    assert problem.where == "recipe.yaml:8"
    assert problem.what.startswith("not valid YAML: a list ([) that is not closed")


def test_invalid_utf8_has_its_line(problem_of, ngram):
    problem = problem_of(ngram.encode() + b"# caf\xe9\n")
    assert problem.where == "recipe.yaml:8"
    assert problem.what == 'the byte 0xe9 after "# caf" is not UTF-8'


def test_nul_byte_has_its_line(problem_of, ngram):
    problem = problem_of(ngram + "\0")
    assert (problem.where, problem.what) == (
        "recipe.yaml:8",
        "a NUL byte stands in the text",
    )


def test_enormous_file_is_refused_without_being_parsed(problem_of, ngram):
    problem = problem_of(ngram + "#" * MAX_BYTES)
    assert problem.what == "the file has more than 1 MiB: it is not a recipe"
    assert problem.where == "recipe.yaml"


def test_endless_file_is_refused():
    with pytest.raises(RecipeError, match="is a device or socket, not a file"):
        load_recipe("/dev/zero")


def test_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "r.yaml")
    with pytest.raises(RecipeError, match="the recipe is a pipe, not a file"):
        load_recipe(tmp_path / "r.yaml")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("recipes").mkdir()
    Path("recipes/ngram.yaml").write_text("")
    Path("recipes/none.yaml").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "what", "action"),
    [
        ("recipes/ngrm.yaml", "does not exist", "did you mean recipes/ngram.yaml?"),
        ("recipes", "is a directory, not a file", "choose one of the recipes in"),
        ("recipes/zzz", "does not exist", "recipes: ngram.yaml, none.yaml"),
        ("recipe/ngram.yaml", "does not exist", "there is no directory recipe"),
        ("recipes/none.yaml/x", "cannot be read", "check the path"),
        ("x" * 300, "cannot be read: File name too long", "check the path"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_file_that_is_not_there_names_what_is(path, what, action):
    with pytest.raises(RecipeError) as caught:
        load_recipe(path)
    (problem,) = caught.value.problems
    assert problem.where == path
    assert problem.what.startswith("the recipe " + what)
    assert action in problem.action


@pytest.mark.usefixtures("folder")
def test_link_to_nowhere_is_not_suggested_for_itself():
    Path("recipes/gram.yaml").symlink_to("gone.yaml")
    with pytest.raises(RecipeError) as caught:
        load_recipe("recipes/gram.yaml")
    (problem,) = caught.value.problems
    assert problem.what == "the recipe does not exist"
    assert problem.action == "did you mean recipes/ngram.yaml?"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_file_without_permission_is_refused(recipe_file, ngram):
    path = Path(recipe_file(ngram))
    path.chmod(0)
    with pytest.raises(RecipeError, match=r"Permission denied[\s\S]*chmod"):
        load_recipe(path)


def test_refusal_of_the_file_system_is_reported(recipe_file, ngram, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    path = recipe_file(ngram)
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(RecipeError, match=r"Permission denied[\s\S]*chmod"):
        load_recipe(path)


def test_loaded_recipe_is_frozen(recipe_file, ngram):
    loaded = load_recipe(recipe_file(ngram))
    assert isinstance(loaded, LoadedRecipe)
    with pytest.raises(AttributeError):
        loaded.path = Path("other")
