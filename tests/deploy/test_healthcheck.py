"""Docker's health check: right for serve, harmless for every other command."""

import http.server
import importlib.util
import threading

import pytest

from tests.deploy.shipped import DEPLOY
from trtspec.cli.main import COMMANDS

TINI = ["tini", "--", "/opt/trtspec/entrypoint.sh"]


@pytest.fixture(scope="module")
def check():
    spec = importlib.util.spec_from_file_location(
        "healthcheck", DEPLOY / "image/healthcheck.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def server():
    """A server whose /health answers what is set; gives it."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.asked.append(self.path)
            body = b'{"status":"failed","reason":"the engine is broken"}'
            self.send_response(self.server.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.status, found.asked = 200, []
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield found
    found.shutdown()
    found.server_close()


@pytest.fixture
def proc(tmp_path):
    def make(*command_lines):
        for number, words in enumerate(command_lines, 1):
            folder = tmp_path / str(number)
            folder.mkdir()
            (folder / "cmdline").write_bytes("\0".join([*words, ""]).encode())
        (tmp_path / "self").mkdir()
        (tmp_path / "99").mkdir()  # ended meanwhile: no cmdline
        return tmp_path

    return make


def serve(port, *more):
    return [
        "/usr/bin/python3",
        "/usr/local/bin/trtspec",
        "serve",
        "recipe.yaml",
        "--port",
        str(port),
        *more,
    ]


def test_a_server_that_answers_is_well(check, server, proc):
    port = server.server_address[1]
    words = serve(port, "--host", "0.0.0.0")
    assert check.main(proc([*TINI, *words[1:]], words)) == 0
    assert server.asked == ["/health"]


def test_a_server_that_says_it_is_broken_is_not(check, server, proc, capsys):
    server.status = 503
    assert check.main(proc(serve(server.server_address[1]))) == 1
    assert "the engine is broken" in capsys.readouterr().out  # docker inspect shows it


def test_a_server_that_does_not_answer_is_not(check, server, proc, capsys):
    port = server.server_address[1]
    server.shutdown()
    server.server_close()
    assert check.main(proc(serve(port))) == 1
    assert "does not answer" in capsys.readouterr().out


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"serve"}))
def test_every_other_command_is_well_while_it_runs(check, proc, command):
    words = ["python3", "/usr/local/bin/trtspec", command, "serve", "--port", "9"]
    assert check.main(proc([*TINI, command], words)) == 0


def test_a_shell_in_the_container_is_well(check, proc):
    assert check.main(proc(["bash"], ["bash", "-c", "trtspec serve x"])) == 0
    assert check.served(["bash", "-c", "trtspec serve x"]) is None


@pytest.mark.parametrize(
    ("words", "url"),
    [
        (["trtspec", "serve", "r.yaml"], "http://127.0.0.1:8000/health"),
        (
            ["python", "-m", "trtspec", "serve", "r.yaml", "--port=81"],
            "http://127.0.0.1:81/health",
        ),
        (
            ["trtspec", "--debug", "serve", "r", "--host=10.1.2.3"],
            "http://10.1.2.3:8000/health",
        ),
        (
            ["trtspec", "serve", "--port", "1", "r", "--port", "2"],
            "http://127.0.0.1:2/health",
        ),
        (["trtspec", "serve", "r", "--port", "0"], ""),
    ],
)
def test_the_address_is_read_off_the_command_line(check, words, url):
    assert check.url_of(check.served(words)) == url


def test_defaults_are_those_of_the_command(check):
    from trtspec.cli.main import cli

    defaults = {
        o: p.default for p in cli.get_command(None, "serve").params for o in p.opts
    }
    assert (
        check.url_of([]) == f"http://{defaults['--host']}:{defaults['--port']}/health"
    )


def test_it_gives_up_before_docker_does(check):
    assert check.SECONDS < 5
