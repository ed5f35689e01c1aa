"""Problems of single values: number, word, list or name that does not fit its key."""

import pytest


@pytest.fixture
def problems_of_line(problems_of, ngram):
    """Give the problems of a line such as ``limits.max_batch_size: 0``."""

    def read(line):
        section, _, entry = line.partition(".")
        return problems_of(ngram + f"{section}:\n  {entry}\n")

    return read


BATCH = "a whole number from 1 to 4096"


@pytest.mark.parametrize(
    ("line", "what", "allowed", "action"),
    [
        (
            'limits.max_batch_size: "8"',
            'is "8", which is text',
            BATCH,
            "write max_batch_size: 8 (without quotes)",
        ),
        (
            "limits.max_batch_size: 8.0",
            "is 8.0, which is written with a fraction",
            BATCH,
            "write max_batch_size: 8",
        ),
        (
            "limits.max_batch_size: true",
            "is true, which is a yes-or-no value",
            BATCH,
            "",
        ),
        (
            "limits.max_input_tokens: 1_000",
            "is 1_000, which is text",
            "a whole number from 1 to 16777216",
            "write max_input_tokens: 1000 (without quotes)",
        ),
        ("limits.max_batch_size: 1:30", "is 1:30, which is text", BATCH, ""),
        ("limits.max_batch_size: 0", "is 0, which is too small", BATCH, ""),
        ("limits.max_batch_size: 9999", "is 9999, which is too large", BATCH, ""),
        (
            "limits.max_batch_size:",
            "is empty",
            BATCH,
            "give it a value, or delete the line to get the default",
        ),
        ("limits.max_batch_size: [8]", "is a list", BATCH, ""),
        (
            "limits.kv_cache_fraction: on",
            "is on, which is text",
            "a number above 0 and at most 1",
            "",
        ),
        (
            "sampling.temperature: .nan",
            "is .nan, which is not a finite number",
            "a number from 0 to 100",
            "",
        ),
        (
            "sampling.top_p: .inf",
            "is .inf, which is not a finite number",
            "a number above 0 and at most 1",
            "",
        ),
        (
            "sampling.temperature: 1e999",
            "is 1e999, which is not a finite number",
            "a number from 0 to 100",
            "",
        ),
        (
            "sampling.seed: -1",
            "is -1, which is too small",
            "a whole number from 0 to 9223372036854775807",
            "",
        ),
    ],
)
def test_wrong_values_of_numbers(problems_of_line, line, what, allowed, action):
    (problem,) = problems_of_line(line)
    assert problem.where == "recipe.yaml:9"
    assert problem.what == f"{line.partition(':')[0]} {what}"
    assert problem.allowed == allowed
    assert problem.action == action


@pytest.mark.parametrize(
    ("value", "what", "action"),
    [
        ("4", "concurrency is 4, which is a whole number", "write concurrency: [4]"),
        ("[]", "concurrency is an empty list", ""),
        ("[1, '4']", 'concurrency[1] is "4", which is text', "write 4 (without quotes"),
        ("[1, 0]", "concurrency[1] is 0, which is too small", ""),
        ("[8.0]", "concurrency[0] is 8.0, which is written with", "write 8"),
        ("[4, 1, 4]", "concurrency lists 4 more than once", ""),
        ("{1: 4}", "concurrency is a map", ""),
    ],
)
def test_wrong_concurrencies(problem_of, ngram, value, what, action):
    problem = problem_of(ngram + f"workload:\n  prompts: p\n  concurrency: {value}\n")
    assert problem.where == "recipe.yaml:10"
    assert problem.what.startswith(f"workload.{what}")
    assert problem.action.startswith(action)
    assert bool(problem.action) == bool(action)


