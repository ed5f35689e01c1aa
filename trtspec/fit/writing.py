"""How answers get into a file: what is there already is not written again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    written = _written(path, target)
    if not header_path(path).exists():
        write_header(path, identify(target.directory), **made)
    waiting = (one for one in wanted if one.id not in written)
    slots = max(1, min(slots, len(wanted) - len(written)))
    model = SlotModel(target.model, slots, lengths.total, _LONGEST_READ)
    ends = TextCodec(target.directory).end_tokens
    try:
        with path.open("a", encoding="utf-8") as stream:

            def keep(answer: Answer) -> None:
                stream.write(line_of(answer))
                stream.flush()
                told(answer)

            Writer(model, waiting, ends, lengths).run(keep)
    except OSError as error:
        raise RunError(
            f"the answers cannot be written: {error.strerror}",
            where=str(path),
            action="free disk space and start again; it goes on where it was",
        ) from error
    return len(written)


def load_fast(directory: Path, dtype: str, device: str) -> Target:
    """Load a target to write with; on a CPU its weights are packed if they can be."""
    target = load_target(directory, dtype, device)
    if can_pack(target.model) and not pack_linears(target.model):
        return load_target(directory, dtype, device)
    return target


def _written(path: Path, target: Target) -> set[str]:
    """Give the ids that are there; cuts off a line that an interrupt left unfinished.

    :raises UsageError: if the file is another target's.
    """
    if not path.exists() or not path.stat().st_size:
        return set()
    require_same_target(path, identify(target.directory))
    whole = path.read_bytes()
    end = whole.rfind(b"\n") + 1
    if end < len(whole):
        with path.open("r+b") as stream:
            stream.truncate(end)
    if not end:
        return set()
    answers = read_answers(path, target.vocabulary)
    ids = [answer.id for answer in answers]
    if len(set(ids)) < len(ids):
        raise UsageError("two answers have the same id", where=str(path))
    return set(ids)
