"""``trtspec migrate`` tells each change, and writes the result."""

import json
import subprocess
import sys

import yaml

from tests.cli.migrating import (
    BLOCKED,
    RECIPE,
    REPOSITORY,
    SAMPLES,
    SCHEDULE,
    migrate,
    trtspec,
)


def test_the_yaml_goes_to_stdout_and_the_changes_to_stderr():
    result = migrate(SCHEDULE, "--to", "main")
    spec = yaml.safe_load(result.stdout)["speculative_config"]
    assert spec["draft_len_schedule"] == {8: 4, 32: 2}
    assert "draft_len_schedule: {1: 4, 9: 2, 33: 0} -> {8: 4, 32: 2}" in result.stderr
    assert "(line 7)" in result.stderr
    assert result.stderr.splitlines()[0].endswith("2 warned, 2 converted")


def test_what_needs_a_decision_is_told_first():
    result = migrate(SCHEDULE, "--to", "main")
    kinds = [line.split(" ")[0] for line in result.stderr.splitlines()[1:]]
    ordered = [kind for kind in kinds if kind in ("warned", "converted")]
    assert ordered == ["warned", "warned", "converted", "converted"]


def test_json_is_one_document_with_changes_yaml_and_verdict():
    result = migrate(SCHEDULE, "--to", "main", "--json")
    document = json.loads(result.stdout)
    assert document["verdict"] == "migrated"
    assert document["from"] == "1.2"
    assert document["to"] == "1.4.0rc4"
    assert document["family"] == "main"
    changed = {change["path"][-1]: change for change in document["changes"]}
    flag = changed["eagle3_one_model"]
    assert flag["old"] is False
    assert "new" not in flag
    assert yaml.safe_load(document["yaml"])["speculative_config"]


def test_json_of_a_blocked_file_is_still_one_document():
    result = trtspec("migrate", BLOCKED, "--to", "main", "--json")
    document = json.loads(result.stdout)
    assert result.returncode == 3
    assert document["verdict"] == "blocked"
    assert document["yaml"] is None


def test_a_file_that_fits_already_is_printed_as_it_is(tmp_path):
    file = tmp_path / "args.yaml"
    file.write_text("# ours\nmax_batch_size: 8\n")
    result = migrate(file, "--to", "1.2")
    assert result.stdout == "# ours\nmax_batch_size: 8\n"
    assert "no changes" in result.stderr


def test_lost_comments_are_told(tmp_path):
    file = tmp_path / "args.yaml"
    file.write_text("# ours\nsampler_type: auto\nmax_batch_size: 8\n")
    result = migrate(file, "--to", "main")
    assert "# ours" not in result.stdout
    assert "the file's own comments are not kept" in result.stderr


def test_an_ambiguous_file_exits_with_2_and_names_the_families():
    sample = SAMPLES / "main/schedule-copied-from-1-2.yaml"
    result = trtspec("migrate", sample, "--to", "main")
    assert result.returncode == 2
    assert result.stdout == ""
    assert "allowed: 1.2, main" in result.stderr
    assert "--from 1.2" in result.stderr


def test_to_is_required():
    assert migrate(SCHEDULE).exit_code == 2


def test_a_recipe_stays_with_its_comments_and_shows_its_yaml(tmp_path):
    file = tmp_path / "recipe.yaml"
    file.write_text(RECIPE)
    result = migrate(file, "--to", "main", "--from", "1.2")
    assert result.stdout == RECIPE
    assert "its llm_args.yaml: from 1.2.1 to TensorRT-LLM 1.4.0rc4" in result.stderr
    assert "draft_len_schedule: {1: 4, 9: 2} -> {8: 4, 64: 2}" in result.stderr


def test_a_recipe_as_json_has_the_yaml_it_is_written_as(tmp_path):
    file = tmp_path / "recipe.yaml"
    file.write_text(RECIPE)
    document = json.loads(migrate(file, "--to", "main", "--json").stdout)
    assert document["kind"] == "recipe"
    assert document["verdict"] == "unchanged"
    spec = yaml.safe_load(document["llm_args"])["speculative_config"]
    assert spec["draft_len_schedule"] == {8: 4, 64: 2}


def test_a_recipe_for_engines_becomes_a_recipe_for_pytorch():
    recipe = REPOSITORY / "recipes/llama-3.1-70b/draft-target-fp8.yaml"
    result = migrate(recipe, "--to", "main")
    content = yaml.safe_load(result.stdout)
    assert content["backend"] == "pytorch"
    assert "engine" not in content
    assert "backend: tensorrt -> pytorch" in result.stderr


def test_a_map_that_prompt_lookup_cannot_have_is_blocked_with_the_nearest_form():
    recipe = REPOSITORY / "recipes/llama-3.1-8b/ngram.yaml"
    result = trtspec("migrate", recipe, "--to", "main")
    assert result.returncode == 3
    assert result.stdout == ""
    assert result.stderr.count("no draft length by batch") == 1
    assert "draft_length: 8" in result.stderr


def test_a_file_of_which_nothing_is_left_is_an_empty_map_and_told(tmp_path):
    file = tmp_path / "args.yaml"
    file.write_text("sampler_type: auto\n")
    result = migrate(file, "--to", "main")
    assert yaml.safe_load(result.stdout) == {}
    assert "trtllm-serve can do without --config" in result.stderr
    file.write_text(result.stdout)
    assert migrate(file, "--to", "main").stdout == result.stdout


def test_numbers_are_read_as_tensorrt_llm_reads_them(tmp_path):
    file = tmp_path / "args.yaml"
    file.write_text("max_batch_size: 010\nsampler_type: auto\n")
    result = migrate(file, "--to", "main")
    assert yaml.safe_load(result.stdout) == {"max_batch_size": 8}
    assert "note: max_batch_size: 010 is 8 to TensorRT-LLM" in result.stderr


def test_nothing_heavy_is_imported():
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from trtspec.cli.migrate import command\n"
        f"result = CliRunner().invoke(command, [{str(SCHEDULE)!r}, '--to', 'main'])\n"
        "assert result.exit_code == 0, result.exception\n"
        "heavy = {'torch', 'transformers', 'tensorrt_llm', 'scipy', 'httpx'}\n"
        "print(sorted(heavy & sys.modules.keys()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=REPOSITORY,
    )
    assert done.stdout.strip() == "[]"
