"""``trtspec methods``: the matrix, one method in full, and both as JSON."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import yaml
from click.testing import CliRunner

from trtspec import __version__
from trtspec.cli.main import COMMANDS, cli
from trtspec.cli.methods import command
from trtspec.errors import UsageError
from trtspec.methods.catalogue import METHODS, PLACES, settings, standings
from trtspec.methods.parameters import parameters
from trtspec.recipe import Recipe


def text(*arguments, columns=80):
    environment = {"COLUMNS": str(columns)}
    result = CliRunner(env=environment).invoke(
        command, arguments, catch_exceptions=False
    )
    assert result.exit_code == 0
    return result.stdout


def document(*arguments):
    return json.loads(text(*arguments, "--json"))


def table():
    """The matrix, read back: label → words, in the order of the rows."""
    _, heads, _, *rows = text().partition("\n\n")[0].splitlines()
    first = heads.index("reference")
    return [(row[:first].rstrip(), row[first:].split()) for row in rows]


def test_matrix_has_a_row_per_method_and_a_word_per_place():
    assert all(len(words) == len(PLACES) for _, words in table())
    shown = dict(table())
    for name in METHODS:
        said = standings(settings(name)[0].method)
        assert shown[name] == [standing.word for standing in said], name


def test_settings_have_a_row_where_they_differ():
    labels = [label for label, _ in table()]
    assert labels[labels.index("draft_target") + 1] == "  use_draft_logits: true"
    assert labels[labels.index("medusa") + 1] == "  acceptance: typical"
    # the dynamic tree of EAGLE-2 is where EAGLE-1's tree is, and as exact
    assert labels[labels.index("eagle") + 1] == "  acceptance: typical"


def test_heads_stand_above_their_columns():
    first, second, *_ = text().splitlines()
    assert second.split() == [
        "method",
        "reference",
        "tensorrt",
        "1.0",
        "1.1",
        "1.2",
        "main",
    ]
    assert first.index("pytorch") == second.index("1.0")


def test_every_reason_is_below_the_matrix():
    below = " ".join(text().partition("why not exact")[2].split())
    for name in METHODS:
        for standing in standings(settings(name)[0].method):
            assert all(" ".join(why.split()) in below for why in standing.reasons)
    assert "pytorch 1.0: ngram, draft_target, eagle3, mtp, user, auto" in below


@pytest.mark.parametrize("name", [None, *METHODS])
@pytest.mark.parametrize("columns", [80, 200])
def test_text_fits_80_columns(name, columns):
    lines = text(*([name] if name else []), columns=columns).splitlines()
    assert max(map(len, lines)) <= 80
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("name", list(METHODS))
def test_a_method_is_shown_with_all_that_is_known(name):
    shown = " ".join(text(name).split())
    kind = METHODS[name]
    assert shown.startswith(f"{name}: {kind.summary} ")
    assert f"drafts with: {kind.needs}" in shown
    assert f"per step and request: {kind.step}" in shown
    for parameter in parameters(kind):
        assert f" {parameter.name}: {parameter.type}" in shown
        assert " ".join(parameter.description.split()) in shown
    for setting in settings(name):
        for standing in standings(setting.method):
            assert all(why in shown for why in standing.reasons)
            assert f"source: {standing.source}" in shown or not standing.runs


def test_words_and_releases_are_explained_where_they_stand():
    shown = " ".join(text("eagle3").split())
    for word in ("refused", "broken", "ignored", "untested", "?"):
        assert f" {word}: " in shown.partition("Releases of backend pytorch: ")[2]
    for page in (shown, " ".join(text().split()), " ".join(text("none").split())):
        assert "main: >=1.3.0rc22,<1.5." in page
    assert "Releases of backend" not in text("medusa")


def test_places_of_which_the_same_is_said_share_a_paragraph():
    shown = text("none").splitlines()
    assert "  reference; tensorrt; pytorch 1.0, 1.1, 1.2, main: exact" in shown


@pytest.mark.parametrize("name", list(METHODS))
def test_lines_for_a_recipe_load(name):
    shown = text(name).splitlines()
    starts = [n for n, line in enumerate(shown) if line == "  speculation:"]
    assert len(starts) == len(settings(name))
    for start in starts:
        keys = [line for line in shown[start + 1 :] if line.startswith("    ")]
        upto = next(n for n, line in enumerate(shown[start + 1 :]) if line[2:3] != " ")
        section = yaml.safe_load("\n".join(keys[:upto]))
        recipe = {"schema": "trtspec/v1", "name": "x", "target": {"model": "m"}}
        made = Recipe.model_validate(recipe | {"speculation": section})
        assert made.speculation in [setting.method for setting in settings(name)]


def test_json_has_every_method_with_the_documented_keys():
    shown = document()
    assert shown["trtspec"] == __version__
    assert [method["method"] for method in shown["methods"]] == list(METHODS)
    for method in shown["methods"]:
        assert list(method) == [
            "method",
            "summary",
            "needs",
            "drafter_kind",
            "step",
            "reference",
            "parameters",
            "settings",
            "combinations",
        ]
        for setting in method["settings"]:
            keys = ["label", "speculation", "verified_tokens", "output"]
            assert list(setting) == keys
            places = [(o["backend"], o["family"]) for o in setting["output"]]
            assert places == [(place.backend, place.family) for place in PLACES]


def test_json_says_where_a_method_is_exact_and_from_where_that_is_known():
    (method,) = document("medusa")["methods"]
    assert method["reference"] is True
    assert method["drafter_kind"] == "medusa"
    first = method["settings"][0]
    assert first["verified_tokens"] == 64
    reference, tensorrt, *pytorch = first["output"]
    assert reference["greedy"] == reference["sampled"] == {"exact": True, "why": ""}
    assert "2305.09781" in reference["source"]
    assert "2401.10774" in reference["source"]
    assert tensorrt["greedy"]["exact"]
    assert tensorrt["sampled"] == {
        "exact": False,
        "why": "TensorRT-LLM's Medusa decoding ignores temperature and top-p",
    }
    assert [place["runs"] for place in pytorch] == [False] * 4
    assert all("greedy" not in place for place in pytorch)


@pytest.mark.parametrize("name", list(METHODS))
def test_json_has_every_combination_that_the_text_shows(name):
    (method,) = document(name)["methods"]
    shown = " ".join(text(name).split())
    states = {}
    for one in method["combinations"]:
        assert list(one) == [
            *("backend", "drafting", "family", "version", "feature", "title"),
            *("state", "not_beside"),
        ]
        key = (one["drafting"], one["title"])
        states.setdefault(key, {})[one["family"]] = one["state"]
    assert bool(states) == ("with other features, backend pytorch" in shown)
    for (_, title), by_family in states.items():
        if set(by_family.values()) == {"not established"}:
            continue
        if set(by_family.values()) == {"works"}:
            _, *told = shown.split("works in every release here: ")
            assert any(title in text.partition(":")[0] for text in told)
            continue
        words = {f: s.replace("not established", "?") for f, s in by_family.items()}
        line = ", ".join(f"{family} {state}" for family, state in words.items())
        assert f"{title}: {line}" in shown


def test_json_tells_ways_of_drafting_and_what_spoils_a_feature_apart():
    (method,) = document("eagle3")["methods"]
    ways = {one["drafting"] for one in method["combinations"]}
    assert ways == {"", "as two models", "with a dynamic tree"}
    (lora,) = (
        one
        for one in method["combinations"]
        if (one["drafting"], one["family"], one["feature"]) == ("", "1.2", "lora")
    )
    assert (lora["state"], lora["not_beside"]) == ("untested", ["CUDA graphs"])


def test_json_of_one_method_is_that_of_all():
    everything = document()["methods"]
    assert [document(name)["methods"][0] for name in METHODS] == everything


def test_only_the_choice_of_tensorrt_llm_is_not_on_the_reference_engine():
    methods = document()["methods"]
    assert [m["method"] for m in methods if not m["reference"]] == ["auto"]


@pytest.mark.parametrize(
    ("name", "action"),
    [("eagle-3", "trtspec methods eagle3"), ("zzz", "trtspec methods")],
)
def test_an_unknown_method_is_a_usage_error_with_the_nearest(name, action):
    result = CliRunner().invoke(command, [name])
    assert isinstance(result.exception, UsageError)
    (problem,) = result.exception.problems
    assert name in problem.what
    assert problem.allowed == ", ".join(METHODS)
    assert problem.action == action


def test_the_command_is_listed_and_starts_nothing_heavy():
    assert list(COMMANDS)[1] == "methods"
    assert cli.get_command(None, "methods") is command
    statement = (
        "import sys\nfrom trtspec.cli.methods import command\n"
        "command(args=['mtp'], standalone_mode=False)\n"
        "command(args=['--json'], standalone_mode=False)\n"
        "command(args=[], standalone_mode=False)\n"
        "heavy = {'torch', 'transformers', 'numpy', 'scipy', 'trtspec.recipe'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", statement], capture_output=True, text=True, check=True
    )
    assert result.stderr.strip() == "[]"
