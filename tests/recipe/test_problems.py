"""Problems of a recipe: one per fault, with value, allowed values and remedy."""

import pytest

from trtspec.methods import ALLOWED_DRAFT_ENTRY, ALLOWED_DRAFT_LENGTH

HEAD = "schema: trtspec/v1\nname: x\ntarget:\n  model: a\n"
ROOT_KEYS = (
    "schema, name, target, speculation, backend, limits, engine, pytorch, sampling, "
    "workload, tuned"
)
METHODS = (
    "none, ngram, suffix, draft_target, medusa, eagle, eagle3, mtp, redrafter, "
    "lookahead, pard, dflash, user, auto"
)


def speculation(text):
    return HEAD + "speculation:\n" + "".join(f"  {line}\n" for line in text.split("\n"))


@pytest.mark.parametrize(
    ("text", "what", "action"),
    [
        ("limit: 3", "limit (its value is 3)", "write limits"),
        ("max_batch_size: 8", "max_batch_size (its value is 8)", "under limits"),
        ("prompts: p", "prompts (its value is p)", "under workload"),
        ("max-batch-siz: 8", "(its value is 8)", "write max_batch_size, under limits"),
        ("zzz: {a: 1}", "zzz (its value is a map)", "delete it"),
        ("schema_: trtspec/v1", "schema_ (its value is trtspec/v1)", "write schema"),
        ("8: 4", "[8] (its value is 4)", "delete it"),
        (f"{2**64}: 4", f"{2**64} (its value is 4)", "delete it"),
    ],
)
def test_unknown_key_names_the_nearest_or_its_place(
    problem_of, ngram, text, what, action
):
    problem = problem_of(ngram + text + "\n")
    assert problem.where == "recipe.yaml:8"
    assert problem.what.startswith("unknown key ")
    assert what in problem.what
    assert problem.allowed == ROOT_KEYS
    assert action in problem.action


def test_key_in_the_wrong_section_is_sent_to_the_right_one(problem_of, ngram):
    problem = problem_of(ngram + "sampling:\n  max_batch_size: 8\n")
    assert problem.where == "recipe.yaml:9"
    assert problem.action == "max_batch_size belongs under limits: move it or delete it"


def test_key_that_several_sections_have_names_them_all(problem_of, ngram):
    problem = problem_of(ngram + "model: b\n")
    assert "under target, or under speculation (method draft_target, medusa" in (
        problem.action
    )


@pytest.mark.parametrize(
    ("text", "key", "method"),
    [
        (
            "method: none\ndraft_length: 4",
            "draft_length",
            "ngram, suffix, draft_target, eagle3, mtp, pard, dflash or user",
        ),
        (
            "method: draft_target\nmodel: b\ndraft_length: 4\nmax_matching_ngram: 3",
            "max_matching_ngram",
            "ngram or suffix",
        ),
    ],
)
def test_key_of_another_method_names_the_method(problem_of, text, key, method):
    problem = problem_of(speculation(text))
    assert f"unknown key speculation.{key}" in problem.what
    assert problem.action == (
        f"{key} belongs to method {method}: delete it or change the method"
    )


def test_other_tools_names_are_translated(problems_of):
    missing, unknown = problems_of(
        speculation("method: ngram\nnum_speculative_tokens: 4")
    )
    assert missing.what == "speculation.draft_length is missing"
    assert unknown.action == "write draft_length"


def test_missing_keys_have_the_line_of_their_section(problems_of):
    problems = problems_of("name: x\n\ntarget: {}\nspeculation:\n  method: ngram\n")
    assert [(p.where, p.what, p.action) for p in problems] == [
        (
            "recipe.yaml:1",
            "schema is missing",
            "add schema: trtspec/v1 at the top level",
        ),
        (
            "recipe.yaml:3",
            "target.model is missing",
            "add, for example, model: demo:smollm2-135m-instruct under target",
        ),
        (
            "recipe.yaml:4",
            "speculation.draft_length is missing",
            "add, for example, draft_length: 4 under speculation",
        ),
    ]
    assert problems[2].allowed == ALLOWED_DRAFT_LENGTH


def test_missing_section_shows_how_to_write_it(problems_of):
    problems = problems_of("schema: trtspec/v1\nname: x\n")
    assert [p.action for p in problems] == [
        "add, for example, target: {model: 'demo:smollm2-135m-instruct'} "
        "at the top level",
        "add, for example, speculation: {method: ngram, draft_length: 4} "
        "at the top level",
    ]


