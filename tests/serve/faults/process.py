"""``trtspec serve`` of a toy, as a process of its own: for signals and outputs."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading

import httpx

from tests.cli import forked
from tests.reference.artifacts import write_model

PATIENCE = 120.0


def write_project(folder):
    """Write a recipe with its model; gives the recipe's path."""
    write_model(folder / "target")
    recipe = {
        "schema": "trtspec/v1",
        "name": "toy",
        "target": {"model": "./target", "dtype": "float32"},
        "speculation": {"method": "ngram", "draft_length": 3},
        "limits": {
            "max_batch_size": 2,
            "max_input_tokens": 64,
            "max_total_tokens": 240,
        },
    }
    path = folder / "toy.yaml"
    path.write_text(json.dumps(recipe))  # JSON is YAML
    return path


class Process:
    """A server that was started; what it says on stderr is kept.

    It is forked from a process that has torch loaded, and otherwise one of its own.

    :param anew: start an interpreter, to see what it makes of its end.
    """

    def __init__(self, recipe, *options, stderr=None, anew=False):
        command = ["serve", recipe, "--json", "--engines", recipe.parent / "engines"]
        if "--port" not in options:
            options = ("--port", "0", *options)
        if "--canary" in options:
            options = tuple(o for o in options if o != "--canary")
        else:
            options = ("--no-canary", *options)
        words = [str(word) for word in (*command, *options)]
        environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
        out, stdout = os.pipe()
        err, said = os.pipe()
        streams = (stdout, said if stderr is None else stderr)
        if anew:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "trtspec", *words],
                stdout=streams[0],
                stderr=streams[1],
                env=environment,
            )
        else:
            self.process = forked.start(words, *streams, environment)
        for one in (stdout, said):
            os.close(one)
        self.stdout, self.stderr = os.fdopen(out), os.fdopen(err)
        self.errors: list[str] = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    @property
    def pid(self):
        return self.process.pid

    def _read(self):
        for line in self.stderr:
            self.errors.append(line)

    @property
    def said(self):
        return "".join(self.errors)

    def ready(self):
        """Wait until it is ready; its address."""
        line = self.stdout.readline()
        assert line, self.said
        self.url = json.loads(line)["url"]
        return self.url

    def post(self, **asked):
        with httpx.Client(base_url=self.url, timeout=PATIENCE, verify=False) as client:
            return client.post("/v1/completions", json=asked)

    def get(self, path):
        return httpx.get(self.url + path, timeout=PATIENCE, verify=False)

    def signal(self, number=signal.SIGTERM):
        os.kill(self.pid, number)

    def code(self):
        """Wait for its end; its exit code."""
        if isinstance(self.process, subprocess.Popen):
            return self.process.wait(PATIENCE)
        self.process.join(PATIENCE)
        assert self.process.exitcode is not None, self.said
        return self.process.exitcode

    def close(self):
        """End it, if it has not, and forget it."""
        self.process.kill()
        self.code()
        self.reader.join(5)
        self.stdout.close()
        self.stderr.close()


@contextlib.contextmanager
def process(recipe, *options, **settings):
    made = Process(recipe, *options, **settings)
    try:
        yield made
    finally:
        made.close()
