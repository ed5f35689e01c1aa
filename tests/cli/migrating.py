"""Files to migrate, and two ways to run ``trtspec migrate``."""

import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from trtspec.cli.migrate import command

REPOSITORY = Path(__file__).parents[2]
SAMPLES = REPOSITORY / "tests/trtllm/migrate/samples"
SCHEDULE = SAMPLES / "1.2/eagle3-schedule.yaml"
BLOCKED = SAMPLES / "1.2/eagle3-schedule-and-gate.yaml"
RECIPE = """\
schema: trtspec/v1
name: llama
backend: pytorch # as it is
target: {model: org/llama}
speculation: {method: eagle3, model: org/head, draft_length: {8: 4, 64: 2}}
limits: {max_batch_size: 64}
"""


def migrate(*arguments):
    """Run the command in this process; errors are raised."""
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(command, words, catch_exceptions=False)


def trtspec(*arguments, **environment):
    """Run the program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "trtspec", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
        env={**os.environ, "COLUMNS": "100", **environment},
    )