@pytest.mark.parametrize(
    ("text", "what", "action"),
    [
        ("method: ngrm", "is ngrm, which is not known", "write method: ngram"),
        ("method: NGram", "is NGram, which is not known", "write method: ngram"),
        ("method: prompt_lookup", "which is not known", "write method: ngram"),
        ("method: off", "is off, which is not known", "write method: none"),
        ("method: eagle2", "is eagle2, which is not known", "write method: eagle"),
        ("method: redraft", "is redraft, which is not", "write method: redrafter"),
        ("method: EAGLE-3", "is EAGLE-3, which is not known", "write method: eagle3"),
        ("method: MTP", "is MTP, which is not known", "write method: mtp"),
        ("method: zzz", "is zzz, which is not known", "choose one of these"),
        ("method: [ngram]", "is a list", "write method: ngram"),
        ("method: 3", "is 3", "choose one of these"),
        ("method:", "is empty", "write method: none"),
    ],
)
def test_unknown_method_lists_the_methods(problem_of, text, what, action):
    problem = problem_of(speculation(text + "\ndraft_length: nonsense"))
    assert problem.where == "recipe.yaml:6"
    assert problem.what.startswith("speculation.method is ")
    assert what in problem.what
    assert problem.allowed == METHODS
    assert problem.action == action


def test_missing_method_is_asked_for(problem_of):
    problem = problem_of(speculation("draft_length: 4"))
    assert problem.where == "recipe.yaml:5"
    assert problem.what == "speculation.method is missing"
    assert problem.allowed == METHODS


@pytest.mark.parametrize(
    ("value", "what", "action"),
    [
        ("ngram", "is ngram, which is text", "write speculation: {method: ngram}"),
        ("off", "is off, which is text", "write speculation: {method: none}"),
        ("4", "is 4, which is a whole number", ""),
        ("", "is empty", "write, for example, speculation: {method: ngram, draft"),
        ("[a]", "is a list", ""),
    ],
)
def test_speculation_must_be_a_map(problem_of, value, what, action):
    problem = problem_of(HEAD + f"speculation: {value}\n")
    assert problem.what == f"speculation {what}"
    assert problem.allowed == f"a map whose method is one of {METHODS}"
    assert problem.action.startswith(action)
    assert bool(problem.action) == bool(action)


NO_DRAFTS = "for no speculation write method: none and delete draft_length"


@pytest.mark.parametrize(
    ("value", "what", "action"),
    [
        ("'four'", 'is "four", which is not a whole number', ""),
        ("four", "is four, which is not a whole number", ""),
        ("'4'", 'is "4", which is not a whole number', "write draft_length: 4"),
        ("4.0", "is 4.0, which is not a whole number", "write draft_length: 4"),
        ("4.5", "is 4.5, which is not a whole number", ""),
        ("0", "is 0, which is below 1", NO_DRAFTS),
        ("-1", "is -1, which is below 1", ""),
        ("10000", "is 10000, which is above 256", ""),
        ("{}", "is an empty map", NO_DRAFTS),
        ("none", "is none, which is not a whole number", NO_DRAFTS),
        ("", "is empty", ""),
        ("true", "is true, which is not a whole number", ""),
        ("[4]", "is a list, which is not a whole number", ""),
    ],
)
def test_bad_draft_length_is_one_problem(problem_of, value, what, action):
    problem = problem_of(speculation(f"method: ngram\ndraft_length: {value}"))
    assert problem.where == "recipe.yaml:7"
    assert problem.what == f"speculation.draft_length {what}"
    assert problem.allowed == ALLOWED_DRAFT_LENGTH
    assert problem.action.startswith(action)
    assert bool(problem.action) == bool(action)


def test_bad_entries_of_a_draft_length_map_have_their_own_lines(problems_of):
    entries = "0: 4\n8: 900\nx: 2\n'9': 2\n16: on\n20: {a: 1}"
    text = "method: ngram\ndraft_length:\n  " + entries.replace("\n", "\n  ")
    problems = problems_of(speculation(text))
    assert [(p.where, p.what.removeprefix("speculation.")) for p in problems] == [
        ("recipe.yaml:8", "draft_length has the key 0, which is below 1"),
        ("recipe.yaml:9", "draft_length[8] is 900, which is above 256"),
        (
            "recipe.yaml:10",
            'draft_length has the key "x", which is not a whole number',
        ),
        (
            "recipe.yaml:11",
            'draft_length has the key "9", which is not a whole number',
        ),
        ("recipe.yaml:12", "draft_length[16] is on, which is not a whole number"),
        ("recipe.yaml:13", "draft_length[20] is a map, which is not a whole number"),
    ]
    assert {p.allowed for p in problems} == {ALLOWED_DRAFT_ENTRY}
    assert problems[3].action == "write 9 (without quotes)"


def test_section_named_like_its_method_is_not_mistaken_for_the_choice(problem_of):
    problem = problem_of(speculation("method: ngram\ndraft_length: 4\nngram: {x: 1}"))
    assert problem.where == "recipe.yaml:8"
    assert problem.what == "unknown key speculation.ngram (its value is a map)"
