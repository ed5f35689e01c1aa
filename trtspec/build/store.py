"""Which stages are done: each completed output is kept under its key."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from stat import S_IXUSR

from pydantic import ValidationError

from trtspec.build.hashes import differing_files, tree_hashes
from trtspec.build.locks import held, stages_directory, temporary_stage
from trtspec.build.manifest import StageRecord
from trtspec.build.progress import Progress
from trtspec.build.space import NoSpaceError, require_space, writing
from trtspec.build.stage import Stage, StageContext
from trtspec.errors import BuildError
from trtspec.files import write_atomic

RECORD = "record.json"
_FILE_MODE = 0o644
_PROGRAM_MODE = 0o755


@dataclass(frozen=True, slots=True)
class StoredStage:
    """A completed stage on disk."""

    directory: Path
    record: StageRecord

    @property
    def output(self) -> Path:
        """The folder that the stage filled."""
        return self.directory / "output"

    @property
    def log(self) -> Path:
        """The stage's log."""
        return self.directory / "stage.log"


class StageStore:
    """Keeps completed stages in ``engines/.stages`` and makes the missing ones.

    Anything in there may be deleted while no build runs: it is made again.
    """

    def __init__(self, engines: Path, progress: Progress) -> None:
        self._engines = engines
        self._progress = progress

    def find(self, stage: Stage) -> StoredStage | None:
        """Give a stage that was completed; its output is not looked at."""
        directory = stages_directory(self._engines) / stage.label
        try:
            text = (directory / RECORD).read_text(encoding="utf-8")
            record = StageRecord.model_validate_json(text)
        except (OSError, ValidationError):
            return None
        return StoredStage(directory, record) if record.key == stage.key else None

    def obtain(self, stage: Stage, inputs: Mapping[str, Path]) -> StoredStage:
        """Give a stage's output, made now unless an earlier build left it.

        :param inputs: outputs of the stages that it uses, by name.
        :raises TrtspecError: what the stage's action raises; nothing is left of it but
            its log.
        """
        with (
            writing(self._engines),
            held(self._engines, stage.label, self._progress),
        ):
            stored = self._undamaged(stage)
            return stored or self._make(stage, inputs)

    def _undamaged(self, stage: Stage) -> StoredStage | None:
        stored = self.find(stage)
        if stored is None:
            return None
        if damaged := differing_files(stored.output, stored.record.outputs):
            self._progress.line(
                f"{stage.name}: the kept output is damaged ({damaged[0]}); made again"
            )
            return None
        record = stored.record.model_copy(update={"reused": True})
        return StoredStage(stored.directory, record)

    def _make(self, stage: Stage, inputs: Mapping[str, Path]) -> StoredStage:
        require_space(stages_directory(self._engines), stage.needs_bytes, stage.name)
        self._progress.status(f"{stage.name}: {'; '.join(stage.summary)}")
        temporary = temporary_stage(self._engines, stage.label, os.getpid())
        log_file = stages_directory(self._engines) / "logs" / f"{stage.label}.log"
        try:
            return self._fill(stage, inputs, temporary, log_file)
        except BaseException as error:
            if not _log_explains(error):
                log_file.unlink(missing_ok=True)
            raise
        finally:
            self._progress.status("")
            shutil.rmtree(temporary, ignore_errors=True)

    def _fill(
        self, stage: Stage, inputs: Mapping[str, Path], temporary: Path, log_file: Path
    ) -> StoredStage:
        shutil.rmtree(temporary, ignore_errors=True)
        (temporary / "output").mkdir(parents=True)
        log_file.parent.mkdir(parents=True, exist_ok=True)
        log_file.write_text("", encoding="utf-8")
        started = time.perf_counter()
        _act(
            stage, StageContext(temporary / "output", inputs, log_file, self._progress)
        )
        _set_modes(temporary / "output")
        record = StageRecord(
            name=stage.name,
            key=stage.key,
            inputs=stage.all_inputs,
            outputs=tree_hashes(temporary / "output"),
            folder=stage.folder,
            duration_s=round(time.perf_counter() - started, 3),
            reused=False,
        )
        write_atomic(temporary / RECORD, record.model_dump_json(indent=2) + "\n")
        log_file.replace(temporary / "stage.log")
        final = stages_directory(self._engines) / stage.label
        shutil.rmtree(final, ignore_errors=True)
        temporary.rename(final)
        return StoredStage(final, record)


def _act(stage: Stage, context: StageContext) -> None:
    """Run the action; if it fails, say which stage that was."""
    try:
        stage.action(context)
    except NoSpaceError:
        raise
    except BuildError as error:
        first = error.problems[0]
        raise BuildError(
            f"{stage.name} failed: {first.what}",
            where=first.where,
            allowed=first.allowed,
            action=first.action,
        ) from error


def _log_explains(error: BaseException) -> bool:
    return isinstance(error, BuildError) and not isinstance(error, NoSpaceError)


def _set_modes(folder: Path) -> None:
    """Readable by all, whatever the umask and the libraries that wrote them.

    What its owner may execute, all may.
    """
    for path in sorted(folder.rglob("*")):
        is_program = path.is_dir() or path.stat().st_mode & S_IXUSR
        path.chmod(_PROGRAM_MODE if is_program else _FILE_MODE)
