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

from tests.reference.artifacts import write_model

PATIENCE = 120.0
SERVE = (sys.executable, "-m", "trtspec", "serve")


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
    """A server that was started; what it says on stderr is kept."""

    def __init__(
        self, recipe, *options, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ):
        command = [*SERVE, recipe, "--json", "--engines", recipe.parent / "engines"]
        if "--port" not in options:
            options = ("--port", "0", *options)
        if "--canary" in options:
            options = tuple(o for o in options if o != "--canary")
        else:
            options = ("--no-canary", *options)
        self.process = subprocess.Popen(
            [str(word) for word in (*command, *options)],
            stdout=stdout,
            stderr=stderr,
            env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
            text=True,
        )
        self.errors: list[str] = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stderr or ():
            self.errors.append(line)

    @property
    def said(self):
        return "".join(self.errors)

    def ready(self):
        """Wait until it is ready; its address."""
        line = self.process.stdout.readline()
        assert line, self.said
        self.url = json.loads(line)["url"]
        return self.url

    def post(self, **asked):
        with httpx.Client(base_url=self.url, timeout=PATIENCE) as client:
            return client.post("/v1/completions", json=asked)

    def get(self, path):
        return httpx.get(self.url + path, timeout=PATIENCE)

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def code(self):
        """Wait for its end; its exit code."""
        return self.process.wait(PATIENCE)


@contextlib.contextmanager
def process(recipe, *options, **settings):
    made = Process(recipe, *options, **settings)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.wait()
        made.reader.join(5)
        for stream in (made.process.stdout, made.process.stderr):
            if stream:
                stream.close()
