"""How answers get into a file: what is there already is not written again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trtspec.errors import RunError, UsageError
from trtspec.fit.answers import (
    Answer,
    header_path,
    line_of,
    read_answers,
    require_same_target,
    write_header,
)
from trtspec.fit.conversations import Conversation
from trtspec.fit.generate import Lengths, Writer
from trtspec.fit.target import Target, identify, load_target
from trtspec.reference.packing import can_pack, pack_linears
from trtspec.reference.slots import SlotModel
from trtspec.run.tokens import TextCodec

_LONGEST_READ = 512


def write_answers(
    path: Path,
    target: Target,
    wanted: Sequence[Conversation],
    lengths: Lengths,
    *,
    slots: int,
    told: Callable[[Answer], None],
    **made: Any,
) -> int:
    """Let the target write the answers that the file lacks.

    :param slots: conversations at once.
    :param told: hears of each answer.
    :param made: how they are made, for the header.
    :returns: how many were there before.
    :raises RunError: if the disk is full; what was written stays.
    """
    written = begin_file(path, target.directory, target.vocabulary, **made)
    waiting = (one for one in wanted if one.id not in written)
    slots = max(1, min(slots, len(wanted) - len(written)))
    model = SlotModel(target.model, slots, lengths.total, _LONGEST_READ)
    ends = TextCodec(target.directory).end_tokens
    with appending(path) as append:

        def keep(answer: Answer) -> None:
            append(answer)
            told(answer)

        Writer(model, waiting, ends, lengths).run(keep)
    return len(written)


@contextmanager
def appending(path: Path) -> Iterator[Callable[[Answer], None]]:
    """Give what appends an answer to a file, whole, for the time of this block.

    :raises RunError: if the disk is full; what was written stays.
    """
    try:
        with path.open("a", encoding="utf-8") as stream:

            def append(answer: Answer) -> None:
                stream.write(line_of(answer))
                stream.flush()

            yield append
    except OSError as error:
        raise RunError(
            f"the answers cannot be written: {error.strerror}",
            where=str(path),
            action="free disk space and start again; it goes on where it was",
        ) from error


def load_fast(directory: Path, dtype: str, device: str) -> Target:
    """Load a target to write with; on a CPU its weights are packed if they can be."""
    target = load_target(directory, dtype, device)
    if can_pack(target.model) and not pack_linears(target.model):
        return load_target(directory, dtype, device)
    return target


def begin_file(path: Path, target: Path, vocabulary: int, **made: Any) -> set[str]:
    """Begin a file of answers, or find where it is; gives the ids that are there.

    A line that an interrupt left unfinished is cut off.

    :param target: directory of the target model.
    :param vocabulary: the target's ids are below it.
    :param made: how answers are made, for the header.
    :raises UsageError: if the file is another target's.
    """
    written = _written(path, target, vocabulary)
    if not header_path(path).exists():
        write_header(path, identify(target), **made)
    return written


def _written(path: Path, target: Path, vocabulary: int) -> set[str]:
    if not path.exists() or not path.stat().st_size:
        return set()
    require_same_target(path, identify(target))
    whole = path.read_bytes()
    end = whole.rfind(b"\n") + 1
    if end < len(whole):
        with path.open("r+b") as stream:
            stream.truncate(end)
    if not end:
        return set()
    answers = read_answers(path, vocabulary)
    ids = [answer.id for answer in answers]
    if len(set(ids)) < len(ids):
        raise UsageError("two answers have the same id", where=str(path))
    return set(ids)
