"""Records refuse what is no fact, and groups put in what their entries share."""

import pytest
from packaging.version import Version
from pydantic import ValidationError

from trtspec.trtllm.facts import Flag, ScriptPath, Targets
from trtspec.trtllm.facts.read import document, entries, established

FLAG = {"flag": "--gemm_plugin", "kind": "str", "versions": ">=0.17", "source": "docs"}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"versions": "since 0.17"}, "not a range"),
        ({"versions": ""}, "not a range"),
        ({"source": " "}, "needs a source"),
        ({"kind": "choice"}, "lists values"),
        ({"choices": ("a",)}, "lists values"),
        ({"kind": "choice", "choices": ("a", "b"), "default": "c"}, "among its choice"),
        ({"required": 1}, "valid boolean"),
        ({"since": "0.17"}, "Extra inputs"),
    ],
)
def test_record_refuses_what_is_no_fact(changed, message):
    assert Flag(**FLAG)
    with pytest.raises(ValidationError, match=message):
        Flag(**FLAG | changed)


def test_group_gives_its_entries_what_they_share():
    group = {
        "versions": ">=0.17,<0.20",
        "source": "README",
        "entries": [
            {"path": "a"},
            {"path": "b", "versions": ">=0.19", "source": "tree"},
        ],
    }
    first, second = entries([group], ScriptPath)
    assert (first.versions, first.source) == (">=0.17,<0.20", "README")
    assert (second.versions, second.source) == (">=0.19", "tree")
    assert established([first, second], Version("0.18.2")) == (first,)
    assert established([first, second], Version("0.21.0")) == (second,)


def test_families_become_a_set():
    group = {"entries": [{"method": "eagle", "families": ["llama", "llama"]}]}
    (targets,) = entries([group | {"versions": ">=0.17", "source": "docs"}], Targets)
    assert targets.families == {"llama"}


def test_fact_without_range_or_source_is_refused():
    with pytest.raises(ValidationError, match="versions"):
        entries([{"entries": [{"path": "a", "source": "docs"}]}], ScriptPath)


def test_file_is_read_once():
    assert document("versions.json") is document("versions.json")


def test_facts_do_not_change():
    flag = Flag(**FLAG)
    with pytest.raises(ValidationError, match="frozen"):
        flag.flag = "--other"
