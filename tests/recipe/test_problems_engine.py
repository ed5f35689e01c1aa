"""Problems of the engine section: its numbers and words, and the flags of a build."""

import pytest

KEYS = (
    "max_draft_length, max_num_tokens, kv_cache, gemm_plugin, calibration_dataset, "
    "calibration_samples, build_flags"
)
FLAG_VALUES = "text, a whole number, true or false"
FLAG_NAME = "the name of a flag without the dashes before it: multiple_profiles"


@pytest.fixture
def problem_in(problem_of, ngram):
    """Give the one problem of a recipe whose engine section begins in line 8."""

    def read(lines):
        return problem_of(ngram + "engine:\n  " + lines.replace("\n", "\n  ") + "\n")

    return read


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("3", "is 3, which is a whole number"),
        ("fp8", "is fp8, which is text"),
        ("[]", "is an empty list"),
        ("1.5", "is 1.5, which is a number"),
    ],
)
def test_engine_must_be_a_map(problem_of, ngram, value, what):
    problem = problem_of(ngram + f"engine: {value}\n")
    assert problem.where == "recipe.yaml:8"
    assert problem.what == f"engine {what}"
    assert problem.allowed == f"a map with the keys {KEYS}"


TOKENS = "a whole number from 1 to 16777216"
LENGTHS = "a whole number from 1 to 256"


@pytest.mark.parametrize(
    ("line", "what", "allowed", "action"),
    [
        ("max_draft_length: 0", "is 0, which is too small", LENGTHS, ""),
        ("max_draft_length: 257", "is 257, which is too large", LENGTHS, ""),
        (
            'max_draft_length: "4"',
            'is "4", which is text',
            LENGTHS,
            "write max_draft_length: 4 (without quotes)",
        ),
        (
            "max_num_tokens: 8192.0",
            "is 8192.0, which is written with a fraction",
            TOKENS,
            "write max_num_tokens: 8192",
        ),
        ("calibration_samples: many", "is many, which is text", TOKENS, ""),
        (
            "kv_cache: fp16",
            "is fp16, which is not known",
            "auto, fp8, int8",
            "choose one of these",
        ),
        (
            "kv_cache: fp-8",
            "is fp-8, which is not known",
            "auto, fp8, int8",
            "write kv_cache: fp8",
        ),
        ("kv_cache: 8", "is 8", "auto, fp8, int8", "choose one of these"),
        (
            "kv_cache:",
            "is empty",
            "auto, fp8, int8",
            "choose one of these",
        ),
        (
            "calibration_dataset: 2024",
            "is 2024, which is read as a number",
            "text: dataset that quantization is calibrated with: a directory or a hub "
            "id; quantize.py's own default if unset",
            'write calibration_dataset: "2024"',
        ),
    ],
)
def test_wrong_values(problem_in, line, what, allowed, action):
    problem = problem_in(line)
    assert problem.where == "recipe.yaml:9"
    assert problem.what == f"engine.{line.partition(':')[0]} {what}"
    assert problem.allowed == allowed
    assert problem.action == action


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("enable", "is enable, which is text"),
        ("[a]", "is a list"),
        ("", "is empty"),
        ("true", "is true, which is a yes-or-no value"),
    ],
)
def test_flags_must_be_a_map(problem_in, value, what):
    problem = problem_in(f"build_flags: {value}")
    assert problem.where == "recipe.yaml:9"
    assert problem.what == f"engine.build_flags {what}"
    assert problem.allowed.startswith("a map: further flags of trtllm-build without")


def test_every_flag_with_a_wrong_value_has_its_own_line(problems_of, ngram):
    flags = "a: 1.5\nb: [1]\nc:\nd: {}\ne: enable\nf: .nan"
    text = "engine:\n  build_flags:\n    " + flags.replace("\n", "\n    ") + "\n"
    problems = problems_of(ngram + text)
    assert [(p.where, p.what, p.action) for p in problems] == [
        (
            "recipe.yaml:10",
            "engine.build_flags.a is 1.5, which no flag can be",
            "put it in quotes",
        ),
        ("recipe.yaml:11", "engine.build_flags.b is a list, which no flag can be", ""),
        (
            "recipe.yaml:12",
            "engine.build_flags.c is empty",
            "give it a value, or delete the line to get the default",
        ),
        (
            "recipe.yaml:13",
            "engine.build_flags.d is an empty map, which no flag can be",
            "",
        ),
        (
            "recipe.yaml:15",
            "engine.build_flags.f is .nan, which no flag can be",
            "put it in quotes",
        ),
    ]
    assert {p.allowed for p in problems} == {FLAG_VALUES}


@pytest.mark.parametrize(
    ("name", "what", "action"),
    [
        ("--strip_plan", "build_flags.--strip_plan", "write strip_plan"),
        ("-x", "build_flags.-x", "write x"),
        ("3", "build_flags[3]", ""),
        ("a b", "build_flags.a b", ""),
        ('""', 'build_flags.""', ""),
        ("--", "build_flags.--", ""),
        ("x=1", "build_flags.x=1", ""),
        ("'[key]'", "build_flags.[key]", ""),
    ],
)
def test_names_that_no_flag_has(problem_in, name, what, action):
    problem = problem_in(f"build_flags:\n  {name}: enable")
    assert problem.where == "recipe.yaml:10"
    assert problem.what == f"engine.{what} is no name of a flag"
    assert problem.allowed == FLAG_NAME
    assert problem.action == action


def test_name_and_value_of_a_flag_are_two_problems(problems_of, ngram):
    problems = problems_of(ngram + "engine:\n  build_flags: {--a: 1.5}\n")
    assert [p.what.partition(" ")[2] for p in problems] == [
        "is no name of a flag",
        "is 1.5, which no flag can be",
    ]


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("kv_cache_dtype: fp8", "write kv_cache"),
        ("build_flag: {}", "write build_flags"),
        ("max_draft_len: 3", "write max_draft_length"),
        ("calib_size: 3", "write calibration_samples"),
        (
            "max_batch_size: 3",
            "max_batch_size belongs under limits: move it or delete it",
        ),
        (
            "multiple_profiles: enable",
            "put it under engine.build_flags if it belongs there, or delete it",
        ),
    ],
)
def test_unknown_keys(problem_in, line, action):
    problem = problem_in(line)
    assert problem.what.startswith(f"unknown key engine.{line.partition(':')[0]} (its")
    assert problem.allowed == KEYS
    assert problem.action == action


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("engines: {}", "write engine"),
        ("kv_cache: fp8", "kv_cache belongs under engine, or under pytorch: move"),
        (
            "calibration_sample: 3",
            "write calibration_samples, under engine, or under pytorch",
        ),
        ("tree: x", "tree belongs under speculation (method medusa, eagle, e"),
    ],
)
def test_keys_at_the_top_level_are_sent_to_their_section(
    problem_of, ngram, line, action
):
    assert problem_of(f"{ngram}{line}\n").action.startswith(action)


@pytest.mark.parametrize("text", ["engine:\n", "engine: {}\n", "engine: ~\n"])
def test_engine_section_may_be_empty(recipe_file, ngram, text):
    from trtspec.recipe import load_recipe

    assert load_recipe(recipe_file(ngram + text)).recipe.name == "x"
