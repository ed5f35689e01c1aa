"""Where the target's hidden states of all answers are kept, so that epochs are cheap.

One file of bfloat16 numbers, [tokens, width] of all answers one behind the other, and
one that says how far it goes. It grows with the file of answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from filelock import FileLock
from torch import Tensor

from trtspec.errors import RunError, UsageError
from trtspec.files import write_atomic
from trtspec.fit.answers import Answer
from trtspec.fit.target import Identity, Target
from trtspec.reference.capture import FINAL, Capture

_BATCH_TOKENS = 512
_FLUSH_TOKENS = 8192


class StateStore:
    """Hidden states of answers, in the order of their file.

    :ivar layers: what is side by side in a token's row; the last one is ``FINAL``.
    """

    def __init__(
        self, directory: Path, identity: Identity, layers: Sequence[int], width: int
    ) -> None:
        """Open a store, or begin one.

        :param layers: that are wanted besides the final state; with none of them a
            store with any layers will do.
        :param width: of one layer's states.
        :raises UsageError: if it holds the states of another target or other layers.
        """
        self.layers = (*(layer for layer in layers if layer != FINAL), FINAL)
        self._directory, self._identity = directory, identity
        self._offsets = [0]
        directory.mkdir(parents=True, exist_ok=True)
        self._look()
        self.width = width * len(self.layers)

    @property
    def count(self) -> int:
        """Answers whose states are there."""
        return len(self._offsets) - 1

    @property
    def tokens(self) -> int:
        """Tokens whose states are there."""
        return int(self._offsets[-1])

    def extend(
        self,
        target: Target,
        answers: Sequence[Answer],
        progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Run the target over the answers whose states are not there yet.

        :param answers: all of the file, those that are there included.
        :param progress: told the number of tokens that were added.
        :raises RunError: if the disk is full; what was stored before stays.
        """
        capture = Capture(target.model, self.layers)
        try:
            while self._lacks(answers):
                # drafters of the same target may share a store, and fill it in turn
                with FileLock(self._directory / ".lock"):
                    if not self._lacks(answers):
                        return
                    group = _first_tokens(answers[self.count :], _FLUSH_TOKENS)
                    self._append(_forward(target, capture, group))
                progress(sum(len(answer.tokens) for answer in group))
        except OSError as error:
            raise RunError(
                f"the states cannot be stored: {error.strerror}",
                where=str(self._directory),
                action="free disk space (a token takes "
                f"{2 * self.width} bytes) and start again; it goes on where it was",
            ) from error
        finally:
            capture.remove()

    def read(self, index: int) -> Tensor:
        """Give one answer's states [tokens, width], bfloat16."""
        begin, end = self._offsets[index : index + 2]
        shape = (end - begin, self.width)
        numbers: Any = np.memmap(
            self._numbers, np.int16, "r", 2 * begin * self.width, shape
        )
        return torch.from_numpy(np.array(numbers)).view(torch.bfloat16)

    @property
    def _index(self) -> Path:
        return self._directory / "states.json"

    @property
    def _numbers(self) -> Path:
        return self._directory / "states.bf16"

    def _lacks(self, answers: Sequence[Answer]) -> bool:
        self._look()
        return self.count < len(answers)

    def _look(self) -> None:
        """Read how far the store goes, if there is one."""
        if not self._index.exists():
            return
        stored = json.loads(self._index.read_text(encoding="utf-8"))
        layers = tuple(stored["layers"])
        fits = self.layers in ((FINAL,), layers) and layers[-1] == FINAL
        if stored["target"] != self._identity or not fits:
            raise UsageError(
                f"the folder holds states of another target, or of other layers: "
                f"{', '.join(map(str, layers[:-1])) or 'the last one only'}",
                where=str(self._directory),
                action="give another folder, or delete this one",
            )
        self.layers, self._offsets = layers, stored["offsets"]

    def _append(self, parts: Sequence[Tensor]) -> None:
        with self._numbers.open("ab") as stream:
            # what an interrupt left behind the last whole answer does not count
            stream.truncate(2 * self.width * self.tokens)
            for part in parts:
                stream.write(part.contiguous().view(torch.int16).numpy().tobytes())
        offsets = self._offsets + list(
            self.tokens + np.cumsum([len(part) for part in parts])
        )
        self._offsets = [int(offset) for offset in offsets]
        about = {"target": self._identity, "layers": list(self.layers)}
        text = json.dumps(about | {"offsets": self._offsets})
        write_atomic(self._index, text)


def _first_tokens(answers: Sequence[Answer], most: int) -> list[Answer]:
    """Take answers of about so many tokens, at least one."""
    taken, tokens = [answers[0]], len(answers[0].tokens)
    for answer in answers[1:]:
        tokens += len(answer.tokens)
        if tokens > most:
            break
        taken.append(answer)
    return taken


@torch.inference_mode()
def _forward(
    target: Target, capture: Capture, answers: Sequence[Answer]
) -> list[Tensor]:
    """States of each answer, [tokens, width]; rows of like length run together."""
    order = sorted(range(len(answers)), key=lambda i: len(answers[i].tokens))
    found: dict[int, Tensor] = {}
    while order:
        rows = order[-max(1, _BATCH_TOKENS // len(answers[order[-1]].tokens)) :]
        del order[-len(rows) :]
        longest = max(len(answers[i].tokens) for i in rows)
        tokens = torch.zeros(len(rows), longest, dtype=torch.long)
        for row, index in enumerate(rows):
            own = torch.tensor(answers[index].tokens)
            tokens[row, : len(own)] = own
        with capture:
            # without a mask: padding stands behind all that counts
            decoder: Any = target.model.get_decoder()  # type: ignore[operator]
            decoder(input_ids=tokens.to(target.device), use_cache=False)
        states = capture.states().to("cpu", torch.bfloat16)
        for row, index in enumerate(rows):
            found[index] = states[row, : len(answers[index].tokens)]
    return [found[index] for index in range(len(answers))]
