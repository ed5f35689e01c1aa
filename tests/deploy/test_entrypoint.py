"""What the images start: the environment of NVIDIA's image, arguments, signals."""

import os
import signal
import subprocess
import time

import pytest

from tests.deploy.shipped import DEPLOY

ENTRYPOINT = DEPLOY / "image/entrypoint.sh"
DRAINING = """#!/bin/bash
trap 'echo drained; exit 143' TERM
echo $$
while :; do sleep 0.05; done
"""


@pytest.fixture
def start(tmp_path):
    """Run the entry point with a stand-in for trtspec; gives the process."""

    def run(script, *arguments, **variables):
        program = tmp_path / "bin/trtspec"
        program.parent.mkdir(exist_ok=True)
        program.write_text(script)
        program.chmod(0o755)
        path = f"{program.parent}:{os.environ['PATH']}"
        return subprocess.Popen(
            [ENTRYPOINT, *arguments],
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": path, **variables},
        )

    return run


def test_arguments_arrive_as_they_were_given(start):
    program = '#!/bin/sh\nprintf "<%s>" "$@"\n'
    out, _ = start(
        program, "run", "a recipe.yaml", "--prompt", 'say "$HOME" * ;'
    ).communicate()
    assert out == '<run><a recipe.yaml><--prompt><say "$HOME" * ;>'


def test_paths_that_nvidias_image_sets_for_bash_are_there(start, tmp_path):
    (tmp_path / "shinit").write_text("export LD_LIBRARY_PATH=/usr/local/tensorrt/lib\n")
    program = "#!/bin/sh\necho $LD_LIBRARY_PATH\n"
    out, _ = start(program, BASH_ENV=str(tmp_path / "shinit")).communicate()
    assert out == "/usr/local/tensorrt/lib\n"


def test_sigterm_reaches_trtspec_itself(start):
    running = start(DRAINING)
    assert int(running.stdout.readline()) == running.pid  # exec: no shell between
    running.send_signal(signal.SIGTERM)
    assert running.stdout.read() == "drained\n"
    assert running.wait() == 143


def test_its_exit_code_is_that_of_trtspec(start):
    running = start("#!/bin/sh\nexit 7\n")
    deadline = time.monotonic() + 30
    while running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    running.stdout.close()
    assert running.returncode == 7