@pytest.mark.parametrize(
    ("name", "what", "action"),
    [
        ("My Recipe!", "is My Recipe!, which is not a valid name", "name: my-recipe"),
        ("012", "is 012, which is read as a number", 'write name: "012"'),
        ("true", "is true, which is a yes-or-no value", 'write name: "true"'),
        ("../x", "is ../x, which is not a valid name", "write name: x"),
        ("''", 'is "", which is not a valid name', ""),
        ("x" * 81, "which is too long", "write name: " + "x" * 80),
    ],
)
def test_wrong_names_get_a_right_one(problem_of, ngram, name, what, action):
    problem = problem_of(ngram.replace("name: x", f"name: {name}"))
    assert problem.where == "recipe.yaml:2"
    assert what in problem.what
    assert problem.allowed.startswith("a-z, 0-9, dot, dash and underscore")
    assert action in problem.action


@pytest.mark.parametrize(
    ("text", "what", "action"),
    [
        ("dtype: fp16", "dtype is fp16, which is not known", "write dtype: float16"),
        ("dtype: bf16", "dtype is bf16, which is not known", "write dtype: bfloat16"),
        ("dtype: int3", "dtype is int3, which is not known", "choose one of these"),
        ("quantization: awq", "which is not known", "write quantization: int4_awq"),
        ("quantization: off", "which is not known", "write quantization: none"),
        (
            "revision: 1234e5",
            "revision is 1234e5, which is read as a number",
            'write revision: "1234e5"',
        ),
    ],
)
def test_wrong_words_of_the_target(problem_of, ngram, text, what, action):
    problem = problem_of(ngram.replace("  model: a\n", f"  model: a\n  {text}\n"))
    assert problem.where == "recipe.yaml:5"
    assert what in problem.what
    assert problem.action == action


def test_target_as_a_word_becomes_a_map(problem_of, ngram):
    problem = problem_of(ngram.replace("target:\n  model: a", "target: gpt2"))
    assert problem.what == "target is gpt2, which is text"
    assert problem.action == "write target: {model: gpt2}"


def test_other_schema_version_names_ours(problem_of, ngram):
    problem = problem_of(ngram.replace("trtspec/v1", "trtspec/v2"))
    assert problem.what == "schema is trtspec/v2, which is not known"
    assert problem.action == "write schema: trtspec/v1"


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("max_total_tokens: 512", 9, "max_input_tokens is 1024 by default"),
        ("max_input_tokens: 4096", 9, "max_input_tokens is 4096, max_total_tokens is"),
        ("max_batch_size: 1\n  max_input_tokens: 2048", 10, "max_total_tokens is 2048"),
    ],
)
def test_limits_without_room_for_output_point_to_the_key(
    problem_of, ngram, text, line, what
):
    problem = problem_of(ngram + f"limits:\n  {text}\n")
    assert problem.where == f"recipe.yaml:{line}"
    assert what in problem.what
    assert problem.action == "raise max_total_tokens or lower max_input_tokens"


@pytest.mark.parametrize(
    ("written", "octal"),
    [("032", ", and 26 in YAML 1.1"), ("08", ""), ("-07", ", and")],
)
def test_a_number_with_a_zero_before_it_is_asked_about(
    problems_of_line, written, octal
):
    problem = problems_of_line(f"limits.max_batch_size: {written}")[0]
    if written.startswith("-"):  # too small, which is told first
        assert "too small" in problem.what
        return
    plain = int(written)
    assert problem.what.endswith(f"is {written}, which is {plain} in YAML 1.2{octal}")
    assert problem.action.startswith(f"write {plain}")
    assert ("26" in problem.action) == bool(octal)


@pytest.mark.parametrize("written", ["0o32", "0x20", "32", '"032"', "0"])
def test_other_numbers_are_not(problems_of, ngram, written):
    found = problems_of(ngram + f"limits: {{max_batch_size: {written}}}\nx: 1\n")
    assert not any("YAML 1.2" in problem.what for problem in found)


@pytest.mark.parametrize(
    ("written", "word"), [("fp8", "fp8"), ("NVFP4", "nvfp4"), ("awq", "int4_awq")]
)
def test_a_quantization_as_dtype_is_sent_where_it_belongs(problem_of, written, word):
    head = "schema: trtspec/v1\nname: x\ntarget:\n  model: a\n"
    body = "speculation: {method: ngram, draft_length: 4}\n"
    problem = problem_of(f"{head}  dtype: {written}\n{body}")
    assert f"goes into target.quantization: {word};" in problem.action
    assert "needs nothing" in problem.action
