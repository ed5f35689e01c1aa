"""``trtspec bench --url``: real servers, real requests, one run directory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench.http.mock_server import Script, document, serving, streamed
from trtspec.bench import conditions
from trtspec.bench.http.address import API_KEY
from trtspec.bench.rundir import load_run
from trtspec.cli.main import _run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(conditions, "IDLE_SECONDS", 0.01)
    monkeypatch.delenv(API_KEY, raising=False)
    monkeypatch.chdir(tmp_path)
    lines = [
        json.dumps({"id": f"w{i}", "category": "chat", "prompt": f"w{i} go"})
        for i in range(4)
    ]
    (tmp_path / "p.jsonl").write_text("\n".join(lines))
    return tmp_path


def bench(*arguments, prompts=True):
    more = ["--prompts", "p.jsonl"] if prompts else []
    if "--repeats" not in arguments and "--resume" not in arguments:
        more += ["--repeats", "3"]
    return _run(["bench", *map(str, arguments), *more])


def result():
    return load_run(next(iter(_runs())))


def _runs():
    return sorted(Path("runs").iterdir())


def test_a_pair_of_servers_is_measured():
    with serving(streamed((0.02, 0.02))) as off, serving(streamed((0.01, 0.0))) as on:
        bench(
            "--url", f"off={off.url}", "--url", f"on={on.url}", "--concurrency", "1,2"
        )
    run = result().result
    assert [(a.name, a.role) for a in run.plan.arms] == [
        ("off", "baseline"),
        ("off again", "control"),
        ("on", "candidate"),
    ]
    assert [cell.failures for cell in run.cells] == [(), ()]
    assert set(run.cells[0].comparisons) == {"on"}
    # every prompt in every warm-up, then three rounds; off twice in each round
    assert len(off.seen) == 2 * (4 + 3 * 2 * 4)
    assert len(on.seen) == 2 * (4 + 3 * 4)


def test_what_is_recorded_of_a_server():
    with serving() as off, serving() as on:
        bench("--url", f"off={off.url}/v1/", "--url", f"on={on.url}")
    plan = result().result.plan
    off_arm, on_arm = plan.baseline, plan.candidates[0]
    assert off_arm.endpoint.model_dump() == {
        "url": off.url,
        "model": "mock-model",
        "api": "chat",
    }
    assert off_arm.speculation == {"method": "none"}
    assert on_arm.speculation == {"method": "unknown"}
    assert on_arm.engine["owned_by"] == "tests"
    assert plan.name == "mock-model"
    assert plan.prompts.rendered_sha256 is None
    assert plan.settings.prompts_cached
    assert plan.settings.output_tokens == 128
    assert plan.settings.greedy
    assert plan.conditions.runner["url"] == off.url


def test_a_run_that_was_killed_goes_on():
    with serving() as off, serving() as on:
        urls = ["--url", f"off={off.url}", "--url", f"on={on.url}"]
        bench(*urls, "--output", "killed")
        blocks = Path("killed/blocks.jsonl")
        kept = blocks.read_text().splitlines(keepends=True)[:-2]
        blocks.write_text("".join(kept))
        Path("killed/result.json").unlink()
        before = len(on.seen) + len(off.seen)
        assert _run(["bench", "--resume", "killed"]) in (0, 6)
        # both warm-ups once more, and the two blocks
        assert len(on.seen) + len(off.seen) - before == 4 * 4
    run = load_run(Path("killed")).result
    assert not run.partial
    assert run.cells[0].blocks == 3


def test_later_turns_go_on_from_the_answers_of_the_off_arm():
    Path("p.jsonl").write_text('{"id": "a", "turns": ["first", "second"]}\n')
    with serving() as off, serving(streamed((0.0,), tokens=1)) as on:
        urls = ["--url", f"on={on.url}", "--url", f"off={off.url}"]
        bench(*urls, "--turns", "all", "--repeats", "1")
    talks = {
        tuple(message["content"] for message in seen.body["messages"])
        for seen in on.seen
    }
    assert talks == {("first",), ("first", "w0 w1 ", "second")}
    assert result().result.plan.prompts.turns == "all"


def test_each_category_is_a_load_of_its_own():
    lines = [
        json.dumps({"id": f"w{i}", "category": c, "prompt": f"w{i} go"})
        for i, c in enumerate(["chat", "code", "code"])
    ]
    Path("p.jsonl").write_text("\n".join(lines))
    with serving() as only:
        bench("--url", only.url, "--by-category", "--repeats", "1")
        assert bench("--url", only.url, "--by-category", "--concurrency", "2") == 2
    cells = result().result.cells
    assert [cell.load.category for cell in cells] == ["chat", "code"]
    assert len(only.seen) == 2 * 3


def test_one_address_is_one_candidate_without_a_claim():
    with serving() as only:
        code = bench("--url", only.url)
    run = result().result
    assert [(a.name, a.role) for a in run.plan.arms] == [("on", "candidate")]
    assert not run.plan.settings.control
    assert run.cells[0].comparisons == {}
    assert run.cells[0].arms["on"].values["output_throughput"] > 0
    assert code == 6


def test_an_open_loop_tells_how_late_it_sent():
    with serving() as only:
        bench("--url", only.url, "--rate", "100", "--repeats", "1")
    samples = result().raw.samples
    assert len(samples) == 4
    assert all(sample.late >= 0 for sample in samples)
    assert {sample.submitted for sample in samples} != {0.0}


def test_a_failed_request_leaves_the_cell_without_numbers():
    def answer(seen):
        return (
            document({"error": "full"}, "503 Busy") if seen.name == "w2" else streamed()
        )

    with serving() as off, serving(answer) as on:
        code = bench("--url", f"off={off.url}", "--url", f"on={on.url}")
    (cell,) = result().result.cells
    assert {f.prompt_id for f in cell.failures} == {"w2"}
    assert "503" in cell.failures[0].what
    assert cell.comparisons == {}
    assert code == 5


def test_a_password_in_an_address_is_in_no_file(capsys):
    with serving() as only:
        url = only.url.replace("//", "//user:s3cret@", 1)
        bench("--url", f"on={url}")
    assert f"on={only.url}" in result().result.plan.command
    assert only.seen[0].headers["authorization"].startswith("Basic ")
    files = [path for path in _runs()[0].iterdir() if path.is_file()]
    assert files
    for path in files:
        assert "s3cret" not in path.read_text()
    out, err = capsys.readouterr()
    assert "s3cret" not in out + err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--url", "off=http://a"], "nothing to be compared with"),
        (["--url", "off again=http://a"], "the name"),
        (["--url", "off=http://a", "--url", "on=http://a/v1"], "named twice"),
        (["--url", "http://a?key=x"], "query"),
        (["--url", "http://a", "--device", "cuda"], "--device"),
        (["--url", "http://a", "--threads", "2"], "--threads"),
        (["--url", "http://a", "--draft-length", "2"], "--draft-length"),
        (["--url", "http://a", "--concurrency", "5"], "5 requests cannot be kept"),
    ],
)
def test_wrong_arguments_are_refused_before_a_server_is_asked(arguments, said, capsys):
    assert bench(*arguments) == 2
    assert said in capsys.readouterr().err


def test_prompts_are_needed(capsys):
    assert bench("--url", "http://a", prompts=False) == 2
    assert "--prompts" in capsys.readouterr().err


def test_a_server_that_does_not_answer(capsys):
    with serving() as gone:
        url = gone.url
    assert bench("--url", url) == 5
    assert "no server answers" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "name"),
    [("org/Model-7B", "Model-7B"), ("/models/../x y/", "x-y"), ("..", "server")],
)
def test_a_run_is_named_by_its_model(model, name):
    models = document({"data": [{"id": model}]})
    with serving(models=models) as only:
        bench("--url", only.url, "--repeats", "1")
    assert result().result.plan.name == name


def test_the_named_model_and_api_are_asked_for():
    with serving() as only:
        bench(
            "--url", only.url, "--model", "m2", "--api", "completions", "--repeats", 1
        )
    assert {seen.path for seen in only.seen} == {"/v1/completions"}
    assert {seen.body["model"] for seen in only.seen} == {"m2"}


def test_a_server_that_does_not_tell_its_tokens():
    steps = streamed().steps[:-1]
    with serving(Script((*steps, b"data: [DONE]\n\n"))) as only:
        assert bench("--url", only.url) == 5
    (cell,) = result().result.cells
    assert "include_usage" in cell.failures[0].what
