"""A program that cannot be started is told with what is wrong with its file."""

import pytest

from trtspec.errors import RunError


@pytest.mark.parametrize(
    ("content", "mode", "fault", "action"),
    [
        (
            b"#!/moved/venv/bin/python\n",
            0o755,
            "its first line asks for /moved/venv/bin/python, which is not there",
            "an environment that was moved has such lines",
        ),
        (
            b"\x7fGARBAGE\x00",
            0o755,
            "Exec format error: neither a program of this machine nor a script",
            "install TensorRT-LLM again",
        ),
        (b"#!/bin/sh\n", 0o644, "Permission denied: the file is not executable", "ch"),
    ],
)
def test_file_of_the_server_that_cannot_be_started(rig, content, mode, fault, action):
    program = rig.folder / "trtllm-serve"
    program.write_bytes(content)
    program.chmod(mode)
    server = rig.make()
    server._command = (str(program), "serve")
    with server, pytest.raises(RunError) as caught:
        server.start()
    (problem,) = caught.value.problems
    assert problem.what == f"cannot start {program}: {fault}"
    assert action in problem.action


def test_first_line_that_asks_for_no_program(rig):
    (rig.folder / "text").write_text("")
    program = rig.folder / "trtllm-serve"
    program.write_text(f"#!{rig.folder / 'text'}\n")
    program.chmod(0o755)
    server = rig.make()
    server._command = (str(program),)
    with server, pytest.raises(RunError, match="text, which is no program"):
        server.start()


def test_directory_that_is_gone_is_not_the_programs_fault(rig):
    server = rig.make()
    server._directory = rig.folder / "gone"
    with server, pytest.raises(RunError, match="gone: No such file") as caught:
        server.start()
    assert caught.value.problems[0].action == "build the recipe again"
