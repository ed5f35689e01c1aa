"""``trtspec`` whose stage ``convert-target`` runs a program that never ends by itself.

Run as ``python -m tests.build.endless build RECIPE ...``, like trtspec.
"""

import sys
from dataclasses import replace

from trtspec.build.command import run_command
from trtspec.cli.main import main
from trtspec.reference.backend import ReferenceBackend

WAITS = "the stage waits"
PROGRAM = [sys.executable, "-c", "import time; time.sleep(3600)"]


def endless(context):
    run_command(
        PROGRAM,
        log_file=context.log_file,
        writes_to=context.output,
        watch=lambda line: context.progress.line(WAITS),
    )


def with_endless_stage(plan):
    def stages(backend, inputs):
        return tuple(
            replace(stage, action=endless) if stage.name == "convert-target" else stage
            for stage in plan(backend, inputs)
        )

    return stages


if __name__ == "__main__":
    ReferenceBackend.stages = with_endless_stage(ReferenceBackend.stages)
    main()
