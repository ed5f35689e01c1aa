"""``trtspec serve`` as a process, and an artifact with what serves it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager

from tests.standins import install
from tests.trtllm.pytorch.build.projects import build_project, write_project
from tests.trtllm.pytorch.launch.conftest import OF_TEST, running_for
from tests.trtllm.pytorch.launch.counting import write_counting_model
from trtspec.trtllm.pytorch.launch.address import Address
from trtspec.trtllm.pytorch.launch.http_client import ask

TRTSPEC = [sys.executable, "-m", "trtspec"]
PROMPT = {"model": "target", "prompt": "t1 t2", "temperature": 0.0}


class Running:
    """One ``trtspec serve``: its first line of JSON, its end, what it said."""

    def __init__(self, command, environment, folder):
        self.folder = folder
        self._errors = (folder / "stderr.txt").open("w+")
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
            # under nohup it would be ignored
            preexec_fn=lambda: signal.signal(  # noqa: PLW1509 - one system call
                signal.SIGHUP, signal.SIG_DFL
            ),
        )

    def ready(self):
        line = self.process.stdout.readline()
        assert line, self.said()
        document = json.loads(line)
        self.address = Address("127.0.0.1", int(document["url"].rpartition(":")[2]))
        return document

    def post(self, **body):
        return ask(self.address, "/v1/completions", timeout=60, body={**PROMPT, **body})

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.code()

    def code(self):
        return self.process.wait(60)

    def said(self):
        self._errors.flush()
        return (self.folder / "stderr.txt").read_text()


class Place:
    """An artifact, the stand-in that serves it, and the environment of both."""

    def __init__(self, folder, version="1.2.1", method="ngram"):
        self.standin = install(folder / "trtllm", version, pytorch=True)
        (folder / "project").mkdir()
        write_counting_model(folder / "project" / "model")
        recipe = write_project(folder / "project", method, workload=True)
        engines = folder / "engines"
        self.artifact = build_project(recipe, engines, version).artifact.path

    @contextmanager
    def starting(self, folder, *always):
        """What starts ``trtspec serve``: on a free port, no canary if none is named."""
        with ExitStack() as stack:

            def start(*options, **variables):
                options = (*always, *(options or ("--port", "0", "--no-canary")))
                return stack.enter_context(self.serve(folder, *options, **variables))

            yield start

    @contextmanager
    def serve(self, folder, *options, as_json=True, **variables):
        environment = {
            **self.standin.environment(),
            "TRTSPEC_CACHE": str(folder / "cache"),
            "OMP_NUM_THREADS": "1",
            OF_TEST: str(folder),
            **variables,
        }
        shown = ["--json"] if as_json else []
        command = [*TRTSPEC, "serve", self.artifact, *shown, *options]
        running = Running(command, environment, folder)
        try:
            yield running
        finally:
            running.process.kill()
            running.process.wait()
            for process in running_for(folder):
                process.kill()
