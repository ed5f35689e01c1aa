"""Whether a stage is made once, kept whole, and never left half done."""

import errno
import os
import shutil
import stat

import pytest

from tests.build.projects import toy_stage
from trtspec.build.locks import stages_directory
from trtspec.build.space import NoSpaceError
from trtspec.build.store import StageStore
from trtspec.errors import BuildError, FindingsError


@pytest.fixture
def store(engines, lines):
    return StageStore(engines, lines.progress)


def below(engines):
    """Everything in the store but the locks."""
    folder = stages_directory(engines)
    found = (p.relative_to(folder).as_posix() for p in folder.rglob("*"))
    return sorted(name for name in found if not name.startswith("lock"))


def failing(error):
    def action(context):
        (context.output / "half").write_text("half")
        raise error

    return toy_stage(action=action)


def test_stage_is_made_and_recorded(store, engines):
    stage = toy_stage(folder="target")
    stored = store.obtain(stage, {})
    assert stored.directory == stages_directory(engines) / stage.label
    assert (stored.output / "file.txt").read_text() == "content"
    assert stored.log.read_text() == "writing content\n"
    record = stored.record
    assert (record.name, record.key, record.folder) == ("toy", stage.key, "target")
    assert record.inputs == {"text": "content"}
    assert set(record.outputs) == {"file.txt"}
    assert not record.reused


def test_second_time_it_is_reused(store):
    calls = []

    def action(context):
        calls.append(1)
        (context.output / "x").write_text("x")

    first = store.obtain(toy_stage(action=action), {})
    second = store.obtain(toy_stage(action=action), {})
    assert calls == [1]
    assert second.record.reused
    assert second.record.model_copy(update={"reused": False}) == first.record


def test_record_on_disk_never_says_reused(store):
    store.obtain(toy_stage(), {})
    store.obtain(toy_stage(), {})
    assert not store.find(toy_stage()).record.reused


def test_inputs_are_passed_to_the_action(store, tmp_path):
    seen = {}
    stage = toy_stage(action=lambda context: seen.update(context.inputs))
    store.obtain(stage, {"earlier": tmp_path})
    assert seen == {"earlier": tmp_path}


def test_other_inputs_are_another_stage(store):
    one = store.obtain(toy_stage(text="one"), {})
    two = store.obtain(toy_stage(text="two"), {})
    assert one.directory != two.directory
    assert store.obtain(toy_stage(text="one"), {}).record.reused


@pytest.mark.parametrize("damage", ["change", "delete"])
def test_damaged_output_is_made_again_and_said(store, lines, damage):
    stored = store.obtain(toy_stage(), {})
    file = stored.output / "file.txt"
    file.write_text("CONTENT") if damage == "change" else file.unlink()
    again = store.obtain(toy_stage(), {})
    assert not again.record.reused
    assert file.read_text() == "content"
    assert len(lines) == 1
    assert "file.txt" in lines[0]
    assert "made again" in lines[0]


@pytest.mark.parametrize("record", ["", "{}", "{not json"])
def test_record_that_cannot_be_read_means_not_done(store, record):
    stored = store.obtain(toy_stage(), {})
    (stored.directory / "record.json").write_text(record)
    assert store.find(toy_stage()) is None
    assert not store.obtain(toy_stage(), {}).record.reused


def test_record_of_another_key_in_the_folder_is_not_taken(store):
    other = store.obtain(toy_stage(text="other"), {})
    stored = store.obtain(toy_stage(), {})
    shutil.copy(other.directory / "record.json", stored.directory / "record.json")
    assert store.find(toy_stage()) is None


def test_failed_stage_leaves_only_its_log(store, engines):
    with pytest.raises(BuildError, match="toy failed: it broke"):
        store.obtain(failing(BuildError("it broke")), {})
    assert below(engines) == ["logs", f"logs/{toy_stage().label}.log"]


@pytest.mark.parametrize(
    "error", [FindingsError("no"), KeyboardInterrupt(), NoSpaceError("full")]
)
def test_refused_or_interrupted_stage_leaves_nothing(store, engines, error):
    with pytest.raises(type(error)):
        store.obtain(failing(error), {})
    assert below(engines) == ["logs"]


def test_disk_that_fills_up_names_the_directory_and_leaves_nothing(store, engines):
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(NoSpaceError, match=f"no space left on the disk of {engines}"):
        store.obtain(failing(error), {})
    assert below(engines) == ["logs"]


def test_stage_that_does_not_fit_is_not_started(store, engines, monkeypatch):
    usage = shutil._ntuple_diskusage(100, 50, 50)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    called = []
    stage = toy_stage(action=called.append, needs_bytes=51)
    with pytest.raises(NoSpaceError, match="toy needs 51 B"):
        store.obtain(stage, {})
    assert not called
    assert store.obtain(toy_stage(needs_bytes=50), {}).output.is_dir()


def test_stage_works_again_after_it_failed(store):
    with pytest.raises(BuildError):
        store.obtain(failing(BuildError("it broke")), {})
    assert not store.obtain(toy_stage(), {}).record.reused


def test_what_a_dead_process_of_the_same_id_left_is_not_taken(store, engines):
    folder = stages_directory(engines) / f"tmp-{toy_stage().label}-{os.getpid()}"
    (folder / "output").mkdir(parents=True)
    (folder / "output" / "stale").write_text("")
    stored = store.obtain(toy_stage(), {})
    assert [path.name for path in stored.output.iterdir()] == ["file.txt"]


def test_files_and_folders_get_common_modes(store):
    def action(context):
        (context.output / "sub").mkdir(mode=0o700)
        (context.output / "sub" / "x").write_text("x")
        (context.output / "sub" / "x").chmod(0o600)

    output = store.obtain(toy_stage(action=action), {}).output
    assert stat.S_IMODE((output / "sub").stat().st_mode) == 0o755
    assert stat.S_IMODE((output / "sub" / "x").stat().st_mode) == 0o644


def test_status_is_shown_while_it_works_and_taken_away(engines, lines):
    shown = []
    progress = type(lines.progress)(lines.append, shown.append)
    StageStore(engines, progress).obtain(toy_stage(summary=("does it",)), {})
    assert shown == ["toy: does it", ""]


def test_what_its_owner_may_execute_all_may(store):
    def action(context):
        (context.output / "serve.sh").write_text("x")
        (context.output / "serve.sh").chmod(0o700)

    output = store.obtain(toy_stage(action=action), {}).output
    assert stat.S_IMODE((output / "serve.sh").stat().st_mode) == 0o755


def test_a_failing_stage_keeps_all_that_its_error_says(store):
    error = BuildError("it is 3", where="there", allowed="1 or 2", action="choose one")
    with pytest.raises(BuildError) as caught:
        store.obtain(failing(error), {})
    (problem,) = caught.value.problems
    assert str(problem) == (
        "there: toy failed: it is 3\n  allowed: 1 or 2\n  do: choose one"
    )
