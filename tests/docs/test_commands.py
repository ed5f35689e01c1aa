"""The commands that README and docs show do what they are shown for, or say why not."""

from __future__ import annotations

from contextlib import suppress

import docs_commands
import psutil
import pytest
from docs_commands import MarkerError, commands, run_page, workplace
from docs_pages import pages

from tests.docs.conftest import ROOT

PAGES = pages()


def states_of(page):
    try:
        return {block.state for block in commands(page)}
    except MarkerError:  # a test of its own says so
        return set()


def having(state: str):
    return [page for page in PAGES if state in states_of(page)]


def name(page):
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A folder like a clone, which the cheap commands share."""
    return workplace(tmp_path_factory.mktemp("clone"))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_marker_is_understood(page):
    list(commands(page))


@pytest.mark.parametrize("page", having("run"), ids=name)
def test_cheap_commands_run(page, clone):
    assert [ran.fault for ran in run_page(page, ("run",), clone) if ran.fault] == []


@pytest.mark.slow
@pytest.mark.parametrize("page", having("slow"), ids=name)
def test_slow_commands_run(page, tmp_path):
    """In one folder per page, in their order, as a reader would."""
    clone = workplace(tmp_path)
    faults = [ran.fault for ran in run_page(page, ("run", "slow"), clone) if ran.fault]
    assert faults == []


def test_most_pages_with_commands_have_one_that_runs_or_is_compared():
    states = [block.state for page in PAGES for block in commands(page)]
    assert {"run", "slow", "generated", "not run"} == set(states)


def test_what_is_not_run_is_listed_with_its_reason(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["docs_commands.py"])
    assert docs_commands.main() == 0
    listed = capsys.readouterr().out
    for block in docs_commands.not_run():
        assert f"{block.where}: {block.reason}\n" in listed


def of(tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(text)
    return list(commands(page))


@pytest.mark.parametrize(
    ("marker", "state", "codes"),
    [
        ("", "run", (0,)),
        ("<!-- any other comment -->\n", "run", (0,)),
        ("<!-- run: slow -->\n", "slow", (0,)),
        ("<!-- run: exit 3 -->\n", "run", (3,)),
        ("<!-- run: slow, exit 0|6 -->\n", "slow", (0, 6)),
        ("<!-- not run: needs a GPU, of any kind -->\n", "not run", (0,)),
        ("<!-- generated: plan a b c -->\n", "generated", (0,)),
    ],
)
def test_markers(tmp_path, marker, state, codes):
    (block,) = of(tmp_path, f"Text.\n\n{marker}```sh\ntrue\n```\n")
    assert (block.state, block.exit_codes) == (state, codes)


@pytest.mark.parametrize(
    "marker", ["not run: because", "not run:", "run: fast", "run:"]
)
def test_a_marker_that_says_nothing_is_refused(tmp_path, marker):
    with pytest.raises(MarkerError):
        of(tmp_path, f"<!-- {marker} -->\n```sh\ntrue\n```\n")


def test_a_marker_holds_for_the_block_right_below_it_only(tmp_path):
    text = "<!-- not run: needs a GPU -->\n```sh\na\n```\n\n```sh\nb\n```\n"
    assert [b.state for b in of(tmp_path, text)] == ["not run", "run"]
    text = "<!-- not run: needs a GPU -->\n\nWords.\n\n```sh\nb\n```\n"
    assert [b.state for b in of(tmp_path, text)] == ["run"]


def test_all_that_is_generated_stands_between_two_comments(tmp_path):
    text = (
        "<!-- generated: x -->\n```console\n$ a\n```\n\n```sh\nb\n```\n<!-- end -->\n\n"
        "```sh\nc\n```\n"
    )
    states = [block.state for block in of(tmp_path, text)]
    assert states == ["generated", "generated", "run"]


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("```sh\na\nb\n```\n", "a\nb\n"),
        ("```console\n$ a \\\n  b\nout\n$ c\n```\n", "a \\\n  b\nc"),
        ("```text\n$ a\nout\n```\n", "a"),
        ("    trtspec run x\n", "trtspec run x\n"),
        ("    scripts/gpu_smoke.sh\n", "scripts/gpu_smoke.sh\n"),
    ],
)
def test_what_is_typed(tmp_path, text, typed):
    (block,) = of(tmp_path, f"Words.\n\n{text}")
    assert block.text == typed


@pytest.mark.parametrize(
    "text", ["```yaml\na: 1\n```\n", "    {a: 1}\n", "`trtspec`\n"]
)
def test_what_is_no_command(tmp_path, text):
    assert of(tmp_path, f"Words.\n\n{text}") == []


def ran(tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(text)
    place = tmp_path / "place"
    (place / ".tools").mkdir(parents=True)
    return [one.fault for one in run_page(page, ("run",), place)]


def test_a_new_block_that_fails_is_noticed(tmp_path):
    (fault,) = ran(tmp_path, "```sh\ntrue\nls /no/such/folder\n```\n")
    assert "exit code 2, not 0" in fault
    assert "/no/such/folder" in fault


def test_a_failure_in_the_middle_of_a_block_or_a_pipe_is_noticed(tmp_path):
    assert all(ran(tmp_path, "```sh\nfalse\ntrue\n```\n"))


def test_a_block_that_ends_as_it_says_is_fine(tmp_path):
    assert ran(tmp_path, "<!-- run: exit 3 -->\n```sh\nexit 3\n```\n") == [""]


def test_a_block_that_should_fail_and_does_not_is_noticed(tmp_path):
    assert all(ran(tmp_path, "<!-- run: exit 3 -->\n```sh\ntrue\n```\n"))


def test_blocks_of_a_page_share_their_folder(tmp_path):
    assert ran(tmp_path, "```sh\ntouch a\n```\n\n```sh\nls a\n```\n") == ["", ""]


def test_a_block_that_does_not_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(docs_commands, "LIMIT_S", 1.0)
    (fault,) = ran(tmp_path, "```sh\nsleep 61 & echo $! > pid\nwait\n```\n")
    assert "not done after" in fault
    started = int((tmp_path / "place/pid").read_text())
    with suppress(psutil.NoSuchProcess):
        assert psutil.Process(started).status() in ("zombie", "dead")


def test_the_clone_is_apart_from_the_repository(clone):
    assert not (clone / "README.md").is_symlink()
    assert list((clone / "engines").iterdir()) == []
    assert (clone / "trtspec/methods/__init__.py").exists()
    assert (clone / "recipes/workloads/chat.jsonl").exists()
    assert not (clone / ".git").exists()
