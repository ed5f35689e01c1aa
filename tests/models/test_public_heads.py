"""Published heads, by their public configurations: what they are and whom they fit."""

import pytest

from tests.models.public import (
    HEADS,
    TARGETS,
    with_one_expert,
    write_head,
    write_target,
)
from trtspec.models.drafter import describe_drafter
from trtspec.models.eagle3_head import needed_changes
from trtspec.models.info import DTYPE_BYTES
from trtspec.models.inspection import inspect
from trtspec.models.inspection_fit import fits

EVERY = pytest.mark.parametrize("name", list(HEADS))
LOADERS = pytest.mark.parametrize("loader", ["tensorrt_llm", "reference"])
PAIRS = [(head, target) for head in HEADS for target in HEADS[head]["fits"]]
SMALL = ("Qwen/Qwen3-8B", "meta-llama/Llama-3.1-8B", "lmsys/vicuna-7b-v1.3")
STRANGERS = [
    (head, target)
    for head in HEADS
    for target in SMALL
    if target not in HEADS[head]["fits"]
]


@pytest.fixture(scope="module")
def inspected(tmp_path_factory):
    """A head or a target, inspected once."""
    known = {}

    def look(name):
        if name not in known:
            folder = tmp_path_factory.mktemp("checkpoint")
            known[name] = inspect(
                write_head(folder, HEADS[name])
                if name in HEADS
                else write_target(folder, with_one_expert(TARGETS[name]))
            )
        return known[name]

    return look


def verdicts(head, target):
    return {found.key: found.verdict for found in fits(head, target)}


def test_there_are_heads_of_each_kind_and_each_names_its_source():
    kinds = {record["kind"] for record in HEADS.values()}
    assert kinds == {"eagle", "eagle3", "medusa", "redrafter", "dflash"}
    assert all(record["source"].startswith("https://") for record in HEADS.values())


@EVERY
@LOADERS
def test_its_sizes_are_told_from_its_tensors(tmp_path, name, loader):
    record = HEADS[name]
    info = describe_drafter(write_head(tmp_path, record), record["kind"], loader)
    for fact, value in record["expected"].items():
        expected = tuple(value) if isinstance(value, list) else value
        assert getattr(info, fact) == expected, fact
    assert info.is_counted


@EVERY
def test_it_is_recognized_without_being_told_what_it_is(inspected, name):
    found = inspected(name)
    assert (found.kind, found.problems) == (HEADS[name]["kind"], ())
    assert found.told_by
    assert all(not reading.problems for reading in found.readings.values())


@pytest.mark.parametrize("name", [n for n in HEADS if "parameters" in HEADS[n]])
def test_it_has_as_many_parameters_as_its_authors_say(tmp_path, name):
    info = describe_drafter(write_head(tmp_path, HEADS[name]), HEADS[name]["kind"])
    said = HEADS[name]["parameters"]
    count = info.weight_bytes // DTYPE_BYTES[info.dtype]
    count -= info.vocabulary_rows * info.hidden_size
    assert abs(count - said["value"]) <= said["within"], said["said"]


@pytest.mark.parametrize("name", [n for n in HEADS if HEADS[n]["kind"] == "eagle3"])
def test_what_its_configuration_has_to_say_otherwise_is_known(tmp_path, name):
    record = HEADS[name]
    info = describe_drafter(write_head(tmp_path, record), "eagle3")
    changes = {change.key: [change.old, change.new] for change in needed_changes(info)}
    assert changes == record.get("needed_changes", {})


@pytest.mark.parametrize(("head", "target"), PAIRS)
def test_it_fits_the_target_it_is_published_for(inspected, head, target):
    found = verdicts(inspected(head), inspected(target))
    assert "refused" not in found.values()
    assert (found["hidden_size"], found["vocabulary"]) == ("fits", "fits")


@pytest.mark.parametrize(("head", "target"), STRANGERS)
def test_another_target_is_told_apart(inspected, head, target):
    found = verdicts(inspected(head), inspected(target))
    assert {found["hidden_size"], found["vocabulary"]} != {"fits"}
