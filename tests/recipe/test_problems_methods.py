"""Problems of speculation methods: each key's value, companions, and trees."""

import pytest

HEAD = "schema: trtspec/v1\nname: x\ntarget:\n  model: a\nspeculation:\n"
# the first key of a case stands in this line
FIRST = 8
TREES = "mc_sim_7b_63, or a list of paths such as [[0], [0, 0], [1]], each with its"
PATH = "a path such as [0, 1]: the ranks of its tokens from the root down"
RANK = "a whole number from 0 (the likeliest) to 255"


@pytest.fixture
def problem_with(problem_of):
    """Give the one problem of a method with a model and further lines."""

    def read(method, lines):
        keys = [f"method: {method}", "model: b", *lines.split("\n")]
        return problem_of(HEAD + "".join(f"  {key}\n" for key in keys))

    return read


YES_OR_NO = "true or false"


@pytest.mark.parametrize(
    ("value", "what", "action"),
    [
        ("yes", "is yes, which is text", "write greedy_search: true"),
        ("off", "is off, which is text", "write greedy_search: false"),
        ('"yes"', 'is "yes", which is text', "write greedy_search: true"),
        (
            '"False"',
            'is "False", which is text',
            "write greedy_search: false (without quotes)",
        ),
        ("1", "is 1, which is a whole number", "write greedy_search: true"),
        ("0", "is 0, which is a whole number", "write greedy_search: false"),
        ("3", "is 3, which is a whole number", ""),
        ("1.5", "is 1.5, which is a number", ""),
        ("maybe", "is maybe, which is text", ""),
        ("[true]", "is a list", ""),
        ("", "is empty", "give it a value, or delete the line to get the default"),
    ],
)
def test_wrong_booleans(problem_with, value, what, action):
    problem = problem_with("redrafter", f"greedy_search: {value}")
    assert problem.where == f"recipe.yaml:{FIRST}"
    assert problem.what == f"speculation.greedy_search {what}"
    assert problem.allowed == YES_OR_NO
    assert problem.action == action


THRESHOLD = "a number from 0 to below 1"


@pytest.mark.parametrize(
    ("value", "what", "action"),
    [
        ("1", "is 1, which is too large", ""),
        ("-0.1", "is -0.1, which is too small", ""),
        ('"0.1"', 'is "0.1", which is text', ""),
        (".nan", "is .nan, which is not a finite number", ""),
        ("true", "is true, which is a yes-or-no value", ""),
        ("[0.1]", "is a list", ""),
    ],
)
def test_wrong_thresholds(problem_with, value, what, action):
    lines = f"acceptance: typical\nposterior_threshold: {value}"
    problem = problem_with("eagle", lines)
    assert problem.where == f"recipe.yaml:{FIRST + 1}"
    assert problem.what == f"speculation.posterior_threshold {what}"
    assert problem.allowed == THRESHOLD
    assert problem.action == action


@pytest.mark.parametrize(
    ("value", "what", "action"),
    [
        ("8.0", "is 8.0, which is written with a fraction", "write dynamic_top_k: 8"),
        ("ten", "is ten, which is text", ""),
        ("0", "is 0, which is too small", ""),
    ],
)
def test_wrong_numbers_that_may_be_absent(problem_with, value, what, action):
    problem = problem_with("eagle", f"tree: dynamic\ndynamic_top_k: {value}")
    assert problem.what == f"speculation.dynamic_top_k {what}"
    assert problem.allowed == "a whole number from 1 to 256"
    assert problem.action == action


TREE_CASES = [
    (
        "medusa",
        "tree: mc_sim",
        8,
        " is mc_sim, which is not known",
        TREES,
        "mc_sim_",
    ),
    ("medusa", "tree: dynamic", 8, " is dynamic, which is not", TREES, ""),
    ("medusa", 'tree: "[[0]]"', 8, ' is "[[0]]", which', TREES, "without quotes"),
    ("medusa", "tree: 3", 8, " is 3, which is no tree", TREES, ""),
    ("medusa", "tree: {a: 1}", 8, " is a map, which is no tree", TREES, ""),
    ("medusa", "tree: []", 8, " is an empty list, which has no", TREES, ""),
    ("medusa", "tree:", 8, " is empty", TREES, "give it a value, or delete"),
    ("medusa", "tree: [0]", 8, "[0] is 0, which is no path", PATH, ""),
    (
        "medusa",
        "tree:\n  - [0]\n  - []",
        10,
        "[1] is an empty list, which",
        PATH,
        "",
    ),
    ("medusa", "tree:\n  -\n    - x", 10, "[0][0] is x, which is no", RANK, ""),
    (
        "medusa",
        "tree:\n  - [0]\n\n  - [1, 0]",
        11,
        "[1] is [1, 0], but its parent [1] is not in the list",
        "each with its parent in it",
        "add [1], or delete the path",
    ),
    (
        "medusa",
        "tree:\n  - [0]\n  - [0]",
        10,
        "[1] is [0], which the list has already",
        "each path once",
        "delete it",
    ),
    ("eagle", "tree: dynamc", 8, " is dynamc", "63, dynamic, or", "tree: dynamic"),
]
"""Method, its lines, the line of the problem, and parts of what, allowed, action."""


