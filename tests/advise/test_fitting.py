"""The fewest GPUs that hold a recipe, and fewer requests where none of them does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.tiny import write_checkpoint
from trtspec.advise.fitting import Circumstances, checked
from trtspec.advise.recipe import Way, Wish
from trtspec.advise.target import look_at
from trtspec.check.finding import Finding

WAY = Way("ngram", None, "pytorch")


class Memory:
    """A check whose GPUs hold so many requests each; it keeps what it was asked."""

    def __init__(self, requests_per_gpu):
        self.requests_per_gpu = requests_per_gpu
        self.asked = []

    def __call__(self, loaded):
        gpus = loaded.recipe.target.tensor_parallel
        wanted = loaded.recipe.limits.max_batch_size
        self.asked.append((gpus, wanted))
        fit = gpus * self.requests_per_gpu
        yield Finding("memory-plan", "note", "limits", "a plan")
        if fit == 0:
            yield Finding("memory", "blocking", "target", "does not fit")
        elif fit < wanted:
            values = {"requests": fit + 0.75}
            yield Finding("memory-limits", "warning", "limits", "", values=values)


def ask(directory, memory, most, way=WAY):
    write_checkpoint(directory / "t")
    wish = Wish(look_at("./t", directory, directory))
    given = Circumstances(
        wish, (), (way.backend,), memory, Path("r.yaml"), most_gpus=most
    )
    found = checked(given, way)
    content = found.draft.content
    return content["target"].get("tensor_parallel", 1), content["limits"]


@pytest.mark.parametrize(
    ("per_gpu", "most", "gpus", "requests"),
    [
        (8, 8, 1, 8),
        (4, 8, 2, 8),
        (1, 8, 8, 8),
        (1, 6, 4, 4),  # 1, 2, 4: heads are split evenly
        (3, 2, 2, 6),
        (3, 1, 1, 3),
    ],
)
def test_gpus_first_then_fewer_requests(tmp_path, per_gpu, most, gpus, requests):
    found = ask(tmp_path, Memory(per_gpu), most)
    assert (found[0], found[1]["max_batch_size"]) == (gpus, requests)


def test_a_note_asks_for_no_more_gpus(tmp_path):
    memory = Memory(8)
    ask(tmp_path, memory, 8)
    assert memory.asked == [(1, 8)]


def test_what_fits_on_no_number_of_gpus_keeps_its_finding(tmp_path):
    memory = Memory(0)
    assert ask(tmp_path, memory, 4)[0] == 4
    assert [gpus for gpus, _ in memory.asked] == [1, 2, 4]


def test_the_reference_backend_has_one_device(tmp_path):
    memory = Memory(0)
    ask(tmp_path, memory, 8, Way("ngram", None, "reference"))
    assert [gpus for gpus, _ in memory.asked] == [1]
