"""Which batch sizes CUDA graphs are captured for."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.trtllm.pytorch.compile.subject import Item, Subject
from trtspec.trtllm.pytorch.settings import Remark, Setting

KEY = "cuda_graph_config"


def graph_settings(subject: Subject) -> Iterator[Item]:
    """Give ``cuda_graph_config``: null without graphs, else sizes and padding.

    Either the largest size or all of them: up to 1.2 both together are refused unless
    they say the same. Padding lets a batch between two sizes use the next one.
    """
    if not subject.options.cuda_graphs:
        yield Setting(KEY, None, "no CUDA graphs")
        return
    padding = Setting("enable_padding", True, "let a batch use the next larger graph")
    given = subject.options.cuda_graph_batch_sizes
    if given is None:
        largest = Setting("max_batch_size", subject.batch, "largest batch captured")
        yield Setting(KEY, (padding, largest))
        return
    sizes = Setting("batch_sizes", captured(subject, given), "batches captured")
    yield Setting(KEY, (padding, sizes))
    above = sorted({size for size in given if size > subject.batch})
    if above:
        yield Remark(
            "cuda-graphs",
            "note",
            ("pytorch", "cuda_graph_batch_sizes"),
            f"batch sizes {', '.join(map(str, above))} are left out",
            f"no batch has more than limits.max_batch_size {subject.batch} requests",
            values={"left_out": above, "max_batch_size": subject.batch},
        )


def captured(subject: Subject, given: tuple[int, ...]) -> tuple[int, ...]:
    """Sort the sizes that a batch can have, with those where the draft length changes.

    The whole batch if that leaves none.
    """
    length = subject.length
    steps = () if isinstance(length, int) else tuple(length)
    sizes = {size for size in (*given, *steps) if size <= subject.batch}
    return tuple(sorted(sizes)) or (subject.batch,)
