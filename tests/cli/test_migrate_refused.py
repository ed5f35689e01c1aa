"""What ``trtspec migrate`` refuses, with which exit code, and what is left then."""

import json
import os

import pytest
import yaml

from tests.cli.migrating import BLOCKED, RECIPE, SCHEDULE, migrate, trtspec
from trtspec.errors import FindingsError, UsageError


def test_a_blocked_file_exits_with_3_and_writes_nothing(tmp_path):
    output = tmp_path / "out.yaml"
    with pytest.raises(FindingsError) as caught:
        migrate(BLOCKED, "--to", "main", "--output", output)
    assert caught.value.exit_code == 3
    assert not output.exists()


def test_output_goes_to_a_file(tmp_path):
    output = tmp_path / "out.yaml"
    result = migrate(SCHEDULE, "--to", "1.4.0rc4", "--output", output)
    assert result.stdout == ""
    assert f"written: {output}" in result.stderr
    assert yaml.safe_load(output.read_text())["max_batch_size"] == 64
    assert [path.name for path in tmp_path.iterdir()] == ["out.yaml"]


def test_output_that_cannot_be_written_is_not_said_to_be_migrated(tmp_path):
    (tmp_path / "file").touch()
    output = tmp_path / "file/out.yaml"
    done = trtspec("migrate", SCHEDULE, "--to", "main", "--json", "--output", output)
    assert done.returncode == 2
    assert json.loads(done.stdout)["verdict"] == "error"
    assert f"error: --output: {output} cannot be written" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_pipe_as_output_is_refused_and_a_link_is_followed(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError) as caught:
        migrate(SCHEDULE, "--to", "main", "--output", tmp_path / "pipe")
    assert caught.value.problems[0].where == "--output"
    (tmp_path / "link").symlink_to("file")
    migrate(SCHEDULE, "--to", "main", "--output", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert yaml.safe_load((tmp_path / "file").read_text())["max_batch_size"] == 64


def test_a_blocked_file_leaves_what_was_at_the_output(tmp_path):
    output = tmp_path / "out.yaml"
    output.write_text("ours: 1\n")
    done = trtspec("migrate", BLOCKED, "--to", "main", "--output", output)
    assert done.returncode == 3
    assert output.read_text() == "ours: 1\n"


def test_an_empty_output_is_a_usage_error():
    result = migrate(SCHEDULE, "--to", "main", "--output", "")
    assert result.exit_code == 2
    assert result.stdout == ""


def test_a_source_that_contradicts_a_schedule_exits_with_3(tmp_path):
    output = tmp_path / "out.yaml"
    given = ("migrate", SCHEDULE, "--from", "main", "--to", "main", "--output", output)
    done = trtspec(*given)
    assert done.returncode == 3
    assert "Give --from 1.2" in " ".join(done.stderr.split())
    assert "1 blocked: nothing is written" in done.stderr
    assert not output.exists()


def test_a_recipe_with_a_tag_is_refused(tmp_path):
    file = tmp_path / "recipe.yaml"
    file.write_text(RECIPE.replace("target: {", "target: !ours {"))
    with pytest.raises(UsageError) as caught:
        migrate(file, "--to", "main")
    assert caught.value.problems[0].where == f"{file}:4"


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        ((SCHEDULE, "--to", "1.3.0rc10"), "--to"),
        ((SCHEDULE, "--to", "soon"), "--to"),
        ((SCHEDULE, "--to", "main", "--from", "1.2.0rc1"), "--from"),
        (("absent.yaml", "--to", "main"), "absent.yaml"),
        (("-", "--to", "main"), "FILE"),
        (("", "--to", "main"), "FILE"),
    ],
)
def test_what_cannot_be_used_is_a_usage_error(arguments, where):
    with pytest.raises(UsageError) as caught:
        migrate(*arguments)
    assert caught.value.problems[0].where == where