@pytest.mark.parametrize("case", TREE_CASES, ids=lambda case: case[1])
def test_what_is_no_tree_is_reported_in_its_own_line(problem_with, case):
    method, lines, line, what, allowed, action = case
    problem = problem_with(method, lines)
    assert problem.where == f"recipe.yaml:{line}"
    assert problem.what.startswith(f"speculation.tree{what}")
    assert allowed in problem.allowed
    assert action in problem.action
    assert bool(problem.action) == bool(action)


@pytest.mark.parametrize(
    ("method", "lines", "line", "what"),
    [
        ("medusa", "num_heads: 3", 8, "num_heads is 3, but the default tree"),
        ("medusa", "tree: mc_sim_7b_63\nnum_heads: 3", 8, "tree is 4 levels deep"),
        ("medusa", "\n\nmax_draft_tokens: 9", 10, "max_draft_tokens is 9, but the"),
        # a default that does not fit has no line but its section's
        ("eagle", "tree: [[0]]", 5, "num_layers is 4 by default, but the tree"),
        ("eagle", "max_non_leaves_per_layer: 2", 8, "max_non_leaves_per_layer is 2,"),
        ("eagle", "acceptance: typical", 8, "acceptance is typical, and posterior"),
        ("eagle", "dynamic_top_k: 8", 8, "dynamic_top_k has no effect"),
        ("redrafter", "draft_length_per_beam: 99", 8, "draft_length_per_beam is too"),
    ],
)
def test_rules_across_keys_point_to_a_key_that_was_written(
    problem_with, method, lines, line, what
):
    problem = problem_with(method, lines)
    assert problem.where == f"recipe.yaml:{line}"
    assert problem.what.startswith(f"speculation.{what}")
    assert problem.allowed
    assert problem.action


def test_lookahead_that_is_too_large_points_to_a_size(problem_of):
    problem = problem_of(HEAD + "  method: lookahead\n  ngram_size: 99\n")
    assert problem.where == "recipe.yaml:7"
    assert problem.what.startswith("speculation.ngram_size is too large: window,")


@pytest.mark.parametrize("method", ["medusa", "eagle", "redrafter"])
def test_missing_drafter_is_asked_for(problem_of, method):
    problem = problem_of(HEAD + f"  method: {method}\n")
    assert problem.where == "recipe.yaml:5"
    assert problem.what == "speculation.model is missing"
    assert problem.allowed.startswith("text: the drafter's checkpoint: directory")
    assert problem.action.startswith("add, for example, model: path/to/drafter")


@pytest.mark.parametrize(
    ("method", "line", "action"),
    [
        ("medusa", "num_medusa_heads: 4", "write num_heads"),
        ("medusa", "medusa_choices: [[0]]", "write tree"),
        ("medusa", "alow_lossy: true", "write allow_lossy"),
        ("eagle", "eagle_choices: [[0]]", "write tree"),
        ("eagle", "max_draft_len: 63", "write max_draft_tokens"),
        ("eagle", "posterior_treshold: 0.1", "write posterior_threshold"),
        ("eagle", "num_heads: 4", "num_heads belongs to method medusa: delete it"),
        ("medusa", "draft_length: 4", "belongs to method ngram, suffix, draft_"),
        ("redrafter", "acceptance: exact", "mtp, pard, dflash or user: delete"),
        ("redrafter", "redrafter_num_beams: 4", "write num_beams"),
        ("redrafter", "build_flags: {}", "build_flags belongs under engine: move"),
    ],
)
def test_unknown_keys_of_a_method(problem_with, method, line, action):
    problem = problem_with(method, line)
    assert problem.what.startswith(f"unknown key speculation.{line.partition(':')[0]}")
    assert action in problem.action


def test_size_of_n_grams_is_translated_for_the_ngram_method(problem_of):
    lines = "  method: ngram\n  draft_length: 4\n  ngram_size: 3\n"
    assert problem_of(HEAD + lines).action == "write max_matching_ngram"


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("quantization: smoothquant", "write quantization: int8_sq"),
        ("quantization: weight-only", "write quantization: int8_wo"),
        ("quantization: int4", "write quantization: int4_awq"),
        ("quantization: fp16", "choose one of these"),
        ("family: 3", 'write family: "3"'),
        ("use_draft_logit: true", "write use_draft_logits"),
    ],
)
def test_keys_of_a_draft_model(problem_with, line, action):
    problem = problem_with("draft_target", f"draft_length: 4\n{line}")
    assert problem.where == f"recipe.yaml:{FIRST + 1}"
    assert problem.action == action
