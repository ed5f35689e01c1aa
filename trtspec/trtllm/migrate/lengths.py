"""Where the draft length and the n-gram size stand, and what they are by default."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.trtllm.migrate.change import (
    Change,
    added,
    blocked,
    converted,
    removed,
    renamed,
)
from trtspec.trtllm.migrate.config import EARLY, Config

HEADS = "num_nextn_predict_layers"
LENGTH = "max_draft_len"
SIZE = "max_matching_ngram_size"
_MAIN_SIZE = 2
"""Tokens of an n-gram on main if the YAML does not say (llm_args.py)."""


def lengths(config: Config) -> Iterator[Change]:
    """Write MTP's draft length and NGram's size where the target reads them."""
    if config.method == "mtp":
        yield from _mtp(config)
    if config.method == "ngram" and not config.spec.get(SIZE):
        yield from _ngram(config)


def _mtp(config: Config) -> Iterator[Change]:
    spec = dict(config.spec)
    early = config.source in EARLY
    if not early and LENGTH in spec and spec[LENGTH] is None:
        yield removed(config.at(LENGTH), spec.pop(LENGTH), "null says nothing")
    read, other = (HEADS, LENGTH) if early else (LENGTH, HEADS)
    if read not in spec and not early and other in spec:
        read, other = other, read  # main still takes the old key alone
    wanted = HEADS if config.family in EARLY else LENGTH
    if other in spec:
        said = f": {spec[read]}" if read in spec else ", by default 1"
        why = f"{config.source} goes by {read}{said}; this one had no effect"
        yield removed(config.at(other), spec[other], why)
    if read in spec and read != wanted:
        yield renamed(config.at(read), spec[read], wanted, _why_length(wanted))
    elif read not in spec and early:
        why = f"the draft length that {config.source} takes without {HEADS}"
        yield added(config.at(wanted), 1, why)
    elif read not in spec and config.family in EARLY:
        yield blocked(
            config.at(wanted),
            None,
            "main takes the draft length from the checkpoint, which this file does not "
            f"tell: add {LENGTH}",
        )


def _why_length(wanted: str) -> str:
    if wanted == LENGTH:
        return "the draft length since 1.3; the old key only warns, and loses to it"
    return "this is MTP's draft length up to 1.2; max_draft_len is ignored there"


def _ngram(config: Config) -> Iterator[Change]:
    path = config.at(SIZE)
    if config.source in EARLY:
        why = f"{config.source} refuses NGram without a size above 0: choose one; "
        why += f"{_MAIN_SIZE} is main's default"
    else:
        why = "main's default, written out: up to 1.2 the default is refused"
    if SIZE in config.spec:
        yield converted(path, config.spec[SIZE], _MAIN_SIZE, why)
    else:
        yield added(path, _MAIN_SIZE, why)
