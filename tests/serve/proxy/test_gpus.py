"""Which GPUs each pool gets."""

from __future__ import annotations

import pytest

from trtspec.errors import UsageError
from trtspec.serve.proxy.gpus import read_gpus, share_gpus, share_out, variables


def test_gpus_are_named_by_pool_and_the_first_pool_needs_no_name():
    assert read_gpus(["on=0,1", "off=2"]) == {"on": ("0", "1"), "off": ("2",)}
    assert read_gpus(["3"]) == {"on": ("3",)}
    assert read_gpus(["off=GPU-12ab,MIG-3"]) == {"off": ("GPU-12ab", "MIG-3")}
    assert read_gpus([]) == {}


@pytest.mark.parametrize(
    "texts",
    [["x=0"], ["on="], [""], ["on=0,0"], ["on=0", "on=1"], ["0", "on=1"], ["on=a"]],
)
def test_what_names_no_gpus_is_refused(texts):
    with pytest.raises(UsageError, match="names no GPUs"):
        read_gpus(texts)


def test_two_pools_get_different_gpus_on_first():
    needs = {"on": 2, "off": 1}
    assert share_out(needs, {}, ["4", "5", "6"]) == {"on": ("4", "5"), "off": ("6",)}
    given = {"off": ("4",)}
    assert share_out(needs, given, ["4", "5", "6"])["on"] == ("5", "6")


def test_one_pool_gets_what_this_process_sees():
    assert share_out({"on": 2}, {}, []) == {"on": ()}
    assert share_out({"on": 2}, {"on": ("0", "1")}, [])["on"] == ("0", "1")
    assert variables(()) == {}
    assert variables(("0", "1")) == {"CUDA_VISIBLE_DEVICES": "0,1"}


def test_pools_may_be_told_to_share():
    both = share_out({"on": 1, "off": 1}, {"on": ("0",), "off": ("0",)}, [])
    assert share_gpus(both)
    assert not share_gpus({"on": ("0",), "off": ("1",)})
    assert not share_gpus({"on": ()})


@pytest.mark.parametrize(
    ("needs", "given", "visible", "message"),
    [
        ({"on": 1, "off": 1}, {}, ["0"], "two servers need 1 for on and 1 for off"),
        ({"on": 1, "off": 1}, {}, [], "GPUs that are seen here: 0"),
        ({"on": 2}, {"on": ("0",)}, [], "needs 2 GPUs and is given 1"),
        ({"on": 1}, {"off": ("0",)}, [], "there is no off pool"),
    ],
)
def test_too_few_are_told(needs, given, visible, message):
    with pytest.raises(UsageError, match=message):
        share_out(needs, given, visible)
